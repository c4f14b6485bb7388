"""The three stages of one search on a plane, side by side: the paper's first figure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from localface.analyses.trace import JudgedSteps, Trace, trace_search
from localface.answers.wording import format_number
from localface.apps.plots.plane import Plane, draw_bar, draw_ground, ground_keys, plane_of
from localface.apps.plots.style import GREEN, INK, NORMAL, ORANGE, RED, canvas, draw_dots
from localface.engine.asking import check_ask
from localface.errors import InputError
from localface.explainer import LocalFACE
from localface.geometry.segments import norms
from localface.options import Ask
from localface.types import Array

_ROW: dict[str, Any] = {
    "s": 9.0,
    "linewidths": 0.5,
    "edgecolors": "#8c8c8c",
    "facecolors": "none",
    "zorder": 2,
}
_SEEN: dict[str, Any] = {"s": 13.0, "linewidths": 0, "color": INK, "alpha": 0.75, "zorder": 3}
_MORE: dict[str, Any] = {
    "s": 22.0,
    "linewidths": 0.6,
    "color": ORANGE,
    "edgecolors": INK,
    "marker": "^",
    "zorder": 3,
}
_NOTHING = "nothing to do: explore brought no way"
_DASHES = (0, (4, 1.2))
_HALO: dict[str, Any] = {"markeredgecolor": "white", "markeredgewidth": 1.0}


def plot_pipeline(
    explainer: LocalFACE,
    person: Any,
    figure: Figure | None = None,
    *,
    where: Mapping[str, Any] | None = None,
) -> Figure:
    """Draw how recourse was found where the data is a plane: explore, exploit, enhance.

    The ground is painted by the score, more strongly where it is common; the line around
    it is the floor, which no step may cross. Filled marks are rows that the search saw.

    Parameters
    ----------
    explainer
        An explainer of two numeric features, with the guided strategy.
    person
        Whom to explain.
    figure
        A figure to draw on; by default a new one.
    where
        What this person may change, as for ``explain``.
    """
    if explainer.options.strategy != "guided":
        raise InputError(
            f"plot_pipeline draws the guided search; this explainer has strategy={explainer.options.strategy!r}: "
            "make one with strategy='guided'"
        )
    plane = plane_of(explainer, "plot_pipeline")
    request = check_ask(explainer.engine, Ask(where=where)).request(person)
    story = trace_search(explainer.engine, request)
    figure = canvas(figure, 12.5, 5.2)
    panels = figure.subplots(1, 3, sharex=True, sharey=True)
    painted = [
        draw_ground(panel, plane) for panel in panels
    ]  # all of it first: painting resets the limits they share
    keys: dict[Any, Any] = {}
    for panel, draw in zip(panels, (_draw_explore, _draw_exploit, _draw_enhance), strict=True):
        keys |= {key.get_label(): key for key in draw(panel, plane, story)}
        draw_start(panel, story.recourse.records[0])
        panel.label_outer()
    keys |= {key.get_label(): key for key in (person_key(), *ground_keys(plane))}
    draw_bar(panels, painted[-1], plane)
    figure.legend(
        handles=list(keys.values()),
        loc="outside lower center",
        ncols=4,
        fontsize=NORMAL,
        frameon=False,
        handlelength=3,
    )
    return figure


def _draw_explore(panel: Axes, plane: Plane, story: Trace) -> list[Any]:
    keys = _draw_rows(panel, plane, story.explored)
    keys += _draw_steps(panel, plane, story.tried)
    keys += _draw_trail(panel, plane, story)
    said = "finds someone to become" if story.recourse.found else story.recourse.status.word
    _titled(
        panel, "1  explore", f"{said}: {len(story.explored):,} of {len(plane.rows):,} rows seen"
    )
    return keys


def _draw_exploit(panel: Axes, plane: Plane, story: Trace) -> list[Any]:
    keys = _draw_rows(panel, plane, story.explored, story.exploited)
    keys += _draw_trail(panel, plane, story)
    if story.balls:
        look: dict[str, Any] = {"color": INK, "linestyle": "--", "linewidth": 1.4}
        panel.plot(*plane.circle(*story.balls[-1]).T, zorder=4, **look)
        keys.append(Line2D([], [], label="the ball that exploit looks through", **look))
    said = f"knows the ground in between: {len(story.exploited):,} more rows"
    _titled(panel, "2  exploit", said if story.recourse.found else _NOTHING)
    return keys


def _draw_enhance(panel: Axes, plane: Plane, story: Trace) -> list[Any]:
    keys = _draw_rows(panel, plane, story.explored, story.exploited)
    keys += _draw_steps(panel, plane, story.checked)
    if not story.recourse.found:
        _titled(panel, "3  enhance", _NOTHING)
        return keys
    draw_way(panel, story.recourse.records, color=GREEN)
    draw_end(panel, story.recourse.records[-1])
    before = float(norms(np.diff(story.trail, axis=0)).sum()) if len(story.trail) else None
    said = f"takes the best way: length {format_number(story.recourse.cost, 2)}"
    _titled(
        panel, "3  enhance", said if before is None else f"{said}, was {format_number(before, 2)}"
    )
    return [*keys, way_key("best way", GREEN), end_key()]


def _draw_rows(
    panel: Axes, plane: Plane, explored: Array, exploited: Array | None = None
) -> list[Any]:
    """Scatter the rows, those that were seen filled."""
    dots = [draw_dots(panel, plane.rows, "row, not seen", **_ROW)]
    dots.append(draw_dots(panel, plane.units(explored), "row seen by explore", **_SEEN))
    if exploited is not None:
        dots.append(draw_dots(panel, plane.units(exploited), "row seen by exploit", **_MORE))
    return dots


def _draw_steps(panel: Axes, plane: Plane, steps: JudgedSteps) -> list[Line2D]:
    """Draw the steps that were judged: solid where a person could take them, dashed where not."""
    segments = np.stack([plane.units(steps.starts), plane.units(steps.ends)], axis=1)
    keys, alpha = (
        [],
        min(0.8, max(0.04, 100 / (1 + len(segments)))),
    )  # thousands of steps must not hide the ground
    looks: tuple[tuple[str, Array, str, Any], ...] = (
        ("step over viable ground", segments[steps.passes], GREEN, "solid"),
        ("step refused: below the floor", segments[~steps.passes], RED, "dashed"),
    )
    for label, some, color, linestyle in looks:
        lines = LineCollection(
            list(some), colors=color, linewidths=0.9, linestyles=linestyle, alpha=alpha, zorder=4
        )
        panel.add_collection(lines, autolim=False)
        keys.append(Line2D([], [], color=color, linewidth=0.9, linestyle=linestyle, label=label))
    return keys


def _draw_trail(panel: Axes, plane: Plane, story: Trace) -> list[Line2D]:
    """Draw the way that explore found, if any."""
    if not len(story.trail):
        return []
    draw_way(panel, plane.units(story.trail), color=GREEN, linestyle=_DASHES)
    return [way_key("first way found", GREEN, _DASHES)]


def draw_way(panel: Axes, way: Array, *, color: str, linestyle: Any = "-") -> None:
    """Draw a way in the user's units, legible on any ground."""
    panel.plot(*way.T, color="white", linewidth=5.0, solid_capstyle="round", zorder=5)
    panel.plot(*way.T, color=color, linewidth=2.6, linestyle=linestyle, zorder=6)
    panel.plot(
        *way[1:].T, color=color, linestyle="none", marker="o", markersize=5.5, zorder=6, **_HALO
    )


def draw_start(panel: Axes, place: Array) -> None:
    """Mark where the person stands."""
    panel.plot(*place, color=INK, marker="s", markersize=9, zorder=8, **_HALO)


def draw_end(panel: Axes, place: Array) -> None:
    """Mark where the way ends."""
    panel.plot(*place, color=GREEN, marker="*", markersize=17, zorder=8, **_HALO)


def person_key() -> Line2D:
    """What the square means."""
    return Line2D(
        [], [], color=INK, marker="s", markersize=8, linestyle="none", label="the person, now"
    )


def end_key() -> Line2D:
    """What the star means."""
    return Line2D(
        [], [], color=GREEN, marker="*", markersize=13, linestyle="none", label="counterfactual"
    )


def way_key(label: str, color: str, linestyle: Any = "-") -> Line2D:
    """What the line means."""
    return Line2D([], [], color=color, linewidth=2.6, linestyle=linestyle, label=label)


def _titled(panel: Axes, stage: str, said: str) -> None:
    panel.set_title(stage, loc="left", fontsize=NORMAL + 2, fontweight="bold", pad=22)
    panel.annotate(
        said,
        (0, 1),
        (0, 6),
        xycoords="axes fraction",
        textcoords="offset points",
        fontsize=NORMAL - 0.5,
    )
