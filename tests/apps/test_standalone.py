"""An answer in a file or a notebook: the page's own view, offline, with its caution."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import browser as chrome
from localface import LocalFACE, Search
from localface.apps import files
from localface.apps.web.standalone import standalone_view
from localface.apps.web.views.view import answer_view
from localface.cases.moons import two_moons

pytestmark = pytest.mark.slow

MOONS = two_moons(300)
EXPLAINER = LocalFACE(MOONS.model, MOONS.data, search=Search(n_neighbors=15))
ANSWER = EXPLAINER.explain(MOONS.person)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chrome.browsing() as found:
        yield found


@pytest.fixture
def offline(browser: Any) -> Iterator[Any]:
    """A page without a network; it must not even try to use one."""
    context = browser.new_context(offline=True)
    page = context.new_page()
    page.set_default_timeout(chrome.PATIENCE)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: asked.append(str(error)))
    yield page
    assert [one for one in asked if not one.startswith("file:")] == []
    context.close()


def test_a_page_of_an_answer_shows_the_pages_view_offline_and_carries_the_caution(
    offline: Any, tmp_path: Path
) -> None:
    offline.goto(files.write_answer(ANSWER, tmp_path / "out.html").as_uri())
    view = answer_view(ANSWER)
    assert offline.locator(".decision .end").inner_text() == view["score"]["end_text"]
    assert offline.locator(".card").count() == len(view["actions"])
    assert offline.locator(".panel").count() > 1
    assert offline.locator(".localface-recourse").count() == 0, "what it stands for is gone"
    assert "not advice" in offline.locator(".localface-caution").inner_text()


def test_a_page_of_several_answers_shows_each(offline: Any, tmp_path: Path) -> None:
    ways = EXPLAINER.alternatives(MOONS.person, n=2)
    offline.goto(files.write_answer(ways, tmp_path / "out.html").as_uri())
    assert offline.locator(".decision").count() == len(ways)
    assert offline.locator(".localface-alternatives, .decision").first.is_visible()


@pytest.mark.parametrize(
    ("body", "theme"),
    [
        ("<body data-jp-theme-light='false'>", "dark"),
        ("<body data-jp-theme-light='true'>", "light"),
        ("<body class='vscode-dark'>", "dark"),
        ("<body>", None),
    ],
)
def test_in_a_notebook_it_is_light_or_dark_with_the_host(
    offline: Any, body: str, theme: str | None
) -> None:
    offline.set_content(f"<!DOCTYPE html>{body}{standalone_view(ANSWER)}</body>")
    offline.wait_for_selector(".decision")
    assert offline.locator("[data-localface]").get_attribute("data-theme") == theme
    if theme == "dark":
        ink = "getComputedStyle(document.querySelector('.localface')).color"
        dark = offline.evaluate(ink)
        offline.evaluate("() => {document.body.className = ''}")
        offline.evaluate("() => {document.body.dataset.jpThemeLight = 'true'}")
        offline.wait_for_selector("[data-localface][data-theme='light']")
        assert offline.evaluate(ink) != dark


def test_text_of_the_data_cannot_end_the_element_that_it_stands_in() -> None:
    shown = standalone_view(ANSWER)
    assert len(re.findall(r"</script", shown)) == 2
    assert not re.search(r"https?://(?!www\.w3\.org/)", shown)
