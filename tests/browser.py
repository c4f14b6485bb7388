"""A real browser in front of a real service: what the tests of the page share."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import pytest

pytest.importorskip("fastapi", reason="the service needs fastapi")
pytest.importorskip("uvicorn", reason="the service needs uvicorn")
sync_api = pytest.importorskip("playwright.sync_api", reason="the page is tested with playwright")

FLAGS = (
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
PATIENCE = 20_000  # milliseconds that a browser waits for what must come


def chromium() -> str:
    """Where a Chromium is; the test is skipped where there is none."""
    names = ("chromium", "chromium-browser", "google-chrome")
    found = os.environ.get("LOCALFACE_CHROMIUM") or next(
        filter(None, map(shutil.which, names)), None
    )
    if not found:
        with sync_api.sync_playwright() as playwright:
            found = playwright.chromium.executable_path
    if not Path(found).exists():
        pytest.skip("no Chromium to be had: install Debian's chromium, or set LOCALFACE_CHROMIUM")
    return str(found)


@contextmanager
def serving(*arguments: str, folder: Path | None = None) -> Iterator[str]:
    """Run ``localface serve`` on a free port of loopback, and give its address."""
    source = str(Path(__file__).parents[1] / "src")
    places = [source, *([str(folder)] if folder else []), os.environ.get("PYTHONPATH", "")]
    command = [
        sys.executable,
        "-m",
        "localface",
        "serve",
        "--port",
        "0",
        "--workers",
        "1",
        *arguments,
    ]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, places)),
        "OPENBLAS_NUM_THREADS": "1",
    }
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment,
        text=True,
        cwd=folder,
    ) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            assert " at http://" in line, f"localface serve said {line!r}"
            yield line.split(" at ")[1].split()[0]
        finally:
            process.terminate()
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()


@contextmanager
def browsing() -> Iterator[Any]:
    """A fresh browser with nothing in it."""
    path = chromium()
    sandbox = ["--no-sandbox"] if getattr(os, "geteuid", lambda: 1)() == 0 else []
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=[*FLAGS, *sandbox])
        try:
            yield browser
        finally:
            browser.close()


@dataclass(slots=True)
class Watched:
    """A page, and everything it complained about or asked of anybody."""

    page: Any
    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    @property
    def hosts(self) -> set[str]:
        """Whom the page asked."""
        return {urlsplit(one).netloc for one in self.requests if one.startswith(("http", "ws"))}


@contextmanager
def opened(
    browser: Any,
    url: str,
    *,
    width: int = 1280,
    height: int = 900,
    script: str | None = None,
    **options: Any,
) -> Iterator[Watched]:
    """Open a page and wait until it is ready; nothing is kept from one page to the next.

    ``script`` runs before the page's own.
    """
    context = browser.new_context(viewport={"width": width, "height": height}, **options)
    if script is not None:
        context.add_init_script(script)
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    watched = Watched(page)
    page.on(
        "console",
        lambda message: watched.errors.append(message.text) if message.type == "error" else None,
    )
    page.on("pageerror", lambda error: watched.errors.append(str(error)))
    page.on("request", lambda request: watched.requests.append(request.url))
    try:
        page.goto(url)
        page.wait_for_selector("html[data-ready]")
        yield watched
    finally:
        context.close()


def settled(page: Any) -> None:
    """Wait until the answer on the page is to the last question."""
    page.wait_for_selector("#decision .decision")
    page.wait_for_selector("#updating", state="hidden")


def posted(url: str, path: str, body: Any) -> Any:
    """Ask the service itself, as a judge of what the page shows."""
    request = Request(url + path, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urlopen(request, timeout=60) as reply:
        return json.load(reply)


def fetched(url: str, path: str) -> Any:
    """Fetch something from the service itself."""
    with urlopen(url + path, timeout=60) as reply:
        return json.load(reply)
