"""One picture of all tables: how often refits agree with answers, beside what these ask for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from lasting_bars import curve_settings
from localface.cases.readiness.drawing import AxisScale, Picture, svg_dot, svg_line, svg_text
from methods import METHODS
from pictures import LETTER, Corner, rounded
from summary import Row, among, mean, middle, names, of, on_usual_floor, peers, share

ACROSS = 2  # panels side by side
PANEL = (370, 236)
LEFT = 34
RIGHT = 12
TOP = 30
BOTTOM = 24
FOOT = 30
LEAST = 0.5  # of people that a peer has to answer to be drawn
SHORT = {"nearest-unlike": "nearest", "nice-sparse": "NICE", "wachter": "Wachter"}


class Panel(NamedTuple):
    """Where one table is drawn."""

    across: AxisScale
    up: AxisScale
    left: float
    top: float


def retrained(rows: Sequence[Row]) -> Picture:
    """A panel a table: our settings as lines, peers that answer half of the people as rings.

    What keeps to the usual floor is one line, what may pass rarer states another, dashed. Each
    leads along the settings with which most refits agree at no more effort.
    """
    worlds = names(rows, "world")
    body: list[str] = []
    for number, world in enumerate(worlds):
        body += _panel(number, world, _shared(of(rows, world=world)))
    deep = -(-len(worlds) // ACROSS)
    width, height = ACROSS * PANEL[0], deep * PANEL[1] + FOOT
    foot = "across: median effort of the answers, in standard deviations; up: refits that agree, %"
    body.append(svg_text(width / 2, height - 10, foot, look="quiet", anchor="middle"))
    alt = "how often refits agree with answers, beside their effort, on " + ", ".join(worlds)
    return Picture("retrained", alt, tuple(body), width, height)


def _shared(rows: Sequence[Row]) -> Sequence[Row]:
    """The people whom all our settings were asked about."""
    for setting in curve_settings(rows):
        rows = among(rows, of(rows, method=setting))
    return rows


def _panel(number: int, world: str, rows: Sequence[Row]) -> Iterator[str]:
    settings = _answered_mostly(rows)
    usual = sorted(_place(rows, one) for one in settings if on_usual_floor(one))
    lower = sorted(_place(rows, one) for one in settings if not on_usual_floor(one))
    dots = {
        peer: _place(rows, peer)
        for peer in peers(rows)
        if share(of(rows, method=peer), "found") >= LEAST and not METHODS[peer].tuned
    }
    most = rounded(max(x for x, _ in [*usual, *lower, *dots.values()]))
    at = _frame(number, most[-1])
    yield svg_text(at.left, at.top - 12, world, look="title")
    yield from _axes(at, most)
    for settled, look in ((usual, "first"), (lower, "second")):
        if settled:
            yield svg_line([(at.across(x), at.up(y)) for x, y in _best_so_far(settled)], look)
    drawn = [[(at.across(x), at.up(y)) for x, y in line] for line in (usual, lower)]
    rings = {peer: (at.across(x), at.up(y)) for peer, (x, y) in dots.items()}
    for x, y in rings.values():
        yield svg_dot(x, y, "ring", 3.5)
    for x, y in drawn[0]:
        yield svg_dot(x, y, "dot", 4.0)
    yield from _names(at, rings, [*drawn[0], *drawn[1]])


def _answered_mostly(rows: Sequence[Row]) -> list[str]:
    """Our settings that answer at least half as many people as the one that answers most."""
    answered = {one: len(of(rows, method=one, found=1.0)) for one in curve_settings(rows)}
    return [one for one, n in answered.items() if n and 2 * n >= max(answered.values())]


def _best_so_far(places: Sequence[tuple[float, float]]) -> Iterator[tuple[float, float]]:
    """The places, from the least effort on, that no other of less effort is above."""
    best = -1.0
    for x, y in places:
        if y > best:
            best = y
            yield x, y


def _place(rows: Sequence[Row], method: str) -> tuple[float, float]:
    got = of(rows, method=method, found=1.0)
    return middle(got, "l1"), 100 * mean(got, "retrained")


def _frame(number: int, most: float) -> Panel:
    left = (number % ACROSS) * PANEL[0] + LEFT
    top = (number // ACROSS) * PANEL[1] + TOP
    across = AxisScale(0.0, most, left, left + PANEL[0] - LEFT - RIGHT)
    up = AxisScale(0.0, 100.0, top + PANEL[1] - TOP - BOTTOM, top)
    return Panel(across, up, left, top)


def _axes(at: Panel, marks: Sequence[float]) -> Iterator[str]:
    low, high = at.up(0), at.up(100)
    yield svg_line([(at.left, high), (at.left, low), (at.across.end, low)], "axis")
    for value in (0, 50, 100):
        yield svg_text(at.left - 5, at.up(value) + 4, str(value), look="quiet", anchor="end")
        yield svg_line([(at.left, at.up(value)), (at.across.end, at.up(value))], "rule")
    for value in marks:
        yield svg_text(at.across(value), low + 14, f"{value:g}", look="quiet", anchor="middle")


def _names(
    at: Panel, rings: dict[str, tuple[float, float]], line: Sequence[tuple[float, float]]
) -> Iterator[str]:
    """The peers' names where there is room near their rings, with a line where not beside."""
    taken = [Corner(x - 4, x + 4, y - 4, y + 4) for x, y in [*rings.values(), *line]]
    for peer, (x, y) in sorted(rings.items(), key=lambda one: one[1][1]):
        name = SHORT.get(peer, peer)
        spots = [one for one in _spots(x, y, len(name) * LETTER) if _inside(one, at)]
        free = [one for one in spots if not any(one.meets(other) for other in taken)]
        if not free:
            continue
        taken.append(free[0])
        right = free[0].left > x
        edge = free[0].left if right else free[0].right
        if abs(free[0].bottom - 6 - y) > 6:
            yield svg_line([(x, y), (edge - 2 if right else edge + 2, free[0].bottom - 6)], "rule")
        anchor = "start" if right else "end"
        yield svg_text(edge, free[0].bottom - 2, name, look="quiet", anchor=anchor)


def _spots(x: float, y: float, width: float) -> Iterator[Corner]:
    """Places for a name, the nearest first, on the right before the left."""
    for way in sorted(range(-60, 64, 4), key=abs):
        for left in (x + 8, x - 8 - width):
            yield Corner(left, left + width, y + way - 5, y + way + 6)


def _inside(corner: Corner, at: Panel) -> bool:
    across = at.left < corner.left and corner.right < at.across.end + RIGHT
    return across and at.top - 8 < corner.top and corner.bottom < at.up(0) - 1
