"""The types that the package ships: a user's own script passes mypy --strict, and runs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import localface
from run_script import run_script

ROOT = Path(__file__).parents[1]
SCRIPT = ROOT / "tests" / "typed" / "user_script.py"
RIGHT = "score_at_end: float = answer.scores[-1]"
WRONG = "score_at_end: str = answer.scores[-1]"


def checked(*scripts: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """What mypy --strict says of scripts; of the package, as of any installed one, nothing."""
    pytest.importorskip("mypy", reason="mypy is not installed")
    command = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent"]
    command += ["--config-file", os.devnull, "--cache-dir", os.devnull, *map(str, scripts)]
    environment = os.environ | {"MYPYPATH": str(ROOT / "src")}
    return subprocess.run(
        command, capture_output=True, text=True, cwd=folder, env=environment, check=False
    )


@pytest.mark.slow
def test_a_users_script_passes_mypy_strict_and_a_mistake_in_it_is_seen(tmp_path: Path) -> None:
    mistaken = tmp_path / "mistaken.py"
    text = SCRIPT.read_text(encoding="utf-8")
    mistaken.write_text(text.replace(RIGHT, WRONG), encoding="utf-8")

    found = checked(SCRIPT, mistaken, folder=tmp_path)

    *complaints, summary = found.stdout.splitlines()
    assert "incompatible type" in found.stdout.lower(), found.stdout
    assert [line for line in complaints if not line.startswith("mistaken.py:")] == []
    assert "in 1 file (checked 2 source files)" in summary


def test_the_users_script_runs(tmp_path: Path) -> None:
    done = run_script(SCRIPT, tmp_path)

    assert done.returncode == 0, done.stderr
    assert "<Recheck of 1 promise" in done.stdout


def test_the_users_script_uses_every_public_name() -> None:
    words = set(re.findall(r"\w+", SCRIPT.read_text(encoding="utf-8")))

    assert set(localface.__all__) <= words
