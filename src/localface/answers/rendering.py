"""A page as plain text or as HTML."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from localface.answers.page import Page, PageStep
from localface.answers.wording import to_one_line

_WIDEST_NAME = 28  # characters, in text
_WIDEST_CHANGE = 36

STYLE = """<style>
.localface-recourse {color: inherit; font-family: inherit; max-width: 60em}
.localface-recourse table {border-collapse: collapse; color: inherit; background: transparent}
.localface-recourse caption, .localface-recourse th, .localface-recourse td {text-align: left}
.localface-recourse caption {font-weight: bold; padding: .3em 0}
.localface-recourse th, .localface-recourse td {padding: .2em .8em .2em 0; vertical-align: top}
.localface-recourse tbody {border-top: 1px solid rgba(128, 128, 128, .6)}
.localface-recourse .alert {border-left: .3em solid #b35900; padding: .3em .6em; \
background: rgba(179, 89, 0, .12)}
@media (prefers-color-scheme: dark) {.localface-recourse .alert {border-color: #ffb366}}
</style>"""

_COLUMNS = ("step", "feature", "from", "to", "unit")


def page_as_text(page: Page) -> str:
    """Render a page for a terminal."""
    changes = [change for step in page.steps for change in step.changes]
    longest_name = max((len(to_one_line(change.label)) for change in changes), default=0)
    longest_change = max((len(to_one_line(change.values_text)) for change in changes), default=0)
    name_width = min(longest_name, _WIDEST_NAME)
    change_width = min(longest_change, _WIDEST_CHANGE)
    lines = [
        *map(to_one_line, page.alerts),
        to_one_line(page.headline),
        *(f"  {to_one_line(line)}" for line in page.opening),
    ]
    if page.now:
        lines.append(f"  {'now':<{name_width + change_width + 7}}{page.noun} {page.now}")
    for step in page.steps:
        lines.extend(_step_text_lines(step, name_width, change_width, page.noun))
    return "\n".join([*lines, *(f"  {to_one_line(line)}" for line in page.closing)])


def _step_text_lines(
    step: PageStep, name_width: int, change_width: int, noun: str
) -> Iterator[str]:
    """Yield the lines of one step: the score stands beside the last of its changes."""
    rows = [
        f"{to_one_line(change.label):<{name_width}}  "
        f"{to_one_line(change.values_text):<{change_width}}"
        for change in step.changes
    ]
    if step.smaller_changes_phrase:
        rows.append(f"{step.smaller_changes_phrase:<{name_width + change_width + 2}}")
    rows = rows or [" " * (name_width + change_width + 2)]
    rows[-1] += f"  {noun} {step.score}"
    for i, row in enumerate([*rows, *step.notes]):
        mark = str(step.number) if i == 0 else ""
        yield f"  {mark:<3}{row}".rstrip()


def page_as_html(page: Page) -> str:
    """Render a page for a notebook: an accessible table; every word of the data is escaped."""
    alerts = "".join(
        f'<p class="alert" role="note"><strong>{escape(line)}</strong></p>' for line in page.alerts
    )
    opening = "".join(f"<p>{escape(line)}</p>" for line in page.opening)
    closing = "".join(f"<p>{escape(line)}</p>" for line in page.closing)
    headline = escape(page.headline.strip("<>"))
    if page.steps:
        table = f"<table><caption>{headline}</caption>{_table_content_html(page)}</table>"
        middle = opening + table
    else:
        now = f"<p>now: {page.noun} {escape(page.now)}</p>" if page.now else ""
        middle = f"<p><strong>{headline}</strong></p>{opening}{now}"
    return f'{STYLE}<div class="localface-recourse">{alerts}{middle}{closing}</div>'


def _table_content_html(page: Page) -> str:
    """Write the head of the table, the state now, the steps."""
    cells = f'<th scope="rowgroup">now</th><td colspan="4"></td><td>{escape(page.now)}</td>'
    body = f"<tbody><tr>{cells}</tr></tbody>" + "".join(
        _step_rows_html(step) for step in page.steps
    )
    head = "".join(f'<th scope="col">{name}</th>' for name in (*_COLUMNS, page.noun))
    return f"<thead><tr>{head}</tr></thead>{body}"


def _step_rows_html(step: PageStep) -> str:
    """Write one step as a group of rows under its number; the score stands in the last of them."""
    rows = [
        "".join(
            f"<td>{escape(cell)}</td>"
            for cell in (change.label, *change.texts, change.feature.unit or "")
        )
        for change in step.changes
    ]
    if step.smaller_changes_phrase or not rows:
        rows.append(f'<td colspan="4">{escape(step.smaller_changes_phrase)}</td>')
    scores = [""] * (len(rows) - 1) + [step.score]
    cells = [row + f"<td>{escape(score)}</td>" for row, score in zip(rows, scores, strict=True)]
    cells += [f'<td colspan="5">{escape(note)}</td>' for note in step.notes]
    cells[0] = f'<th scope="rowgroup" rowspan="{len(cells)}">{step.number}</th>' + cells[0]
    return "<tbody>" + "".join(f"<tr>{row}</tr>" for row in cells) + "</tbody>"
