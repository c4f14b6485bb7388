"""What stands on the page that shows an answer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from localface.answers.action import Action
from localface.answers.cautions import FEWEST_COMPARABLE, comparable_clause, lacking_in_words
from localface.answers.certificate import Certificate
from localface.answers.changes import FeatureChange, changes_between
from localface.answers.facts import RecourseFacts
from localface.answers.long_plans import PlanSize
from localface.answers.measurement import measurement_sentence, measuring_alone_sentence
from localface.answers.move_evidence import CAUTION
from localface.answers.purpose import purpose_besides_score
from localface.answers.status import Status
from localface.answers.waiting import waiting_sentence
from localface.answers.wording import (
    SAMPLED,
    format_about,
    format_count,
    format_lowered_floor,
    format_more_unusual_than,
    format_number,
    format_percent,
    format_share_of_people,
    format_state_reached,
    join_numbers,
    to_one_line,
)

MOST_LINES = 6
"""Changes shown for one step; the others are counted."""
_MOST_AT_ONCE = 12  # changes shown for one action, all of which somebody has to make; likewise

_MISSING_NAMED = 6  # features without a value which are named


@dataclass(frozen=True, slots=True)
class PageStep:
    """One numbered block of a page: what changes, the score it leads to, and further notes."""

    number: int
    changes: tuple[FeatureChange, ...]
    smaller: int
    score: str
    notes: tuple[str, ...] = ()

    @property
    def smaller_changes_phrase(self) -> str:
        """A sentence for the changes that are not shown, or nothing."""
        if not self.smaller:
            return ""
        many = format_count(self.smaller, "change", "changes")
        if not self.changes:
            return f"only {many} too small to show"
        return f"and {format_count(self.smaller, 'more change', 'more changes')}"


@dataclass(frozen=True, slots=True)
class Page:
    """Everything there is to show; ``alerts`` stand on top of it, whatever it is rendered as."""

    headline: str
    alerts: tuple[str, ...] = ()
    opening: tuple[str, ...] = ()
    now: str = ""
    noun: str = "score"
    steps: tuple[PageStep, ...] = ()
    closing: tuple[str, ...] = ()


def page_of(answer: RecourseFacts) -> Page:
    """Put the answer on a page; cautions stand on top, then whatever was relaxed."""
    now = answer.target.format_score(answer.scores[0])
    if not answer.found:
        return Page(
            repr(answer),
            alerts=(*caution_lines(answer.cautions), *alert_lines(answer)),
            opening=(
                *(line for line in (answer.status.value, answer.reason) if line),
                *_measuring_alone(answer),
            ),
            now=now,
            noun=answer.target.noun,
            closing=(
                f"wanted: {answer.target.sentence}",
                *(() if answer.status is Status.ALREADY_THERE else _comparable_lines(answer)),
                *_missing_lines(answer),
                f"seen: {answer.disclosure.sentence}",
            ),
        )
    return Page(
        repr(answer),
        alerts=(*caution_lines(answer.cautions), *alert_lines(answer)),
        opening=(*((answer.reason,) if answer.reason else ()), *_measuring_alone(answer)),
        now=now,
        noun=answer.target.noun,
        steps=_page_steps(answer),
        closing=(*_closing_lines(answer), *evidence_notes(answer), *_waiting_line(answer)),
    )


def _measuring_alone(answer: RecourseFacts) -> Iterator[str]:
    """Say on top where no action is needed but to measure."""
    if answer.status is not Status.ALREADY_THERE:
        for one in answer.measurements:
            if one.is_enough:
                yield measuring_alone_sentence(answer.schema[one.feature].display_name)


def make_page_step(
    number: int,
    changes: Sequence[FeatureChange],
    score: str,
    notes: tuple[str, ...] = (),
    *,
    most_lines: int = MOST_LINES,
) -> PageStep:
    """Lay out one step: a few lines for what a person can see change, and a count of the rest."""
    visible = [change for change in changes if change.texts[0] != change.texts[1]][:most_lines]
    return PageStep(number, tuple(visible), len(changes) - len(visible), score, notes)


def evidence_notes(answer: RecourseFacts) -> tuple[str, ...]:
    """What must be said beside counts of what others did: by what they were compared, a caution."""
    every = [action.evidence for action in answer.actions if action.evidence is not None]
    counted = [one for one in every if one.features]
    if not counted:
        return (CAUTION,) if every else ()
    ignored = [
        one.display_name for one in answer.schema if any(one.name in e.ignored for e in counted)
    ]
    n = len(answer.schema)
    most = max(len(one.features) for one in counted)
    more = ", and in what changes" if most > n - len(ignored) else ""
    apart = f"; not compared{' otherwise' if more else ''}: {', '.join(ignored)}" if ignored else ""
    return f"similar: close in {n - len(ignored)} of {n} features{more}{apart}", CAUTION


def _page_steps(answer: RecourseFacts) -> tuple[PageStep, ...]:
    """One block per action or, where none were asked for, per step of the path."""
    if answer.actions:
        return tuple(_page_step_of_action(answer, i) for i in range(len(answer.actions)))
    steps = []
    for i, certificate in enumerate(answer.certificates):
        changes = changes_between(
            answer.schema, answer.scales, answer.records[i], answer.records[i + 1]
        )
        score = answer.target.format_score(answer.scores[i + 1])
        steps.append(
            make_page_step(i + 1, changes, score, tuple(_floor_warning(answer, certificate)))
        )
    return tuple(steps)


def _page_step_of_action(answer: RecourseFacts, index: int) -> PageStep:
    """One action: what changes, what must come first, how common a state it leads to."""
    action = answer.actions[index]
    changes = changes_by_action(answer, action)
    words = []
    if action.together:
        words.append("together")
    if action.follows:
        steps = "step" if len(action.follows) == 1 else "steps"
        words.append(f"needs {steps} {join_numbers(one + 1 for one in action.follows)} first")
    words.append(format_state_reached(action.density, answer.schema.each_row))
    words.extend(filter(None, [purpose_besides_score(answer, index)]))
    notes = ["; ".join(words), *_floor_warning(answer, action.certificate)]
    if action.evidence is not None:
        notes.append(to_one_line(action.evidence.sentence))
    score = answer.target.format_score(action.score)
    return make_page_step(index + 1, changes, score, tuple(notes), most_lines=_MOST_AT_ONCE)


def changes_by_action(answer: RecourseFacts, action: Action) -> list[FeatureChange]:
    """What an action changes; the largest changes first where there are more than can be shown."""
    scales = dict(zip(answer.schema.names, answer.scales, strict=True))
    changes = []
    for name, value in action.changes.items():
        feature = answer.schema[name]
        old = feature.code(action.before[name])
        new = feature.code(value)
        texts = (feature.format(old), feature.format(new))
        size = (1.0 if feature.discrete else abs(new - old)) / scales[name]
        changes.append(FeatureChange(feature, action.before[name], value, size, texts))
    if len(changes) > _MOST_AT_ONCE:
        changes.sort(key=lambda change: -change.size)
    return changes


def _floor_warning(answer: RecourseFacts, certificate: Certificate) -> Iterator[str]:
    """What must be said of a step that does not keep the floor."""
    if certificate.entry or not certificate.holds:
        yield certificate.sentence_about(answer.schema.each_row)


def caution_lines(cautions: Iterable[str]) -> tuple[str, ...]:
    """Cautions as they stand on a page, marked as such."""
    return tuple(f"caution: {line}" for line in cautions)


def alert_lines(answer: RecourseFacts) -> Iterator[str]:
    """What nobody may overlook: a lowered floor, wider bounds, steps that break the floor."""
    if answer.relaxed_to is not None:
        lowered = format_lowered_floor(answer.min_density, answer.relaxed_to)
        rare = format_more_unusual_than(answer.relaxed_to, answer.schema.each_row)
        crosses = f"the path passes through states {rare}"
        least = "the least that opens a path from neighbour to neighbour"
        if answer.cut_short:
            least = "as little as was found when the search was cut short"
        yield f"relaxed: the floor was lowered {lowered}, {least}; {crosses}"
    for name, far in answer.widened.items():
        feature = answer.schema[name]
        unit = f" {feature.unit}" if feature.unit else ""
        further = f"further than was allowed: {answer.schema.each_row.nobody} nearer reaches it"
        yield f"relaxed: {feature.display_name} moves by {format_number(far)}{unit}, {further}"
    broken = [one for one in answer.certificates if not (one.holds or one.entry)]
    if broken:
        yield f"below the floor: {len(broken)} of {len(answer.certificates)} steps (see below)"


def _closing_lines(answer: RecourseFacts) -> Iterator[str]:
    """What holds for the actions as a whole or, without any, for the path."""
    yield from _floor_kept_lines(answer)
    yield from _comparable_lines(answer)
    yield from _missing_lines(answer)
    if answer.actions:
        n = len(answer.certificates)
        rows = answer.schema.each_row
        made = f"states made of real {rows.of_many} values"
        through = made if answer.composed else f"real {rows.many}"
        yield _plan_line(answer)
        yield (
            f"also found: a path of {n} step{'' if n == 1 else 's'} through {through} (.path)"
            f"{_proof(answer)}"
        )
    else:
        if answer.composed:
            yield "it ends at a combination of values that no row has, as common as the rest"
        if answer.proven_within is not None:
            within = format_percent(answer.proven_within)
            yield f"proven: no path over all the data is more than {within} shorter"
    if answer.cut_short:
        yield "cut short: with more time or more rows there may be a better answer"
    if answer.robustness is not None:
        yield from answer.robustness.sentences


def _plan_line(answer: RecourseFacts) -> str:
    """How much the actions ask for in all; that nothing less would do is looked for, not proven."""
    size = PlanSize.of(answer.schema, answer.actions)
    many = f"{format_count(size.features, 'feature', 'features')}{size.linked_words}"
    effort = format_number(float(f"{answer.effort:.2g}"))
    deviations = "standard deviation" if effort == "1" else "standard deviations"
    return f"in all: {many}, {effort} {deviations} of change; a smaller plan is not ruled out"


def _proof(answer: RecourseFacts) -> str:
    """What is proven of the path, where something is."""
    if answer.proven_within is None:
        return ""
    within = format_percent(answer.proven_within)
    return f"; proven: no path over all the data is more than {within} shorter"


def _waiting_line(answer: RecourseFacts) -> Iterator[str]:
    """Say that waiting alone would do, where it would."""
    if answer.waiting is not None:
        yield waiting_sentence(answer.waiting, answer.schema, answer.target)


def _floor_kept_lines(answer: RecourseFacts) -> Iterator[str]:
    """Say that all steps keep the floor, where they do."""
    every = [action.certificate for action in answer.actions] or list(answer.certificates)
    kept = [one for one in every if not one.entry]
    if kept and all(one.holds for one in kept):
        subject = "after the entry, every step" if len(kept) < len(every) else "every step"
        certified = all(one.certified for one in kept)
        phrase = _floor_phrase(answer, kept[0], certified=certified)
        yield f"{subject} {phrase}{'' if certified else SAMPLED}"


def _comparable_lines(answer: RecourseFacts) -> Iterator[str]:
    """Say with how many people states are compared, where some things never change.

    Where they are few, a caution has said so.
    """
    if answer.n_comparable is None or answer.n_comparable < FEWEST_COMPARABLE:
        return
    rows = answer.schema.each_row
    clause = comparable_clause(
        answer.shared, lacking_in_words(answer.schema, answer.records[0]), rows
    )
    if clause:
        yield f"compared with about {format_about(answer.n_comparable)} {rows.many}{clause}"


def _missing_lines(answer: RecourseFacts) -> Iterator[str]:
    """Name what nobody knows of this person: it stays so, and no action needs it."""
    if not answer.missing:
        return
    each = lacking_in_words(answer.schema, answer.records[0])
    shown = each[:_MISSING_NAMED]
    more = f" and {len(each) - len(shown)} more" if len(each) > len(shown) else ""
    if answer.status is Status.ALREADY_THERE:  # nothing changes, and nothing has to
        yield f"no value of {', '.join(shown)}{more}"
        return
    they, stay, them = ("it", "stays", "it") if len(each) == 1 else ("they", "stay", "them")
    needs = f", and no action needs {them}" if answer.found else ""
    yield f"no value of {', '.join(shown)}{more}: {they} {stay} so{needs}"
    for one in answer.measurements:
        yield measurement_sentence(one, answer.schema[one.feature].display_name)


def _floor_phrase(answer: RecourseFacts, certificate: Certificate, *, certified: bool) -> str:
    """Say which floor the steps keep, in the words of their rule."""
    rows = answer.schema.each_row
    if certificate.rule == "cover" and certificate.people is not None:
        return f"has at least {certificate.people:,} similar {rows.many} around each of its states"
    asked = answer.min_density if answer.relaxed_to is None else answer.relaxed_to
    passes = "is proven to pass" if certified else "passes"
    if certificate.rule == "average":
        passes = "passes on average"
    if certificate.floor < asked:
        return f"{passes} through no state more unusual than this {rows.of_one} own"
    if asked <= 0:
        lowered = answer.relaxed_to is not None
        why = "the floor was lowered to 0 %" if lowered else "no floor was asked for"
        return f"may pass through any state: {why}"
    return f"{passes} through states at least as common as {format_share_of_people(asked, rows)}"
