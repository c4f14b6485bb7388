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
from localface.apps.plots.plane import (
    Plane,
    background_legend_entries,
    draw_background,
    draw_color_bar,
    make_plane,
)
from localface.apps.plots.style import GREEN, INK, NORMAL, ORANGE, RED, draw_dots, figure_or_new
from localface.data.row_words import RowWords
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
_FOR_ACTIONS: dict[str, Any] = {**_SEEN, "marker": "D"}
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

    The background is painted by the score, more strongly where the density is higher; the
    line around it is the floor, which no step may cross. Filled marks are rows that the search saw.

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
            "plot_pipeline draws the guided search; "
            f"this explainer has strategy={explainer.options.strategy!r}: "
            "make one with strategy='guided'"
        )
    plane = make_plane(explainer, "plot_pipeline")
    asked = check_ask(explainer.engine, Ask(where=where))
    trace = trace_search(explainer.engine, asked.make_request(person), asked.plan)
    figure = figure_or_new(figure, 12.5, 5.2)
    panels = figure.subplots(1, 3, sharex=True, sharey=True)
    # all of it first: painting resets the limits that the panels share
    painted = [draw_background(panel, plane) for panel in panels]
    keys: dict[Any, Any] = {}
    for panel, draw in zip(
        panels, (_draw_explore_panel, _draw_exploit_panel, _draw_enhance_panel), strict=True
    ):
        keys |= {key.get_label(): key for key in draw(panel, plane, trace)}
        draw_start(panel, trace.recourse.records[0])
        panel.label_outer()
    now = person_legend_entry(plane.explainer.schema.each_row)
    keys |= {key.get_label(): key for key in (now, *background_legend_entries(plane))}
    draw_color_bar(panels, painted[-1], plane)
    figure.legend(
        handles=list(keys.values()),
        loc="outside lower center",
        ncols=4,
        fontsize=NORMAL,
        frameon=False,
        handlelength=3,
    )
    return figure


def _draw_explore_panel(panel: Axes, plane: Plane, trace: Trace) -> list[Any]:
    keys = _draw_rows_first_seen(panel, plane, trace)
    keys += _draw_judged_steps(panel, plane, trace.tried)
    keys += _draw_explored_path(panel, plane, trace)
    said = "finds someone to become"
    if not len(trace.trail):
        said = "finds nobody to become" if trace.recourse.found else trace.recourse.status.word
    _set_title(
        panel, "1  explore", f"{said}: {len(trace.explored):,} of {len(plane.rows):,} rows seen"
    )
    return keys


def _draw_exploit_panel(panel: Axes, plane: Plane, trace: Trace) -> list[Any]:
    keys = _draw_all_rows_seen(panel, plane, trace)
    keys += _draw_explored_path(panel, plane, trace)
    if trace.balls:
        look: dict[str, Any] = {"color": INK, "linestyle": "--", "linewidth": 1.4}
        panel.plot(*plane.ball_outline(*trace.balls[-1]).T, zorder=4, **look)
        keys.append(Line2D([], [], label="the ball that exploit looks through", **look))
    said = _NOTHING
    if trace.recourse.found:
        said = f"knows the states in between: {len(trace.exploited):,} more rows"
    if len(trace.for_actions):
        said = f"{said}, {len(trace.for_actions):,} for actions"
    _set_title(panel, "2  exploit", said)
    return keys


def _draw_enhance_panel(panel: Axes, plane: Plane, trace: Trace) -> list[Any]:
    keys = _draw_all_rows_seen(panel, plane, trace)
    keys += _draw_judged_steps(panel, plane, trace.checked)
    if not trace.recourse.found:
        _set_title(panel, "3  enhance", _NOTHING)
        return keys
    draw_path(panel, plane, plane.points(trace.recourse.records), color=GREEN)
    draw_end(panel, trace.recourse.records[-1])
    before = float(norms(np.diff(trace.trail, axis=0)).sum()) if len(trace.trail) else None
    said = f"takes the best way: length {format_number(trace.recourse.cost, 2)}"
    _set_title(
        panel, "3  enhance", said if before is None else f"{said}, was {format_number(before, 2)}"
    )
    return [*keys, path_legend_entry("best way", GREEN), end_legend_entry()]


def _draw_rows_first_seen(panel: Axes, plane: Plane, trace: Trace) -> list[Any]:
    """Scatter the rows, those that explore saw filled."""
    dots = [draw_dots(panel, plane.rows, "row, not seen", **_ROW)]
    seen = plane.to_user_units(trace.explored)
    dots.append(draw_dots(panel, seen, "row seen by explore", **_SEEN))
    return dots


def _draw_all_rows_seen(panel: Axes, plane: Plane, trace: Trace) -> list[Any]:
    """Scatter the rows, all that were seen filled, by what they were seen for."""
    dots = _draw_rows_first_seen(panel, plane, trace)
    for_actions = plane.to_user_units(trace.for_actions)
    dots.append(draw_dots(panel, for_actions, "row looked at for actions", **_FOR_ACTIONS))
    exploited = plane.to_user_units(trace.exploited)
    dots.append(draw_dots(panel, exploited, "row seen by exploit", **_MORE))
    return dots


def _draw_judged_steps(panel: Axes, plane: Plane, steps: JudgedSteps) -> list[Line2D]:
    """Draw the steps that were judged: solid where they are traversable, dashed where not."""
    pairs = zip(steps.starts, steps.ends, strict=True)
    segments = [plane.curve(np.stack(pair)) for pair in pairs]
    keys = []
    alpha = min(0.8, max(0.04, 100 / (1 + len(segments))))  # thousands of steps must not hide all
    looks: tuple[tuple[str, bool, str, Any], ...] = (
        ("step through common states", True, GREEN, "solid"),
        ("step refused: below the floor", False, RED, "dashed"),
    )
    for label, passes, color, linestyle in looks:
        some = [segments[i] for i in np.flatnonzero(steps.passes == passes)]
        lines = LineCollection(
            some, colors=color, linewidths=0.9, linestyles=linestyle, alpha=alpha, zorder=4
        )
        panel.add_collection(lines, autolim=False)
        keys.append(Line2D([], [], color=color, linewidth=0.9, linestyle=linestyle, label=label))
    return keys


def _draw_explored_path(panel: Axes, plane: Plane, trace: Trace) -> list[Line2D]:
    """Draw the path that explore found, if any."""
    if not len(trace.trail):
        return []
    draw_path(panel, plane, trace.trail, color=GREEN, linestyle=_DASHES)
    return [path_legend_entry("first way found", GREEN, _DASHES)]


def draw_path(
    panel: Axes, plane: Plane, points: Array, *, color: str, linestyle: Any = "-"
) -> None:
    """Draw a path through points of the explainer's space, legible on any background."""
    line = plane.curve(points).T
    stops = plane.to_user_units(points[1:]).T
    panel.plot(*line, color="white", linewidth=5.0, solid_capstyle="round", zorder=5)
    panel.plot(*line, color=color, linewidth=2.6, linestyle=linestyle, zorder=6)
    panel.plot(*stops, color=color, linestyle="none", marker="o", markersize=5.5, zorder=6, **_HALO)


def draw_start(panel: Axes, point: Array) -> None:
    """Mark where the person stands."""
    panel.plot(*point, color=INK, marker="s", markersize=9, zorder=8, **_HALO)


def draw_end(panel: Axes, point: Array) -> None:
    """Mark where the path ends."""
    panel.plot(*point, color=GREEN, marker="*", markersize=17, zorder=8, **_HALO)


def person_legend_entry(rows: RowWords) -> Line2D:
    """What the square means."""
    label = f"the {rows.one}, now"
    return Line2D([], [], color=INK, marker="s", markersize=8, linestyle="none", label=label)


def end_legend_entry() -> Line2D:
    """What the star means."""
    return Line2D(
        [], [], color=GREEN, marker="*", markersize=13, linestyle="none", label="counterfactual"
    )


def path_legend_entry(label: str, color: str, linestyle: Any = "-") -> Line2D:
    """What the line means."""
    return Line2D([], [], color=color, linewidth=2.6, linestyle=linestyle, label=label)


def _set_title(panel: Axes, stage: str, said: str) -> None:
    panel.set_title(stage, loc="left", fontsize=NORMAL + 2, fontweight="bold", pad=22)
    panel.annotate(
        said,
        (0, 1),
        (0, 6),
        xycoords="axes fraction",
        textcoords="offset points",
        fontsize=NORMAL - 0.5,
    )
