"""A page as text and as HTML."""

from __future__ import annotations

import numpy as np
import pytest
from handmade import KNOWN_TAGS, Tags, answer, table_answer
from hypothesis import given, settings
from hypothesis import strategies as st

from localface.answers.changes import changes_between
from localface.answers.page import Page, PageStep, make_page_step
from localface.answers.rendering import page_as_html, page_as_text
from localface.data.feature import Feature
from localface.data.schema import Schema


def test_data_can_put_no_markup_on_the_page() -> None:
    one = table_answer("<script>alert(1)</script>", "<img src=x onerror=y>", unit="<b>&\"'")
    page = Tags(one._repr_html_())

    assert not {"script", "img", "b"} & set(page.seen)
    assert page.open == []
    assert {"<script>alert(1)</script>", "<img src=x onerror=y>", "<b>&\"'"} <= set(page.words)


@pytest.mark.parametrize("steps", [(), (make_page_step(1, (), "<i>", ("<i>",)),)])
def test_every_slot_of_the_page_is_escaped(steps: tuple[PageStep, ...]) -> None:
    page = Page("<i>", alerts=("<i>",), opening=("<i>",), now="<i>", steps=steps, closing=("<i>",))

    assert set(Tags(page_as_html(page)).seen) <= KNOWN_TAGS


@settings(max_examples=50, deadline=None)
@given(st.text(min_size=1), st.text(min_size=1), st.text(), st.text())
def test_whatever_the_words_the_html_is_balanced(
    name: str, category: str, unit: str, reason: str
) -> None:
    schema = Schema([Feature("a")])
    changes = changes_between(schema, (1.0,), np.array([1.0]), np.array([2.0]))
    step = make_page_step(1, changes, unit, (name,))
    page = Page(headline=name, alerts=(category,), opening=(reason,), now=unit, steps=(step,))

    assert Tags(page_as_html(page)).open == []
    assert set(Tags(page_as_html(page)).seen) <= KNOWN_TAGS
    assert page_as_text(page)


def test_the_html_is_an_accessible_table_for_light_and_dark() -> None:
    html = answer()._repr_html_()

    for sign in (
        "<caption>",
        'scope="col"',
        'scope="rowgroup"',
        "prefers-color-scheme",
        "color: inherit",
    ):
        assert sign in html


def test_a_name_with_line_breaks_stays_on_its_line() -> None:
    shown = str(table_answer("two\nlines", "yes\x1b[31m"))

    assert "two lines" in shown
    assert "\x1b" not in shown


def test_a_page_without_steps_is_no_table() -> None:
    page = Page("<Recourse: unreachable>", opening=("why",), now="0.21", closing=("seen",))

    assert page_as_text(page).splitlines() == [
        "<Recourse: unreachable>",
        "  why",
        "  now    score 0.21",
        "  seen",
    ]
    html = page_as_html(page)
    assert "<table>" not in html
    assert "<p>now: score 0.21</p>" in html


def test_a_page_without_a_score_shows_none() -> None:
    page = Page("headline")

    assert page_as_text(page) == "headline"
    assert "score" not in page_as_html(page)


def test_the_score_stands_beside_the_last_change_and_notes_below() -> None:
    schema = Schema([Feature("a", unit="kg"), Feature("b")])
    changes = changes_between(schema, (1.0, 2.0), np.array([1.0, 1.0]), np.array([2.0, 2.0]))
    step = PageStep(2, changes, smaller=3, score="0.9", notes=("note",))

    assert page_as_text(Page("head", steps=(step,))).splitlines()[1:] == [
        "  2  a  1 -> 2 kg",
        "     b  1 -> 2",
        "     and 3 more changes  score 0.9",
        "     note",
    ]
    words = Tags(page_as_html(Page("head", steps=(step,)))).words
    assert words.index("0.9") > words.index("and 3 more changes")
    assert '<th scope="rowgroup" rowspan="4">2</th>' in page_as_html(Page("head", steps=(step,)))
