"""Records on the page: entered by hand, out of files, and listed by the hundred thousand."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from browser import opened, serving, settled

pytestmark = pytest.mark.slow

SCHEMA = """
[[features]]
name = "age"
kind = "integer"
moves = "never"
unit = "years"

[[features]]
name = "income"
kind = "numeric"
label = "yearly income"
unit = "kEUR"
resolution = 1.0
reference = [20.0, 60.0]

[[features]]
name = "arrears"
kind = "integer"
codes = {-9 = "no record", -8 = "not asked"}

[[features]]
name = "job"
kind = "categorical"
categories = ["clerk", "nurse"]
"""
MODEL = '''"""Scores by income."""


def score(table):
    income = table["income"].fillna(30)
    return (income / 100).clip(0, 1)
'''
HEADER = "age,income,arrears,job"


def rows(n: int) -> list[str]:
    """People on a grid; some incomes are not known, some arrears stand for a reason."""
    found = []
    for i in range(n):
        income = "" if i % 17 == 0 else str(10 + (7 * i) % 80)
        arrears = (0, 1, 2, -9, 3, -8, 0, 1)[i % 8]
        found.append(f"{20 + (3 * i) % 50},{income},{arrears},{('clerk', 'nurse')[i % 2]}")
    return found


@pytest.fixture(scope="module")
def office(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Somebody's own table, with codes and values that are missing."""
    folder = tmp_path_factory.mktemp("office")
    (folder / "rows.csv").write_text("\n".join([HEADER, *rows(400)]) + "\n", encoding="utf-8")
    (folder / "schema.toml").write_text(SCHEMA, encoding="utf-8")
    (folder / "income_score.py").write_text(MODEL, encoding="utf-8")
    own = ("--data", "rows.csv", "--model", "income_score:score", "--schema", "schema.toml")
    with serving(*own, folder=folder) as url:
        yield url


# the form


def test_the_form_is_grouped_with_units_and_ranges(browser: Any, office: str) -> None:
    with opened(browser, office) as watched:
        page = watched.page
        page.click("#tab-entry")
        legends = page.locator("#panel-entry legend").all_inner_texts()
        assert [one.split("\n")[0] for one in legends] == [
            "What stays as it is1 value still to enter",
            "What may change3 values still to enter",
        ]
        field = page.locator(".entry-field:has(#entry-income)").inner_text()
        assert "yearly income" in field
        assert "kEUR" in field
        assert "reference 20 to 60 kEUR" in field
        assert page.locator("#entry-job").evaluate("one => one.tagName") == "SELECT"
        assert page.locator("#entry-job option").all_inner_texts() == ["–", "clerk", "nurse"]


def test_what_is_not_known_or_coded_is_a_choice_of_its_own(browser: Any, office: str) -> None:
    with opened(browser, office) as watched:
        page = watched.page
        page.click("#tab-entry")
        page.fill("#entry-age", "40")
        page.select_option("#entry-job", "nurse")
        choice = page.locator(".entry-field:has(#entry-arrears) .reason-choice select")
        assert choice.locator("option").all_inner_texts() == [
            "has a value",
            "no record",
            "not asked",
        ]
        choice.select_option(label="no record")
        page.locator(".entry-field:has(#entry-income) .reason-choice select").select_option(
            label="not known"
        )
        settled(page)

        record = json.loads(
            page.evaluate("new URLSearchParams(location.hash.slice(1)).get('record')")
        )
        assert record == {"age": 40, "income": None, "arrears": -9, "job": "nurse"}
        assert page.locator("#entry-arrears-message").inner_text() == ""
        page.fill("#entry-arrears", "2")
        assert choice.input_value() == ""
        assert not watched.errors


def test_people_out_of_a_csv_file_are_put_side_by_side(
    browser: Any, office: str, tmp_path: Path
) -> None:
    path = tmp_path / "people.csv"
    lines = ["age;yearly income;arrears;job", "30;20;0;clerk", "50;;-9;nurse", "50;x;0;nurse"]
    path.write_text("\n".join(lines), encoding="utf-8")
    with opened(browser, office) as watched:
        page = watched.page
        page.click("#tab-entry")
        page.set_input_files("#people-file", path)
        page.wait_for_selector("#several tbody tr:nth-child(2)")
        assert page.locator("#several tbody tr").count() == 2
        note = page.locator("#paste-note").inner_text()
        assert note.startswith("2 of 3 rows read.")
        assert "row 3: yearly income: “x” is no number." in note
        page.wait_for_selector("#several td:text-is('not yet')")
        assert not watched.errors


# the list

CROWD = """
const asked = window.fetch;
window.pages = [];
window.fetch = async (path, options) => {
  const url = new URL(path, location.href);
  if (!url.pathname.endsWith("/people")) return asked(path, options);
  const offset = Number(url.searchParams.get("offset"));
  const total = url.searchParams.get("search") ? 3 : 100_000;
  const n = Math.max(0, Math.min(Number(url.searchParams.get("limit")), total - offset));
  window.pages.push(offset);
  const people = Array.from({ length: n }, (_, i) => ({
    id: offset + i, label: `person ${offset + i}`, score: 0.4, score_text: "0.40", reached: false,
    outcome: null, gist: "age 40 years",
  }));
  return new Response(JSON.stringify({ total, offset, understood: "", people }));
};
"""


def test_of_a_hundred_thousand_people_only_those_in_sight_are_in_the_page(
    browser: Any, office: str
) -> None:
    with opened(browser, office, script=CROWD) as watched:
        page = watched.page
        page.wait_for_selector(".person")
        assert "100,000 people" in page.locator(".count-line").inner_text()
        assert page.locator(".person").count() < 60

        page.locator(".people-scroll").evaluate("one => {one.scrollTop = 0.5 * one.scrollHeight}")
        page.wait_for_selector(".person[data-id='50000']")
        assert page.locator(".person").count() < 60
        assert page.evaluate("window.pages.length") < 8, "what is skipped is not fetched"
        middle = page.locator(".people li:has(.person[data-id='50000'])")
        assert middle.get_attribute("aria-posinset") == "50001"
        assert middle.get_attribute("aria-setsize") == "100000"

        page.fill("#people-search", "nobody else")
        page.wait_for_function("() => document.querySelectorAll('.person').length === 3")
        assert page.locator(".people-scroll").evaluate("one => one.scrollTop") == 0
        assert not watched.errors


def test_the_arrow_keys_walk_past_the_edge_of_what_is_in_the_page(
    browser: Any, office: str
) -> None:
    with opened(browser, office, script=CROWD) as watched:
        page = watched.page
        page.locator(".person").first.focus()
        for _ in range(70):
            page.keyboard.press("ArrowDown")
        page.wait_for_function("() => document.activeElement.dataset.id === '70'")
        assert page.locator(".person:focus").is_visible()
        page.keyboard.press("ArrowUp")
        page.wait_for_function("() => document.activeElement.dataset.id === '69'")
        assert page.locator(".person[tabindex='0']").count() == 1
