"""Draws how well a floor tells rows from composed records."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from localface.analyses.floor_report import FloorReport
from localface.answers.wording import format_percent
from localface.apps.plots.style import (
    BLUE,
    GREY,
    NORMAL,
    ORANGE,
    SMALL,
    escape_math,
    figure_or_new,
    shorten_text,
    wrap_text,
)

_BAR = 0.38  # height of a bar, of the room that a judge has
_LONGEST_LABEL = 34


def plot_floor_report(report: FloorReport, figure: Figure | None = None) -> Figure:
    """Draw the share of held-out rows and of composed records that clear each floor.

    Below, where there are any: the groups that stand below the floor in use more than twice
    as often as others.

    Parameters
    ----------
    report
        What ``LocalFACE.ground_report`` returned.
    figure
        A figure to draw on; by default a new one.
    """
    n_groups = len(report.groups)
    figure = figure_or_new(figure, 7.0, 3.2 + (0.8 + 0.35 * n_groups if n_groups else 0.0))
    title = wrap_text(escape_math(report.headline), figure.get_figwidth() - 0.3, NORMAL + 1.5)
    figure.suptitle(title, x=0.01, ha="left", fontsize=NORMAL + 1, fontweight="bold")
    if not n_groups:
        _draw_judges(figure.subplots(), report)
        return figure
    heights = [2.4, 0.8 + 0.35 * n_groups]
    judges, groups = figure.subplots(2, height_ratios=heights)
    _draw_judges(judges, report)
    _draw_groups(groups, report)
    return figure


def _draw_judges(panel: Axes, report: FloorReport) -> None:
    """Two bars a judge: what should clear the floor, and what should not."""
    for i, judge in enumerate(report.judges):
        for share, off, color, hatch, label in (
            (judge.held_out, -_BAR / 2, BLUE, "", "held-out rows: should clear it"),
            (judge.composed, _BAR / 2, ORANGE, "//", "composed records: should not"),
        ):
            panel.barh(
                i + off,
                100 * share,
                height=_BAR,
                color=color,
                hatch=hatch,
                edgecolor="white",
                linewidth=0,
                label=None if i else label,
            )
            panel.annotate(
                format_percent(share), (100 * share + 1, i + off), va="center", fontsize=SMALL
            )
    panel.set_yticks(range(len(report.judges)), [escape_math(one.name) for one in report.judges])
    panel.invert_yaxis()
    panel.set_xlim(0, 112)
    panel.set_xticks([0, 25, 50, 75, 100])
    _style_panel(panel, "share that clears the floor [%]")
    panel.spines["bottom"].set_bounds(0, 100)
    panel.legend(fontsize=SMALL, loc="upper left", bbox_to_anchor=(0, 1.2), ncols=2, frameon=False)


def _draw_groups(panel: Axes, report: FloorReport) -> None:
    """One bar a group: how many of it stand below the floor in use; a line for the others."""
    for i, group in enumerate(report.groups):
        panel.barh(i, 100 * group.share, color=BLUE, height=2 * _BAR)
        panel.plot([100 * group.others] * 2, [i - _BAR, i + _BAR], color=ORANGE, linewidth=2.5)
        counts = f"{group.n_below:,} of {group.n:,}; others {format_percent(group.others)}"
        panel.annotate(counts, (100 * group.share, i), (4, 0), textcoords="offset points",
                       va="center", fontsize=SMALL)  # fmt: skip
    labels = [escape_math(shorten_text(group.label, _LONGEST_LABEL)) for group in report.groups]
    panel.set_yticks(range(len(labels)), labels)
    panel.set_ylim(max(len(labels), 2) - 0.5, -0.5)
    highest = max(100 * group.share for group in report.groups)
    panel.set_xlim(0, 1.5 * highest)
    _style_panel(panel, "share of the group below the floor in use [%]; line: the others")


def _style_panel(panel: Axes, label: str) -> None:
    panel.set_xlabel(label, fontsize=SMALL)
    panel.tick_params(labelsize=SMALL)
    panel.tick_params(axis="y", length=0)
    panel.spines[["top", "right", "left"]].set_visible(False)
    panel.spines["bottom"].set_color(GREY)
