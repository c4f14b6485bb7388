"""Learn once which tests pass each line of the library, and how long each test takes."""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
OPTIONS = ["-q", "-p", "no:xdist", "-p", "no:cacheprovider", "--no-header"]

# What passes through the inner folders by itself, and whole answers that are judged by other code.
FOLDERS = ("search", "density", "geometry")
INNER = tuple(f"{where}/{one}" for one in FOLDERS for where in ("tests", "src/localface"))
WHOLE = ("tests/engine", "tests/test_certificates.py", "tests/test_proven_paths.py")


@dataclass(frozen=True, slots=True)
class Way:
    """How the tests are run: with the compiled part or without, the quick ones or all."""

    name: str
    tests: tuple[str, ...]
    compiled: bool = True
    slow: bool = False

    @property
    def options(self) -> list[str]:
        """What pytest is told."""
        return OPTIONS if self.slow else [*OPTIONS, "-m", "not slow"]

    def set_out(self) -> None:
        """Make this process one that runs tests this way, without printing anything."""
        if not self.compiled:
            os.environ["LOCALFACE_COMPILED"] = "0"
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
        signal.signal(signal.SIGINT, signal.SIG_DFL)


@dataclass(frozen=True, slots=True)
class Passing:
    """Which tests pass each line, and the seconds of each test."""

    contexts: dict[str, dict[int, list[str]]]
    seconds: dict[str, float]

    def tests_of(self, path: Path, line: int) -> set[str]:
        """The tests that pass a line; where only an import does, those that pass its module."""
        lines = self.contexts.get(str(path), {})
        # of a statement on several lines, the first may be the one that is noted
        noted = max((one for one in lines if one <= line), default=0)
        found = self._names(lines.get(noted, []))
        if not found and noted:
            found = self._names(one for several in lines.values() for one in several)
        return found

    def _names(self, contexts: Iterable[str]) -> set[str]:
        """The tests of some contexts. What is passed in a set-up, all tests of the file may see."""
        found: set[str] = set()
        for context in set(contexts) - {""}:
            name, _, phase = context.partition("|")
            if phase == "run":
                found.add(name)
            else:
                file = name.partition("::")[0]
                found |= {one for one in self.seconds if one.startswith(f"{file}::")}
        return found & self.seconds.keys()


class Durations:
    """Notes the processor seconds of each test that passes (a plugin of pytest)."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.left_out: set[str] = set()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Measure a test with all that is set up for it."""
        before = processor_seconds()
        result = yield
        self.seconds[item.nodeid] = processor_seconds() - before
        return result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Leave out a test that is skipped or fails as it is: it cannot notice anything."""
        if not report.passed:
            self.left_out.add(report.nodeid)

    def passed(self) -> dict[str, float]:
        """The seconds of the tests that pass."""
        return {name: self.seconds[name] for name in self.seconds.keys() - self.left_out}


def processor_seconds() -> float:
    """What this process and those it has waited for have used: a busy machine does not matter."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def learn(way: Way, scratch: Path) -> Passing:
    """Run the tests once under coverage, unless that was done before, and read what they passed."""
    from coverage import CoverageData

    seconds = scratch / f"{way.name}.json"
    data_file = scratch / f"{way.name}.coverage"
    if not seconds.exists() or seconds.stat().st_mtime < _last_change():
        child = os.fork()
        if child == 0:
            way.set_out()
            os.environ["COVERAGE_FILE"] = str(data_file)
            os._exit(_run_all(way, seconds))
        if os.waitpid(child, 0)[1]:
            sys.exit(f"the tests could not be run ({way.name})")
    data = CoverageData(str(data_file))
    data.read()
    contexts = {name: data.contexts_by_lineno(name) for name in data.measured_files()}
    return Passing(contexts, json.loads(seconds.read_text(encoding="utf-8")))


def _last_change() -> float:
    """When the library or its tests were last changed: what was learnt before no longer holds."""
    files = [one for folder in ("src", "tests") for one in (ROOT / folder).rglob("*.py")]
    return max(one.stat().st_mtime for one in files)


def _run_all(way: Way, noted: Path) -> int:
    durations = Durations()
    watched = [f"--cov=src/localface/{folder}" for folder in FOLDERS]
    options = [*way.options, *watched, "--cov-context=test", "--cov-report="]
    code = pytest.main([*options, *way.tests], plugins=[durations])
    if code not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        return int(code)
    noted.write_text(json.dumps(durations.passed()), encoding="utf-8")
    return 0
