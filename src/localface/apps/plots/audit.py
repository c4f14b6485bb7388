"""A figure of an audit of proposals."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from localface.analyses.audit import SUMMARY_QUESTIONS, Audit, Finding
from localface.answers.wording import format_percent
from localface.apps.plots.style import (
    BLUE,
    GREEN,
    GREY,
    NORMAL,
    ORANGE,
    PURPLE,
    RED,
    SMALL,
    escape_math,
    figure_or_new,
    wrap_text,
)
from localface.data.row_words import PEOPLE

_LOOKS: dict[str, dict[str, Any]] = {
    "reachable": {"color": GREEN, "marker": "o"},
    "out of reach": {"color": RED, "marker": "X"},
    "outside the constraints": {"color": PURPLE, "marker": "s"},
    "not valid": {"color": ORANGE, "marker": "^"},
    "already there": {"color": BLUE, "marker": "P"},
    "not known": {"color": GREY, "marker": "d"},
}


def plot_audit(audit: Audit, figure: Figure | None = None) -> Figure:
    """Draw an audit: above, the share of proposals that pass each question; below, each proposal.

    A proposal stands to the right where it is a common state, and high where the straight
    step to it passes through common states only; shape and colour tell what came out.

    Parameters
    ----------
    audit
        What ``LocalFACE.audit`` found.
    figure
        A figure to draw on; by default a new one.
    """
    figure = figure_or_new(figure, 7.0, 7.6)
    title = wrap_text(
        escape_math(repr(audit).strip("<>")), figure.get_figwidth() - 0.3, NORMAL + 1.5
    )
    figure.suptitle(title, x=0.01, ha="left", fontsize=NORMAL + 1, fontweight="bold")
    bars, points = figure.subplots(2, height_ratios=[1.0, 1.7])
    _draw_share_bars(bars, audit)
    _draw_proposals(points, audit)
    return figure


def _draw_share_bars(panel: Axes, audit: Audit) -> None:
    """One bar a question, with its count; proposals that fail are in the denominator."""
    summary = audit.summary()
    for i, (n, share) in enumerate(summary.values()):
        panel.barh(i, 100, color=GREY, alpha=0.15)
        panel.barh(i, 100 * share, color=BLUE)
        panel.annotate(
            f"{n:,} of {len(audit):,}: {format_percent(share)}",
            (101, i),
            va="center",
            fontsize=SMALL,
        )
    panel.set_yticks(range(len(summary)), [SUMMARY_QUESTIONS[name] for name in summary])
    panel.set_xlim(0, 128)
    panel.set_xticks([0, 25, 50, 75, 100])
    panel.set_xlabel("share of all proposals [%]", fontsize=SMALL)
    panel.tick_params(labelsize=SMALL)
    panel.tick_params(axis="y", length=0)
    panel.invert_yaxis()
    panel.spines[["top", "right", "left"]].set_visible(False)
    panel.spines["bottom"].set_bounds(0, 100)


def _draw_proposals(panel: Axes, audit: Audit) -> None:
    """Each proposal by its density and by the lowest density on the straight step to it."""
    for verdict in _LOOKS:
        _draw_verdict(panel, audit, verdict)
    floor = 100 * audit.min_density
    panel.axvline(floor, color=GREY, linewidth=1.2, linestyle="--", zorder=1)
    panel.axhline(floor, color=GREY, linewidth=1.2, linestyle="--", zorder=1)
    label = f"floor: {format_percent(audit.min_density)}"
    panel.annotate(
        label, (103, floor), (0, 3), textcoords="offset points", ha="right", fontsize=SMALL
    )
    panel.set(xlim=(-3, 103), ylim=(-3, 103))
    rows = next((one.each_row for one in audit), PEOPLE).many
    less = f"[% of {rows} in less common states]"
    panel.set_xlabel(f"how common the proposal is {less}", fontsize=NORMAL - 1)
    panel.set_ylabel(f"how common the straight step is\n{less}", fontsize=NORMAL - 1)
    panel.tick_params(labelsize=SMALL)
    panel.spines[["top", "right"]].set_visible(False)
    handles, _ = panel.get_legend_handles_labels()
    if handles:  # no step is more common than its end: the upper left is free
        panel.legend(fontsize=SMALL, loc="upper left", bbox_to_anchor=(0.09, 1.0))


def _draw_verdict(panel: Axes, audit: Audit, verdict: str) -> None:
    """The proposals of one verdict, where there are any."""
    found = [one for one in audit if one.verdict == verdict and one.jump is not None]
    if not found:
        return
    across, up = zip(*map(_density_coordinates, found), strict=True)
    look: dict[str, Any] = {"s": 42, "alpha": 0.75, "linewidths": 0, "zorder": 3, "clip_on": False}
    name = f"{verdict} ({len(found):,})"
    panel.scatter(across, up, label=name, **look, **_LOOKS[verdict])


def _density_coordinates(finding: Finding) -> tuple[float, float]:
    assert finding.density is not None
    assert finding.jump is not None
    return 100 * finding.density, 100 * finding.jump.lowest
