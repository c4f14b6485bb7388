"""Measure how far all tests together cover the library, statements and branches.

    python tools/coverage_of_all.py                  # make coverage: one part after the other
    python tools/coverage_of_all.py data models      # these parts again, the others as they were
    python tools/coverage_of_all.py data --quick     # without the slow tests
    python tools/coverage_of_all.py --report         # what is known, without running anything

A part is a folder of tests, or "root" for the files beside the folders. What the tests of a part
and the processes they start have passed is kept in build/coverage, so that a part can be run again
by itself. Ends with 1 where less than the bar is covered.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SETTINGS = ROOT / "tools" / "coverage.ini"
KEPT = ROOT / "build" / "coverage"
BAR = 92.0
LOW = 85.0  # modules below are named
_NO_TESTS = 5  # what pytest ends with where a part has no quick tests


def every_part() -> list[str]:
    """The folders of tests, and the files beside them."""
    folders = [one for one in sorted((ROOT / "tests").iterdir()) if one.is_dir()]
    return [one.name for one in folders if any(one.rglob("test_*.py"))] + ["root"]


def measure(part: str, *, quick: bool) -> None:
    """Run the tests of a part, and keep what they and their processes pass."""
    KEPT.mkdir(parents=True, exist_ok=True)
    for old in KEPT.glob(f"{part}.*"):
        old.unlink()
    tests = [ROOT / "tests" / part]
    if part == "root":
        tests = sorted((ROOT / "tests").glob("test_*.py"))
    chosen = ["-m", "not slow"] if quick else []
    environment = {**os.environ, "COVERAGE_FILE": str(KEPT / part)}
    command = [
        "-m",
        "coverage",
        "run",
        f"--rcfile={SETTINGS}",
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cov",
    ]
    print(f"{part}:", end=" ", flush=True)
    ran = subprocess.run(
        [sys.executable, *command, *chosen, *tests], cwd=ROOT, env=environment, check=False
    )
    if ran.returncode not in (0, _NO_TESTS):
        sys.exit(f"the tests of {part} do not pass: what they cover says nothing")


def report() -> float:
    """Put all parts together, name the modules that are covered least, and return the share."""
    found = KEPT / "report.json"
    environment = {**os.environ, "COVERAGE_FILE": str(KEPT / "together")}
    parts = [str(one) for one in KEPT.iterdir() if one.name.partition(".")[0] in every_part()]
    for verb in (["combine", "--keep", "--quiet", *parts], ["json", "--quiet", "-o", str(found)]):
        command = [sys.executable, "-m", "coverage", verb[0], f"--rcfile={SETTINGS}", *verb[1:]]
        subprocess.run(command, cwd=ROOT, env=environment, check=True)
    told = json.loads(found.read_text(encoding="utf-8"))
    shares = {name: one["summary"]["percent_covered"] for name, one in told["files"].items()}
    for name in sorted(shares, key=lambda one: shares[one]):
        if shares[name] < LOW:
            print(f"{shares[name]:5.1f} %  {name}")
    totals = told["totals"]
    covered = float(totals["percent_covered"])
    size = f"{totals['num_statements']:,} statements and {totals['num_branches']:,} branches"
    print(f"{covered:5.1f} %  of {size}")
    return covered


def main() -> int:
    """Measure what is asked for, and hold all of it to the bar."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("parts", nargs="*", help=f"some of {', '.join(every_part())}")
    parser.add_argument("--quick", action="store_true", help="without the slow tests")
    parser.add_argument("--report", action="store_true", help="run nothing")
    asked = parser.parse_args()
    for part in [] if asked.report else asked.parts or every_part():
        measure(part, quick=asked.quick)
    return int(report() < BAR)


if __name__ == "__main__":
    sys.exit(main())
