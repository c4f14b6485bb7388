"""How an answer looks to a person: the same page as plain text or as HTML, in the user's own units."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from localface.answers.move_evidence import CAUTION
from localface.data.schema import Feature, Schema
from localface.types import Array

if TYPE_CHECKING:
    from localface.answers.recourse import Certificate, Recourse

MOST_LINES = 6
"""Changes shown for one step; the others are counted."""

SAMPLED = " (sampled, not proven)"
"""What is added to a claim that rests on samples."""

DRAWS = 200
"""Small deviations from the actions that the robustness of an answer is measured on."""

_SAME = 1e-9  # by how much of the resolution rounding may make a change look too small


@dataclass(frozen=True, slots=True)
class Change:
    """One feature that is no longer what it was; ``size`` is counted in ordinary differences."""

    feature: Feature
    before: object
    after: object
    size: float
    shown: tuple[str, str]

    @property
    def name(self) -> str:
        """The feature's name."""
        return self.feature.name

    def __str__(self) -> str:
        unit = f" {self.feature.unit}" if self.feature.unit else ""
        return f"{self.shown[0]} -> {self.shown[1]}{unit}"


@dataclass(frozen=True, slots=True)
class Step:
    """One numbered block of a page: what changes, the score it leads to, and what else is to be said."""

    number: int
    changes: tuple[Change, ...]
    smaller: int
    score: str
    notes: tuple[str, ...] = ()

    @property
    def rest(self) -> str:
        """A sentence for the changes that are not shown, or nothing."""
        if not self.smaller:
            return ""
        what = f"{self.smaller} smaller change{'s' if self.smaller > 1 else ''}"
        return f"and {what}" if self.changes else f"only {what}"


@dataclass(frozen=True, slots=True)
class Page:
    """Everything there is to show; ``alerts`` stand on top of it, whatever it is rendered as."""

    headline: str
    alerts: tuple[str, ...] = ()
    opening: tuple[str, ...] = ()
    now: str = ""
    steps: tuple[Step, ...] = ()
    closing: tuple[str, ...] = ()


def changes_between(
    schema: Schema, scales: Sequence[float], before: Array, after: Array
) -> tuple[Change, ...]:
    """List the features that differ by at least their resolution, the largest change first."""
    found = []
    for feature, scale, old, new in zip(
        schema, scales, before.tolist(), after.tolist(), strict=True
    ):
        if old == new or (
            not feature.discrete and abs(new - old) < (feature.resolution or 0.0) * (1 - _SAME)
        ):
            continue
        size = (1.0 if feature.discrete else abs(new - old)) / scale
        shown = (feature.format(old), feature.format(new))
        found.append(Change(feature, feature.value(old), feature.value(new), size, shown))
    return tuple(sorted(found, key=lambda change: -change.size))


def step_of(
    number: int, changes: Sequence[Change], score: str, notes: tuple[str, ...] = ()
) -> Step:
    """Lay out one step: a few lines for what a person can see change, and a count of the rest."""
    visible = [change for change in changes if change.shown[0] != change.shown[1]][:MOST_LINES]
    return Step(number, tuple(visible), len(changes) - len(visible), score, notes)


def percent(share: float, digits: int = 2) -> str:
    """Say a share in per cent, with as many digits as the nearer end of the scale deserves.

    >>> percent(0.05), percent(0.0074589), percent(0.9961), percent(0.125)
    ('5 %', '0.75 %', '99.61 %', '12 %')
    """
    value = 100 * share
    room = min(value, 100 - value)
    if room <= 0:
        return f"{value:.0f} %"
    if room < 1e-4:
        return "less than 0.0001 %" if value < 50 else "more than 99.9999 %"
    decimals = max(0, digits - 1 - math.floor(math.log10(room)))
    text = f"{value:.{decimals}f}"
    return f"{text.rstrip('0').rstrip('.') if '.' in text else text} %"


def percents(first: float, second: float) -> tuple[str, str]:
    """Say two different shares so that they also look different."""
    for digits in range(2, 8):
        pair = percent(first, digits), percent(second, digits)
        if pair[0] != pair[1]:
            break
    return pair


def people(share: float) -> str:
    """Say a share of people the way people do, where that is true.

    >>> people(0.05), people(0.03), people(0.4)
    ("1 in 20 people's", "3 % of people's", "40 % of people's")
    """
    if 0 < share <= 0.25:
        one_in = round(1 / share)
        if abs(one_in * share - 1) < 1e-3:
            return f"1 in {one_in:,} people's"
    return f"{percent(share)} of people's"


def more_unusual_than(share: float) -> str:
    """Say how unusual the ground is where ``share`` of people stand on less common ground."""
    return (
        f"more unusual than {percent(1 - share)} of people's"
        if share > 0
        else "more unusual than anybody's"
    )


def number(value: float, decimals: int | None = None) -> str:
    """Write a number for people: about four digits, thousands set apart, no exponent unless it must be.

    >>> number(40000.0), number(0.75), number(-12.3456), number(0.0)
    ('40,000', '0.75', '-12.35', '0')
    """
    size = abs(value)
    if size and not 1e-4 <= size < 1e15:
        return f"{value:.4g}"
    if decimals is None:
        decimals = max(0, 3 - math.floor(math.log10(size))) if size else 0
    text = f"{value:,.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def plain(text: str) -> str:
    """Keep a name from the data on one line, free of control characters."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def page_of(answer: Recourse) -> Page:
    """Put the answer on a page; whatever was relaxed stands on top."""
    now = answer.target.show(answer.scores[0])
    if not answer.found:
        opening = tuple(line for line in (answer.status.value, answer.reason) if line)
        closing = (f"wanted: {answer.target.sentence}", f"seen: {answer.disclosure.sentence}")
        return Page(repr(answer), alerts=_alerts(answer), opening=opening, now=now, closing=closing)
    opening = (answer.reason,) if answer.reason else ()
    return Page(
        repr(answer),
        alerts=_alerts(answer),
        opening=opening,
        now=now,
        steps=_steps(answer),
        closing=_closing(answer),
    )


def _steps(answer: Recourse) -> tuple[Step, ...]:
    """One block per action or, where none were asked for, per step of the path."""
    if answer.actions:
        return tuple(_done(answer, i) for i in range(len(answer.actions)))
    steps = []
    for i, certificate in enumerate(answer.certificates):
        changes = changes_between(
            answer.schema, answer.scales, answer.records[i], answer.records[i + 1]
        )
        notes = (certificate.sentence,) if certificate.entry or not certificate.holds else ()
        steps.append(step_of(i + 1, changes, answer.target.show(answer.scores[i + 1]), notes))
    return tuple(steps)


def _done(answer: Recourse, place: int) -> Step:
    """One action: what changes, what must come first, and who is there already."""
    action = answer.actions[place]
    changes = []
    for name, value in action.changes.items():
        feature = answer.schema[name]
        codes = feature.code(action.before[name]), feature.code(value)
        shown = (feature.format(codes[0]), feature.format(codes[1]))
        changes.append(Change(feature, action.before[name], value, abs(codes[1] - codes[0]), shown))
    words = ["together"] if action.together else []
    words += (
        [f"needs step {listing(one + 1 for one in action.follows)} first"] if action.follows else []
    )
    words += [f"{action.people:,} people are near" if action.people != 1 else "1 person is near"]
    notes = ["; ".join(words)]
    if action.certificate.entry or not action.certificate.holds:
        notes.append(action.certificate.sentence)
    if action.evidence is not None:
        notes.append(plain(action.evidence.sentence))
    return step_of(place + 1, changes, answer.target.show(action.score), tuple(notes))


def listing(numbers: Iterable[int]) -> str:
    """Join numbers for a sentence.

    >>> listing([1]), listing([1, 2, 3])
    ('1', '1, 2 and 3')
    """
    *most, last = (str(number) for number in numbers)
    return f"{', '.join(most)} and {last}" if most else last


def _alerts(answer: Recourse) -> tuple[str, ...]:
    """What nobody may overlook: a lowered floor, and steps that break the floor without being an entry."""
    alerts = []
    if answer.relaxed_to is not None:
        before, after = percents(answer.min_density, answer.relaxed_to)
        crosses = f"the path crosses ground {more_unusual_than(answer.relaxed_to)}"
        least = "the least that opens a path from neighbour to neighbour"
        alerts.append(
            f"relaxed: the floor was lowered from {before} to {after}, {least}; {crosses}"
        )
    for name, far in answer.widened.items():
        unit = f" {answer.schema[name].unit}" if answer.schema[name].unit else ""
        alerts.append(
            f"relaxed: {name} moves by {number(far)}{unit}, further than was allowed: nobody nearer reaches it"
        )
    broken = [i + 1 for i, one in enumerate(answer.certificates) if not (one.holds or one.entry)]
    if broken:
        alerts.append(
            f"below the floor: {len(broken)} of {len(answer.certificates)} steps (see below)"
        )
    return tuple(alerts)


def _closing(answer: Recourse) -> tuple[str, ...]:
    """What holds for the actions as a whole or, without any, for the path."""
    lines = []
    shown = [action.certificate for action in answer.actions] or list(answer.certificates)
    kept = [one for one in shown if not one.entry]
    if kept and all(one.holds for one in kept):
        every = "after the entry, every step" if len(kept) < len(shown) else "every step"
        lines.append(
            f"{every} {_kept(answer, kept[0])}{'' if all(one.certified for one in kept) else SAMPLED}"
        )
    if answer.actions:
        n = len(answer.certificates)
        through = "to a state that is nobody's" if answer.composed else "through real people"
        lines.append(f"beside it: a path of {n} step{'' if n == 1 else 's'} {through} (.path)")
    elif answer.composed:
        lines.append("it ends at a state that is nobody's, on ground as common as the rest")
    if answer.proven_within is not None:
        lines.append(
            f"no path over all the data is more than {percent(answer.proven_within)} shorter"
        )
    if answer.robustness is not None:
        share = f"{percent(answer.robustness)} of {DRAWS} small deviations from it"
        lines.append(f"robust to noise: {share} still reach the target")
    return (*lines, *witnessed(answer))


def witnessed(answer: Recourse) -> tuple[str, ...]:
    """What must be said beside counts of what others did: what they were compared by, and that it shows no cause."""
    told = [action.evidence for action in answer.actions if action.evidence is not None]
    counted = [one for one in told if one.features]
    if not counted:
        return (CAUTION,) if told else ()
    ignored = [name for name in answer.schema.names if any(name in one.ignored for one in counted)]
    n, most = len(answer.schema), max(len(one.features) for one in counted)
    more = ", and in what changes" if most > n - len(ignored) else ""
    apart = f"; not compared{' otherwise' if more else ''}: {', '.join(ignored)}" if ignored else ""
    return f"similar: close in {n - len(ignored)} of {n} features{more}{apart}", CAUTION


def _kept(answer: Recourse, certificate: Certificate) -> str:
    """Say which floor the steps keep, in the words of their rule."""
    if certificate.rule == "cover" and certificate.people is not None:
        return f"has at least {certificate.people:,} similar people around each of its places"
    asked = answer.min_density if answer.relaxed_to is None else answer.relaxed_to
    on_average = " on average" if certificate.rule == "average" else ""
    if certificate.floor < asked:
        return f"passes{on_average} through no place more unusual than where this person stands now"
    if asked <= 0:
        return "may cross any ground: no floor was asked for"
    return f"passes{on_average} through places at least as common as {people(asked)}"


def as_text(page: Page) -> str:
    """Render a page for a terminal."""
    names = [len(plain(change.name)) for step in page.steps for change in step.changes]
    texts = [len(plain(str(change))) for step in page.steps for change in step.changes]
    name, text = min(max(names, default=0), 28), min(max(texts, default=0), 36)
    lines = [
        *map(plain, page.alerts),
        plain(page.headline),
        *(f"  {plain(line)}" for line in page.opening),
    ]
    if page.now:
        lines.append(f"  {'now':<{name + text + 7}}score {page.now}")
    for step in page.steps:
        lines.extend(_step_lines(step, name, text))
    return "\n".join([*lines, *(f"  {plain(line)}" for line in page.closing)])


def _step_lines(step: Step, name: int, text: int) -> Iterator[str]:
    """Yield the lines of one step: the score stands beside the last of its changes."""
    rows = [
        f"{plain(change.name):<{name}}  {plain(str(change)):<{text}}" for change in step.changes
    ]
    if step.rest:
        rows.append(f"{step.rest:<{name + text + 2}}")
    rows = rows or [" " * (name + text + 2)]
    rows[-1] += f"  score {step.score}"
    for i, row in enumerate([*rows, *step.notes]):
        mark = str(step.number) if i == 0 else ""
        yield f"  {mark:<3}{row}".rstrip()


_STYLE = """<style>
.localface-recourse {color: inherit; font-family: inherit; max-width: 60em}
.localface-recourse table {border-collapse: collapse; color: inherit; background: transparent}
.localface-recourse caption, .localface-recourse th, .localface-recourse td {text-align: left}
.localface-recourse caption {font-weight: bold; padding: .3em 0}
.localface-recourse th, .localface-recourse td {padding: .2em .8em .2em 0; vertical-align: top}
.localface-recourse tbody {border-top: 1px solid rgba(128, 128, 128, .6)}
.localface-recourse .alert {border-left: .3em solid #b35900; padding: .3em .6em; background: rgba(179, 89, 0, .12)}
@media (prefers-color-scheme: dark) {.localface-recourse .alert {border-color: #ffb366}}
</style>"""

_HEAD = "".join(
    f'<th scope="col">{name}</th>' for name in ("step", "feature", "from", "to", "unit", "score")
)


def as_html(page: Page) -> str:
    """Render a page for a notebook: an accessible table; every word of the data is escaped."""
    alerts = "".join(
        f'<p class="alert" role="note"><strong>{escape(line)}</strong></p>' for line in page.alerts
    )
    opening, closing = (
        "".join(f"<p>{escape(line)}</p>" for line in lines)
        for lines in (page.opening, page.closing)
    )
    headline = escape(page.headline.strip("<>"))
    if page.steps:
        now = f'<tr><th scope="rowgroup">now</th><td colspan="4"></td><td>{escape(page.now)}</td></tr>'
        body = f"<tbody>{now}</tbody>" + "".join(_step_rows(step) for step in page.steps)
        table = f"<table><caption>{headline}</caption><thead><tr>{_HEAD}</tr></thead>{body}</table>"
        middle = opening + table
    else:
        now = f"<p>now: score {escape(page.now)}</p>" if page.now else ""
        middle = f"<p><strong>{headline}</strong></p>{opening}{now}"
    return f'{_STYLE}<div class="localface-recourse">{alerts}{middle}{closing}</div>'


def _step_rows(step: Step) -> str:
    """Write one step as a group of rows under its number; the score stands in the last of them."""
    rows = [
        [
            f"<td>{escape(cell)}</td>"
            for cell in (change.name, *change.shown, change.feature.unit or "")
        ]
        for change in step.changes
    ]
    if step.rest or not rows:
        rows.append([f'<td colspan="4">{escape(step.rest)}</td>'])
    scores = [""] * (len(rows) - 1) + [step.score]
    cells = [
        "".join(row) + f"<td>{escape(score)}</td>" for row, score in zip(rows, scores, strict=True)
    ]
    cells += [f'<td colspan="5">{escape(note)}</td>' for note in step.notes]
    first = f'<th scope="rowgroup" rowspan="{len(cells)}">{step.number}</th>'
    return (
        "<tbody>"
        + "".join(f"<tr>{first if i == 0 else ''}{row}</tr>" for i, row in enumerate(cells))
        + "</tbody>"
    )
