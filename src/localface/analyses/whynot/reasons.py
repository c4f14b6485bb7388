"""Why a wish is refused, in sentences that end with the least that would open it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from localface.analyses.whynot.findings import Check, Overstep, Relaxation
from localface.analyses.whynot.searching import TriedWish
from localface.answers.status import Status
from localface.answers.wording import (
    format_distinct_percents,
    format_more_unusual_than,
    format_number,
    join_words,
)
from localface.data.feature import Feature
from localface.data.schema import Schema
from localface.engine.engine import Engine


def why_floor_refuses(found: Check) -> str:
    """Why the floor refuses it."""
    step = found.step
    rows = found.schema.each_row
    if step.rule == "cover" and step.people is not None and step.radius is not None:
        near = f"within {format_number(step.radius)} standard deviations of the wish"
        return f"fewer than {step.people:,} {rows.many} are {near}"
    allowed, unusual = format_distinct_percents(1 - found.min_density, 1 - found.density)
    most = f"the floor allows {allowed}{_pair_clause(found)}"
    if found.density <= 0:
        return f"the wished state is more unusual than {rows.anybody}'s; {most}"
    return f"the wished state is more unusual than {unusual} of {rows.of_many}; {most}"


def _pair_clause(found: Check) -> str:
    """Name the pair that is to blame, and say so where the wish has nothing to do with it."""
    if found.pair is None:
        return ""
    if found.wish.keys().isdisjoint(found.pair.features):
        return f"{found.pair.clause}; so it is now, and the wish changes neither"
    return found.pair.clause


def why_score_refuses(found: Check) -> str:
    """Why the score refuses it."""
    score = found.target.format_score(found.score)
    would_be = f"the {found.target.noun} would be {score}"
    now = found.target.format_score(found.scores[0])
    before, after = (found.target.distance_from(one) for one in found.scores)
    if after > before and now != score:
        would_be = f"{would_be}, worse than {now} now"
    if not found.wish:
        would_be = f"nothing changes, so the {found.target.noun} stays {score}"
    return f"{would_be}; wanted: {found.target.sentence}"


def why_no_path_leads_there(engine: Engine, found: Check, tried: TriedWish | None) -> str:
    """Why no way leads there."""
    options = engine.options
    if tried is not None and tried.recourse.status is Status.BUDGET:
        return f"max_rows={options.max_rows} was spent before a way was found"
    if tried is not None and tried.recourse.status is Status.OUT_OF_TIME:
        return "time was up before a way was found"
    around = (
        f"no steps from each state to its {options.n_neighbors} nearest "
        "lead there through common enough states"
    )
    if found.place is not None:
        where = ", ".join(
            f"{feature.display_name} {_format_value_with_unit(feature, found.place[feature.name])}"
            for feature in map(found.schema.__getitem__, found.place)
        )
        unusual = format_more_unusual_than(found.step.lowest, found.schema.each_row)
        clause = found.pair.clause if found.pair else ""
        return f"the straight way there is {unusual}, most of all at {where}{clause}; {around}"
    if options.max_step is not None and found.step.length > options.max_step:
        long = f"the straight step is {format_number(found.step.length)} standard deviations long"
        return f"{long}, and max_step allows {format_number(options.max_step)}; {around}"
    return around


def least_relaxation(found: Check, tried: TriedWish | None, *, no_steps: str) -> Relaxation:
    """What would have to give way, all of it at once; ``no_steps`` says why no floor helps."""
    lowered = None if tried is None else tried.lowered
    score = _score_to_settle_for(found)
    hopeless = [one for one in found.broken if one.gap or one.beyond or _is_own(found.schema, one)]
    if hopeless:
        movable = tuple(one for one in found.broken if one not in hopeless)
        sentence = f"nothing opens it: {_why_hopeless(hopeless)}"
        return Relaxation(movable, lowered, score, enough=False, sentence=sentence)
    if score is None and not found.valid:
        sentence = f"nothing opens it: {_why_worth_nothing(found)}"
        return Relaxation(found.broken, lowered, score, enough=False, sentence=sentence)
    enough = tried is None or tried.opens
    parts = [one.remedy for one in found.broken]
    if lowered is not None and lowered > 0:
        parts.append(
            f"the floor comes down from {format_number(100 * found.min_density)} % "
            f"to {100 * lowered:.3g} %"
        )
    elif lowered is not None:
        parts.append(
            "the floor gives way altogether (the way there is more unusual than "
            f"{found.schema.each_row.anybody}'s)"
        )
    parts += [] if score is None else [_settled_for(found, score)]
    sentence = _no_floor_helps_sentence(tried, no_steps)
    if parts and enough:
        sentence = f"it opens if {join_words(parts)}"
    return Relaxation(found.broken, lowered, score, enough, sentence)


def _settled_for(found: Check, enough: float) -> str:
    """Say what the wish reaches is enough; with the round score to ask for, where that is another.

    A range has no such score.
    """
    target = found.target
    shown = target.format_score(found.score)
    reached = f"a {target.noun} of {shown} is enough"
    is_same = format_number(enough, 6) == format_number(float(shown.replace(",", "")), 6)
    if target.max_score is not None or is_same:
        return reached
    return f"{reached} (min_score={enough:g})"


def _score_to_settle_for(found: Check) -> float | None:
    """The score that would have to be enough; None where it is, and where today's is as good."""
    now, then = (found.target.format_score(score) for score in found.scores)
    if found.valid or now == then:
        return None
    enough = found.target.threshold_below(found.score)
    lower = replace(found.target, min_score=enough) if found.target.max_score is None else None
    if lower is None:
        before, after = (found.target.distance_from(one) for one in found.scores)
        return enough if after < before else None
    return None if lower.is_reached_by(found.scores[0]) else enough


def _why_worth_nothing(found: Check) -> str:
    """Why no lower score to settle for would help: the person has it today."""
    before, after = (found.target.distance_from(one) for one in found.scores)
    verb = "hardly brings" if after < before else "does not bring"
    return f"it {verb} the {found.target.noun} nearer to the target"


def _is_own(schema: Schema, broken: Overstep) -> bool:
    """Tell whether it is what stays a person's own that would have to give way."""
    return schema[broken.feature].own or (broken.other is not None and schema[broken.other].own)


def _why_hopeless(broken: Sequence[Overstep]) -> str:
    """Why no constraint that gives way would help."""
    said = [one.gap or one.beyond for one in broken if one.gap or one.beyond]
    own = ["it would change what is kept as it is"] if len(said) < len(broken) else []
    return "; ".join([*own, *said])


def _no_floor_helps_sentence(tried: TriedWish | None, no_steps: str) -> str:
    status = Status.UNREACHABLE if tried is None else tried.status
    if status is Status.BUDGET:
        return "whether a lower floor opens it is not known: allow more rows"
    if status is Status.OUT_OF_TIME:
        return "whether a lower floor opens it is not known: time was up, allow more max_seconds"
    if status is not Status.UNREACHABLE:
        return "whether a lower floor opens it is not known: those that were tried do not"
    return f"no floor, however low, opens it: {no_steps}"


def _format_value_with_unit(feature: Feature, value: object) -> str:
    return format_code_with_unit(feature, feature.code(value))


def format_code_with_unit(feature: Feature, code: float) -> str:
    """A value with its unit, for people."""
    return feature.format(code) + (f" {feature.unit}" if feature.unit else "")
