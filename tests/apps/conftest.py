"""What the tests of the page share: a browser, and one service of each world in a session.

The helpers are imported where they are used: without a browser there are no such tests.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Kept no longer than for a module: where Playwright runs, no other event loop may."""
    from browser import browsing

    with browsing() as found:
        yield found


@pytest.fixture(scope="session")
def promises_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the ward keeps plans as promises."""
    return tmp_path_factory.mktemp("promises")


@pytest.fixture(scope="session")
def ward(promises_folder: Path) -> Iterator[str]:
    """The readiness cohort, as ``localface serve`` shows it on a fresh machine."""
    from browser import chromium, serving

    chromium()  # skips where there is none
    with serving("--promises", str(promises_folder)) as url:
        yield url


@pytest.fixture(scope="session")
def moons() -> Iterator[str]:
    from browser import chromium, serving

    chromium()
    with serving("--demo", "moons") as url:
        yield url
