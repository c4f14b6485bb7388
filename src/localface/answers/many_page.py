"""Many answers as HTML: one line a person, and what changes most often."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from localface.answers.many_columns import error_in_words
from localface.answers.page import MOST_LINES
from localface.answers.recourse import Recourse
from localface.answers.rendering import STYLE
from localface.answers.wording import format_number, format_percent
from localface.errors import InputError

Line = tuple[Any, Recourse | InputError]
"""Whose answer it is, by the label of their row or their number, and the answer."""

_STYLE = """<style>
.localface-wide {overflow-x: auto}
.localface-people td:nth-of-type(2) {white-space: nowrap}
@media (max-width: 40rem) {
.localface-people, .localface-people :is(caption, tbody, tr, th, td) {display: block}
.localface-people thead {display: none}
.localface-people tr {border-bottom: 1px solid rgba(128, 128, 128, .4); padding: .4em 0}
.localface-people :is(th, td) {padding: 0}
.localface-people td:nth-of-type(-n + 2) {display: inline-block; margin-right: 1em}
}
</style>"""
_COUNTS = {"people": "changes for", "share": "of those with a plan", "up": "up", "down": "down"}
_COUNTS |= {"becomes": "becomes", "median_change": "median change"}


def lines_as_html(
    lines: Sequence[Line], counts: Mapping[str, Sequence[Any]], *, caption: str, most: int | None
) -> str:
    """Write a table of answers; every word of the data is escaped. No more than ``most`` lines."""
    shown = lines[:most]
    first = next((one for _, one in lines if isinstance(one, Recourse)), None)
    who = "person" if first is None else first.schema.each_row.one
    noun = "score" if first is None else first.target.noun
    head = _cells("th", (who, "status", noun, "plan", "notes"), ' scope="col"')
    body = "".join(_line_as_html(label, answer) for label, answer in shown)
    left = len(lines) - len(shown)
    more = f"<p>and {left:,} more, who are in to_frame()</p>" if left else ""
    table = (
        f'<table class="localface-people"><caption>{escape(caption)}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )
    inside = f"{table}{more}{_counts_as_html(counts)}"
    return f'{STYLE}{_STYLE}<div class="localface-recourse localface-wide">{inside}</div>'


def _line_as_html(label: Any, answer: Recourse | InputError) -> str:
    """One person: how the search ended, the score, the plan, and what is to be said of it."""
    if isinstance(answer, InputError):
        cells = ["could not be answered", "", "", error_in_words(answer)]
    else:
        notes = [*(f"caution: {one}" for one in answer.cautions), *filter(None, [answer.reason])]
        cells = [answer.status.word, _scores(answer), _plan(answer), "; ".join(notes)]
    return f'<tr><th scope="row">{escape(str(label))}</th>{_cells("td", cells)}</tr>'


def _scores(answer: Recourse) -> str:
    now = answer.target.format_score(answer.scores[0])
    if not answer.found:
        return now
    return f"{now} -> {answer.target.format_score(answer.with_actions_as_path().scores[-1])}"


def _plan(answer: Recourse) -> str:
    """What changes in all; nothing where there is no plan."""
    if not answer.found:
        return ""
    changes = answer.with_actions_as_path().changes
    more = f"; and {len(changes) - MOST_LINES} more" if len(changes) > MOST_LINES else ""
    return "; ".join(map(str, changes[:MOST_LINES])) + more


def _counts_as_html(counts: Mapping[str, Sequence[Any]]) -> str:
    """How often each feature changes; nothing where none does."""
    if not counts["feature"]:
        return ""
    head = _cells("th", ("feature", *_COUNTS.values()), ' scope="col"')
    body = ""
    for i, feature in enumerate(counts["feature"]):
        step = counts["median_change"][i]
        cells = [counts["people"][i], format_percent(counts["share"][i])]
        cells += [counts["up"][i], counts["down"][i], counts["becomes"][i]]
        cells += ["" if step is None else format_number(step)]
        body += f'<tr><th scope="row">{escape(feature)}</th>{_cells("td", cells)}</tr>'
    caption = "<caption>what changes, the most often first</caption>"
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cells(tag: str, values: Sequence[Any], attributes: str = "") -> str:
    return "".join(f"<{tag}{attributes}>{escape(str(one))}</{tag}>" for one in values)
