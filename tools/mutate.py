"""Break the code on purpose, a little at a time, and see whether the tests notice.

    python tools/mutate.py search density geometry --mutants 60 --seed 0

A sample of small mistakes (another comparison, another sign, a number off by one) is made in the
modules of a folder, one at a time and in memory only. For each, those quick tests run that pass
the line, as coverage has told once: the tests of the folder first, the quickest first, until one
fails or `--seconds` of them have passed; then likewise without the compiled part, and with
`--slow` also the slow ones. A mistake that no test notices is printed: it is a test to write, or
it makes no difference and belongs into equivalent_mistakes.toml, with the reason.
"""

from __future__ import annotations

import argparse
import ast
import importlib.abc
import importlib.util
import math
import os
import random
import resource
import signal
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from tests_by_line import FOLDERS, INNER, ROOT, WHOLE, Passing, Way, learn, processor_seconds

EQUIVALENT = ROOT / "tools" / "equivalent_mistakes.toml"
PACKAGE = ROOT / "src" / "localface"

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
_OUT_OF_TIME = (signal.SIGXCPU, signal.SIGKILL, signal.SIGALRM)


@dataclass(frozen=True, slots=True)
class Mistake:
    """One place in a module, and what is done there."""

    path: Path
    number: int  # of the node, in the order of ast.walk
    line: int
    what: str

    @property
    def key(self) -> tuple[str, str, str]:
        """File, line of code and mistake: what it is known by when lines are added above it."""
        code = self.path.read_text(encoding="utf-8").splitlines()[self.line - 1].strip()
        return str(self.path.relative_to(PACKAGE)), code, self.what

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


def choose_tests(mistake: Mistake, passing: Passing, seconds: float) -> list[str]:
    """The tests that pass the line of a mistake, as many as fit into the time.

    Those of its own folder come first, the quickest first: they are likeliest to notice.
    """
    folder = mistake.path.relative_to(PACKAGE).parts[0]
    own = (f"tests/{folder}/", f"src/localface/{folder}/")
    names = passing.tests_of(mistake.path, mistake.line)
    # what is worked out on import, as a default, is passed by no test: the module's own may notice
    named = f"/test_{mistake.path.stem}.py::"
    names |= {one for one in passing.seconds if one.startswith(own) and named in one}
    if not names:  # a module that is imported, and no more: whoever uses it may notice
        names = {one for one in passing.seconds if one.startswith(own)}
    chosen: list[str] = []
    total = 0.0
    for name in sorted(names, key=lambda one: (not one.startswith(own), passing.seconds[one])):
        total += passing.seconds[name]
        if chosen and total > seconds:
            break
        chosen.append(name)
    return chosen


def try_mistake(mistake: Mistake, tests: list[str], way: Way, seconds: float) -> str:
    """What becomes of a mistake: ``killed``, ``endless``, ``survived`` or ``not passed``."""
    if not tests:
        return "not passed"
    child = os.fork()
    if child == 0:
        way.set_out()
        limit = int(4 * seconds + 30)
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
        signal.alarm(8 * limit)  # by the clock, for what waits without end
        sys.meta_path.insert(0, MistakenModule(mistake))
        import pytest

        code = 1
        try:
            # plain: to rewrite assertions, pytest would import modules with doctests by itself
            code = int(pytest.main([*way.options, "-x", "--assert=plain", *tests]))
        finally:
            os._exit(min(code, 100))
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) in _OUT_OF_TIME:
        return "endless"
    return "survived" if status == 0 else "killed"


def try_all_ways(mistake: Mistake, known: dict[Way, Passing], seconds: float) -> str:
    """Try a mistake in one way after the other, until one notices it."""
    became = "not passed"
    for way, passing in known.items():
        this = try_mistake(mistake, choose_tests(mistake, passing, seconds), way, seconds)
        if this in ("killed", "endless"):
            return this
        became = this if became == "not passed" else became
    return became


def wilson(k: int, n: int) -> tuple[float, float]:
    """The 95 % interval of a share."""
    z = 1.96
    middle = (k + z * z / 2) / (n + z * z)
    half = z * math.sqrt(k * (n - k) / n + z * z / 4) / (n + z * z)
    return middle - half, middle + half


def run_folder(folder: str, asked: argparse.Namespace, known: dict[Way, Passing]) -> None:
    """Sample the mistakes of a folder, and try each."""
    modules = [one for one in sorted((PACKAGE / folder).rglob("*.py")) if can_run(one)]
    every = [one for path in modules for one in find_mistakes(path)]
    sample = random.Random(asked.seed).sample(every, min(asked.mutants, len(every)))
    reasons = read_reasons()
    counts: Counter[str] = Counter()
    before = processor_seconds()
    for mistake in sample:
        if processor_seconds() - before > 60 * asked.minutes:
            print(f"  time is up: {counts.total()} of {len(sample)} were tried")
            break
        became = "equivalent" if mistake.key in reasons else ""
        became = became or try_all_ways(mistake, known, asked.seconds)
        counts[became] += 1
        if became not in ("killed", "equivalent"):
            where = mistake.path.relative_to(ROOT)
            print(f"  {became}: {where}:{mistake.line}  {mistake.what}", flush=True)
    print(f"{folder}: {in_words(counts)}; of {len(every):,} possible", flush=True)
    print(f"  processor {processor_seconds() - before:.0f} s", flush=True)


def can_run(module: Path) -> bool:
    """Whether a mistake in a module can be noticed here.

    What is for a GPU is tried where there is one; build.py runs in processes of its own, which
    do not see a mistake that is made in memory.
    """
    if module.name == "build.py":
        return False
    return not module.name.startswith("cuda") or importlib.util.find_spec("cupy") is not None


def in_words(counts: Counter[str]) -> str:
    """How many were noticed, of those that make a difference."""
    killed = counts["killed"] + counts["endless"]
    n = counts.total() - counts["equivalent"]
    low, high = wilson(killed, n)
    words = f"{killed} of {n} killed, {killed / n:.0%} ({low:.0%} to {high:.0%})"
    if counts["endless"]:
        words += f", {counts['endless']} of them by going on for ever"
    if counts["equivalent"]:
        words += f"; {counts['equivalent']} more make no difference"
    return words


def read_reasons() -> dict[tuple[str, str, str], str]:
    """The mistakes that were looked at and make no difference, each with the reason."""
    listed = tomllib.loads(EQUIVALENT.read_text(encoding="utf-8"))["equivalent"]
    return {(one["file"], one["code"], one["what"]): one["why"] for one in listed}


def main() -> None:
    """Try the folders that are named."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folders", nargs="*", help=f"some of {', '.join(FOLDERS)}")
    parser.add_argument("--mutants", type=int, default=60, help="how many, a folder")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=15, help="of tests, a mutant and way")
    parser.add_argument("--minutes", type=float, default=30, help="of processor, a folder")
    parser.add_argument("--slow", action="store_true", help="slow tests too, after the quick ones")
    parser.add_argument("--keep", type=Path, help="a folder for what is learnt of the tests")
    asked = parser.parse_args()
    os.chdir(ROOT)
    sys.path.insert(0, str(PACKAGE.parent))
    for name in ("pytest", "numpy", "scipy.spatial", "scipy.stats", "sklearn.ensemble", "pandas"):
        importlib.import_module(name)  # once, and not again in every child
    ways = [Way("compiled", INNER + WHOLE), Way("numpy", INNER, compiled=False)]
    if asked.slow:
        ways.append(Way("slow", INNER + WHOLE, slow=True))
    with tempfile.TemporaryDirectory() as temporary:
        scratch = (asked.keep or Path(temporary)).resolve()
        scratch.mkdir(parents=True, exist_ok=True)
        known = {way: learn(way, scratch) for way in ways}
        for folder in asked.folders or FOLDERS:
            run_folder(folder, asked, known)


if __name__ == "__main__":
    main()
