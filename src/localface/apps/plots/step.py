"""A drawing of one step of explore, with four neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle

from localface.apps.plots.style import (
    GREEN,
    GREY,
    INK,
    NORMAL,
    ORANGE,
    PURPLE,
    SCORES,
    SMALL,
    draw_dots,
    figure_or_new,
    hide_axes,
    write_beside_point,
)
from localface.geometry.segments import norms
from localface.types import Array

_TRAIL = np.array([[-1.7, -2.0], [-1.05, -0.85], [0.0, 0.0]])
_NEAR = np.array([[-0.2, 1.4], [1.65, -0.45], [0.2, -1.45], [-1.35, 0.6]])
_FAR = np.array(
    [[-2.7, 0.2], [-2.8, -1.5], [2.9, 1.7], [3.3, -1.1], [1.4, 2.2], [2.1, -1.85], [0.9, 1.75]]
)
_EDGES = (-3.2, 3.9, -2.4, 2.6)


def plot_step(figure: Figure | None = None, *, momentum_steps: int = 2) -> Figure:
    """Draw one step of explore with four neighbours and momentum: Eqs. 2 and 3, as mended.

    The row with the largest f / (1 + distance) is chosen; the step goes half way towards
    it, and on with the mean of the last ``momentum_steps`` steps.
    """
    figure = figure_or_new(figure, 7.8, 5.6)
    panel = figure.subplots()
    here = _TRAIL[-1]
    back = min(momentum_steps, len(_TRAIL) - 1)
    momentum = (here - _TRAIL[-1 - back]) / back if back else np.zeros(2)
    priorities = _example_score(_NEAR) / (1 + norms(_NEAR - here))
    chosen = _NEAR[np.argmax(priorities)]
    _draw_score(panel)
    _draw_rows(panel, here, priorities)
    _draw_move(panel, here, chosen, momentum)
    panel.legend(
        fontsize=SMALL, loc="upper left", framealpha=0.9, labelcolor=INK, facecolor="white"
    )
    panel.set_title(
        r"$x_{t+1} = x_t + \frac{1}{2}\,(x_{\mathrm{chosen}} - x_t + b_t)$", fontsize=NORMAL + 3
    )
    note = "score f: low on the left (orange), high on the right (blue)"
    write_beside_point(panel, np.array([0.35, -2.3]), note, (0, 0), size=SMALL)
    hide_axes(panel)
    panel.set(xlim=_EDGES[:2], ylim=_EDGES[2:])
    return figure


def _example_score(points: Array) -> Array:
    """A score that rises to the right."""
    return np.asarray(1 / (1 + np.exp(-(points[..., 0] + 0.3 * points[..., 1] - 1.0))))


def _draw_score(panel: Axes) -> None:
    across, up = np.meshgrid(np.linspace(*_EDGES[:2], 120), np.linspace(*_EDGES[2:], 90))
    scores = _example_score(np.stack([across, up], axis=-1))
    panel.imshow(
        scores, extent=_EDGES, origin="lower", cmap=SCORES, vmin=0, vmax=1, alpha=0.35, zorder=0
    )


def _draw_rows(panel: Axes, here: Array, priorities: Array) -> None:
    """The rows, and what speaks for each of the nearest."""
    reach = float(norms(_NEAR - here).max()) + 0.12
    panel.add_patch(Circle(tuple(here), reach, fill=False, linestyle=":", edgecolor=INK, zorder=1))
    draw_dots(panel, _FAR, "row further away", s=36, facecolors="none", edgecolors=INK, zorder=2)
    draw_dots(panel, _NEAR, "one of the 4 nearest rows", s=44, color=INK, zorder=5)
    for row, score, priority in zip(
        _NEAR, _example_score(_NEAR).tolist(), priorities.tolist(), strict=True
    ):
        best = priority == priorities.max()
        text = f"f = {score:.2f}\nf / (1 + distance) = {priority:.2f}"
        write_beside_point(
            panel, row, text, (10, -4), weight="bold" if best else "normal", size=SMALL
        )


def _draw_move(panel: Axes, here: Array, chosen: Array, momentum: Array) -> None:
    """The way so far, where it pulls, and where the next step leads."""
    ahead = here + (chosen - here + momentum) / 2
    panel.plot(*_TRAIL.T, color=GREEN, marker="o", linewidth=2.2, label="way so far", zorder=4)
    for point, name in zip(_TRAIL, ("$x_{t-2}$", "$x_{t-1}$", "$x_t$"), strict=True):
        write_beside_point(panel, point, name, (-8, 9))
    ring: dict[str, Any] = {"facecolors": "none", "edgecolors": ORANGE, "linewidths": 2.5}
    draw_dots(panel, chosen[None, :], "chosen: largest f / (1 + distance)", s=190, zorder=6, **ring)
    _draw_arrow(panel, here, chosen, color=GREY, linestyle=":")
    if momentum.any():
        _draw_arrow(panel, here, here + momentum, color=PURPLE, linestyle="--")
        write_beside_point(
            panel, here + momentum, "momentum $b_t$: mean of the last steps", (6, 6), size=SMALL
        )
    _draw_arrow(panel, here, ahead, color=GREEN, linewidth=3.0)
    draw_dots(
        panel,
        ahead[None, :],
        "next state $x_{t+1}$",
        s=85,
        marker="D",
        color=GREEN,
        edgecolors="white",
        zorder=8,
    )


def _draw_arrow(panel: Axes, start: Array, end: Array, **look: Any) -> None:
    arrow = {
        "arrowstyle": "-|>",
        "linewidth": 1.8,
        "mutation_scale": 15,
        "shrinkA": 0,
        "shrinkB": 3,
        **look,
    }
    panel.annotate("", tuple(end), tuple(start), arrowprops=arrow, zorder=7)
