"""How the page looks while it is used: what is in sight at once, and that nothing jumps."""

from __future__ import annotations

import json
from typing import Any

import pytest

from browser import opened, posted, settled

pytestmark = pytest.mark.slow

SOMEONE = 1106  # of the default world: four actions
OTHER = 165
MOVE = (
    "value => {const one = document.querySelector('#goal'); one.value = value;"
    "one.dispatchEvent(new Event('input', {bubbles: true}))}"
)
SHIFTS = """
window.shifted = [];
new PerformanceObserver((list) => {
  for (const one of list.getEntries()) {
    const nodes = one.sources.map(({ node }) => node?.id || node?.className || node?.nodeName);
    window.shifted.push({ value: one.value, nodes });
  }
}).observe({ type: "layout-shift", buffered: true });
"""


def drawn(page: Any) -> None:
    """Wait until what has come is on the screen, with how firm it is."""
    settled(page)
    page.wait_for_function(
        "() => [...document.querySelectorAll('.firm-action')]"
        ".every((one) => !one.textContent.includes('worked out'))"
    )
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")


@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_jumps_when_it_is_asked_again(browser: Any, ward: str, width: int) -> None:
    with opened(browser, f"{ward}#id={SOMEONE}", width=width, script=SHIFTS) as watched:
        page = watched.page
        drawn(page)
        page.wait_for_selector(".today summary")
        page.evaluate("window.shifted = []")
        for goal in (0.52, 0.6, 0.45, 0.5):
            page.evaluate(MOVE, goal)
            drawn(page)
        shifted = page.evaluate("window.shifted")
        assert sum(one["value"] for one in shifted) < 0.005, shifted


@pytest.mark.parametrize("width", [1280, 1920])
def test_decision_and_first_action_are_in_sight_at_once(
    browser: Any, ward: str, width: int
) -> None:
    with opened(browser, f"{ward}#id={SOMEONE}", width=width, height=900) as watched:
        page = watched.page
        drawn(page)
        page.wait_for_selector(".today .sides")
        card = page.locator(".card").first.bounding_box()
        assert page.evaluate("scrollY") == 0
        assert page.locator("#decision .decision").bounding_box()["y"] > 0
        assert card["y"] + card["height"] <= 900


def test_on_a_phone_the_plan_begins_on_the_first_screen(browser: Any, ward: str) -> None:
    with opened(browser, f"{ward}#id={SOMEONE}", width=390, height=844) as watched:
        page = watched.page
        drawn(page)
        page.wait_for_selector(".today summary")
        assert not page.locator(".today .sides").is_visible()
        assert page.locator(".headline").bounding_box()["y"] < 844
        page.locator(".today summary").first.click()
        assert page.locator(".today .sides").is_visible()


@pytest.mark.parametrize("width", [390, 1280])
def test_name_and_score_stay_in_sight_and_change_with_the_person(
    browser: Any, ward: str, width: int
) -> None:
    with opened(browser, f"{ward}#id={SOMEONE}", width=width, height=844) as watched:
        page = watched.page
        drawn(page)
        line = page.locator("#reminder div")
        assert not line.is_visible(), "the decision itself is in sight"
        page.locator(".closing").scroll_into_view_if_needed()
        page.wait_for_selector("#reminder div", state="visible")
        now = page.locator(".numbers .now").inner_text()
        assert line.inner_text().startswith(f"Person {SOMEONE}")
        assert f"score {now} →" in line.inner_text()
        assert 0 <= line.bounding_box()["y"] < 10
        page.evaluate(f"location.hash = 'id={OTHER}'")
        page.wait_for_function("() => document.querySelector('#reminder div').textContent === ''")
        settled(page)
        assert (line.text_content() or "").startswith(f"Person {OTHER}")


def test_keeping_a_promise_moves_nothing(browser: Any, ward: str) -> None:
    with opened(browser, f"{ward}#id={SOMEONE}") as watched:
        page = watched.page
        drawn(page)
        page.wait_for_selector(".today .sides")
        before = page.locator(".card").first.bounding_box()
        page.locator("#promise").click()
        page.wait_for_selector("#promised:has-text('Promised')")
        assert not page.locator("#promise").is_visible()
        assert page.locator(".card").first.bounding_box() == before


def test_a_plan_that_takes_long_is_worked_out_beside_one_that_is_called_the_former(
    browser: Any, ward: str
) -> None:
    """While something moves a search has little time; what it knows by then is the decision."""
    with opened(browser, f"{ward}#id={SOMEONE}") as watched:
        page = watched.page
        drawn(page)
        held = []

        def cut_short(route: Any) -> None:
            body = json.loads(route.request.post_data)
            if "max_seconds" not in body:
                held.append(route)
                return
            reply = route.fetch().json()
            reply["view"]["cut_short"] = True
            route.fulfill(json=reply)

        page.route("**/recourse", cut_short)
        page.evaluate(MOVE, 0.6)
        page.wait_for_selector("#view.former")
        assert "0.6" in page.locator(".wanted-text").inner_text()
        assert page.locator(".badge").first.inner_text() == "Working it out"
        assert page.locator(".headline h2").inner_text() == "The plan before this change"
        assert page.locator("#updating").is_visible()
        for one in ("#print", "#json", "#keep", "#promise"):
            assert page.locator(one).is_disabled()

        held[-1].continue_()
        settled(page)
        judge = posted(ward, "recourse", {"id": SOMEONE, "min_score": 0.6})["view"]
        assert page.locator("#view.former").count() == 0
        assert page.locator(".numbers .end").inner_text() == judge["score"]["end_text"]
        assert page.locator(".card").count() == len(judge["actions"])
        assert page.locator("#print").is_enabled()
        assert not watched.errors
