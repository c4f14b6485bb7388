"""The examples: every script runs and prints, and the notebooks are its cells, executed."""

from __future__ import annotations

import importlib.util
import json
import sys
import tempfile
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from run_script import run_script

ROOT = Path(__file__).parents[1]
LARGE = 150_000  # bytes
LONG = 90  # lines


def load_tool(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


notebooks = load_tool("notebooks")
SCRIPTS = notebooks.scripts()
NAMES = [path.stem for path in SCRIPTS]


def read_notebook(script: Path) -> dict[str, Any]:
    return json.loads((notebooks.NOTEBOOKS / f"{script.stem}.ipynb").read_text(encoding="utf-8"))


def test_there_are_examples_and_each_has_a_notebook() -> None:
    assert len(SCRIPTS) >= 8
    assert {path.stem for path in notebooks.NOTEBOOKS.glob("*.ipynb")} == set(NAMES)


@pytest.mark.slow
@pytest.mark.parametrize("script", SCRIPTS, ids=NAMES)
def test_an_example_runs_and_says_something(script: Path, tmp_path: Path) -> None:
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")

    done = run_script(script, tmp_path)

    assert done.returncode == 0, done.stderr
    if done.stdout.startswith("skipped: "):
        pytest.skip(done.stdout.strip())
    assert "<" in done.stdout  # the line that an answer begins with
    assert "score" in done.stdout or "value" in done.stdout


@pytest.mark.parametrize("script", SCRIPTS, ids=NAMES)
def test_a_notebook_has_the_cells_of_its_script(script: Path) -> None:
    wanted = notebooks.read_cells(script.read_text(encoding="utf-8"))
    cells = read_notebook(script)["cells"]

    assert [(one["cell_type"], "".join(one["source"])) for one in cells] == [
        (one.kind, one.text) for one in wanted
    ]


@pytest.mark.parametrize("script", SCRIPTS, ids=NAMES)
def test_a_notebook_was_run_from_top_to_bottom_without_an_error(script: Path) -> None:
    code = [one for one in read_notebook(script)["cells"] if one["cell_type"] == "code"]

    assert [one["execution_count"] for one in code] == list(range(1, len(code) + 1))
    kinds = {output["output_type"] for one in code for output in one["outputs"]}
    assert kinds <= {"stream", "display_data", "execute_result"}
    streams = {output.get("name") for one in code for output in one["outputs"]}
    assert "stderr" not in streams


@pytest.mark.parametrize("script", SCRIPTS, ids=NAMES)
def test_an_example_is_short_and_its_notebook_small(script: Path) -> None:
    notebook = notebooks.NOTEBOOKS / f"{script.stem}.ipynb"

    assert script.read_text(encoding="utf-8").count("\n") <= LONG
    assert notebook.stat().st_size < LARGE
    for folder in (tempfile.gettempdir(), "/home", str(ROOT)):
        assert f"{folder}/" not in notebook.read_text(encoding="utf-8")
