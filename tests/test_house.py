"""The package as a whole: what importing it costs, what it offers, and that its papers agree."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import ModuleType

import pytest

import localface

ROOT = Path(__file__).parents[1]
CORE = {"localface", "narwhals", "numpy", "scipy"}
ALONG = {"charset_normalizer"}  # NumPy takes it along where another package has brought it
NEWCOMERS = """
import sys
before = set(sys.modules)
import {module}
after = {{name.partition(".")[0] for name in set(sys.modules) - before}}
print(*sorted(after - sys.stdlib_module_names))
"""


def loaded_by(module: str) -> set[str]:
    """The packages that a fresh interpreter loads to import a module, beyond its own."""
    command = [sys.executable, "-c", NEWCOMERS.format(module=module)]
    names = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    compiled = re.compile(r"_|cython_runtime$")  # what compiled modules register beside themselves
    return {name for name in names if not compiled.match(name)}


@pytest.mark.parametrize("module", ["localface", "localface.explainer", "localface.apps.cli"])
def test_importing_the_package_loads_the_core_and_nothing_else(module: str) -> None:
    assert loaded_by(module) - ALONG <= CORE


def test_the_core_installs_no_more_than_it_says() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = {re.match(r"[\w-]+", requirement)[0] for requirement in project["dependencies"]}  # type: ignore[index]
    assert names == {"numpy", "scipy", "narwhals", "msgspec", "tomli-w", "tqdm"}


def test_all_is_the_truth() -> None:
    offered = {
        name
        for name, value in vars(localface).items()
        if not name.startswith("_") and not isinstance(value, ModuleType) and name != "annotations"
    }
    assert len(set(localface.__all__)) == len(localface.__all__)
    assert offered <= set(localface.__all__)
    assert all(hasattr(localface, name) for name in localface.__all__)


def test_the_names_that_others_rely_on_are_offered() -> None:
    assert {"LocalFACE", "Schema", "Feature", "Recourse", "Status", "NoRecourse"} <= set(
        localface.__all__
    )


def test_the_package_is_typed() -> None:
    assert (Path(localface.__file__).parent / "py.typed").exists()


def test_the_version_is_the_same_wherever_it_stands() -> None:
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"\nversion: {localface.__version__}\n" in citation
    assert f"\n## {localface.__version__}" in changelog


def test_the_installed_version_is_the_one_in_the_source() -> None:
    try:
        installed = version("localface")
    except PackageNotFoundError:
        pytest.skip("localface runs from its source and is not installed")
    assert installed == localface.__version__


def test_a_mistake_that_is_said_to_make_no_difference_has_its_line_and_a_reason() -> None:
    text = (ROOT / "tools" / "equivalent_mistakes.toml").read_text(encoding="utf-8")
    for one in tomllib.loads(text)["equivalent"]:
        path = ROOT / "src" / "localface" / one["file"]
        lines = [line.strip() for line in path.read_text(encoding="utf-8").splitlines()]
        assert one["code"] in lines, f"{one['file']} no longer has the line {one['code']!r}"
        assert len(one["why"].split()) >= 5
