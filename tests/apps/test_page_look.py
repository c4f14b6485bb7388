"""How the page looks while it is used: nothing jumps, and it is as quick as it can be."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import browser as chrome
from browser import opened, serving, settled

pytestmark = pytest.mark.slow

SOMEONE = 1106  # of the default world: four actions
SHIFTS = """
window.shifted = [];
new PerformanceObserver((list) => {
  for (const one of list.getEntries()) {
    const nodes = one.sources.map(({ node }) => node?.id || node?.className || node?.nodeName);
    window.shifted.push({ value: one.value, nodes });
  }
}).observe({ type: "layout-shift", buffered: true });
"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chrome.browsing() as found:
        yield found


@pytest.fixture(scope="module")
def ward(browser: Any) -> Iterator[str]:
    with serving() as url:
        yield url


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
        page.wait_for_selector(".today .sides")
        page.evaluate("window.shifted = []")
        move = (
            "value => {const one = document.querySelector('#goal'); one.value = value;"
            "one.dispatchEvent(new Event('input', {bubbles: true}))}"
        )
        for goal in (0.52, 0.6, 0.45, 0.5):
            page.evaluate(move, goal)
            drawn(page)
        shifted = page.evaluate("window.shifted")
        assert sum(one["value"] for one in shifted) < 0.005, shifted
