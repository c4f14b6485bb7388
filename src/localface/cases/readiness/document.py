"""A document of plain blocks, written as one HTML page or as Markdown from templates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from localface.cases.readiness.drawing import PICTURE_STYLE, Picture
from localface.errors import needs_extra

if TYPE_CHECKING:
    from jinja2 import Environment

_SHORT = 15  # characters that a row's name keeps on one line
_XML_NAMESPACE = ' xmlns="http://www.w3.org/2000/svg"'  # needed in a file, not in a page


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading; level 1 is the title."""

    kind: ClassVar = "heading"
    level: int
    words: str


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph; ``look`` may be ``lead``, ``alert`` or ``note``."""

    kind: ClassVar = "paragraph"
    words: str
    look: str = ""


@dataclass(frozen=True, slots=True)
class Bullets:
    """A list of sentences."""

    kind: ClassVar = "bullets"
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Tiles:
    """The main figures: value and meaning of each."""

    kind: ClassVar = "tiles"
    figures: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A table whose first column names its rows."""

    kind: ClassVar = "table"
    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    @property
    def numeric_columns(self) -> list[bool]:
        """Which columns have numbers only, and are aligned to the right."""
        return [all(_is_number(row[i]) for row in self.rows) for i in range(len(self.columns))]

    @property
    def has_short_row_names(self) -> bool:
        """Whether the names of all rows are kept on one line."""
        return all(len(row[0]) <= _SHORT for row in self.rows)


@dataclass(frozen=True, slots=True)
class Figure:
    """A picture with its caption; Markdown refers to a file beside it."""

    kind: ClassVar = "figure"
    picture: Picture
    caption: str


@dataclass(frozen=True, slots=True)
class Drawing:
    """A picture made elsewhere, as SVG that takes the colour of the text around it."""

    kind: ClassVar = "drawing"
    svg: str
    name: str
    alt: str

    @property
    def inline_svg(self) -> str:
        """The SVG as it is written into a page."""
        return self.svg.replace(_XML_NAMESPACE, "")


@dataclass(frozen=True, slots=True)
class Link:
    """A line that leads to a file beside the document."""

    kind: ClassVar = "link"
    words: str
    file: str


@dataclass(frozen=True, slots=True)
class TwoColumns:
    """Blocks in two columns where there is room, else one after the other."""

    kind: ClassVar = "two_columns"
    left: tuple[DocumentBlock, ...]
    right: tuple[DocumentBlock, ...]


DocumentBlock = Heading | Paragraph | Bullets | Tiles | Table | Figure | Drawing | Link | TwoColumns
"""A piece of a document."""


def render_html(title: str, blocks: Sequence[DocumentBlock], *, style: str = "") -> str:
    """Write one page that asks nothing of anybody: no script, no font, no picture from elsewhere.

    ``style`` is CSS to add.
    """
    template = _jinja_environment().get_template("document.html")
    return template.render(title=title, blocks=blocks, style=PICTURE_STYLE + style)


def render_person(title: str, who: str, view: str) -> str:
    """Write the page of one person; ``view`` is their answer in HTML that needs nothing else."""
    template = _jinja_environment().get_template("person.html")
    return template.render(title=title, who=who, view=view)


def render_markdown(blocks: Sequence[DocumentBlock]) -> str:
    """Write the same as Markdown."""
    return _jinja_environment().get_template("document.md").render(blocks=blocks)


def picture_svgs_by_name(blocks: Sequence[DocumentBlock]) -> dict[str, str]:
    """Every picture as a file of its own, by name."""
    found: dict[str, str] = {}
    for one in blocks:
        if isinstance(one, Figure):
            found[one.picture.name] = one.picture.svg(alone=True)
        elif isinstance(one, Drawing):
            found[one.name] = one.svg
        elif isinstance(one, TwoColumns):
            found |= picture_svgs_by_name((*one.left, *one.right))
    return found


def _jinja_environment() -> Environment:
    """The templates beside this module; what goes into HTML is escaped."""
    with needs_extra("case", "the report"):
        from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

    environment = Environment(
        loader=PackageLoader("localface.cases.readiness"),
        autoescape=select_autoescape(["html"]),
        undefined=StrictUndefined,
        trim_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"flat": _collapse_whitespace, "cell": _escape_table_cell}
    return environment


def _collapse_whitespace(words: str) -> str:
    return " ".join(words.split())


def _escape_table_cell(words: str) -> str:
    return _collapse_whitespace(words).replace("|", "\\|")


def _is_number(cell: str) -> bool:
    """Whether a cell reads as a number: digits with signs, per cent, standard deviations."""
    return bool(cell) and not any(character.isalpha() for character in cell)
