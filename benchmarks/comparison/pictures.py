"""The pictures of the report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from localface.cases.readiness.drawing import AxisScale, Picture, svg_dot, svg_line, svg_text
from localface.evaluation.metrics.groups import GroupResult
from summary import Figures, ours

WIDTH = 760
HEIGHT = 440
LEFT = 56
RIGHT = 150
TOP = 22
BOTTOM = 46
SPAN = (LEFT, WIDTH - RIGHT)
LETTER = 5.9  # how wide a letter of a label is, about


def trade(world: str, found: Sequence[Figures]) -> Picture:
    """How far people are sent against how rare the ground is that they are sent over."""
    dots = [
        (one.method, one.cost, 100 * one.lowest)
        for one in found
        if np.isfinite([one.cost, one.lowest]).all()
    ]
    return scatter(
        f"trade-{world}",
        f"{world}: how far people are sent (across) and how common the rarest ground on the way "
        "is (up)",
        dots,
        ("length of the change, in standard deviations", "rarest ground, % of people on rarer"),
    )


def speed(world: str, found: Sequence[Figures]) -> Picture:
    """Seconds a person against sound success."""
    dots = [
        (one.method, float(np.log10(max(one.seconds, 1e-4))), 100 * one.sound.mean)
        for one in found
        if np.isfinite([one.seconds, one.sound.mean]).all()
    ]
    return scatter(
        f"time-{world}",
        f"{world}: seconds a person (across, each mark ten times the last) and sound success (up)",
        dots,
        ("seconds a person, median", "sound answers, % of asked"),
        powers=True,
    )


def scatter(
    name: str,
    alt: str,
    dots: Sequence[tuple[str, float, float]],
    axes: tuple[str, str],
    *,
    powers: bool = False,
) -> Picture:
    """One dot a method, named beside it; ours filled."""
    xs = [x for _, x, _ in dots] or [0.0]
    ys = [y for _, _, y in dots] or [0.0]
    low, high = (np.floor(min(xs)), np.ceil(max(xs))) if powers else (0.0, rounded(max(xs))[-1])
    across = (
        AxisScale(float(low), float(max(high, low + 1)), LEFT, WIDTH - RIGHT)
        if powers
        else AxisScale(0.0, high, *SPAN)
    )
    up = AxisScale(0.0, rounded(min(max(ys), 100.0))[-1], HEIGHT - BOTTOM, TOP)
    marks = (
        {value: f"{10.0**value:g}" for value in np.arange(across.low, across.high + 0.5)}
        if powers
        else None
    )
    body = _axes(across, up, axes, marks=marks)
    places = {method: (across(x), up(y)) for method, x, y in dots}
    body += [
        svg_dot(*place, "dot" if ours(method) else "ring", 4.5) for method, place in places.items()
    ]
    return Picture(name, alt, (*body, *_labels(places)), WIDTH, HEIGHT)


def rounded(most: float) -> list[float]:
    """Marks from 0 to at least ``most``, at round numbers."""
    if most <= 0:
        return [0.0, 1.0]
    size = 10.0 ** np.floor(np.log10(most / 5))
    step = size * next(one for one in (1, 2, 5, 10) if one * size >= most / 5 * (1 - 1e-9))
    return [float(step * i) for i in range(int(np.ceil(most / step - 1e-9)) + 1)]


class Corner(NamedTuple):
    """Where something is drawn: from the left to the right, and from the top to the bottom."""

    left: float
    right: float
    top: float
    bottom: float

    def meets(self, other: Corner) -> bool:
        """Whether two of them overlap."""
        apart = (
            self.right < other.left
            or other.right < self.left
            or self.bottom < other.top
            or other.bottom < self.top
        )
        return not apart


def _labels(places: dict[str, tuple[float, float]], *, right_only: bool = False) -> Iterator[str]:
    """The names, each as near to its dot as there is room, with a line where it is not beside."""
    taken = [Corner(x - 5, x + 5, y - 5, y + 5) for x, y in places.values()]
    for method, (x, y) in sorted(places.items(), key=lambda one: one[1][1]):
        width = len(method) * LETTER
        lefts = [x + 9] if right_only else [x + 9, x - 9 - width]
        at = _free(y, width, lefts, taken)
        taken.append(at)
        if abs(at.bottom - 3 - (y + 4)) > 6:
            near = at.left - 1 if at.left > x else at.right + 1
            yield svg_line([(x, y), (near, at.bottom - 6)], "axis")
        yield svg_text(at.left, at.bottom - 3, method, look="" if ours(method) else "quiet")


def _free(y: float, width: float, lefts: Sequence[float], taken: Sequence[Corner]) -> Corner:
    """The nearest free spot beside a dot; where there is none, the first beside it."""
    ways = sorted(range(-160, 170, 4), key=abs)
    options = [
        Corner(left, left + width, y + way - 5, y + way + 7) for way in ways for left in lefts
    ]
    inside = [
        one
        for one in options
        if one.left > LEFT and one.right < WIDTH and TOP < one.top < HEIGHT - BOTTOM - 12
    ]
    return next((one for one in inside if not any(one.meets(other) for other in taken)), options[0])


def _axes(
    across: AxisScale,
    up: AxisScale,
    names: tuple[str, str],
    *,
    marks: dict[float, str] | None = None,
) -> list[str]:
    body = [
        svg_line([(LEFT, TOP), (LEFT, HEIGHT - BOTTOM), (WIDTH - RIGHT, HEIGHT - BOTTOM)], "axis")
    ]
    for value, label in (marks or {value: f"{value:g}" for value in rounded(across.high)}).items():
        body.append(
            svg_text(across(value), HEIGHT - BOTTOM + 15, label, look="quiet", anchor="middle")
        )
    for value in rounded(up.high):
        body.append(svg_text(LEFT - 6, up(value) + 4, f"{value:g}", look="quiet", anchor="end"))
        body.append(svg_line([(LEFT, up(value)), (WIDTH - RIGHT, up(value))], "rule"))
    body.append(
        svg_text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, names[0], look="quiet", anchor="middle")
    )
    body.append(svg_text(8, 13, names[1], look="quiet"))
    return body


def by_decile(lines: dict[str, Sequence[GroupResult]]) -> Picture:
    """Success by where people start from, one line a method."""
    across = AxisScale(1, 10, *SPAN)
    up = AxisScale(0, 100, HEIGHT - BOTTOM, TOP)
    names = ("where people start: 1 the loneliest tenth, 10 the most crowded", "sound, %")
    body = _axes(across, up, names, marks={i: str(i) for i in range(1, 11)})
    ends: dict[str, tuple[float, float]] = {}
    for method, found in lines.items():
        places = [(across(i + 1), up(100 * one.share)) for i, one in enumerate(found) if one.asked]
        if places:
            body.append(svg_line(places, "first" if ours(method) else "second"))
            ends[method] = places[-1]
    alt = "sound success by density decile: " + "; ".join(
        f"{method} {100 * found[0].share:.0f} % in the loneliest"
        for method, found in lines.items()
        if found[0].asked
    )
    return Picture("deciles", alt, (*body, *_labels(ends, right_only=True)), WIDTH, HEIGHT)
