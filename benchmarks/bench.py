"""How fast is an answer? Ratios from one run, in brute-force neighbour queries over the same table.

    make bench      python benchmarks/bench.py [--full] [--people 400] [--only speed peers scaling]

The unit is what nobody can do without: one BLAS product and a partial sort over all
rows, taken again and again between the runs. Milliseconds are by the clock; ratios are by
processor time where BLAS has one thread, for the machine may be busy, else by the clock.
On the generated readiness cohort: one person at a time and people in lock-step, where the
time goes, peers on the same people, and how the cost grows with the table. The tables are
printed, and written to --out as Markdown and JSON. By default it takes some minutes on
two cores; --full takes 1,000 people, and a table of 10 million rows (about 7 GB of disk).
"""

from __future__ import annotations

import argparse
from pathlib import Path

from bench_cohort import ROWS, say, unready
from bench_peers import peers
from bench_scaling import LARGEST, SIZES, scaling
from bench_speed import speed
from bench_tables import Report, bars, publish
from timing import Unit

PARTS = ("speed", "peers", "scaling")


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--full", action="store_true", help="1,000 people, and 10 million rows")
    parser.add_argument("--people", type=int, help="how many (400; 1,000 with --full)")
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, help="some of the parts")
    parser.add_argument(
        "--out", type=Path, default=Path("build/bench"), help="a folder (build/bench)"
    )
    chosen = parser.parse_args()
    say("fitting a forest")
    at = unready(chosen.rows, chosen.people or (1_000 if chosen.full else 400))
    unit = Unit(at.explainer().engine.space.points(at.data.to_numpy(dtype=float)))
    reports = list[Report]()
    figures = dict[str, float]()
    if "speed" in chosen.only:
        more, figures = speed(at, unit)
        reports += more
    if "peers" in chosen.only:
        say("peers")
        reports += peers(at, unit, 40 if chosen.full else 12)
    if "scaling" in chosen.only:
        grown, found = scaling(
            at, (*SIZES, LARGEST) if chosen.full else SIZES, 100 if chosen.full else 60
        )
        reports = [*reports, *grown]
        figures = figures | found
    publish([*reports, *([bars(figures)] if figures else [])], figures, chosen.out)


if __name__ == "__main__":
    main()
