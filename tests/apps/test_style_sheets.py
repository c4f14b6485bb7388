"""The style sheets of the page: one scale of type, and distances by a grid."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

STATIC = Path(__file__).parents[2] / "src" / "localface" / "apps" / "web" / "static"
SHEETS = {path.name: path.read_text(encoding="utf-8") for path in sorted(STATIC.glob("*.css"))}
SIZES = {"--size-tiny", "--size-small", "--size-text", "--size-large", "--size-figure"}
SPACES = {f"--s{i}" for i in range(1, 8)}
PAPER = "html {font-size: 11.5px}"  # what a rem is on paper: no size of its own
SPACING = re.compile(r"(?<![\w-])(?:margin|padding|gap|row-gap|column-gap)(?:-\w+)?: ([^;}]+)")


@pytest.mark.parametrize("name", SHEETS)
def test_type_has_one_of_five_sizes(name: str) -> None:
    sheet = SHEETS[name].replace(PAPER, "")
    used = re.findall(r"font-size: ([^;}!]+)", sheet) + re.findall(r"font: ([^;}]+)", sheet)
    others = [one for one in used if not re.match(r"(inherit|var\(--size-\w+\))", one.strip())]
    assert others == []
    assert set(re.findall(r"--size-\w+", sheet)) <= SIZES


@pytest.mark.parametrize("name", SHEETS)
def test_distances_are_steps_of_the_grid(name: str) -> None:
    """Lengths on paper are in millimetres; a hair's breadth and nothing at all are no distances."""
    found = SPACING.findall(SHEETS[name])
    lengths = [
        length
        for one in found
        for length in re.findall(r"(?<![\w.-])-?\d*\.?\d+(?:rem|em|px)", one)
        if length not in ("1px", "-1px")
    ]
    assert lengths == []
    assert set(re.findall(r"var\((--s\d+)\)", SHEETS[name])) <= SPACES


def test_the_scale_is_said_once_for_the_screen_and_once_for_paper() -> None:
    defined = {
        name: {size: len(re.findall(rf"{size}: ", text)) for size in SIZES}
        for name, text in SHEETS.items()
    }
    assert defined["view.css"] == dict.fromkeys(SIZES, 1)
    assert defined["print.css"] == dict.fromkeys(SIZES, 1)
    assert defined["page.css"] == dict.fromkeys(SIZES, 0)
