"""The pictures of the case study: calibration, number of actions, features, criteria."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from localface.cases.readiness.codebook import CRITERIA, FEATURE_WORDS
from localface.cases.readiness.cohort_recourse import DIRECTIONS, Direction, PatientRecourse
from localface.cases.readiness.drawing import (
    AxisScale,
    Picture,
    svg_box,
    svg_dot,
    svg_line,
    svg_text,
)
from localface.types import Array

_WIDTH = 360
_MANY = 7  # actions; more are counted together
_FEATURES = 10  # shown of those that change


def calibration_picture(scores: Array, ready: Array, bins: int = 10) -> Picture:
    """Draw how often patients of about one score were ready, ten groups of equal size."""
    parts = np.array_split(np.argsort(scores, kind="stable"), min(bins, len(scores)))
    points = [(float(scores[part].mean()), float(ready[part].mean())) for part in parts]
    height = 300
    x = AxisScale(0, 1, 56, _WIDTH - 14)
    y = AxisScale(0, 1, height - 48, 14)
    body = []
    for value in (0.0, 0.25, 0.5, 0.75, 1.0):
        body += [svg_line([(x(0), y(value)), (x(1), y(value))], "rule")]
        body += [svg_text(x(0) - 8, y(value) + 4, f"{value:g}", look="quiet", anchor="end")]
        body += [svg_text(x(value), y(0) + 18, f"{value:g}", look="quiet", anchor="middle")]
    body += [svg_line([(x(0), y(0)), (x(1), y(1))], "second")]
    body += [
        svg_line([(x(a), y(b)) for a, b in points], "first"),
        *(svg_dot(x(a), y(b)) for a, b in points),
    ]
    body += [svg_text(x(0.5), height - 12, "score given by the forest", anchor="middle")]
    middle = f"rotate(-90 12 {y(0.5):.0f})"
    body += [
        (
            f'<g transform="{middle}">'
            f"{svg_text(12, y(0.5), 'share who were ready', anchor='middle')}</g>"
        )
    ]
    body += [svg_text(x(0.7), y(0.58), "as it should be", look="warn")]
    said = ", ".join(f"{a:.2f}: {b:.2f}" for a, b in points)
    alt = f"Calibration: mean score and share of patients who were ready, in ten groups. {said}."
    return Picture("calibration", alt, tuple(body), _WIDTH, height)


def actions_picture(people: Sequence[PatientRecourse]) -> Picture:
    """Draw how many actions an answer takes, for both directions."""
    shares = {direction: _action_shares(people, direction) for direction in DIRECTIONS}
    top = max(max(one) for one in shares.values()) or 1.0
    height = 230
    wide = (_WIDTH - 30) / _MANY
    y = AxisScale(0, top, height - 44, 40)
    body = [svg_line([(20, y(0)), (_WIDTH - 10, y(0))], "axis")]
    for n in range(_MANY):
        left = 24 + wide * n
        for number, direction in enumerate(DIRECTIONS):
            share = shares[direction][n]
            at = left + number * (wide / 2 - 4)
            look = ("bar", "other")[number]
            figure = f"{100 * share:.0f}"
            body += [svg_box(at, y(share), wide / 2 - 6, y(0) - y(share), look=look)]
            body += [
                svg_text(at + wide / 4 - 3, y(share) - 4, figure, look="quiet", anchor="middle")
            ]
        label = f"{n + 1}" if n + 1 < _MANY else f"{_MANY}+"
        body += [svg_text(left + wide / 2 - 5, y(0) + 16, label, anchor="middle")]
    body += [svg_text(_WIDTH / 2, height - 8, "actions in the answer", anchor="middle")]
    body += _draw_legend(["towards ready, %", "towards not ready, %"])
    said = "; ".join(
        f"towards {direction}: " + ", ".join(f"{100 * s:.0f} %" for s in shares[direction])
        for direction in DIRECTIONS
    )
    alt = f"How many actions an answer takes, 1 to {_MANY} or more. {said}."
    return Picture("actions", alt, tuple(body), _WIDTH, height)


def features_picture(people: Sequence[PatientRecourse]) -> Picture:
    """Draw which features the actions change most often, for both directions."""
    found = {
        direction: [one for one in people if one.direction == direction and one.answer.found]
        for direction in DIRECTIONS
    }
    counts = {
        direction: Counter(name for one in found[direction] for name in one.changed_features)
        for direction in DIRECTIONS
    }
    shares = {
        name: [counts[direction][name] / max(1, len(found[direction])) for direction in DIRECTIONS]
        for name in {name for direction in DIRECTIONS for name in counts[direction]}
    }
    names = sorted(shares, key=lambda name: (-max(shares[name]), name))[:_FEATURES]
    x = AxisScale(0, max((max(shares[name]) for name in names), default=1.0), 178, _WIDTH - 36)
    body = _draw_legend(["towards ready, %", "towards not ready, %"])
    for number, name in enumerate(names):
        top = 40 + 32 * number
        body += [svg_text(170, top + 15, FEATURE_WORDS[name], anchor="end")]
        for i, share in enumerate(shares[name]):
            body += [svg_box(178, top + 11 * i + 1, x(share) - 178, 9, look=("bar", "other")[i])]
            body += [svg_text(x(share) + 5, top + 11 * i + 9, f"{100 * share:.0f}", look="quiet")]
    said = "; ".join(
        f"{FEATURE_WORDS[name]}: {100 * shares[name][0]:.0f} % and {100 * shares[name][1]:.0f} %"
        for name in names
    )
    alt = f"How often answers towards ready, and towards not ready, change a feature. {said}."
    return Picture("features", alt, tuple(body), _WIDTH, 40 + 32 * len(names) + 6)


def criteria_picture(before: Array, after: Array, usual: Array) -> Picture:
    """Draw the share who meet each criterion before and after, beside those who were ready."""
    x = AxisScale(0, 1, 152, _WIDTH - 22)
    body = [
        svg_dot(64, 14, "ring"),
        svg_text(74, 18, "now"),
        svg_dot(116, 14),
        svg_text(126, 18, "after the actions"),
    ]
    body += [svg_line([(236, 7), (236, 21)], "mark"), svg_text(244, 18, "were ready")]
    bottom = 34 + 22 * len(CRITERIA)
    for value in (0.0, 0.5, 1.0):
        body += [svg_line([(x(value), 30), (x(value), bottom)], "rule")]
        body += [
            svg_text(x(value), bottom + 16, f"{100 * value:.0f} %", look="quiet", anchor="middle")
        ]
    for number, one in enumerate(CRITERIA):
        y = 44 + 22 * number
        body += [svg_text(144, y + 4, one.name, anchor="end")]
        body += [svg_line([(x(usual[number]), y - 7), (x(usual[number]), y + 7)], "mark")]
        body += [svg_line([(x(before[number]), y), (x(after[number]), y)], "first")]
        body += [svg_dot(x(before[number]), y, "ring"), svg_dot(x(after[number]), y)]
    said = "; ".join(
        f"{one.name}: {100 * b:.0f} to {100 * a:.0f} %"
        for one, b, a in zip(CRITERIA, before, after, strict=True)
    )
    alt = f"Share of people who meet each discharge criterion, now and after the actions. {said}."
    return Picture("criteria", alt, tuple(body), _WIDTH, bottom + 26)


def _action_shares(people: Sequence[PatientRecourse], direction: Direction) -> list[float]:
    """The share of answers with 1, 2, ... actions; the last counts all that have more."""
    found = [one.answer for one in people if one.direction == direction and one.answer.found]
    counts = [min(len(answer.actions), _MANY) for answer in found]
    if not counts:
        return [0.0] * _MANY
    return [float(np.mean([count == n for count in counts])) for n in range(1, _MANY + 1)]


def _draw_legend(words: Sequence[str]) -> list[str]:
    """Say what the two kinds of bars are."""
    drawn = []
    for number, (look, name) in enumerate(zip(("bar", "other"), words, strict=True)):
        drawn += [
            svg_box(24 + 150 * number, 8, 12, 12, look=look),
            svg_text(42 + 150 * number, 18, name),
        ]
    return drawn
