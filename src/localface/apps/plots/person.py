"""A figure of one person's path, in their own units: score above, changes below."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import fill
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from localface.answers.changes import changes_between
from localface.answers.page import evidence_notes, page_of
from localface.answers.recourse import Recourse
from localface.answers.wording import (
    format_count,
    format_more_unusual_than,
    format_number,
    format_percent,
)
from localface.apps.plots.style import (
    BLUE,
    GREY,
    NORMAL,
    ORANGE,
    PURPLE,
    RED,
    SMALL,
    escape_math,
    figure_or_new,
    shorten_text,
    wrap_text,
)
from localface.data.feature import Feature
from localface.types import Array

_WIDTH = 7.0  # inches, of a figure made here
_LINE = 0.3  # inches, of a sentence about what other people did
_CATEGORIES = 5  # named on an axis, unless the path goes through more
_NUMBERED = 9  # steps up to which every score is written beside its point


@dataclass(frozen=True, slots=True, eq=False)
class _Movement:
    """One feature along the path, as codes in the user's units."""

    feature: Feature
    codes: Array

    def __str__(self) -> str:
        first = self.feature.format(self.codes[0])
        last = self.feature.format(self.codes[-1])
        unit = f" {self.feature.unit}" if self.feature.unit else ""
        if self.codes[0] != self.codes[-1]:
            return f"{self.feature.display_name}: {first} → {last}{unit}"
        away = self.feature.format(_furthest_from_first(self.codes))
        return f"{self.feature.display_name}: {first} → {away} → {last}{unit}"


def plot_recourse(recourse: Recourse, figure: Figure | None = None, *, most: int = 6) -> Figure:
    """Draw one person's way: the score with its threshold, and below it what changes most.

    The way is that of the actions or, where none were asked for, the path.

    Features are ranked by how far they go from where the person stands, in ordinary
    differences between people; at most ``most`` of them are drawn, the others named.
    Steps that cross less common ground than was asked for are hatched. Where there is
    no path, the figure shows where the person stands and says why.

    Parameters
    ----------
    recourse
        What ``LocalFACE.explain`` answered.
    figure
        A figure to draw on; by default a new one.
    most
        How many features to draw.
    """
    notes = _evidence_notes(recourse)
    kind = "action" if recourse.actions else "step"
    recourse = recourse.with_actions_as_path()
    if len(recourse.records) < 2:
        return _plot_without_path(recourse, figure)
    moved = _movements_by_size(recourse)
    drawn = moved[: max(0, most)]
    rest = moved[max(0, most) :]
    figure = figure_or_new(figure, _WIDTH, 3.7 + 1.05 * len(drawn) + _LINE * len(notes))
    width = figure.get_figwidth() - 0.3
    figure.suptitle(
        _figure_title(recourse, kind), x=0.01, ha="left", fontsize=NORMAL + 1, fontweight="bold"
    )
    panels = figure.subplots(
        1 + len(drawn), sharex=True, height_ratios=[2.1] + [1.0] * len(drawn), squeeze=False
    )[:, 0]
    _draw_score(panels[0], recourse)
    _draw_alerts(panels[0], recourse, width - 0.9)
    for panel, movement in zip(panels[1:], drawn, strict=True):
        _draw_feature(panel, movement)
    marks = [_hatch_special_steps(panel, recourse) for panel in panels]
    if marks[0]:
        corner: Any = "upper right" if recourse.target.at_most else "lower right"
        panels[0].legend(handles=marks[0], loc=corner, fontsize=SMALL, handlelength=2.5)
    _label_step_axis(panels[-1], len(recourse.records), kind)
    caption = "\n".join(
        wrap_text(line, width) for line in [*_caption_lines(recourse, rest), *notes]
    )
    figure.supxlabel(caption, x=0.01, ha="left", fontsize=SMALL)
    return figure


def _movements_by_size(recourse: Recourse) -> list[_Movement]:
    """What changes on the way, the largest departure from the person's own value first."""
    far = np.array([_furthest_from_first(codes) for codes in recourse.records.T])
    changes = changes_between(recourse.schema, recourse.scales, recourse.records[0], far)
    return [
        _Movement(one.feature, recourse.records[:, recourse.schema.index(one.name)])
        for one in changes
    ]


def _furthest_from_first(codes: Array) -> float:
    """The value furthest from the first one: what leaves and comes back has changed too."""
    return float(codes[np.argmax(np.abs(codes - codes[0]))])


def _figure_title(recourse: Recourse, kind: str) -> str:
    """How many actions or steps, and what they do to the score."""
    many = format_count(len(recourse.certificates), kind, f"{kind}s")
    first = recourse.target.format_score(recourse.scores[0])
    last = recourse.target.format_score(recourse.scores[-1])
    return escape_math(f"{many}, {_score_name(recourse)} {first} → {last}")


def _score_name(recourse: Recourse) -> str:
    """What the model gives."""
    return "value" if recourse.target.kind == "value" else "score"


def _threshold_label(recourse: Recourse) -> str:
    target = recourse.target
    if target.max_score is not None:
        return f"wanted: {format_number(target.min_score)} to {format_number(target.max_score)}"
    return (
        f"wanted: {'at most' if target.at_most else 'at least'} {format_number(target.min_score)}"
    )


def _caption_lines(recourse: Recourse, rest: Sequence[_Movement]) -> list[str]:
    """What the panels do not show: the target, other changes, and what holds for the whole path."""
    others = ", ".join(
        escape_math(str(movement)).replace(" ", "\N{NO-BREAK SPACE}") for movement in rest
    )
    lines = [
        f"wanted: {recourse.target.sentence}",
        *page_of(recourse).closing,
        f"seen: {recourse.disclosure.sentence}",
    ]
    return [*([f"also changing: {others}"] if rest else []), *map(escape_math, lines)]


def _evidence_notes(recourse: Recourse) -> list[str]:
    """What other people did, action by action, where there is evidence of it."""
    moves = [
        (i, action.evidence)
        for i, action in enumerate(recourse.actions, 1)
        if action.evidence is not None
    ]
    lines = [f"step {i}: {evidence.sentence}" for i, evidence in moves]
    return [
        escape_math(line).replace(" %", "\N{NO-BREAK SPACE}%")
        for line in (*lines, *evidence_notes(recourse))
    ]


def _draw_score(panel: Axes, recourse: Recourse) -> None:
    """Draw the score along the path against the threshold."""
    scores = np.array(recourse.scores)
    target = recourse.target
    panel.plot(scores, color=BLUE, marker="o", linewidth=2, zorder=3)
    panel.plot(len(scores) - 1, scores[-1], color=BLUE, marker="*", markersize=15, zorder=4)
    for end in (target.min_score, target.max_score):
        if end is not None:
            panel.axhline(end, color=RED, linestyle="--", linewidth=1.5, zorder=2)
    look: dict[str, Any] = {
        "bbox": {"facecolor": panel.get_facecolor(), "alpha": 0.8, "linewidth": 0, "pad": 0.8},
        "textcoords": "offset points",
        "fontsize": SMALL,
    }
    # on the side of the line where the person is not
    off, va = (-4, "top") if target.at_most else (4, "bottom")
    panel.annotate(
        _threshold_label(recourse),
        (0.01, target.min_score),
        (0, off),
        xycoords=("axes fraction", "data"),
        va=va,
        color=RED,
        **look,
    )
    if len(scores) <= _NUMBERED:
        for i, score in enumerate(scores.tolist()):
            panel.annotate(target.format_score(score), (i, score), (0, 9), ha="center", **look)
    panel.set_ylabel(_score_name(recourse))
    panel.margins(x=0.06, y=0.25)
    if target.kind == "probability":
        panel.set_ylim(min(0.0, scores.min() - 0.05), max(1.15, scores.max() + 0.15))


def _draw_alerts(panel: Axes, recourse: Recourse, width: float) -> None:
    """Put what nobody may overlook above the score."""
    lines = [wrap_text(escape_math(f"! {line}"), width) for line in page_of(recourse).alerts]
    if lines:
        panel.set_title("\n".join(lines), loc="left", fontsize=SMALL, color=RED, fontweight="bold")


def _draw_feature(panel: Axes, movement: _Movement) -> None:
    """Draw one feature along the path; what has nothing between its values flips at mid-step."""
    feature = movement.feature
    codes = movement.codes
    panel.plot(
        codes,
        color=GREY,
        linewidth=1.6,
        drawstyle="steps-mid" if feature.discrete else "default",
        zorder=2,
    )
    panel.plot(codes, color=BLUE, linestyle="none", marker="o", markersize=5, zorder=3)
    panel.set_title(escape_math(str(movement)), loc="left", fontsize=NORMAL, pad=3)
    panel.set_ylabel(fill(escape_math(feature.unit or ""), 12), fontsize=SMALL)
    panel.margins(y=0.25)
    if feature.categories is None:
        panel.yaxis.set_major_locator(MaxNLocator(4, integer=feature.whole))
        return
    visited = sorted({round(code) for code in codes.tolist()})
    named = visited
    if len(feature.categories) <= _CATEGORIES:
        named = list(range(len(feature.categories)))
    panel.set_yticks(
        named, [shorten_text(escape_math(str(feature.categories[code]))) for code in named]
    )
    panel.set_ylim(min(named) - 0.5, max(named) + 0.5)


def _hatch_special_steps(panel: Axes, recourse: Recourse) -> list[Patch]:
    """Hatch the entry step and the steps below the floor; return the legend entries."""
    panel.spines[["top", "right"]].set_visible(False)
    panel.grid(axis="x", color=GREY, alpha=0.25)
    panel.tick_params(labelsize=SMALL)
    marks: dict[str, Patch] = {}
    for i, one in enumerate(recourse.certificates):
        if one.entry:
            label = f"entry step: states {format_more_unusual_than(one.lowest)}"
            color = PURPLE
            hatch = "//"
        elif not one.holds or (
            recourse.relaxed_to is not None and one.lowest < recourse.min_density
        ):
            label = f"below the floor of {format_percent(recourse.min_density)}"
            color = ORANGE
            hatch = "xx"
        else:
            continue
        look: dict[str, Any] = {"facecolor": "none", "edgecolor": color, "hatch": hatch}
        panel.axvspan(i, i + 1, alpha=0.45, linewidth=0, zorder=0, **look)
        marks[label] = Patch(label=label, **look)
    return list(marks.values())


def _label_step_axis(panel: Axes, n: int, kind: str) -> None:
    """Number the actions or steps; the person as they are is "now"."""
    every = max(1, -(-n // 16))
    ticks = list(range(0, n, every))
    panel.set_xticks(ticks, ["now", *map(str, ticks[1:])])
    panel.set_xlabel(kind, fontsize=SMALL)


def _plot_without_path(recourse: Recourse, figure: Figure | None) -> Figure:
    """Draw where someone stands for whom there is no path, and say why."""
    page = page_of(recourse)
    figure = figure_or_new(figure, _WIDTH, 2.9)
    width = figure.get_figwidth() - 0.3
    title = wrap_text(escape_math(recourse.status.value), width, NORMAL + 1.5)
    figure.suptitle(title, x=0.01, ha="left", fontsize=NORMAL + 1, fontweight="bold")
    panel = figure.add_subplot()
    score = recourse.scores[0]
    line: dict[str, Any] = {"color": RED, "linestyle": "--", "linewidth": 1.5}
    panel.axvline(recourse.target.min_score, label=_threshold_label(recourse), **line)
    panel.plot(
        score, 0, color=BLUE, marker="o", markersize=9, linestyle="none", label=f"now: {page.now}"
    )
    panel.set_yticks([])
    panel.set_xlabel(_score_name(recourse))
    panel.margins(x=0.15)
    if recourse.target.kind == "probability":
        panel.set_xlim(min(-0.02, score - 0.05), max(1.02, score + 0.05))
    panel.spines[["left", "top", "right"]].set_visible(False)
    panel.legend(
        handles=[*panel.get_lines()][::-1],
        ncols=2,
        loc="lower left",
        bbox_to_anchor=(0, 1),
        frameon=False,
    )
    lines = [line for line in (recourse.reason, *page.closing) if line]
    caption = "\n".join(wrap_text(escape_math(line), width) for line in lines)
    figure.supxlabel(caption, x=0.01, ha="left", fontsize=SMALL)
    return figure
