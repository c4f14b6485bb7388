"""Break the code on purpose, a little at a time, and see whether the tests of its folder notice.

    python tools/mutate.py search density geometry --mutants 60 --seed 0

A sample of small mistakes (another comparison, another sign, a number off by one) is made in the
modules of a folder, one at a time and in memory only. For each, those quick tests of the folder
run that pass the line, the quickest first, until one fails or `--seconds` of them have passed. A
mistake that no test notices is printed: it is a test to write, or it makes no difference.
"""

from __future__ import annotations

import argparse
import ast
import importlib.abc
import importlib.util
import json
import math
import os
import random
import resource
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "localface"
QUICK = ["-q", "-x", "-m", "not slow", "-p", "no:xdist", "-p", "no:cacheprovider", "--no-header"]

OTHER_OPERATOR: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.And: ast.Or, ast.Or: ast.And,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip
OTHER_NAME = {
    "min": "max", "max": "min", "any": "all", "all": "any", "minimum": "maximum",
    "maximum": "minimum", "argmin": "argmax", "argmax": "argmin", "floor": "ceil", "ceil": "floor",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Mistake:
    """One place in a module, and what is done there."""

    path: Path
    number: int  # of the node, in the order of ast.walk
    line: int
    what: str

    @property
    def module(self) -> str:
        """The name that it is imported by."""
        parts = self.path.relative_to(PACKAGE.parent).with_suffix("").parts
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def find_mistakes(path: Path) -> Iterator[Mistake]:
    """Every mistake that could be made in a module."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    spared = _spared(tree)
    for number, node in enumerate(ast.walk(tree)):
        if id(node) not in spared and (what := mutate(node)):
            yield Mistake(path, number, _line_of(node), what)


def _line_of(node: ast.AST) -> int:
    return int(getattr(node, "lineno", 0))


def _spared(tree: ast.AST) -> set[int]:
    """Annotations, decorators and what is imported for types only: nothing runs there."""
    roots: list[ast.AST | None] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            roots += [*node.decorator_list, node.returns]
        elif isinstance(node, ast.ClassDef):
            roots += node.decorator_list
        elif isinstance(node, ast.keyword) and node.arg in ("strict", "slots", "frozen"):
            roots.append(node.value)  # zip(..., strict=True) is a check, and no logic
        elif isinstance(node, ast.arg | ast.AnnAssign):
            roots.append(node.annotation)
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            roots.append(node)
    return {id(one) for root in roots if root is not None for one in ast.walk(root)}


def mutate(node: ast.AST) -> str | None:
    """Make the mistake in a node, in place; say which, or None where none can be made."""
    if isinstance(node, ast.Compare) and type(node.ops[0]) in OTHER_OPERATOR:
        before = type(node.ops[0])
        node.ops[0] = OTHER_OPERATOR[before]()  # type: ignore[call-overload]
        return f"{before.__name__} -> {OTHER_OPERATOR[before].__name__}"
    if isinstance(node, ast.BoolOp | ast.BinOp | ast.AugAssign) and type(node.op) in OTHER_OPERATOR:
        before = type(node.op)
        node.op = OTHER_OPERATOR[before]()  # type: ignore[assignment]
        return f"{before.__name__} -> {OTHER_OPERATOR[before].__name__}"
    if isinstance(node, ast.If | ast.While):
        node.test = ast.copy_location(ast.UnaryOp(ast.Not(), node.test), node.test)
        return "condition -> not condition"
    if isinstance(node, ast.Constant) and isinstance(node.value, bool | int | float):
        value = node.value
        node.value = not value if isinstance(value, bool) else value + 1
        return f"{value} -> {node.value}"
    if isinstance(node, ast.Attribute) and node.attr in OTHER_NAME:
        node.attr = OTHER_NAME[node.attr]
        return f"-> {node.attr}"
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in OTHER_NAME
    ):
        node.func.id = OTHER_NAME[node.func.id]
        return f"-> {node.func.id}"
    return None


class MistakenModule(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports one module with a mistake in it, and leaves all others alone."""

    def __init__(self, mistake: Mistake) -> None:
        tree = ast.parse(mistake.path.read_text(encoding="utf-8"))
        mutate(next(one for i, one in enumerate(ast.walk(tree)) if i == mistake.number))
        self._mistake = mistake
        self._code = compile(ast.fix_missing_locations(tree), str(mistake.path), "exec")

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        """Take over the one module."""
        if name != self._mistake.module:
            return None
        is_package = self._mistake.path.name == "__init__.py"
        where = [str(self._mistake.path.parent)] if is_package else None
        return importlib.util.spec_from_file_location(
            name, self._mistake.path, loader=self, submodule_search_locations=where
        )

    def exec_module(self, module: ModuleType) -> None:
        """Run it, mistake included."""
        exec(self._code, module.__dict__)


class Durations:
    """Notes how long each test takes (a plugin of pytest)."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Add a part of a test."""
        self.seconds[report.nodeid] = self.seconds.get(report.nodeid, 0.0) + report.duration


def tests_by_line(folder: str, scratch: Path) -> tuple[dict[str, dict[int, list[str]]], Durations]:
    """Which tests of a folder pass each line of its modules, and how long each takes."""
    import pytest
    from coverage import Coverage, CoverageData

    noted = scratch / f"{folder}.json"
    data_file = scratch / f"{folder}.coverage"
    if not noted.exists():
        child = os.fork()
        if child == 0:
            _be_silent()
            durations = Durations()
            os.environ["COVERAGE_FILE"] = str(data_file)
            options = [f"--cov=src/localface/{folder}", "--cov-context=test", "--cov-report="]
            code = pytest.main([*QUICK, *options, f"tests/{folder}"], plugins=[durations])
            noted.write_text(json.dumps(durations.seconds), encoding="utf-8")
            os._exit(int(code))
        if os.waitpid(child, 0)[1]:
            sys.exit(f"the tests of {folder} fail as they are")
    durations = Durations()
    durations.seconds = json.loads(noted.read_text(encoding="utf-8"))
    data = CoverageData(str(data_file))
    data.read()
    assert Coverage
    return {name: data.contexts_by_lineno(name) for name in data.measured_files()}, durations


def choose_tests(
    mistake: Mistake, passed: dict[str, dict[int, list[str]]], durations: Durations, seconds: float
) -> list[str]:
    """The tests that pass the line of a mistake, quickest first, as many as fit into the time."""
    lines = passed.get(str(mistake.path), {})
    # of a statement on several lines, the first may be the one that is noted
    line = max((one for one in lines if one <= mistake.line), default=0)
    contexts = {one for one in lines.get(line, []) if one}
    if not contexts and line in lines:  # run when the module is imported
        contexts = {one for several in lines.values() for one in several if one}
    names = {one.partition("|")[0] for one in contexts} or set(durations.seconds if lines else ())
    chosen: list[str] = []
    total = 0.0
    for name in sorted(names & durations.seconds.keys(), key=lambda one: durations.seconds[one]):
        total += durations.seconds[name]
        if chosen and total > seconds:
            break
        chosen.append(name)
    return chosen


def try_mistake(mistake: Mistake, tests: list[str], seconds: float) -> str:
    """What becomes of a mistake: ``killed``, ``survived`` or ``not passed``."""
    if not tests:
        return "not passed"
    child = os.fork()
    if child == 0:
        _be_silent()
        limit = int(3 * seconds + 20)
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
        sys.meta_path.insert(0, MistakenModule(mistake))
        import pytest

        code = 1
        try:
            code = int(pytest.main([*QUICK, *tests]))
        finally:
            os._exit(min(code, 100))
    status = os.waitpid(child, 0)[1]
    return "survived" if status == 0 else "killed"


def _be_silent() -> None:
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def wilson(k: int, n: int) -> tuple[float, float]:
    """The 95 % interval of a share."""
    z = 1.96
    middle = (k + z * z / 2) / (n + z * z)
    half = z * math.sqrt(k * (n - k) / n + z * z / 4) / (n + z * z)
    return middle - half, middle + half


def run_folder(folder: str, asked: argparse.Namespace, scratch: Path) -> None:
    """Sample the mistakes of a folder, and try each."""
    passed, durations = tests_by_line(folder, scratch)
    every = [
        one for path in sorted((PACKAGE / folder).rglob("*.py")) for one in find_mistakes(path)
    ]
    sample = random.Random(asked.seed).sample(every, min(asked.mutants, len(every)))
    counts: Counter[str] = Counter()
    before = _processor_seconds()
    for mistake in sample:
        if _processor_seconds() - before > 60 * asked.minutes:
            print(f"  time is up: {counts.total()} of {len(sample)} were tried")
            break
        tests = choose_tests(mistake, passed, durations, asked.seconds)
        became = try_mistake(mistake, tests, asked.seconds)
        counts[became] += 1
        if became != "killed":
            where = mistake.path.relative_to(ROOT)
            print(f"  {became}: {where}:{mistake.line}  {mistake.what}", flush=True)
    killed, n = counts["killed"], counts.total()
    low, high = wilson(killed, n)
    print(
        f"{folder}: {killed} of {n} killed, {killed / n:.0%} ({low:.0%} to {high:.0%}); "
        f"of {len(every):,} possible; processor {_processor_seconds():.0f} s so far",
        flush=True,
    )


def _processor_seconds() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def main() -> None:
    """Try the folders that are named."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folders", nargs="*", default=["search", "density", "geometry"])
    parser.add_argument("--mutants", type=int, default=60, help="how many, a folder")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=15, help="of tests, a mutant")
    parser.add_argument("--minutes", type=float, default=10, help="of processor, a folder")
    parser.add_argument("--keep", type=Path, help="a folder for what is learnt of the tests")
    asked = parser.parse_args()
    os.chdir(ROOT)
    sys.path.insert(0, str(PACKAGE.parent))
    for name in ("pytest", "numpy", "scipy.spatial", "scipy.stats", "scipy.optimize"):
        importlib.import_module(name)  # once, and not again in every child
    with tempfile.TemporaryDirectory() as temporary:
        scratch = asked.keep or Path(temporary)
        scratch.mkdir(parents=True, exist_ok=True)
        for folder in asked.folders:
            run_folder(folder, asked, scratch)


if __name__ == "__main__":
    main()
