"""The record that an answer is about as HTML: each value, where it goes, and what was allowed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape

from localface.answers.facts import RecourseFacts

_STYLE = """<style>
.localface-record {overflow-x: auto}
.localface-record table {border-collapse: collapse}
.localface-record :is(caption, th, td) {text-align: left; padding: .2em .8em .2em 0}
.localface-record caption {font-weight: bold}
.localface-record thead {border-bottom: 1px solid rgba(128, 128, 128, .6)}
.localface-record tbody th {font-weight: normal}
</style>"""
_COLUMNS = ("feature", "now", "after the plan", "what was allowed")


def record_as_html(answer: RecourseFacts, where: Mapping[str, object] | None = None) -> str:
    """Write the whole record, with the limits of the schema and those of ``where``."""
    head = "".join(f'<th scope="col">{name}</th>' for name in _COLUMNS)
    body = "".join(
        f'<tr><th scope="row">{escape(label)}</th>'
        + "".join(f"<td>{escape(cell)}</td>" for cell in cells)
        + "</tr>"
        for label, *cells in _lines(answer, where)
    )
    caption = "<caption>The record, and what was allowed</caption>"
    table = f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f'{_STYLE}\n<div class="localface-record">{table}</div>\n'


def _lines(
    answer: RecourseFacts, where: Mapping[str, object] | None
) -> Iterator[tuple[str, str, str, str]]:
    now = answer.records[0]
    end = answer.with_actions_as_path().records[-1]
    changed = {change.name for change in answer.changes} if answer.found else set()
    limits = answer.schema.box(now, where).reasons
    for j, feature in enumerate(answer.schema):
        unit = f" {feature.unit}" if feature.unit else ""
        label = feature.display_name
        after = f"{feature.format(end[j])}{unit}" if feature.name in changed else ""
        allowed = limits.get(j, "may change").removeprefix(f"{label} ")
        yield label, f"{feature.format(now[j])}{unit}", after, allowed
