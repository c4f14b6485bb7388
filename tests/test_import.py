"""What importing the library brings along: no more than a fit and an answer need."""

from __future__ import annotations

import subprocess
import sys

import pytest

import localface

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


SEARCHING = (
    "localface.analyses",
    "localface.density.common_states",
    "localface.engine",
    "localface.explainer",
    "localface.search.pipeline",
    "localface.sources.table",
)


def modules_after(statement: str) -> set[str]:
    """The modules of a fresh process that has run a statement."""
    code = f"import sys; {statement}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.fixture(scope="module")
def imported() -> set[str]:
    """The modules of a fresh process that has imported the explainer."""
    return modules_after("from localface import LocalFACE")


def test_what_searches_is_imported_with_the_explainer(imported: set[str]) -> None:
    alone = modules_after("import localface")

    assert {"localface.data.schema", "localface.options"} <= alone
    assert alone.isdisjoint(SEARCHING)
    assert imported.issuperset(SEARCHING)


def test_a_name_that_is_imported_later_is_there_and_is_listed() -> None:
    everything = "import localface; from localface import *; names = dir(localface); "
    names = "assert {'LocalFACE', 'Promises', 'refits'} <= {*names, *globals()} & {*names}; "
    modules_after(f"{everything}{names}assert LocalFACE is localface.LocalFACE")


def test_a_name_that_there_is_not_is_refused_as_by_any_module() -> None:
    with pytest.raises(AttributeError, match="module 'localface' has no attribute 'LocalFaces'"):
        _ = localface.LocalFaces  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", LATE)
def test_what_is_seldom_asked_is_imported_when_it_is_asked(name, imported):
    assert "localface.explainer" in imported
    assert name not in imported
