"""Plans on the page: how firm they are, promises, other plans as they are found."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.error import HTTPError

import pytest

import browser as chrome
from browser import opened, posted, settled
from localface import Promises

pytestmark = pytest.mark.slow

SOMEONE = 1106  # of the default world: four actions
PROMISED = 165  # whom no other test promises anything
BORDERLINE = 314  # just below: several plans, each soon found


def judged(ward: str, person: int, **more: Any) -> Any:
    """What the service says of how firm somebody's plan is."""
    view = posted(ward, "recourse", {"id": person})["view"]
    actions = [
        {one["feature"]: one["after"] for one in action["changes"]} for action in view["actions"]
    ]
    plan = {"actions": actions, "density": view["actions"][-1]["density"]}
    return posted(ward, "firmness", {"id": person, "plans": [plan], **more})


# how firm


def test_every_card_and_the_answer_say_how_firm_they_are_without_any_option(
    browser: Any, ward: str
) -> None:
    (plan,) = judged(ward, SOMEONE)["plans"]
    with opened(browser, f"{ward}#id={SOMEONE}") as watched:
        page = watched.page
        settled(page)
        page.get_by_text(plan["firmness"][1:]).first.wait_for()
        told = [f"{one[0].upper()}{one[1:]}." for one in plan["actions"]]
        assert page.locator(".card .firm-action").all_inner_texts() == told
        assert page.locator(".card").count() == len(plan["actions"])
        assert not watched.errors


def test_what_retrained_models_say_is_added_once_it_is_known(browser: Any, ward: str) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.set_default_timeout(chrome.PATIENCE)
    words = "a model fitted anew agrees in 36 % of cases"
    asked = []

    def answer(route: Any) -> None:
        body = json.loads(route.request.post_data)
        if not body["retrained"]:
            route.continue_()
            return
        asked.append(body)
        plan = {"firmness": words, "robustness": None, "models": None, "lasting": None}
        reply = {"plans": [{**plan, "actions": []}], "learning": False, "milliseconds": 1.0}
        route.fulfill(json=reply)

    page.route("**/firmness", answer)
    page.goto(f"{ward}#id={SOMEONE}")
    page.get_by_text(words).first.wait_for()
    told = page.locator(".firm-words").inner_text()
    assert told.startswith("If values end slightly off")
    assert page.locator(".card .firm-action").first.inner_text().startswith("If missed by up to")
    assert len(asked) == 1
    context.close()


def test_the_default_world_can_be_fitted_again_without_anybody_waiting(ward: str) -> None:
    assert chrome.fetched(ward, "schema")["retrained"] is True
    found = judged(ward, SOMEONE, retrained=True)
    assert found["learning"] or found["plans"][0]["lasting"]


# promises


def test_one_click_writes_the_plan_on_the_page_down_as_a_promise(
    browser: Any, ward: str, promises_folder: Path
) -> None:
    with opened(browser, f"{ward}#id={PROMISED}") as watched:
        page = watched.page
        settled(page)
        page.click("#promise")
        page.wait_for_selector("#promised:has-text('Promised, ')")

        promise = Promises.open(promises_folder, create=False)[-1]
        view = posted(ward, "recourse", {"id": PROMISED})["view"]
        assert promise.person == str(PROMISED)
        assert promise.id == page.locator("#promised").get_attribute("title")
        assert [dict(one.changes) for one in promise.recourse.actions] == [
            {one["feature"]: one["after"] for one in action["changes"]}
            for action in view["actions"]
        ]

        page.reload()
        settled(page)
        page.click("#promise")
        page.wait_for_selector("#promised:has-text('Promised already')")
        assert len(Promises.open(promises_folder)) == promise.number
        assert not watched.errors


def test_a_plan_of_several_can_be_promised_and_nothing_of_it_stays_with_the_next_person(
    browser: Any, ward: str, promises_folder: Path
) -> None:
    with opened(browser, f"{ward}#id={SOMEONE}") as watched:
        page = watched.page
        settled(page)
        page.click("#tab-ways")
        page.locator("#panel-ways .use button").nth(1).click()
        page.click("#promise")
        page.wait_for_selector("#promised:has-text('Promised, ')")
        changed = page.locator(".card .name").evaluate_all("all => all.map(one => one.title)")
        last = Promises.open(promises_folder)[-1].recourse
        assert changed == [name for one in last.actions for name in one.changes]

        page.locator(".person").first.click()
        assert page.locator("#promised").inner_text() == ""
        settled(page)


def test_a_plan_that_is_not_what_is_answered_is_not_promised(
    ward: str, promises_folder: Path
) -> None:
    before = len(Promises.open(promises_folder))
    with pytest.raises(HTTPError) as refused:
        posted(ward, "promises", {"id": SOMEONE, "plan": [{"gcs_min": 15}]})
    assert refused.value.code == 409
    assert "ask again" in refused.value.read().decode()
    assert len(Promises.open(promises_folder)) == before


# other plans


def test_other_plans_appear_as_they_are_found_with_what_they_trade(browser: Any, ward: str) -> None:
    """The search for all of them is held back: what is shown meanwhile was found without it."""
    held = []
    with opened(browser, f"{ward}#id={BORDERLINE}") as watched:
        page = watched.page
        settled(page)

        def hold(route: Any) -> None:
            if json.loads(route.request.post_data).get("n_paths"):
                held.append(route)
            else:
                route.continue_()

        page.route("**/recourse", hold)
        page.click("#tab-ways")
        page.wait_for_selector("#panel-ways th:has-text('Plan 2')")
        assert "so far" in page.locator("#panel-ways .so-far").inner_text()
        first = {
            one["feature"]
            for action in posted(ward, "recourse", {"id": BORDERLINE})["view"]["actions"]
            for one in action["changes"]
        }
        trade = page.locator(".trades li").first.inner_text()
        assert trade.startswith("Plan 2 leaves ")
        labels = {one["name"]: one["text"] for one in chrome.fetched(ward, "schema")["features"]}
        assert any(labels[name] in trade for name in first)

        held[-1].continue_()
        page.wait_for_selector("#panel-ways .use button")
        assert page.locator(".so-far").count() == 0
        judge = posted(ward, "recourse", {"id": BORDERLINE, "n_paths": 3})
        efforts = [one["effort"] for one in [judge["view"], *judge["alternatives"]]]
        row = page.locator("#panel-ways tr:has-text('Ordinary differences') td.n")
        assert row.all_inner_texts() == [f"{one:.1f}" for one in efforts]
        assert not watched.errors


def test_nothing_of_one_persons_other_plans_comes_to_the_next(browser: Any, ward: str) -> None:
    with opened(browser, f"{ward}#id={BORDERLINE}") as watched:
        page = watched.page
        settled(page)
        late = []
        page.route("**/recourse", lambda route: late.append(route))
        page.click("#tab-ways")
        page.wait_for_selector("#panel-ways .so-far")
        page.unroute("**/recourse")
        page.locator(".person").first.click()
        settled(page)
        assert page.locator("#panel-ways .ways-body").inner_text() == ""
        assert late
        assert not watched.errors
