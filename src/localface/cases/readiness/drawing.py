"""SVG pictures that follow the page around them: light or dark, as wide as there is room."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

PICTURE_STYLE = """
.lf-figure {color-scheme: light dark; --ink: #1c2430; --quiet: #55606e; --rule: #d9dde3;
  --first: #0a66a3; --second: #b04a00; --band: #d5eadf; --paper: #ffffff;
  font-family: system-ui, sans-serif}
@media (prefers-color-scheme: dark) {
  .lf-figure {--ink: #e9edf2; --quiet: #a7b1bd; --rule: #3a434e; --first: #70baf0;
    --second: #f5a662; --band: #1f4a3a; --paper: #1a2028}
}
.lf-figure text {font-size: 11px; fill: var(--ink)}
.lf-figure .title {font-size: 12px; font-weight: 600}
.lf-figure .quiet {fill: var(--quiet)}
.lf-figure .rule {stroke: var(--rule); fill: none}
.lf-figure .axis {stroke: var(--quiet); fill: none}
.lf-figure .first {stroke: var(--first); fill: none; stroke-width: 2}
.lf-figure .second {stroke: var(--second); fill: none; stroke-width: 1.5; stroke-dasharray: 5 3}
.lf-figure .dot {fill: var(--first); stroke: var(--paper); stroke-width: 1.5}
.lf-figure .ring {fill: var(--paper); stroke: var(--first); stroke-width: 2}
.lf-figure .mark {stroke: var(--second); stroke-width: 2.5; fill: none}
.lf-figure .bar {fill: var(--first)}
.lf-figure .other {fill: var(--second)}
.lf-figure .band {fill: var(--band)}
.lf-figure .warn {fill: var(--second)}
"""
"""The colours of every picture; text has a contrast of at least 4.5 to 1 on light and dark."""


@dataclass(frozen=True, slots=True)
class AxisScale:
    """A linear axis: from values to coordinates in a picture."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """The coordinate of a value."""
        span = (self.high - self.low) or 1.0
        return self.start + (value - self.low) / span * (self.end - self.start)


@dataclass(frozen=True, slots=True)
class Picture:
    """A drawing, with its content in words for those who do not see it."""

    name: str
    alt: str
    body: tuple[str, ...]
    width: int
    height: int

    def svg(self, *, alone: bool = False) -> str:
        """The picture for a page with ``PICTURE_STYLE``; ``alone`` brings its own, for a file."""
        style = f"<style>{PICTURE_STYLE}</style>" if alone else ""
        space = ' xmlns="http://www.w3.org/2000/svg"' if alone else ""
        size = (
            f'viewBox="0 0 {self.width} {self.height}" width="{self.width}" height="{self.height}"'
        )
        opening = (
            f'<svg{space} class="lf-figure" {size} role="img" aria-label="{escape(self.alt)}">'
        )
        return opening + style + "".join(self.body) + "</svg>"


def svg_text(x: float, y: float, words: str, *, look: str = "", anchor: str = "start") -> str:
    """Words at a point."""
    kind = f' class="{look}"' if look else ""
    side = f' text-anchor="{anchor}"' if anchor != "start" else ""
    return f'<text x="{x:.1f}" y="{y:.1f}"{kind}{side}>{escape(words)}</text>'


def svg_line(points: Sequence[tuple[float, float]], look: str) -> str:
    """A line through points in order."""
    drawn = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<polyline points="{drawn}" class="{look}"/>'


def svg_dot(x: float, y: float, look: str = "dot", r: float = 4.5) -> str:
    """A round mark."""
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{r:g}" class="{look}"/>'


def svg_box(x: float, y: float, width: float, height: float, *, look: str) -> str:
    """A filled rectangle."""
    size = f'width="{max(0, width):.1f}" height="{max(0, height):.1f}"'
    return f'<rect x="{x:.1f}" y="{y:.1f}" {size} class="{look}"/>'
