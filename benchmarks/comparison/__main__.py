"""Every method on the same people, judged by the same independent metrics.

    make comparison                              the four tables that need no download
    make comparison ARGS="--data FOLDER"       HELOC, Adult, German credit, Give Me Some Credit too
    python benchmarks/comparison --cell credit 0 dice-random        one method on one split again

Cells that are complete are not run again, so that the command can be stopped and goes on where it
was. It takes about an hour on two cores; --people 4 --seeds 1 gives a first look in minutes.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from ablations import ABLATIONS, ablated
from cell_files import Cell, Rules
from diversity import diverse
from methods import METHODS, asked_of, missing
from report import write_report
from running import run_cell
from scheduling import missing_worlds, run_all, run_split
from splits import STORED, TABLES
from verdicts import judged


def main() -> None:
    """Run, judge, write."""
    asked = _arguments()
    rules = Rules(people=asked.people, limit=asked.limit, out=asked.out, data=asked.data)
    if asked.cell:
        name, seed, method = asked.cell
        cell = Cell(name, int(seed), method)
        cell.file(rules.out).unlink(missing_ok=True)
        run_cell(cell, rules)
        print(f"written: {cell.file(rules.out)}; --report-only puts it in the report")
        return
    if asked.split:
        name, seed, *methods = asked.split
        run_split(name, int(seed), methods, rules)
        judged(name, int(seed), asked.methods, rules)
        return
    worlds = _available_worlds(asked, rules)
    cells = [
        Cell(name, seed, method)
        for seed in range(asked.seeds)
        for name in worlds
        for method in asked.methods
        if asked_of(method, seed)
    ]
    if not asked.report_only:
        run_all(cells, rules, jobs=asked.jobs)
    rows = [
        row
        for name in worlds
        for seed in range(asked.seeds)
        for row in judged(name, seed, asked.methods, rules)
    ]
    some = [name for name in worlds if name in TABLES] if asked.ablations else []
    written = write_report(
        rows, cells, rules, changes=ablated(some, rules), several=diverse(some, rules)
    )
    print(f"written: {', '.join(str(path) for path in written)}")


def _available_worlds(asked: argparse.Namespace, rules: Rules) -> list[str]:
    """The tables that can be had here; what cannot is said."""
    gone = missing_worlds(asked.worlds, rules)
    for name, why in gone.items():
        print(f"without {name}: {why}")
    for name in asked.methods:
        if (why := missing(name)) is not None:
            print(f"without {name}: {why}")
    return [name for name in asked.worlds if name not in gone]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python benchmarks/comparison",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--data", type=Path, help="a folder with heloc/, adult/, german/, gmsc/")
    parser.add_argument(
        "--worlds", nargs="+", default=[*TABLES, *STORED], choices=[*TABLES, *STORED]
    )
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    parser.add_argument("--seeds", type=int, default=2, help="splits of each table (%(default)s)")
    parser.add_argument("--people", type=int, default=40, help="people of each split (%(default)s)")
    parser.add_argument(
        "--limit", type=float, default=3.0, help="seconds of processor time a person (%(default)s)"
    )
    parser.add_argument("--jobs", type=int, default=1, help="cells at a time (%(default)s)")
    parser.add_argument("--out", type=Path, default=Path("build/comparison"))
    parser.add_argument(
        "--cell", nargs=3, metavar=("WORLD", "SEED", "METHOD"), help="run one cell afresh"
    )
    parser.add_argument("--split", nargs="+", help=argparse.SUPPRESS)
    parser.add_argument(
        "--report-only", action="store_true", help="judge and write what has been run so far"
    )
    parser.add_argument(
        "--ablations",
        action="store_true",
        help=f"add several answers to one person, and: {', '.join(ABLATIONS)}",
    )
    return parser.parse_args()


if __name__ == "__main__":
    main()
