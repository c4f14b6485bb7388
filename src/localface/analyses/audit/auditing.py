"""Look at proposals one by one: the model, the box, the ground, the straight step, a way there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from localface.analyses.audit.finding import Finding
from localface.analyses.audit.proposals import Pair, read_pairs
from localface.analyses.audit.report import Audit
from localface.answers.certificate import Certificate
from localface.answers.changes import changes_between
from localface.answers.recourse import Recourse
from localface.answers.status import Status
from localface.answers.wording import format_distinct_percents, more_unusual_than
from localface.data.read import TableFormat
from localface.data.schema import Schema
from localface.density.protocol import FLOOR_TOLERANCE, RESTATED_TOLERANCE, Density
from localface.engine.engine import Engine, Request
from localface.geometry.segments import norms
from localface.search.plan import Plan

Watch = Callable[[Iterator[tuple[int, Recourse]], int], Iterator[tuple[int, Recourse]]]
"""Passes answers on as they come, given how many there will be."""


def audited(
    engine: Engine,
    density: Density,
    pairs: tuple[Any, Any],
    *,
    where: Mapping[str, Any] | None,
    form: TableFormat,
    plan: Plan,
    watch: Watch,
) -> Audit:
    """Look at proposals one by one: the model, the box, the ground, the straight step, and a way there."""
    read = read_pairs(engine, pairs, where)
    findings, levels = _measured(engine, density, read)
    asked = {
        i: Request(read[i].record, form, read[i].box, goal=read[i].goal, relax=True)
        for i, one in enumerate(findings)
        if one.valid and one.in_box
    }
    for i, answer in watch(_answers(engine, plan, asked, levels), len(asked)):
        findings[i] = _reached(findings[i], answer)
    kind = (
        form.kind
        if isinstance(pairs[0], list | tuple)
        else TableFormat.of(pairs[0], engine.schema).kind
    )
    return Audit(findings, kind=kind, min_density=engine.options.min_density)


def _answers(
    engine: Engine, plan: Plan, asked: Mapping[int, Request], levels: Mapping[int, float]
) -> Iterator[tuple[int, Recourse]]:
    """Look for ways to proposals, and where there is none for the least relaxation.

    No way to a proposal can be on more common ground than the proposal itself. Where that
    is below the floor, a way on as common ground is the best there can be, and found sooner.
    """
    on_ground = [i for i in asked if levels[i] >= engine.floor - FLOOR_TOLERANCE]
    for place, answer in engine.answered([asked[i] for i in on_ground], plan):
        yield on_ground[place], answer
    quick = replace(plan, actions=False, slack=1.0)  # that there is a way is all we want to know
    for i in [i for i in asked if i not in on_ground]:
        ((_, answer),) = replace(engine, floor=levels[i]).answered(
            [replace(asked[i], relax=False)], quick
        )
        if answer.found:
            answer = replace(answer, relaxed_to=float(engine.answers.scale.share(levels[i])))
        elif answer.status is Status.UNREACHABLE:
            ((_, answer),) = engine.answered([asked[i]], quick)
        yield i, answer


def _reached(finding: Finding, answer: Recourse) -> Finding:
    """Add what a search for the proposal found."""
    if answer.status is Status.ALREADY_THERE:
        return replace(finding, between=answer.status.value)
    if answer.relaxed_to is not None:
        floor, lower = format_distinct_percents(answer.min_density, answer.relaxed_to)
        itself = (
            finding.density is not None and answer.relaxed_to >= finding.density - FLOOR_TOLERANCE
        )
        what = "it stands itself on" if itself else "the best way there crosses"
        unusual = f"{what} ground {more_unusual_than(answer.relaxed_to)}"
        between = f"{unusual}; the floor of {floor} would have to be lowered to {lower}"
        return replace(finding, reachable=False, between=between, relaxed_to=answer.relaxed_to)
    if answer.found:
        return replace(finding, reachable=True, recourse=answer)
    return replace(finding, reachable=False, between=answer.reason or answer.status.value)


def _measured(
    engine: Engine, density: Density, pairs: Sequence[Pair]
) -> tuple[list[Finding], dict[int, float]]:
    """What needs no search, for all pairs at once, and the log-densities of the proposals.

    It takes one model call, and two questions to the density.
    """
    some = [i for i, pair in enumerate(pairs) if pair.goal is not None]
    before = np.stack([pair.record for pair in pairs])
    after = np.array([pairs[i].goal for i in some]).reshape(len(some), len(engine.schema))
    scores = engine.score(np.concatenate([before, after]))
    shown, target = [engine.score.shown(float(score)) for score in scores], engine.answers.target
    findings = [Finding(number=i, target=target, score_before=shown[i]) for i in range(len(pairs))]
    starts, stops = engine.space.points(before[some]), engine.space.points(after)
    ground = density.mean_along if engine.options.edges == "average" else density.lowest_along
    levels = ground(stops, stops, None).log_densities if some else np.zeros(0)
    under = ground(starts, stops, None).log_densities if some else np.zeros(0)
    for place, i in enumerate(some):
        length = float(norms(stops[place] - starts[place]))
        findings[i] = replace(
            findings[i],
            score=shown[len(pairs) + place],
            valid=bool(scores[len(pairs) + place] >= engine.score.min_score),
            broken=_broken(engine.schema, pairs[i]),
            density=float(engine.answers.scale.share(levels[place])),
            on_ground=bool(levels[place] >= engine.floor - FLOOR_TOLERANCE),
            jump=_jump(engine, length, float(under[place])),
            changes=changes_between(engine.schema, engine.answers.scales, before[i], after[place]),
        )
        findings[i] = replace(findings[i], **_unasked(findings[i]))
    return findings, dict(zip(some, levels.tolist(), strict=True))


def _unasked(finding: Finding) -> dict[str, Any]:
    """What is said of a proposal that no way is looked for to."""
    if not finding.valid:
        return {"between": f"the model does not agree: wanted {finding.target.sentence}"}
    if finding.broken:
        return {
            "reachable": False,
            "between": f"the constraints rule it out: {'; '.join(finding.broken)}",
        }
    return {}


def _jump(engine: Engine, length: float, lowest: float) -> Certificate:
    """What is known of the straight step."""
    passed = lowest >= engine.floor - RESTATED_TOLERANCE
    floor = engine.options.min_density
    return engine.answers.certificate(length, lowest, floor, entry=False, passed=passed)


def _broken(schema: Schema, pair: Pair) -> tuple[str, ...]:
    """The constraints that a proposal breaks, each with what is proposed instead."""
    assert pair.goal is not None
    found = list(pair.odd)
    for j, why in pair.box.reasons.items():
        feature, code = schema.features[j], float(pair.goal[j])
        if not pair.box.holds(j, code):
            unit = f" {feature.unit}" if feature.unit else ""
            found.append(f"{why}, and {feature.format(code)}{unit} is proposed")
    for first, _, second in schema.relations:
        if pair.goal[schema.index(first)] > pair.goal[schema.index(second)]:
            found.append(f"{first} <= {second} does not hold")
    return tuple(found)
