"""What all tests share: a deterministic Hypothesis, pictures without a screen, and the real data where there is any."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

os.environ.setdefault("MPLBACKEND", "Agg")

settings.register_profile("deterministic", derandomize=True, deadline=None)
settings.load_profile("deterministic")

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder of real data sets; the test is skipped where it is absent."""
    folder = Path(os.environ.get("LOCALFACE_DATA") or ROOT.parent / "shared" / "data")
    if not folder.is_dir():
        pytest.skip(
            f"real data not found at {folder}: set LOCALFACE_DATA to the folder that holds it"
        )
    return folder
