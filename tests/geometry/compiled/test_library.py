"""The compiled library: used only where it fits the sources, and where it is wanted."""

from __future__ import annotations

import _ctypes
import copy
import os
import pickle
import runpy
import shutil
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from by_numpy import needs_compiled
from localface.geometry.compiled import build, library
from localface.geometry.compiled.library import LIBRARY, load_library
from made_crowds import make_crowd

FOLDER = Path(build.__file__).parent
needs_compiler = pytest.mark.skipif(build.find_compiler() is None, reason="no C compiler here")


def load_afresh() -> Any:
    return load_library.__wrapped__()


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """A copy of the sources and of what builds them."""
    for one in (*FOLDER.glob("*.c"), *FOLDER.glob("*.h"), FOLDER / "build.py"):
        shutil.copy(one, tmp_path)
    return tmp_path


def run_build(folder: Path) -> dict[str, Any]:
    return runpy.run_path(str(folder / "build.py"))


@needs_compiled
def test_a_library_built_from_other_sources_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "fingerprint_of_sources", lambda: 1)
    with pytest.warns(RuntimeWarning, match="other sources.*compiled.build builds it again"):
        assert load_afresh() is None


@pytest.mark.parametrize("what", ["a text", "some other library"])
def test_what_is_not_the_library_is_not_used(
    what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "_kernels.so"
    path.write_text("no library")
    monkeypatch.setattr(library, "LIBRARY", path if what == "a text" else Path(_ctypes.__file__))
    monkeypatch.delenv("LOCALFACE_COMPILED", raising=False)
    with pytest.warns(RuntimeWarning, match="builds it again"):
        assert load_afresh() is None


def test_doing_without_is_quiet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        monkeypatch.setenv("LOCALFACE_COMPILED", "0")
        assert load_afresh() is None
        monkeypatch.delenv("LOCALFACE_COMPILED")
        monkeypatch.setattr(library, "LIBRARY", tmp_path / "nothing.so")
        assert load_afresh() is None


def test_both_modules_name_the_same_file() -> None:
    assert build.LIBRARY == LIBRARY


@pytest.mark.parametrize("name", ["steps.c", "common.h"])
def test_a_change_in_any_source_is_another_fingerprint(copied: Path, name: str) -> None:
    before = run_build(copied)["fingerprint_of_sources"]()
    assert before == build.fingerprint_of_sources()
    with (copied / name).open("a") as source:
        source.write("\n")
    assert run_build(copied)["fingerprint_of_sources"]() != before


def test_without_a_compiler_it_says_so(copied: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "no-such-compiler")
    assert "no C compiler was found" in run_build(copied)["build"]()
    monkeypatch.delenv("CC")
    monkeypatch.setenv("PATH", str(copied))
    assert "no C compiler was found" in run_build(copied)["build"]()
    assert not list(copied.glob("_kernels*"))


@needs_compiler
def test_what_does_not_compile_leaves_nothing_behind(copied: Path) -> None:
    for source in copied.glob("*.c"):  # one would do, and the others would be compiled first
        source.write_text("this is no C\n")
    assert "failed" in run_build(copied)["build"]()
    assert not list(copied.glob("_kernels*"))


@needs_compiler
@pytest.mark.slow
def test_it_is_built_by_a_compiler_that_is_named_with_options(
    copied: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiler = build.find_compiler()
    assert compiler is not None
    monkeypatch.setenv("CC", " ".join([*compiler, "-O0"]))
    assert run_build(copied)["build"]() is None
    assert library.open_library(copied / "_kernels.so").fingerprint()


@needs_compiler
@pytest.mark.slow
def test_it_is_built_by_the_command_that_the_hint_names() -> None:
    before = LIBRARY.read_bytes() if LIBRARY.exists() else None
    command = [sys.executable, "-m", "localface.geometry.compiled.build"]
    ran = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, "CC": "no-such"}, check=False
    )
    assert (ran.returncode, ran.stdout) == (1, "")
    assert ran.stderr.startswith("no C compiler was found")
    assert (LIBRARY.read_bytes() if LIBRARY.exists() else None) == before


def test_what_has_addresses_does_not_travel() -> None:
    density = make_crowd(2, 5, 150, own=1, gaps=0.1).density
    starts, ends = density.rows.points[:20], density.rows.points[20:40]
    wanted = density.lowest_along(starts, ends, None).log_densities  # all is laid out by now
    codes = density.space.records(starts)

    for travelled in (pickle.loads(pickle.dumps(density)), copy.deepcopy(density)):
        found = travelled.lowest_along(starts, ends, None).log_densities
        np.testing.assert_array_equal(found, wanted)
        np.testing.assert_array_equal(travelled.space.records(starts), codes)
        for one in ("kde", "rows", "space"):
            assert getattr(travelled, one) is not getattr(density, one)


def test_threads_do_not_get_in_each_others_way() -> None:
    density = make_crowd(4, 6, 400, gaps=0.1).density
    points = density.rows.points
    fresh = pickle.loads(pickle.dumps(density))  # laid out by whichever thread comes first
    steps = [(points[i : i + 40], points[i + 50 : i + 90]) for i in range(0, 250, 5)]
    wanted = [density.lowest_along(*both, -5.0) for both in steps]

    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda both: fresh.lowest_along(*both, -5.0), steps))

    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(one.log_densities, other.log_densities)
        np.testing.assert_array_equal(one.passes, other.passes)
