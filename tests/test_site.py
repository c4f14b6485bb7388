"""The site builds without a warning, fetches nothing, and every link in it leads somewhere."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from html.parser import HTMLParser
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

ROOT = Path(__file__).parents[1]
NEEDED = ("sphinx", "furo", "myst_parser")
MISSING = [name for name in NEEDED if find_spec(name) is None]
FETCHED = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src"}

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        bool(MISSING),
        reason=f"{', '.join(MISSING)} not installed: pip install --group docs, or make docs",
    ),
]


class Tags(HTMLParser):
    """What a page fetches, where it leads, and what can be led to in it."""

    def __init__(self) -> None:
        super().__init__()
        self.fetches: list[str] = []
        self.leads: list[str] = []
        self.anchors: set[str] = {""}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag in FETCHED and FETCHED[tag] in given:
            self.fetches.append(given[FETCHED[tag]])
        if tag == "a" and "href" in given:
            self.leads.append(given["href"])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site as `make docs` builds it, warnings as errors."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html"]
    paths = [str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]
    ran = subprocess.run(
        [*command, "-d", str(folder / "doctrees"), str(ROOT / "docs"), str(folder / "html")],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
    )
    assert ran.returncode == 0, ran.stderr
    return folder / "html"


@cache
def tags_of(page: Path) -> Tags:
    tags = Tags()
    tags.feed(page.read_text(encoding="utf-8"))
    return tags


def test_every_page_of_the_docs_is_in_the_site(site: Path) -> None:
    for page in (ROOT / "docs").glob("*.md"):
        assert (site / f"{page.stem}.html").is_file(), page.name


def test_no_page_fetches_anything_from_elsewhere(site: Path) -> None:
    for page in site.glob("*.html"):
        for address in tags_of(page).fetches:
            parts = urlsplit(address)
            assert not parts.scheme or parts.scheme == "data", f"{page.name}: {address}"
            assert not parts.netloc, f"{page.name}: {address}"
    for sheet in site.rglob("*.css"):
        text = sheet.read_text(encoding="utf-8")
        assert "url(http" not in text, sheet.name
        assert "@import" not in text, sheet.name


def test_every_link_and_anchor_of_the_site_leads_somewhere(site: Path) -> None:
    for page in site.glob("*.html"):
        for address in [*tags_of(page).leads, *tags_of(page).fetches]:
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                continue
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            assert target.is_file(), f"{page.name}: {address}"
            if target.suffix == ".html" and parts.fragment:
                known = tags_of(target).anchors
                assert unquote(parts.fragment) in known, f"{page.name}: {address}"


def test_the_search_finds_words_without_a_server(site: Path) -> None:
    script = (site / "searchindex.js").read_text(encoding="utf-8")
    index = json.loads(script.removeprefix("Search.setIndex(").removesuffix(")"))
    assert "constraints" in index["docnames"]
    assert "counterfactu" in index["terms"]  # stemmed
    assert "searchindex.js" in (site / "search.html").read_text(encoding="utf-8")
