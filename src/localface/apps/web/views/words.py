"""What the page says of an answer, in plain words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from localface.answers.action import Action
from localface.answers.cautions import comparable_clause, lacking_in_words
from localface.answers.certificate import Certificate
from localface.answers.long_plans import PlanSize
from localface.answers.measurement import measurement_sentence
from localface.answers.page import evidence_notes
from localface.answers.recourse import Recourse
from localface.answers.status import Status
from localface.answers.waiting import waiting_sentence
from localface.answers.wording import (
    SAMPLED,
    format_about,
    format_count,
    format_lowered_floor,
    format_number,
    format_percent,
    join_words,
    to_one_line,
)
from localface.data.feature import Feature
from localface.data.row_words import PEOPLE, RowWords

_NAMED = 4  # features that are named where there may be many


def usual_text(share: float, rows: RowWords = PEOPLE) -> str:
    """How usual a state is, ``share`` of people's, or other rows', being rarer.

    >>> usual_text(0.16), usual_text(0.0)
    ('more usual than 16 % of people', 'rarer than anybody in the data')
    """
    if share <= 0:
        return f"rarer than {rows.anybody} in the data"
    return f"more usual than {format_percent(share)} of {rows.many}"


def change_text(feature: Feature, before: str, after: str, *, rises: bool | None) -> str:
    """One change as somebody would say it; ``rises`` is None where there is no more and no less.

    >>> change_text(Feature("bp", label="blood pressure", unit="mmHg"), "84", "106", rises=True)
    'raise blood pressure from 84 to 106 mmHg'
    """
    verb = "change"
    if rises is not None:
        verb = "raise" if rises else "lower"
    unit = f" {feature.unit}" if feature.unit else ""
    return to_one_line(f"{verb} {feature.display_name} from {before} to {after}{unit}")


def on_the_way_text(certificate: Certificate, after: float, rows: RowWords = PEOPLE) -> str | None:
    """How usual the states are along a step, as what follows how usual the state ``after`` it is.

    None where a sentence says it at length. Without a floor there is nothing to say where a step
    crosses states that nobody is in.
    """
    if certificate.entry or not certificate.holds:
        return None
    if certificate.rule != "strict":
        return certificate.sentence_about(rows)
    if certificate.lowest <= 0:
        return None
    proof = "" if certificate.certified else SAMPLED
    share = format_percent(certificate.lowest)
    if share == format_percent(after):
        return f"and always on the way{proof}"
    return f"on the way always more than {share}{proof}"


def order_text(action: Action) -> str | None:
    """Why an action cannot come earlier, where it cannot."""
    if not action.follows:
        return None
    numbers = join_words([str(one + 1) for one in action.follows])
    return f"only after {numbers}: earlier it would lead through states too rare or not allowed"


def floor_kept(answer: Recourse) -> float | None:
    """The floor that the steps keep, where it is lower than the one that was asked for."""
    kept = [one for one in _certificates(answer) if not one.entry]
    lowest = min((one.floor for one in kept), default=answer.min_density)
    return lowest if lowest < answer.min_density else None


def floor_kept_text(answer: Recourse) -> str | None:
    """Why steps are held to another floor than was asked for, for where the floor is set."""
    kept = floor_kept(answer)
    if kept is None:
        return None
    asked = format_percent(answer.min_density)
    if answer.relaxed_to is not None:
        return (
            f"lowered {format_lowered_floor(answer.min_density, answer.relaxed_to)} to open a way"
        )
    now = format_percent(answer.densities[0])
    one = answer.schema.each_row.one
    return f"this {one} stands at {now} already, below {asked}: no step goes lower than that"


def fact_lines(answer: Recourse) -> list[dict[str, Any]]:
    """What holds for the answer as a whole; ``term`` is the word that explains it."""
    found = [*_floor_facts(answer)]
    if answer.status is not Status.ALREADY_THERE:
        found += _company_facts(answer)
    if answer.found:
        found += _plan_facts(answer)
    found += _missing_facts(answer)
    found += [("evidence", line) for line in evidence_notes(answer)]
    if answer.waiting is not None:
        found.append(("waiting", waiting_sentence(answer.waiting, answer.schema, answer.target)))
    seen = answer.disclosure
    share = format_percent(seen.rows / seen.of) if seen.of else "0 %"
    found.append(("disclosure", f"{seen.rows:,} of {seen.of:,} records were looked at ({share})"))
    return [{"term": term, "text": to_one_line(text)} for term, text in found]


def _certificates(answer: Recourse) -> Sequence[Certificate]:
    return [action.certificate for action in answer.actions] or list(answer.certificates)


def _floor_facts(answer: Recourse) -> Iterator[tuple[str, str]]:
    every = _certificates(answer)
    kept = [one for one in every if not one.entry]
    if not kept or not all(one.holds for one in kept):
        return
    step = "after the first step, every step" if len(kept) < len(every) else "every step"
    certified = all(one.certified for one in kept)
    how = "is proven to stay" if certified else "stays"
    sampled = "" if certified else SAMPLED
    lowest = min(one.floor for one in kept)
    rows = answer.schema.each_row
    if kept[0].rule == "cover" and kept[0].people is not None:
        yield "floor", f"{step} has at least {kept[0].people:,} similar {rows.many} around it"
    elif kept[0].rule == "average":
        yield "floor", f"{step} {how} on average {usual_text(lowest, rows)}{sampled}"
    elif lowest <= 0:
        lowered = answer.relaxed_to is not None
        why = "the floor was lowered to 0 %" if lowered else "no floor was asked for"
        yield "floor", f"{why}: a step may lead through states that {rows.nobody} is in"
    else:
        yield "floor", f"{step} {how} {usual_text(lowest, rows)}{sampled}"


def _company_facts(answer: Recourse) -> Iterator[tuple[str, str]]:
    rows = answer.schema.each_row
    lacking = lacking_in_words(answer.schema, answer.records[0])
    clause = comparable_clause(answer.shared, lacking, rows)
    if answer.n_comparable is None or not clause:
        return
    many = f"{format_about(answer.n_comparable)} {rows.many}"
    yield "comparable", f"compared with about {many}{clause}"


def _plan_facts(answer: Recourse) -> Iterator[tuple[str, str]]:
    if answer.actions:
        size = PlanSize.of(answer.schema, answer.actions)
        many = format_count(size.features, "feature changes", "features change")
        many = f"{many}{size.linked_words}"
        effort = format_number(float(f"{answer.effort:.2g}"))
        rows = answer.schema.each_row.many
        yield "effort", f"in all {many}, by {effort} ordinary differences between {rows}"
    if answer.proven_within is not None:
        within = format_percent(answer.proven_within)
        yield "proof", f"no path through the data is more than {within} shorter: proven"
    if answer.cut_short:
        yield "cut short", "the search was cut short: with more time there may be a better answer"
    if answer.robustness is not None:
        yield from (("robustness", sentence) for sentence in answer.robustness.sentences)


def _missing_facts(answer: Recourse) -> Iterator[tuple[str, str]]:
    if answer.missing:
        names = [answer.schema[name].display_name for name in answer.missing]
        some = names[: 2 * _NAMED]
        more = [f"{len(names) - len(some)} more"] if len(names) > len(some) else []
        yield "missing", f"not known: {join_words([*some, *more])}; no action needs it"
    for one in answer.measurements:
        name = answer.schema[one.feature].display_name
        yield "missing", measurement_sentence(one, name)
