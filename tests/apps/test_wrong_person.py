"""Nobody's name ever stands beside somebody else's figures, however late answers come."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from browser import fetched, opened, posted, settled

pytestmark = pytest.mark.slow

RACES = int(os.environ.get("LOCALFACE_RACES", "40"))
"""Interleavings played; LOCALFACE_RACES=1000 plays as many as are promised."""

AT_ONCE = 20
SCRIPT = (Path(__file__).parent / "racing.js").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def people(ward: str) -> list[dict[str, Any]]:
    """Six people with their answers; each has a heart rate and an age that nobody else has."""
    below = [one["id"] for one in fetched(ward, "people?sort=score&offset=700&limit=6")["people"]]
    found = []
    for place, one in enumerate(below):
        record = fetched(ward, f"people/{one}")["record"]
        view = posted(ward, "recourse", {"id": one})["view"]
        marks = {"age": 40 + place, "hr_max": 100 + place}
        found.append({"id": one, "record": record, "view": view, "marks": marks})
    return found


def ready_to_race(page: Any, ward: str, people: list[dict[str, Any]]) -> None:
    """Put the service of the race in the place of the real one."""
    someone = {"id": people[0]["id"]}
    check = posted(ward, "check", {**someone, "wish": {"pain": 1}})
    effects = posted(ward, "effects", someone)
    page.evaluate(
        "given => Object.assign(window.race, {...given, on: true})",
        {"people": people, "check": check, "effects": effects},
    )
    page.fill("#people-search", "anybody")  # the list is the race's from now on
    page.wait_for_function(
        "n => document.querySelectorAll('.person').length === n", arg=len(people)
    )


def test_no_name_stands_beside_another_persons_figures_however_answers_race(
    browser: Any, ward: str, people: list[dict[str, Any]]
) -> None:
    with opened(browser, ward, script=SCRIPT) as watched:
        page = watched.page
        ready_to_race(page, ward, people)
        for start in range(0, RACES, AT_ONCE):
            page.evaluate(
                "async ([from, to]) => { for (let i = from; i < to; i += 1) await race.run(i); }",
                [start, min(RACES, start + AT_ONCE)],
            )
            assert page.evaluate("race.mixes.slice(0, 5)") == []
        assert page.evaluate("race.looks") > 10 * RACES, "every change of the page is looked at"
        assert not [one for one in watched.errors if "503" not in one]


def test_name_and_score_change_at_once_and_nothing_of_the_former_person_stays(
    browser: Any, ward: str, people: list[dict[str, Any]]
) -> None:
    first, second = people[0], people[1]
    with opened(browser, f"{ward}#id={first['id']}") as watched:
        page = watched.page
        settled(page)
        page.fill("#people-search", str(second["id"]))
        page.wait_for_selector(f".person[data-id='{second['id']}']")
        page.route("**/recourse", lambda route: None)  # the answer never comes
        page.locator(f".person[data-id='{second['id']}']").click()

        assert page.locator("#who").inner_text() == f"Person {second['id']}"
        assert page.locator(".numbers .now").inner_text() == second["view"]["score"]["now_text"]
        assert page.locator(".card, .steps, .headline").count() == 0
        assert page.locator(".skeleton").is_visible()
        assert page.locator("#print").is_disabled()
        page.wait_for_selector("#limits .limit")
        age = page.locator("#limits .limit", has=page.locator(".name[title='age']"))
        assert age.locator(".own-value").inner_text().startswith(str(second["record"]["age"]))


@pytest.mark.parametrize("text", ['{"age": 50', "nothing to read", '{"age": 50}'])
def test_a_paste_that_fails_leaves_nobodys_decision_on_the_page(
    browser: Any, ward: str, people: list[dict[str, Any]], text: str
) -> None:
    with opened(browser, f"{ward}#id={people[0]['id']}") as watched:
        page = watched.page
        settled(page)
        page.locator("#tab-entry").click()
        page.fill("#paste", text)
        assert page.locator("#who").inner_text() == "Nobody is shown"
        assert page.locator(".decision, .card, .headline, .limit").count() == 0
        assert "not a whole record" in page.locator("#decision").inner_text()


def test_limits_are_left_behind_and_offered_to_the_next_person(
    browser: Any, ward: str, people: list[dict[str, Any]]
) -> None:
    first, second, third = (one["id"] for one in people[:3])
    with opened(browser, f"{ward}#id={first}") as watched:
        page = watched.page

        def turn_to(number: int) -> None:
            page.fill("#people-search", str(number))
            page.locator(f".person[data-id='{number}']").click()
            settled(page)

        settled(page)
        page.locator("#constraints [data-feature='pain'] .toggle[title='keep as it is']").click()
        settled(page)
        turn_to(second)
        assert page.locator("#force").is_hidden(), "nothing is carried over unasked"
        assert "pain score stays as it is" in page.locator("#carry").inner_text()

        page.locator("[data-key='carry-always']").click()
        settled(page)
        assert "pain score stays as it is" in page.locator("#force").inner_text()
        turn_to(third)
        assert "pain score stays as it is" in page.locator("#force").inner_text()
        assert page.locator("#carry").is_hidden()
        page.locator("[data-key='lift-carry']").click()
        turn_to(first)
        assert page.locator("#force").is_hidden()


def test_back_and_forward_lead_from_person_to_person(
    browser: Any, ward: str, people: list[dict[str, Any]]
) -> None:
    first, second = people[0]["id"], people[1]["id"]
    with opened(browser, ward) as watched:
        page = watched.page
        for one in (first, second):
            page.fill("#people-search", str(one))
            page.locator(f".person[data-id='{one}']").click()
            settled(page)
        page.go_back()
        page.wait_for_function(
            f"() => document.querySelector('#who').textContent.includes('{first}')"
        )
        settled(page)
        page.go_forward()
        settled(page)
        assert page.locator("#who").inner_text() == f"Person {second}"
        page.go_back()
        page.go_back()
        assert page.locator("#who").inner_text() == "Choose a person"
        assert page.locator(".card").count() == 0
