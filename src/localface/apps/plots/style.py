"""Colours, sizes, text and canvases that all figures share."""

from __future__ import annotations

from textwrap import fill
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from localface.answers.wording import to_one_line
from localface.data.feature import Feature
from localface.types import Array

# the palette of Okabe and Ito
BLUE = "#0072B2"
ORANGE = "#E69F00"
GREEN = "#009E73"
RED = "#D55E00"
PURPLE = "#CC79A7"
INK = "#1a1a1a"  # on the light ground of a plane, whatever the style around it
GREY = "#808080"  # reads on light and on dark
SMALL = 8.5  # points
NORMAL = 10.0
SCORES = LinearSegmentedColormap.from_list(
    "localface", [RED, "#f7e9dc", "#f4f4f4", "#dcebf4", BLUE]
)
"""From away (vermilion) to arrived (blue): unlike red and green, everyone tells them apart."""

_CHARACTER = 0.53  # width of an average character, in font sizes


def figure_or_new(figure: Figure | None, width: float, height: float) -> Figure:
    """A figure to draw on: the one given, or a new one of this size in inches."""
    if figure is None:
        new = plt.figure(figsize=(width, height), layout="constrained")
        if "inline" in plt.get_backend():
            plt.close(new)  # a notebook shows what a cell returns, and would show it twice
        return new
    if figure.get_layout_engine() is None:
        figure.set_layout_engine("constrained")
    return figure


def escape_math(text: str) -> str:
    """Keep text from the data from being read as mathematics, and on one line.

    >>> print(escape_math("price\\n[$]"))
    price [\\$]
    """
    return to_one_line(text).replace("$", r"\$")


def wrap_text(text: str, width: float, size: float = SMALL) -> str:
    """Break a sentence into lines that fit into a width in inches."""
    return fill(text, max(20, int(width * 72 / (size * _CHARACTER))))


def shorten_text(text: str, most: int = 18) -> str:
    """Cut a long name where there is little room."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def axis_label(feature: Feature) -> str:
    """A feature's name with its unit, for an axis."""
    return escape_math(feature.name_with_unit)


def draw_dots(panel: Axes, points: Array, label: str = "", **look: Any) -> PathCollection:
    """Scatter points, one a row."""
    return panel.scatter(points[:, 0], points[:, 1], label=label, **look)


def write_beside_point(
    panel: Axes, point: Array, text: str, off: tuple[float, float], **look: Any
) -> None:
    """Write beside a point, legible on whatever lies under it."""
    under = {"boxstyle": "round,pad=0.15", "facecolor": "white", "alpha": 0.8, "linewidth": 0}
    look = {"color": INK, "size": NORMAL, "zorder": 9, **look}
    panel.annotate(text, tuple(point), off, textcoords="offset points", bbox=under, **look)


def hide_axes(panel: Axes) -> None:
    """Leave only the drawing: equal scales, no axes."""
    panel.set_aspect("equal")
    panel.set_facecolor("white")
    panel.set_xticks([])
    panel.set_yticks([])
    panel.spines[:].set_visible(False)
