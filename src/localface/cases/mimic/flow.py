"""The counts at each step of an extraction, for people to read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from html import escape
from typing import Literal

from localface.cases.mimic.decisions import Decisions

CountKind = Literal["kept", "rows", "removed", "lines"]
_TITLES: dict[CountKind, str] = {
    "kept": "ICU stays",
    "rows": "Rows of the cohort",
    "removed": "Charted values that do not count",
    "lines": "Lines that could not be read",
}


@dataclass(frozen=True, slots=True)
class Count:
    """So many at one step.

    ``kept`` counts the stays that are left, ``rows`` the rows made of them, ``removed`` the
    charted values that do not count, ``lines`` the lines of a file that could not be read.
    """

    kind: CountKind
    step: str
    count: int


@dataclass(frozen=True, slots=True)
class Flow:
    """How a cohort came about, in order.

    >>> flow = Flow((Count("kept", "all", 1200), Count("rows", "ready", 9)), Decisions())
    >>> flow["all"], flow.get("nothing of the kind")
    (1200, 0)
    """

    counts: tuple[Count, ...]
    decisions: Decisions

    def __getitem__(self, step: str) -> int:
        """The count at a step, by its name."""
        return next(one.count for one in self.counts if one.step == step)

    def get(self, step: str) -> int:
        """The count at a step, 0 where nothing was counted."""
        return next((one.count for one in self.counts if one.step == step), 0)

    def counts_of_kind(self, kind: CountKind) -> tuple[Count, ...]:
        """The counts of one kind."""
        return tuple(one for one in self.counts if one.kind == kind)

    def to_dict(self) -> dict[str, object]:
        """Everything, in plain values for JSON."""
        return {
            "decisions": self.decisions.to_plain_values(),
            "departures": list(self.decisions.departures()),
            "counts": [asdict(one) for one in self.counts],
        }

    def as_text(self) -> str:
        """The counts as aligned lines."""
        width = max(len(one.step) for one in self.counts) + 2
        lines: list[str] = []
        for kind, title in _TITLES.items():
            if mine := self.counts_of_kind(kind):
                lines += [title, *(f"  {one.step:<{width}}{one.count:>12,}" for one in mine), ""]
        return (
            "\n".join([*lines, _DECISIONS, *(f"  {line}" for line in self._decision_lines())])
            + "\n"
        )

    def as_svg(self) -> str:
        """The counts as a flow chart that takes the colour of the text around it."""
        body, height = _draw_chart(self)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" '
            f'width="{_WIDTH}" height="{height}" role="img" aria-label="Flow of the cohort" '
            'style="max-width:100%;height:auto" '
            f'font-family="system-ui, sans-serif" font-size="13" fill="currentColor">\n'
            + "\n".join(body)
            + "\n</svg>\n"
        )

    def _decision_lines(self) -> Iterator[str]:
        """One line for each decision; a star where it departs from the original study."""
        departures = self.decisions.departures()
        for name, value in self.decisions.to_plain_values().items():
            star = "*" if name in departures else " "
            yield f"{star} {name.replace('_', ' ')}: {_format_value(value)}"


def _format_value(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    return str(value)


_DECISIONS = "Decisions (* departs from the original study)"
_LEFT = 10  # margin
_BOX = 460  # width of a box
_HIGH = 44  # height of a box
_GAP = 26  # between boxes
_LINE = 19  # height of a line of text
_WIDTH = _BOX + 2 * _LEFT
_OUTLINE = 'fill="none" stroke="currentColor"'


def _draw_chart(flow: Flow) -> tuple[list[str], int]:
    """Boxes downwards, what falls out beside the arrows, and lists below."""
    top = 10
    body: list[str] = []
    stays = flow.counts_of_kind("kept")
    for here, after in zip(stays, (*stays[1:], None), strict=True):
        body += _draw_box(top, here)
        if after is not None:
            body += _draw_arrow(top + _HIGH, f"{here.count - after.count:,} left out")
            top += _HIGH + _GAP
    top += _HIGH
    for kind in ("rows", "removed", "lines"):
        if mine := flow.counts_of_kind(kind):
            body += _draw_list(
                top := top + 34, _TITLES[kind], [(one.step, f"{one.count:,}") for one in mine]
            )
            top += _LINE * len(mine)
    decided = list(flow._decision_lines())
    body += _draw_list(top := top + 34, _DECISIONS, [(line, "") for line in decided])
    return body, top + _LINE * len(decided) + 16


def _draw_box(top: int, one: Count) -> list[str]:
    return [
        f'<rect x="{_LEFT}" y="{top}" width="{_BOX}" height="{_HIGH}" rx="6" {_OUTLINE}/>',
        f'<text x="{_LEFT + 12}" y="{top + 18}">{escape(one.step)}</text>',
        f'<text x="{_LEFT + 12}" y="{top + 36}" font-weight="600">{one.count:,}</text>',
    ]


def _draw_arrow(top: int, beside: str) -> list[str]:
    middle = _LEFT + _BOX // 2
    tip = top + _GAP - 1
    head = f"M{middle - 4} {tip - 6}L{middle} {tip}L{middle + 4} {tip - 6}"
    return [
        f'<path d="M{middle} {top}V{tip}{head}" {_OUTLINE}/>',
        f'<text x="{middle + 14}" y="{top + 17}" opacity="0.75">{escape(beside)}</text>',
    ]


def _draw_list(top: int, title: str, lines: list[tuple[str, str]]) -> list[str]:
    body = [f'<text x="{_LEFT}" y="{top}" font-weight="600">{escape(title)}</text>']
    for number, (left, right) in enumerate(lines, start=1):
        y = top + _LINE * number
        body.append(f'<text x="{_LEFT + 12}" y="{y}" xml:space="preserve">{escape(left)}</text>')
        if right:
            body.append(f'<text x="{_LEFT + _BOX}" y="{y}" text-anchor="end">{right}</text>')
    return body
