"""One patient's path as a picture: the score on top, the largest changes below."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from localface.answers.changes import changes_between
from localface.answers.target import Target
from localface.cases.readiness.codebook import FEATURE_WORDS, LABELS, criterion_of, format_value
from localface.cases.readiness.cohort_recourse import PatientRecourse
from localface.cases.readiness.drawing import (
    AxisScale,
    Picture,
    svg_box,
    svg_dot,
    svg_line,
    svg_text,
)
from localface.data.feature import Feature
from localface.types import Array

_WIDTH = 360
_LEFT = 34  # margin
_RIGHT = 24  # margin
_SCORE = 150  # height of the score panel
_PANEL = 98  # height of a feature panel
MAX_FEATURES = 4
"""Features drawn, as in the paper's figure."""


@dataclass(frozen=True, slots=True, eq=False)
class FeatureSeries:
    """One feature along the path."""

    feature: Feature
    codes: Array


def readiness_scores(person: PatientRecourse) -> list[float]:
    """The scores for being ready along the path, in whichever direction the patient was asked."""
    scores = person.answer.with_actions_as_path().scores
    return [score if person.direction == "ready" else 1 - score for score in scores]


def format_score(person: PatientRecourse, score: float) -> str:
    """A score for being ready, with enough digits to show that it is below the target."""
    return _readiness_target(person).format_score(score)


def _readiness_target(person: PatientRecourse) -> Target:
    if person.direction == "ready":
        return person.answer.target
    return Target("ready", 1 - person.answer.target.min_score, at_most=True)


def path_picture(person: PatientRecourse, name: str) -> Picture:
    """Draw one patient's path."""
    moved = series_of_changed_features(person)[:MAX_FEATURES]
    scores = readiness_scores(person)
    x = AxisScale(0, max(1, len(scores) - 1), _LEFT + 8, _WIDTH - _RIGHT)
    body = _draw_score_panel(person, scores, x)
    for number, series in enumerate(moved):
        body += _draw_feature_panel(series, x, _SCORE + _PANEL * number)
    bottom = _SCORE + _PANEL * len(moved)
    body += [
        svg_text(x(i), bottom + 16, "now" if i == 0 else str(i), look="quiet", anchor="middle")
        for i in range(len(scores))
    ]
    body += [svg_text(_WIDTH / 2, bottom + 34, "after action", anchor="middle")]
    said = "; ".join(
        f"{FEATURE_WORDS[one.feature.name]}: {_format_series_values(one)}" for one in moved
    )
    scores_shown = ", ".join(format_score(person, score) for score in scores)
    alt = f"Score for being ready: {scores_shown}. {said}."
    return Picture(name, alt, tuple(body), _WIDTH, bottom + 42)


def series_of_changed_features(person: PatientRecourse) -> list[FeatureSeries]:
    """What changes on the path, the largest change first."""
    answer = person.answer.with_actions_as_path()
    changed = changes_between(answer.schema, answer.scales, answer.records[0], answer.records[-1])
    return [
        FeatureSeries(one.feature, answer.records[:, answer.schema.index(one.name)])
        for one in changed
    ]


def _format_series_values(series: FeatureSeries) -> str:
    return ", ".join(format_value(series.feature, code) for code in series.codes.tolist())


def _draw_score_panel(person: PatientRecourse, scores: list[float], x: AxisScale) -> list[str]:
    y = AxisScale(0, 1, _SCORE - 18, 26)
    wanted = _readiness_target(person).min_score
    which = "at most" if _readiness_target(person).at_most else "at least"
    body = [svg_text(0, 12, "score for being ready", look="title")]
    for value in (0.0, 0.5, 1.0):
        body += [svg_line([(_LEFT, y(value)), (_WIDTH - 8, y(value))], "rule")]
        body += [svg_text(_LEFT - 8, y(value) + 4, f"{value:g}", look="quiet", anchor="end")]
    body += [svg_line([(_LEFT, y(wanted)), (_WIDTH - 8, y(wanted))], "second")]
    body += [svg_text(_WIDTH - 8, 12, f"- - wanted: {which} {wanted:g}", look="warn", anchor="end")]
    body += [svg_line([(x(i), y(score)) for i, score in enumerate(scores)], "first")]
    for i, score in enumerate(scores):
        below = person.direction == "ready" and score > wanted - 0.2
        top = y(score) + (17 if below else -9)
        body += [svg_dot(x(i), y(score))]
        body += [svg_text(x(i), top, format_score(person, score), anchor="middle")]
    return body


def _draw_feature_panel(series: FeatureSeries, x: AxisScale, top: float) -> list[str]:
    """One feature: its line, its values where they change, a band where the criterion is met."""
    feature = series.feature
    codes = series.codes.tolist()
    low, high = _axis_range(series)
    y = AxisScale(low, high, top + _PANEL - 14, top + 46)
    body = _draw_criterion_band(feature, y, top)
    body += [
        svg_text(0, top + 12, _feature_title(feature), look="title"),
        *_draw_criterion_words(feature, top),
    ]
    body += [svg_line([(_LEFT, y(low)), (_WIDTH - 8, y(low))], "rule")]
    points = [(x(i), y(code)) for i, code in enumerate(codes)]
    body += [svg_line(_with_flips_mid_step(points) if feature.discrete else points, "first")]
    for i, code in enumerate(codes):
        body += [svg_dot(x(i), y(code))]
        if i in (0, len(codes) - 1) or code != codes[i - 1]:
            body += [
                svg_text(x(i), y(code) - 9, _format_value_label(feature, code), anchor="middle")
            ]
    return body


def _with_flips_mid_step(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Nothing lies between the values of a discrete feature: it flips in the middle of a step."""
    line_points = []
    for (left, before), (right, after) in pairwise(points):
        middle = (left + right) / 2
        line_points += [(left, before), (middle, before), (middle, after), (right, after)]
    return line_points


def _format_value_label(feature: Feature, code: float) -> str:
    if feature.name in LABELS:
        return LABELS[feature.name][round(code)]
    return feature.format(code)


def _axis_range(series: FeatureSeries) -> tuple[float, float]:
    """The values, and the nearest end of the criterion where they lie outside it."""
    values = series.codes.tolist()
    low = min(values)
    high = max(values)
    test = criterion_of(series.feature.name)
    if test is not None and not test.holds(values).all():
        if test.low is not None and low < test.low:
            high = max(high, test.low)
        if test.high is not None and high > test.high:
            low = min(low, test.high)
    room = 0.12 * ((high - low) or 1.0)
    return low - room, high + room


def _draw_criterion_band(feature: Feature, y: AxisScale, top: float) -> list[str]:
    test = criterion_of(feature.name)
    if test is None:
        return []
    low = y.low if test.low is None else max(y.low, test.low)
    high = y.high if test.high is None else min(y.high, test.high)
    if low >= high and not feature.discrete:
        return []
    high = max(high, low + 0.06 * (y.high - y.low))
    return [svg_box(_LEFT, y(high), _WIDTH - 8 - _LEFT, y(low) - y(high), look="band")]


def _feature_title(feature: Feature) -> str:
    unit = format_value(feature, 0.0).partition(" ")[2]
    return FEATURE_WORDS[feature.name] + (f", {unit}" if unit else "")


def _draw_criterion_words(feature: Feature, top: float) -> list[str]:
    test = criterion_of(feature.name)
    words = "no criterion" if test is None else f"criterion: {test.words}"
    return [svg_text(0, top + 26, words, look="quiet")]
