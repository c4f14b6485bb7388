"""What all tests share: a deterministic Hypothesis, pictures without a screen, the real data."""

from __future__ import annotations

import os
import re
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import settings

os.environ.setdefault("MPLBACKEND", "Agg")

settings.register_profile("deterministic", derandomize=True, deadline=None)
settings.load_profile("deterministic")

ROOT = Path(__file__).parents[1]

_IMPORT = re.compile(r"^(?:from|import) (\w+)", re.MULTILINE)
_OPTIONAL = ("lightgbm", "matplotlib", "onnxruntime", "pandas", "polars", "pyarrow", "ray", "skops")


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leave out test files that import an extra which is not installed, helpers included."""
    if collection_path.suffix == ".py" and _missing(collection_path):
        return True
    return None


@cache
def _missing(path: Path) -> tuple[str, ...]:
    """The extras that a file of the tests imports and that are not installed."""
    names = set(_IMPORT.findall(path.read_text(encoding="utf-8")))
    own = [path.parents[0] / f"{name}.py" for name in names] + [
        Path(__file__).parent / f"{name}.py" for name in names
    ]
    lacking = {name for name in names if name in (*_OPTIONAL, "sklearn") and not find_spec(name)}
    for helper in own:
        if helper.is_file() and helper != path:
            lacking |= set(_missing(helper))
    return tuple(sorted(lacking))


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder of real data sets; the test is skipped where it is absent."""
    folder = Path(os.environ.get("LOCALFACE_DATA") or ROOT.parent / "shared" / "data")
    if not folder.is_dir():
        pytest.skip(
            f"real data not found at {folder}: set LOCALFACE_DATA to the folder that holds it"
        )
    return folder
