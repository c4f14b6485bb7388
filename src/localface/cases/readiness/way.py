"""One patient's way as a picture: the score on top, what changes most below, and where the criteria lie."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from localface.answers.changes import changes_between
from localface.answers.target import Target
from localface.cases.readiness.codebook import LABELS, WORDS, criterion_of, shown
from localface.cases.readiness.drawing import Picture, Scale, box, dot, line, text
from localface.cases.readiness.journeys import TestedPatient
from localface.data.feature import Feature
from localface.types import Array

_WIDTH, _LEFT, _RIGHT = 360, 34, 24
_SCORE, _PANEL = 150, 98  # heights
MOST = 4
"""Features drawn, as in the paper's figure."""


@dataclass(frozen=True, slots=True, eq=False)
class Movement:
    """One feature along the way."""

    feature: Feature
    codes: Array


def readiness_scores(person: TestedPatient) -> list[float]:
    """The scores for being ready along the way, whichever way the person was asked to go."""
    scores = person.answer.followed().scores
    return [score if person.direction == "ready" else 1 - score for score in scores]


def score_shown(person: TestedPatient, score: float) -> str:
    """A score for being ready, with as many digits as it takes not to look arrived when it is not."""
    return _wanted(person).show(score)


def _wanted(person: TestedPatient) -> Target:
    if person.direction == "ready":
        return person.answer.target
    return Target("ready", 1 - person.answer.target.min_score, at_most=True)


def way(person: TestedPatient, name: str) -> Picture:
    """Draw one patient's way."""
    moved = movements(person)[:MOST]
    scores = readiness_scores(person)
    x = Scale(0, max(1, len(scores) - 1), _LEFT + 8, _WIDTH - _RIGHT)
    body = _score_panel(person, scores, x)
    for place, movement in enumerate(moved):
        body += _feature_panel(movement, x, _SCORE + _PANEL * place)
    bottom = _SCORE + _PANEL * len(moved)
    body += [
        text(x(i), bottom + 16, "now" if i == 0 else str(i), look="quiet", anchor="middle")
        for i in range(len(scores))
    ]
    body += [text(_WIDTH / 2, bottom + 34, "after action", anchor="middle")]
    said = "; ".join(
        f"{WORDS[one.feature.name]}: {', '.join(shown(one.feature, code) for code in one.codes.tolist())}"
        for one in moved
    )
    alt = f"Score for being ready: {', '.join(score_shown(person, score) for score in scores)}. {said}."
    return Picture(name, alt, tuple(body), _WIDTH, bottom + 42)


def movements(person: TestedPatient) -> list[Movement]:
    """What changes on the way, the largest change first."""
    answer = person.answer.followed()
    changed = changes_between(answer.schema, answer.scales, answer.records[0], answer.records[-1])
    return [
        Movement(one.feature, answer.records[:, answer.schema.index(one.name)]) for one in changed
    ]


def _score_panel(person: TestedPatient, scores: list[float], x: Scale) -> list[str]:
    y = Scale(0, 1, _SCORE - 18, 26)
    wanted, which = _wanted(person).min_score, "at most" if _wanted(person).at_most else "at least"
    body = [text(0, 12, "score for being ready", look="title")]
    for value in (0.0, 0.5, 1.0):
        body += [line([(_LEFT, y(value)), (_WIDTH - 8, y(value))], "rule")]
        body += [text(_LEFT - 8, y(value) + 4, f"{value:g}", look="quiet", anchor="end")]
    body += [line([(_LEFT, y(wanted)), (_WIDTH - 8, y(wanted))], "second")]
    body += [text(_WIDTH - 8, 12, f"- - wanted: {which} {wanted:g}", look="warn", anchor="end")]
    body += [line([(x(i), y(score)) for i, score in enumerate(scores)], "first")]
    for i, score in enumerate(scores):
        below = person.direction == "ready" and score > wanted - 0.2
        body += [
            dot(x(i), y(score)),
            text(
                x(i), y(score) + (17 if below else -9), score_shown(person, score), anchor="middle"
            ),
        ]
    return body


def _feature_panel(movement: Movement, x: Scale, top: float) -> list[str]:
    """One feature: its line, its values where they change, and a band where the criterion is met."""
    feature, codes = movement.feature, movement.codes.tolist()
    low, high = _range(movement)
    y = Scale(low, high, top + _PANEL - 14, top + 46)
    body = _band(feature, y, top)
    body += [text(0, top + 12, _title(feature), look="title"), *_condition(feature, top)]
    body += [line([(_LEFT, y(low)), (_WIDTH - 8, y(low))], "rule")]
    points = [(x(i), y(code)) for i, code in enumerate(codes)]
    if feature.discrete:  # nothing lies between its values: it flips in the middle of a step
        points = [
            p
            for a, b in pairwise(points)
            for p in (a, ((a[0] + b[0]) / 2, a[1]), ((a[0] + b[0]) / 2, b[1]), b)
        ]
    body += [line(points, "first")]
    for i, code in enumerate(codes):
        body += [dot(x(i), y(code))]
        if i in (0, len(codes) - 1) or code != codes[i - 1]:
            label = (
                LABELS[feature.name][round(code)]
                if feature.name in LABELS
                else feature.format(code)
            )
            body += [text(x(i), y(code) - 9, label, anchor="middle")]
    return body


def _range(movement: Movement) -> tuple[float, float]:
    """The values, and the nearest end of the criterion where they lie outside it."""
    values = movement.codes.tolist()
    low, high = min(values), max(values)
    test = criterion_of(movement.feature.name)
    if test is not None and not test.holds(values).all():
        if test.low is not None and low < test.low:
            high = max(high, test.low)
        if test.high is not None and high > test.high:
            low = min(low, test.high)
    room = 0.12 * ((high - low) or 1.0)
    return low - room, high + room


def _band(feature: Feature, y: Scale, top: float) -> list[str]:
    test = criterion_of(feature.name)
    if test is None:
        return []
    low = y.low if test.low is None else max(y.low, test.low)
    high = y.high if test.high is None else min(y.high, test.high)
    if low >= high and not feature.discrete:
        return []
    high = max(high, low + 0.06 * (y.high - y.low))
    return [box(_LEFT, y(high), _WIDTH - 8 - _LEFT, y(low) - y(high), look="band")]


def _title(feature: Feature) -> str:
    unit = shown(feature, 0.0).partition(" ")[2]
    return WORDS[feature.name] + (f", {unit}" if unit else "")


def _condition(feature: Feature, top: float) -> list[str]:
    test = criterion_of(feature.name)
    words = "no criterion" if test is None else f"criterion: {test.words}"
    return [text(0, top + 26, words, look="quiet")]
