"""A document of plain blocks that can be written as one HTML page or as Markdown, with the same words and numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Protocol

from localface.cases.readiness.drawing import STYLE, Picture


class Block(Protocol):
    """A piece of a document."""

    def html(self) -> str:
        """The piece for the page."""
        ...

    def markdown(self) -> str:
        """The piece for Markdown."""
        ...


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading; level 1 is the title."""

    level: int
    words: str

    def html(self) -> str:
        """The piece for the page."""
        return f"<h{self.level}>{escape(self.words)}</h{self.level}>"

    def markdown(self) -> str:
        """The piece for Markdown."""
        return f"{'#' * self.level} {self.words}"


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph; ``look`` may be ``lead``, ``alert`` or ``note``."""

    words: str
    look: str = ""

    def html(self) -> str:
        """The piece for the page."""
        kind = f' class="{self.look}"' if self.look else ""
        return f"<p{kind}>{escape(self.words)}</p>"

    def markdown(self) -> str:
        """The piece for Markdown."""
        return f"> {_flat(self.words)}" if self.look == "alert" else _flat(self.words)


@dataclass(frozen=True, slots=True)
class Bullets:
    """A list of sentences."""

    lines: tuple[str, ...]

    def html(self) -> str:
        """The piece for the page."""
        return "<ul>" + "".join(f"<li>{escape(one)}</li>" for one in self.lines) + "</ul>"

    def markdown(self) -> str:
        """The piece for Markdown."""
        return "\n".join(f"- {_flat(one)}" for one in self.lines)


@dataclass(frozen=True, slots=True)
class Tiles:
    """A few figures that tell most of it: value and meaning."""

    figures: tuple[tuple[str, str], ...]

    def html(self) -> str:
        """The piece for the page."""
        tiles = (
            f"<div><dt>{escape(words)}</dt><dd>{escape(value)}</dd></div>"
            for value, words in self.figures
        )
        return f'<dl class="tiles">{"".join(tiles)}</dl>'

    def markdown(self) -> str:
        """The piece for Markdown."""
        return "\n".join(f"- **{_flat(value)}** {_flat(words)}" for value, words in self.figures)


@dataclass(frozen=True, slots=True)
class Table:
    """A table whose first column names its rows; columns that hold numbers only are set to the right."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def html(self) -> str:
        """The piece for the page."""
        right = [all(_numeric(row[i]) for row in self.rows) for i in range(len(self.columns))]
        kind = ['class="n" ' if one else "" for one in right]
        short = 'class="short" ' if all(len(row[0]) <= _SHORT for row in self.rows) else ""
        head = "".join(
            f'<th {kind[i]}scope="col">{escape(one)}</th>' for i, one in enumerate(self.columns)
        )
        body = "".join(
            f'<tr><th {short}scope="row">{escape(row[0])}</th>'
            + "".join(
                f"<td {kind[i]}>".replace(" >", ">") + f"{escape(cell)}</td>"
                for i, cell in enumerate(row)
                if i
            )
            + "</tr>"
            for row in self.rows
        )
        table = f"<table><caption>{escape(self.caption)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody>"
        return f'<div class="wide" tabindex="0" role="region" aria-label="{escape(self.caption)}">{table}</table></div>'

    def markdown(self) -> str:
        """The piece for Markdown."""
        lines = ["| " + " | ".join(map(_cell, row)) + " |" for row in (self.columns, *self.rows)]
        lines.insert(1, "|" + " --- |" * len(self.columns))
        return f"*{_flat(self.caption)}*\n\n" + "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Figure:
    """A picture with its caption; Markdown refers to a file beside it."""

    picture: Picture
    caption: str

    def html(self) -> str:
        """The piece for the page."""
        return (
            f"<figure>{self.picture.svg()}<figcaption>{escape(self.caption)}</figcaption></figure>"
        )

    def markdown(self) -> str:
        """The piece for Markdown."""
        alt = _flat(self.picture.alt).replace("[", "(").replace("]", ")")
        return f"![{alt}](figures/{self.picture.name}.svg)\n\n{_flat(self.caption)}"


@dataclass(frozen=True, slots=True)
class Drawn:
    """A picture made elsewhere, as SVG that takes the colour of the text around it."""

    svg: str
    name: str
    alt: str

    def html(self) -> str:
        """The piece for the page."""
        return f"<figure>{self.svg.replace(_SPACE, '')}</figure>"

    def markdown(self) -> str:
        """The piece for Markdown."""
        return f"![{_flat(self.alt)}](figures/{self.name}.svg)"


@dataclass(frozen=True, slots=True)
class Beside:
    """Blocks in two columns where there is room, else one after the other."""

    left: tuple[Block, ...]
    right: tuple[Block, ...]

    def html(self) -> str:
        """The piece for the page."""
        sides = ("".join(one.html() for one in side) for side in (self.left, self.right))
        return '<div class="beside">' + "".join(f"<div>{side}</div>" for side in sides) + "</div>"

    def markdown(self) -> str:
        """The piece for Markdown."""
        return "\n\n".join(one.markdown() for one in (*self.left, *self.right))


def as_html(title: str, blocks: Sequence[Block]) -> str:
    """Write one page that asks nothing of anybody: no script, no font, no picture from elsewhere."""
    body = "\n".join(one.html() for one in blocks)
    return (
        '<!doctype html>\n<html lang="en-GB">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        '<link rel="icon" href="data:,">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}{STYLE}</style>\n</head>\n"
        f"<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


def as_markdown(blocks: Sequence[Block]) -> str:
    """Write the same as Markdown."""
    return "\n\n".join(one.markdown() for one in blocks) + "\n"


def pictures_of(blocks: Sequence[Block]) -> dict[str, str]:
    """Every picture as a file of its own, by name."""
    found: dict[str, str] = {}
    for one in blocks:
        if isinstance(one, Figure):
            found[one.picture.name] = one.picture.svg(alone=True)
        elif isinstance(one, Drawn):
            found[one.name] = one.svg
        elif isinstance(one, Beside):
            found |= pictures_of((*one.left, *one.right))
    return found


_SHORT = 15  # characters that a row's name keeps on one line
_SPACE = ' xmlns="http://www.w3.org/2000/svg"'  # needed in a file, not in a page


def _flat(words: str) -> str:
    return " ".join(words.split())


def _cell(words: str) -> str:
    return _flat(words).replace("|", "\\|")


def _numeric(cell: str) -> bool:
    """Whether a cell reads as a number: figures with signs, units of a share, and standard deviations."""
    return bool(cell) and not any(character.isalpha() for character in cell)


_STYLE = """
:root {color-scheme: light dark; --ground: #f6f7f9; --card: #ffffff; --ink: #1c2430; --quiet: #55606e; --rule: #d9dde3;
  --accent: #0a66a3; --alert: #fff3e6; --alert-edge: #b04a00}
@media (prefers-color-scheme: dark) {
  :root {--ground: #11161c; --card: #1a2028; --ink: #e9edf2; --quiet: #a7b1bd; --rule: #3a434e; --accent: #70baf0;
    --alert: #33261a; --alert-edge: #f5a662}
}
* {box-sizing: border-box}
body {margin: 0; background: var(--ground); color: var(--ink); font: 16px/1.55 system-ui, sans-serif}
main {max-width: 70rem; margin: 0 auto; padding: clamp(1rem, 4vw, 3rem)}
h1 {font-size: clamp(1.6rem, 4.5vw, 2.4rem); line-height: 1.15; margin: 0 0 .5rem; letter-spacing: -.015em}
h2 {font-size: 1.4rem; margin: 3rem 0 .5rem; padding-top: 1.2rem; border-top: 1px solid var(--rule)}
h3 {font-size: 1.1rem; margin: 2rem 0 .4rem}
p, ul {max-width: 46rem; margin: .5rem 0 1rem}
li {margin: .3rem 0}
.lead {font-size: 1.1rem; color: var(--quiet)}
.note {font-size: .9rem; color: var(--quiet)}
.alert {border-left: 4px solid var(--alert-edge); background: var(--alert); padding: .7rem 1rem;
  border-radius: 0 .4rem .4rem 0}
.tiles {display: grid; grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr)); gap: .8rem; margin: 1.5rem 0}
.tiles div {background: var(--card); border: 1px solid var(--rule); border-radius: .6rem; padding: .8rem 1rem;
  display: flex; flex-direction: column-reverse; justify-content: flex-end}
.tiles dt {font-size: .85rem; line-height: 1.35; color: var(--quiet)}
.tiles dd {margin: 0; font-size: 1.6rem; font-weight: 650; font-variant-numeric: tabular-nums; letter-spacing: -.01em}
.wide {overflow-x: auto; margin: 1rem 0 1.5rem; background: var(--card);
  border: 1px solid var(--rule); border-radius: .6rem}
.wide:focus-visible {outline: 2px solid var(--accent)}
table {border-collapse: collapse; width: 100%; font-size: .9rem; font-variant-numeric: tabular-nums}
caption {text-align: left; padding: .7rem .9rem .5rem; color: var(--quiet); font-size: .85rem}
th, td {text-align: left; padding: .4rem .9rem; border-top: 1px solid var(--rule); vertical-align: top}
@media (max-width: 40rem) {th, td {padding: .4rem .55rem}}
thead th {font-weight: 600; font-size: .82rem; color: var(--quiet); vertical-align: bottom}
tbody th {font-weight: 500}
.short {white-space: nowrap}
.n {text-align: right}
td.n {white-space: nowrap}
figure {margin: 1rem 0 1.5rem; padding: 1rem; background: var(--card); border: 1px solid var(--rule);
  border-radius: .6rem}
figure svg {display: block; max-width: 100%; height: auto; margin: 0 auto}
figure svg.lf-figure {width: 100%; max-width: 28rem}
figcaption {font-size: .85rem; color: var(--quiet); margin-top: .6rem}
.beside {display: grid; grid-template-columns: minmax(0, 1fr); gap: 0 1.5rem}
@media (min-width: 60rem) {.beside {grid-template-columns: repeat(2, minmax(0, 1fr)); align-items: start}}
@media print {body {background: none} figure, .wide {break-inside: avoid}}
"""
