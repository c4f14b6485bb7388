"""Audits proposals: score, constraints, density, the straight step, a path there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from localface.analyses.audit.finding import Finding
from localface.analyses.audit.proposals import Pair, read_people_and_proposals
from localface.analyses.audit.report import Audit
from localface.answers.certificate import Certificate
from localface.answers.changes import changes_between
from localface.answers.pair_words import refusing_pair
from localface.answers.recourse import Recourse
from localface.answers.relation_words import broken_relations_in_words
from localface.answers.status import Status
from localface.answers.wording import format_distinct_percents, format_more_unusual_than
from localface.data.schema import Schema
from localface.data.table_format import TableFormat
from localface.density.protocol import FLOOR_TOLERANCE, RESTATED_TOLERANCE
from localface.engine.account import Account, join_accounts
from localface.engine.clock import Clock
from localface.engine.engine import Engine
from localface.engine.job import SearchJob, take_points_as_records
from localface.engine.requests import Request
from localface.geometry.segments import norms
from localface.options.checks import positive_number_mistakes, raise_on_mistakes
from localface.search.plan import Plan
from localface.search.questions import Questions, ask_density_along, ask_point_scores
from localface.types import Array

Watch = Callable[[Iterator[tuple[int, Recourse]], int], Iterator[tuple[int, Recourse]]]
"""Passes answers on as they come, given how many there will be."""


def audit_proposals(
    engine: Engine,
    pairs: tuple[Any, Any],
    *,
    where: Mapping[str, Any] | None,
    form: TableFormat,
    plan: Plan,
    watch: Watch,
    max_seconds: float | None = None,
) -> Audit:
    """Audit proposals: score, constraints, density, the straight step, a path there.

    ``max_seconds`` is how long a path to one of them may be looked for.
    """
    raise_on_mistakes(positive_number_mistakes("max_seconds", max_seconds))
    read = read_people_and_proposals(engine, pairs, where)
    measured = _measure_pairs(engine, read)
    findings = _findings_before_search(engine, read, measured)
    asked = {
        i: Request(
            read[i].record,
            form,
            read[i].box,
            goal=read[i].goal,
            relax=True,
            person=i,
            clock=Clock(max_seconds),
        )
        for i, one in enumerate(findings)
        if one.valid and one.in_box
    }
    answers = _search_paths_to_proposals(engine, plan, asked, log_densities=measured.log_densities)
    for i, answer in watch(answers, len(asked)):
        findings[i] = _finding_with_search_result(findings[i], answer)
    total = join_accounts([measured.account, *(one.account for one in asked.values())])
    kind = form.kind
    if not isinstance(pairs[0], list | tuple):
        kind = TableFormat.of(pairs[0], engine.schema).kind
    return Audit(
        findings,
        kind=kind,
        min_density=engine.options.min_density,
        disclosure=total.make_disclosure(engine.source.n_rows),
    )


def _search_paths_to_proposals(
    engine: Engine,
    plan: Plan,
    asked: Mapping[int, Request],
    *,
    log_densities: Mapping[int, float],
) -> Iterator[tuple[int, Recourse]]:
    """Look for paths to proposals, and where there is none for the least relaxation.

    No path to a proposal can keep a higher density than the proposal itself has. Where that is
    below the floor, a path that keeps that density is the best there can be, and found sooner.
    """
    above = [i for i in asked if log_densities[i] >= engine.log_floor - FLOOR_TOLERANCE]
    for number, answer in engine.answer([asked[i] for i in above], plan):
        yield above[number], answer
    quick = replace(plan, actions=False, slack=1.0)  # that there is a path is all we want to know
    for i in [i for i in asked if i not in above]:
        lowered = replace(engine, log_floor=log_densities[i])
        ((_, answer),) = lowered.answer([replace(asked[i], relax=False)], quick)
        if answer.found:
            answer = replace(
                answer, relaxed_to=float(engine.answers.scale.share_below(log_densities[i]))
            )
        elif answer.status is Status.UNREACHABLE:
            ((_, answer),) = engine.answer([asked[i]], quick)
        yield i, answer


def _finding_with_search_result(finding: Finding, answer: Recourse) -> Finding:
    """Add what a search for the proposal found."""
    if answer.status is Status.ALREADY_THERE:
        return replace(finding, between=answer.status.value)
    if answer.relaxed_to is not None:
        floor, lower = format_distinct_percents(answer.min_density, answer.relaxed_to)
        itself = (
            finding.density is not None and answer.relaxed_to >= finding.density - FLOOR_TOLERANCE
        )
        what = "it is itself a state" if itself else "the best way there passes through states"
        unusual = f"{what} {format_more_unusual_than(answer.relaxed_to)}"
        between = f"{unusual}; the floor of {floor} would have to be lowered to {lower}"
        return replace(finding, reachable=False, between=between, relaxed_to=answer.relaxed_to)
    if answer.found:
        return replace(finding, reachable=True, recourse=answer)
    between = answer.reason or answer.status.value
    if answer.status in (Status.BUDGET, Status.OUT_OF_TIME):
        return replace(finding, cut_short=True, between=between)
    return replace(finding, reachable=False, between=between)


@dataclass(frozen=True, slots=True, eq=False)
class _Measured:
    """What needs no search, for all pairs at once; proposals go by the number of their pair."""

    scores_before: Array
    scores: Mapping[int, float]
    log_densities: Mapping[int, float]
    step_log_densities: Mapping[int, float]  # on the straight step
    lengths: Mapping[int, float]
    account: Account


def _measure_pairs(engine: Engine, pairs: Sequence[Pair]) -> _Measured:
    """Measure all pairs: it takes one model call, and two questions to the density."""
    for i, pair in enumerate(pairs):
        engine.space.absence_columns.refuse_unknown(pair.record, f"person {i}")
        if pair.goal is not None:
            engine.space.absence_columns.refuse_unknown(pair.goal, f"counterfactual {i}")
    before = np.stack([pair.record for pair in pairs])
    some = [i for i, pair in enumerate(pairs) if pair.goal is not None]
    after = np.array([pairs[i].goal for i in some]).reshape(len(some), len(engine.schema))
    starts = engine.space.points(before[some])
    ends = engine.space.points(after)
    rule = "mean" if engine.options.edges == "average" else "lowest"
    asks = _ask_scores_and_densities(np.concatenate([before, after]), starts, ends, rule)
    job = SearchJob(asks, take_points_as_records, engine.score.min_score)
    ((_, (scores, at_ends, along), _),) = engine.driver.run([job])
    return _Measured(
        scores_before=scores[: len(pairs)],
        scores=dict(zip(some, scores[len(pairs) :].tolist(), strict=True)),
        log_densities=dict(zip(some, at_ends.tolist(), strict=True)),
        step_log_densities=dict(zip(some, along.tolist(), strict=True)),
        lengths={i: float(norms(ends[k] - starts[k])) for k, i in enumerate(some)},
        account=job.account,
    )


def _ask_scores_and_densities(
    records: Array, starts: Array, ends: Array, rule: str
) -> Questions[tuple[Array, Array, Array]]:
    """Ask for the scores of records, and for log-densities at the ends of steps and along them."""
    scores = yield from ask_point_scores(records)
    if not len(ends):
        return scores, np.zeros(0), np.zeros(0)
    at_ends = yield from ask_density_along(ends, ends, None, rule, askers=starts)
    along = yield from ask_density_along(starts, ends, None, rule)
    return scores, at_ends.log_densities, along.log_densities


def _findings_before_search(
    engine: Engine, pairs: Sequence[Pair], measured: _Measured
) -> list[Finding]:
    """What can be said of each pair without a search."""
    return [_finding_before_search(engine, i, pair, measured) for i, pair in enumerate(pairs)]


def _finding_before_search(engine: Engine, number: int, pair: Pair, measured: _Measured) -> Finding:
    before = float(measured.scores_before[number])
    (score_before,) = engine.score.display_scores([before], pair.record[None, :])
    finding = Finding(
        number=number,
        target=engine.answers.target,
        score_before=score_before,
        each_row=engine.schema.each_row,
    )
    if pair.no_state:
        return replace(finding, broken=(pair.no_state,), between=pair.no_state)
    if pair.goal is None:
        return finding
    score = measured.scores[number]
    log_density = measured.log_densities[number]
    finding = replace(
        finding,
        score=engine.score.display_scores([score], pair.goal[None, :])[0],
        valid=score >= engine.score.min_score,
        broken=_broken_constraints(engine.schema, pair),
        density=float(engine.answers.scale.share_below(log_density)),
        on_ground=log_density >= engine.log_floor - FLOOR_TOLERANCE,
        jump=_straight_step_certificate(
            engine, measured.lengths[number], measured.step_log_densities[number]
        ),
        changes=changes_between(engine.schema, engine.answers.scales, pair.record, pair.goal),
        pair=refusing_pair(engine.density, pair.goal, engine.log_floor, asker=pair.record),
    )
    return replace(finding, **_fields_when_not_searched(finding))


def _fields_when_not_searched(finding: Finding) -> dict[str, Any]:
    """The fields of a finding whose proposal is not searched for: invalid, or not allowed."""
    if not finding.valid:
        return {"between": f"the model does not agree: wanted {finding.target.sentence}"}
    if finding.broken:
        return {
            "reachable": False,
            "between": f"the constraints rule it out: {'; '.join(finding.broken)}",
        }
    return {}


def _straight_step_certificate(engine: Engine, length: float, lowest: float) -> Certificate:
    """What is known of the straight step."""
    passed = lowest >= engine.log_floor - RESTATED_TOLERANCE
    floor = engine.options.min_density
    return engine.answers.step_certificate(length, lowest, floor, entry=False, passed=passed)


def _broken_constraints(schema: Schema, pair: Pair) -> tuple[str, ...]:
    """The constraints that a proposal breaks, each with what is proposed instead."""
    assert pair.goal is not None
    found = list(pair.odd)
    for j, why in pair.box.broken_constraints(schema.features, pair.goal).items():
        feature = schema.features[j]
        unit = f" {feature.unit}" if feature.unit else ""
        found.append(f"{why}, and {feature.format(float(pair.goal[j]))}{unit} is proposed")
    found += [f"{one} does not hold" for one in broken_relations_in_words(schema, pair.goal)]
    return tuple(found)
