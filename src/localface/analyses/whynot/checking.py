"""Checks a wish: constraints, score, density, the straight step, any path there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import narwhals as nw
import numpy as np

from localface.analyses.whynot.findings import Check, Overstep
from localface.analyses.whynot.reasons import (
    format_code_with_unit,
    least_relaxation,
    why_floor_refuses,
    why_no_path_leads_there,
    why_score_refuses,
)
from localface.analyses.whynot.searching import TriedWish, search_for_wish
from localface.analyses.whynot.told_by_columns import categories_told_by_columns
from localface.analyses.whynot.totals import with_totals
from localface.answers.certificate import Certificate
from localface.answers.changes import gap_sentence
from localface.answers.pair_words import refusing_pair
from localface.answers.reasons import what_rules_out_steps
from localface.answers.recourse import Recourse
from localface.answers.relation_words import pair_in_words, rule_in_words
from localface.answers.wording import join_words
from localface.data.absence import same_codes
from localface.data.feature import Feature
from localface.data.own_bounds import bounds_text, is_within_bounds
from localface.data.read import read_record
from localface.data.relations import LinearRule, Rule
from localface.data.schema import Schema
from localface.density.protocol import RESTATED_TOLERANCE
from localface.engine.engine import Engine
from localface.engine.requests import Request
from localface.errors import DataError, did_you_mean, list_names
from localface.search.outcome import Outcome
from localface.search.pipeline import measure_path
from localface.search.plan import Plan
from localface.types import Array

_BETWEEN = 31  # states looked at on a straight step, to say where its density is lowest


def check_wish(engine: Engine, plan: Plan, request: Request) -> Check:
    """Check a wish, the goal of a request."""
    assert request.goal is not None
    record = request.record
    goal = request.goal
    engine.space.absence_columns.refuse_unknown(goal, "the wish")
    same = bool(same_codes(record, goal).all())
    broken = () if same else tuple(_find_oversteps(engine.schema, request, goal))
    outcome, straight = _measure_straight_steps(engine, request, engine.space.points(goal[None, :]))
    tried = None if same else search_for_wish(engine, plan, request, broken)
    on_ground = bool(outcome.log_densities[1] >= engine.log_floor - RESTATED_TOLERANCE)
    found = Check(
        schema=engine.schema,
        form=request.form,
        target=straight.target,
        min_density=straight.min_density,
        scales=straight.scales,
        records=_make_read_only(np.stack([record, goal])),
        scores=(straight.scores[0], straight.scores[1]),
        densities=(straight.densities[0], straight.densities[1]),
        broken=broken,
        on_ground=on_ground,
        step=straight.certificates[0],
        direct=same or (not broken and _can_go_straight(engine, outcome, straight.certificates[0])),
        way=tried is None or tried.way,
        recourse=None if broken or tried is None or not tried.way else _path_with_note(tried),
        place=None,
        reasons=(),
        relaxation=None,
        disclosure=straight.disclosure,
        cautions=straight.cautions,
    )
    found = _add_reasons_to_check(engine, request, found, tried)
    return replace(found, disclosure=request.account.make_disclosure(engine.source.n_rows))


def read_wish(wish: object, record: Array, schema: Schema) -> Array:
    """Read a wish: some features with new values, the others as they are, or a whole record.

    A total (``relate("debt", "=", ...)``) follows the parts that are named.
    """
    if nw.dependencies.is_pandas_series(wish):
        wish = dict(zip(wish.index, wish.to_numpy(dtype=object), strict=True))
    if not isinstance(wish, Mapping):
        return read_record(wish, schema, "the wish")
    if not wish:
        raise DataError(
            "the wish is empty: name at least one feature with the value it should have"
        )
    named = categories_told_by_columns(wish, record, schema)
    return with_totals(record, read_changes(named, record, schema), named, schema)


def read_changes(changes: Mapping[str, object], record: Array, schema: Schema) -> Array:
    """Return a record with new values of some features, and nothing else changed."""
    changed = record.copy()
    for name, value in changes.items():
        if name not in schema.names:
            near = did_you_mean(name, schema.names)
            raise DataError(
                f"the wish names {name!r}, which is no feature{near}: "
                f"there are {list_names(schema.names)}",
                feature=name,
            )
        changed[schema.index(name)] = schema[name].code(value)
    return changed


def _find_oversteps(schema: Schema, request: Request, goal: Array) -> Iterator[Overstep]:
    """What a state breaks: the constraints first, then the relations."""
    yield from _broken_constraints(schema, request, goal)
    yield from _broken_pairs(schema, goal)
    for rule in schema.rules:
        if rule.breaks(schema.features, goal[None, :])[0]:
            names = rule.names or schema.names[:1]
            value = schema.values(goal)[names[0]]
            text = rule_in_words(schema, rule)
            shown = f"this state{_parts_to_wish_for(schema, rule, request.record, goal)}"
            yield Overstep(names[0], text, value, shown, other=names[-1])


def _parts_to_wish_for(schema: Schema, rule: Rule, record: Array, goal: Array) -> str:
    """Say what to wish for instead of a total that is wished for by itself."""
    if not isinstance(rule, LinearRule) or rule.relation != "=":
        return ""
    at = [schema.index(name) for name in rule.names]
    total, *parts = (~same_codes(record, goal))[at].tolist()
    if not total or any(parts):
        return ""
    names = [schema[name].display_name for name, _ in rule.terms]
    return f": wish for {join_words(names)}, and {schema[rule.first].display_name} follows"


def _broken_constraints(schema: Schema, request: Request, goal: Array) -> Iterator[Overstep]:
    """Features that may not be where the state has them."""
    box = request.box
    for j, why in box.broken_constraints(schema.features, goal).items():
        feature = schema.features[j]
        code = float(goal[j])
        by = None if feature.discrete else float(max(box.lower[j] - code, code - box.upper[j]))
        by = None if by is None or not 0 < by < np.inf else by
        yield Overstep(
            feature.name,
            why,
            feature.value(code),
            format_code_with_unit(feature, code),
            by,
            _unit_word(feature, by),
            label=feature.display_name,
            fixed=bool(box.lower[j] == box.upper[j]),
            gap=gap_sentence(feature, float(request.record[j]), code),
            beyond=_beyond_bounds(feature, code),
        )


def _beyond_bounds(feature: Feature, code: float) -> str:
    """Say what the schema's bounds are where a value is outside of them: nobody can have it."""
    if is_within_bounds(feature, code):
        return ""
    return f"the schema's bounds of {feature.display_name} are {bounds_text(feature)}"


def _broken_pairs(schema: Schema, goal: Array) -> Iterator[Overstep]:
    """Features that do not keep the order that they should."""
    for pair in schema.broken_pairs(goal):
        first, _, second = pair
        feature = schema[first]
        code = float(goal[schema.index(first)])
        by = code - float(goal[schema.index(second)])
        yield Overstep(
            first,
            pair_in_words(schema, pair),
            feature.value(code),
            format_code_with_unit(feature, code),
            by,
            _unit_word(feature, by),
            second,
            label=feature.display_name,
            other_label=schema[second].display_name,
        )


def _measure_straight_steps(
    engine: Engine, request: Request, states: Array
) -> tuple[Outcome, Recourse]:
    """Measure the straight steps through some states, in points and in the user's units."""
    decode = engine.make_decoder(request.known_records)
    asks = measure_path(engine.make_person(request.record, request.box), states)
    ((_, outcome, disclosure),) = engine.driver.run([engine.make_job(request, asks, decode)])
    return outcome, engine.assemble_recourse(request, decode, outcome, disclosure)


def _can_go_straight(engine: Engine, outcome: Outcome, step: Certificate) -> bool:
    """Whether the straight step can be taken: common ground, no longer than allowed."""
    longest = engine.options.max_step
    ends = engine.options.edges != "average" or bool(
        (outcome.log_densities >= engine.log_floor - RESTATED_TOLERANCE).all()
    )
    return step.holds and ends and (longest is None or step.length <= longest)


def _path_with_note(tried: TriedWish) -> Recourse:
    """The way that was found, with a word on where it leads if that is not the target."""
    way = replace(tried.recourse, relaxed_to=None)
    short = "this leads to the wished state, which does not reach the target"
    return way if way.target.is_reached_by(way.scores[-1]) else replace(way, reason=short)


def _add_reasons_to_check(
    engine: Engine, request: Request, found: Check, tried: TriedWish | None
) -> Check:
    """Add the reasons, the place where a straight step fails, and the least relaxation."""
    refused = found.refused_by
    if not refused:
        return found
    if "floor" in refused:
        pair = refusing_pair(
            engine.density, found.records[1], engine.log_floor, asker=found.records[0]
        )
        found = replace(found, pair=pair)
    elif "way" in refused and not found.step.holds and not request.clock.is_up:
        found = _add_least_common_state(engine, request, found)
    sentences = [one.sentence for one in found.broken]
    sentences += [why_floor_refuses(found)] if "floor" in refused else []
    sentences += [why_score_refuses(found)] if "score" in refused else []
    sentences += [why_no_path_leads_there(engine, found, tried)] if "way" in refused else []
    no_steps = what_rules_out_steps(engine.options.max_step, request.box)
    relaxation = least_relaxation(found, tried, no_steps=no_steps)
    return replace(found, reasons=tuple(sentences), relaxation=relaxation)


def _add_least_common_state(engine: Engine, request: Request, found: Check) -> Check:
    """Add the state of lowest density on the straight step, as the features that change.

    Discrete features change half way.
    """
    assert request.goal is not None
    start, end = engine.space.points(np.stack([request.record, request.goal]))
    t = np.linspace(0, 1, _BETWEEN + 2)[1:-1, None]
    states = np.where(
        engine.space.discrete, np.where(t < 0.5, start, end), start + t * (end - start)
    )
    outcome, straight = _measure_straight_steps(engine, request, states)
    record = straight.records[1 + int(outcome.log_densities[1:].argmin())]
    values = engine.schema.values(record)
    changed = [
        name for j, name in enumerate(engine.schema.names) if request.record[j] != request.goal[j]
    ]
    return replace(
        found,
        place={name: values[name] for name in changed},
        pair=refusing_pair(engine.density, record, engine.log_floor, asker=request.record),
    )


def _unit_word(feature: Feature, by: float | None) -> str:
    if feature.categories is not None:
        return "place" if by == 1 else "places"
    return feature.unit or ""


def _make_read_only(records: Array) -> Array:
    records.setflags(write=False)
    return records
