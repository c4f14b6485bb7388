"""What importing the library brings along: no more than a fit and an answer need."""

from __future__ import annotations

import subprocess
import sys

import pytest

LATE = (
    "localface.analyses.alternatives",
    "localface.analyses.audit",
    "localface.analyses.floor_report",
    "localface.analyses.observed_moves",
    "localface.analyses.robustness",
    "localface.apps",
    "concurrent.futures.process",
    "pandas",
    "scipy.optimize",
    "scipy.special",
    "sklearn",
)


@pytest.fixture(scope="module")
def imported() -> set[str]:
    """The modules of a fresh process that has imported the library."""
    code = "import sys, localface; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.mark.parametrize("name", LATE)
def test_what_is_seldom_asked_is_imported_when_it_is_asked(name, imported):
    assert "localface.explainer" in imported
    assert name not in imported
