"""The pictures of the report: what ground costs, who is served, and what time buys."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from localface.cases.readiness.drawing import Picture, Scale, dot, line, text
from localface.metrics.groups import Line
from summary import Figures

WIDTH, HEIGHT = 660, 360
LEFT, RIGHT, TOP, BOTTOM = 56, 150, 22, 46


def trade(world: str, found: Sequence[Figures]) -> Picture:
    """How far people are sent against how rare the ground is that they are sent over."""
    dots = [(one.method, one.cost, 100 * one.lowest) for one in found if np.isfinite([one.cost, one.lowest]).all()]
    return scatter(
        f"trade-{world}",
        f"{world}: how far people are sent (across) and how common the rarest ground on the way is (up)",
        dots,
        ("length of the change, in ordinary differences", "rarest ground, % of people on rarer"),
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


def retrained(world: str, found: Sequence[Figures]) -> Picture:
    """How far people are sent against how often models that were trained again agree."""
    dots = [
        (one.method, one.cost, 100 * one.retrained) for one in found if np.isfinite([one.cost, one.retrained]).all()
    ]
    return scatter(
        f"retrained-{world}",
        f"{world}: how far people are sent (across) and how often retrained models agree (up)",
        dots,
        ("length of the change, in ordinary differences", "retrained models that agree, %"),
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
    xs, ys = [x for _, x, _ in dots] or [0.0], [y for _, _, y in dots] or [0.0]
    low, high = (np.floor(min(xs)), np.ceil(max(xs))) if powers else (0.0, 1.05 * max(xs) or 1.0)
    across = Scale(float(low), float(max(high, low + 1)) if powers else float(high), LEFT, WIDTH - RIGHT)
    up = Scale(0.0, max(100.0 if max(ys) > 50 else 10.0, 1.05 * max(ys)), HEIGHT - BOTTOM, TOP)
    body = _axes(across, up, axes, powers=powers)
    taken: list[tuple[float, float]] = []
    for method, x, y in sorted(dots, key=lambda one: -one[2]):
        px, py = across(x), up(y)
        body.append(dot(px, py, "dot" if method.startswith("localface") else "ring", 4.5))
        label = _free(px + 8, py + 4, taken)
        taken.append(label)
        body.append(text(*label, method, look="" if method.startswith("localface") else "quiet"))
    return Picture(name, alt, tuple(body), WIDTH, HEIGHT)


def _free(x: float, y: float, taken: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """The nearest place at or below where a label would be written that no other label has."""
    while any(abs(y - other) < 11 and abs(x - across) < 110 for across, other in taken):
        y += 3
    return x, y


def _axes(across: Scale, up: Scale, names: tuple[str, str], *, powers: bool) -> list[str]:
    body = [line([(LEFT, TOP), (LEFT, HEIGHT - BOTTOM), (WIDTH - RIGHT, HEIGHT - BOTTOM)], "axis")]
    ticks = np.arange(across.low, across.high + 0.5) if powers else np.linspace(across.low, across.high, 6)
    for value in ticks:
        label = f"{10.0**value:g}" if powers else f"{value:.3g}"
        body.append(text(across(value), HEIGHT - BOTTOM + 15, label, look="quiet", anchor="middle"))
    for value in np.linspace(up.low, up.high, 6):
        body.append(text(LEFT - 6, up(value) + 4, f"{value:.0f}", look="quiet", anchor="end"))
        body.append(line([(LEFT, up(value)), (WIDTH - RIGHT, up(value))], "rule"))
    body.append(text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, names[0], look="quiet", anchor="middle"))
    body.append(text(8, 13, names[1], look="quiet"))
    return body


def by_decile(lines: dict[str, Sequence[Line]]) -> Picture:
    """Success by where people start from, one line a method."""
    across, up = Scale(1, 10, LEFT, WIDTH - RIGHT), Scale(0, 100, HEIGHT - BOTTOM, TOP)
    body = _axes(
        across, up, ("where people start: 1 the loneliest tenth, 10 the most crowded", "sound, %"), powers=False
    )
    body = [one for one in body if 'anchor="middle"' not in one or "where people" in one]
    body += [text(across(i), HEIGHT - BOTTOM + 15, str(i), look="quiet", anchor="middle") for i in range(1, 11)]
    taken: list[tuple[float, float]] = []
    for method, found in lines.items():
        ours = method.startswith("localface")
        places = [(across(i + 1), up(100 * one.share)) for i, one in enumerate(found) if one.asked]
        body.append(line(places, "first" if ours else "second"))
        label = _free(places[-1][0] + 8, places[-1][1] + 4, taken)
        taken.append(label)
        body.append(text(*label, method, look="" if ours else "quiet"))
    alt = "sound success by density decile: " + "; ".join(
        f"{method} {100 * found[0].share:.0f} % in the loneliest" for method, found in lines.items() if found[0].asked
    )
    return Picture("deciles", alt, tuple(body), WIDTH, HEIGHT)
