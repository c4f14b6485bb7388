"""What all tests share: a deterministic Hypothesis, no screen, the real data, the page."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import settings

os.environ.setdefault("MPLBACKEND", "Agg")
os.environ["LOCALFACE_CACHE"] = ""  # as on a fresh machine, and nothing is left at home

settings.register_profile("deterministic", derandomize=True, deadline=None)
settings.load_profile("deterministic")

ROOT = Path(__file__).parents[1]

_IMPORT = re.compile(r"^\s*(?:from|import) ([\w.]+)", re.MULTILINE)
_EXTRAS = {
    name: name
    for name in (
        "httpx",
        "lightgbm",
        "matplotlib",
        "onnxruntime",
        "pandas",
        "polars",
        "pyarrow",
        "ray",
        "sklearn",
        "skops",
        "tqdm",
    )
} | {"localface.apps.web": "fastapi", "localface.apps.batch": "pyarrow"}
_GENERATORS = pytest.StashKey[list[tuple[np.random.Generator, dict]]]()
_HELPERS = (ROOT / "tests", ROOT / "benchmarks", ROOT / "benchmarks" / "comparison")


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leave out test files that need an extra which is not installed, helpers included."""
    if collection_path.suffix == ".py" and _missing_extras(collection_path):
        return True
    return None


@cache
def _missing_extras(path: Path) -> frozenset[str]:
    """The extras that a file of the tests needs and that are not installed."""
    names = set(_IMPORT.findall(path.read_text(encoding="utf-8")))
    needed = {_EXTRAS[known] for known in _EXTRAS for name in names if _is_within(name, known)}
    missing = {package for package in needed if not find_spec(package)}
    for helper in (folder / f"{name}.py" for name in names for folder in (path.parent, *_HELPERS)):
        if helper.is_file() and helper != path:
            missing |= _missing_extras(helper)
    return frozenset(missing)


def _is_within(name: str, package: str) -> bool:
    return name == package or name.startswith(f"{package}.")


def pytest_collection_finish(session: pytest.Session) -> None:
    """Note how the generators of random numbers stand that test files keep as globals."""
    files = {module for item in session.items if (module := getattr(item, "module", None))}
    generators = [
        value
        for module in files
        for value in vars(module).values()
        if isinstance(value, np.random.Generator)
    ]
    session.stash[_GENERATORS] = [(one, one.bit_generator.state) for one in generators]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Put them back before each test: what it draws depends on no other, nor on how many run."""
    for generator, state in item.session.stash[_GENERATORS]:
        generator.bit_generator.state = state


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder of real data sets; the test is skipped where it is absent."""
    folder = Path(os.environ.get("LOCALFACE_DATA") or ROOT.parent / "shared" / "data")
    if not folder.is_dir():
        pytest.skip(
            f"real data not found at {folder}: set LOCALFACE_DATA to the folder that holds it"
        )
    return folder


# The page; helpers are imported where they are used, as without a browser there are no such tests


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
    """Two crescents of people on a plane, as ``localface serve --demo moons`` shows them."""
    from browser import chromium, serving

    chromium()
    with serving("--demo", "moons") as url:
        yield url
