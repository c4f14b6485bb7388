"""What it takes until the first answer: importing, fitting, memory."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

import numpy as np

from bench_tables import Report
from cells import peak_of
from shapes import SHAPES, Shape, split
from timing import timed

COLUMNS = ("s fitting", "s scoring rows", "ms first answer", "MB fitting", "times float32")
TIMES_IMPORTED = 5
_LOADED = """
import sys
from localface import LocalFACE
print(" ".join(n for n in sys.modules if n.partition(".")[0] in ("numpy", "scipy")))
"""
_IMPORT = """
import importlib, sys, time
for name in sys.argv[1].split():
    importlib.import_module(name)
started = time.process_time()
import localface
imported = time.process_time()
localface.LocalFACE
print(imported - started, time.process_time() - started)
"""
APART = (
    "Each in a process of its own, in seconds of the processor. The first answer is one with "
    "actions, nothing warmed up. Memory that maps no file, at most while fitting, beyond what the "
    "process had before; over the size of the table with 4 bytes a value."
)


def apart(call: Callable[..., Any], *arguments: Any) -> Any:
    """Call in a process of its own, so that its memory is its own."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(call, *arguments).result()


def measure_setup(at: Shape) -> dict[str, float]:
    """What a shape takes until its first answer."""
    return dict(apart(first_answer, at))


def first_answer(at: Shape) -> dict[str, float]:
    """Fit, score and answer once; what is loaded only once is loaded by a small shape before."""
    small = split("planes", SHAPES["planes"](), 1)
    small.explainer()
    (explainer, grown), fitting = timed(peak_of, at.explainer)
    _, scoring = timed(explainer.prescore)
    _, first = timed(explainer.explain, at.people.iloc[[0]])
    return {
        "s fitting": fitting.worked,
        "s scoring rows": scoring.worked,
        "ms first answer": 1e3 * first.worked,
        "MB fitting": grown / 1e6,
        "times float32": grown / (4 * at.data.size),
    }


def measure_import() -> tuple[float, float]:
    """Median seconds of the processor to import localface, once what it needs of SciPy is there.

    The second are those until the explainer is there as well.
    """
    needed = _run(_LOADED)
    spent = [_run(_IMPORT, needed).split() for _ in range(TIMES_IMPORTED)]
    alone, explainer = np.median(np.array(spent, dtype=np.float64), axis=0).tolist()
    return alone, explainer


def _run(program: str, *arguments: str) -> str:
    command = [sys.executable, "-c", program, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def setup_report(
    titles: dict[str, str], measured: dict[str, dict[str, float]], importing: tuple[float, float]
) -> Report:
    """Set-up, a line a shape."""
    report = Report("Until the first answer", ["shape", *COLUMNS], notes=[APART])
    for shape, figures in measured.items():
        report.rows.append([titles[shape], *(figures[one] for one in COLUMNS)])
    alone, explainer = importing
    report.notes.append(
        f"import localface, beyond NumPy and SciPy: {alone:.2f} s; "
        f"until its LocalFACE is there: {explainer:.2f} s."
    )
    return report
