"""Whole answers are the same with the compiled part and with NumPy alone."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from by_numpy import needs_compiled
from whole_answers import answers_of_worlds

pytestmark = [needs_compiled, pytest.mark.slow]

HERE = Path(__file__).parent
SLIGHT = 1e-9  # how far densities may differ


def differences(one: Any, other: Any, where: str) -> Iterator[str]:
    """Say where two plain values differ by more than rounding."""
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        for key in one:
            yield from differences(one[key], other[key], f"{where}.{key}")
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for i, both in enumerate(zip(one, other, strict=True)):
            yield from differences(*both, f"{where}[{i}]")
    elif isinstance(one, float) and isinstance(other, float):
        if not math.isclose(one, other, rel_tol=SLIGHT, abs_tol=SLIGHT) and one == one:
            yield f"{where}: {one!r}, by NumPy {other!r}"
    elif one != other:
        yield f"{where}: {one!r}, by NumPy {other!r}"


def test_answers_are_the_same_with_the_compiled_part_and_with_numpy() -> None:
    without = {**os.environ, "LOCALFACE_COMPILED": "0"}
    command = [sys.executable, str(HERE / "whole_answers.py")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=without) as child:
        compiled = json.loads(json.dumps(answers_of_worlds()))
        by_numpy = json.loads(child.communicate()[0])
    assert child.returncode == 0
    assert list(differences(compiled, by_numpy, "answers")) == []
    assert len(compiled) > 30
