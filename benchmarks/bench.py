"""How fast is an answer? On tables of many shapes, beside the peers, and as tables grow.

    make bench      python benchmarks/bench.py [--shapes planes adult] [--people 100]
                    [--only ours setup peers scaling] [--full] [--record LABEL]

Each shape is a table, a model, and people held out of both whom the model refuses; see
shape_tables.py. Adult, German credit and Give Me Some Credit are read from the folder that
LOCALFACE_DATA names, else tables of the same form are generated. All times are the
processor's; the unit beside milliseconds is one brute-force neighbour query over the same
table, taken again and again between the answers. The tables are printed, and written to
--out as Markdown and JSON; --record appends the headline figures to history.md. Without
--only, growth with the table (scaling: up to a million rows, 10 million and 7 GB of disk with
--full) is left out, and it takes about ten minutes on two cores.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from threadpoolctl import threadpool_limits

from bench_bars import bars_report
from bench_history import HISTORY, record
from bench_ours import CROWD, Limits, Ours, measure_ours
from bench_ours_tables import ours_figures, ours_reports
from bench_peers import Peer, measure_peers
from bench_peers_tables import peers_figures, peers_reports
from bench_scaling import LARGEST, SIZES, scaling
from bench_setup import measure_import, measure_setup, setup_report
from bench_tables import Report, publish, write_down
from shapes import SHAPES, Shape, shape
from timing import say

PARTS = ("ours", "setup", "peers", "scaling")
UNLIMITED = 600.0  # seconds of one way of asking, with --full
WITHOUT_PEERS = ("called",)  # the same table and trees as readiness


@dataclass(slots=True)
class Measured:
    """What was measured so far, by the names of shapes."""

    titles: dict[str, str] = field(default_factory=dict)
    ordinary: list[str] = field(default_factory=list)
    ours: dict[str, Ours] = field(default_factory=dict)
    setup: dict[str, dict[str, float]] = field(default_factory=dict)
    peers: dict[str, list[Peer]] = field(default_factory=dict)
    importing: tuple[float, float] | None = None
    grown: tuple[list[Report], dict[str, float]] = field(default_factory=lambda: ([], {}))

    def figures(self) -> dict[str, float]:
        """Every figure by its name."""
        figures = {**ours_figures(self.ours), **peers_figures(self.peers), **self.grown[1]}
        for name, values in self.setup.items():
            figures |= {f"{name}: {what}": value for what, value in values.items()}
        if self.importing is not None:
            figures["import s"], figures["import with LocalFACE s"] = self.importing
        return figures

    def reports(self) -> list[Report]:
        """Every table, the bars last."""
        found = list[Report]()
        if self.ours:
            found += ours_reports(self.titles, self.ours)
        if self.setup and self.importing is not None:
            found.append(setup_report(self.titles, self.setup, self.importing))
        if self.peers:
            found += peers_reports(self.titles, self.peers)
        bars = bars_report(self.figures(), list(self.titles), self.ordinary)
        return [*found, *self.grown[0], bars]


def main(arguments: list[str] | None = None) -> None:
    """Measure, print and write."""
    chosen = options().parse_args(arguments)
    people = chosen.people or (1_000 if chosen.full else 100)
    use_one_thread()
    parts = chosen.only or (PARTS if chosen.full else PARTS[:-1])
    found = Measured()
    if "setup" in parts:
        found.importing = measure_import()
    for name in chosen.shapes if set(parts) - {"scaling"} else ():
        say(f"{name}: the model")
        at = shape(name, max(people, CROWD))
        seconds = UNLIMITED if chosen.full else chosen.seconds
        measure_shape(
            found, at, parts, Limits(people, max(people, CROWD), chosen.peer_people, seconds)
        )
        write_down(found.reports(), found.figures(), chosen.out)  # so that stopping loses little
    if "scaling" in parts:
        sizes = (*SIZES, LARGEST) if chosen.full else SIZES
        found.grown = scaling(shape("readiness", 1), sizes, 100 if chosen.full else 60)
    publish(found.reports(), found.figures(), chosen.out)
    if chosen.record:
        record(chosen.record, found.figures(), chosen.history)


def use_one_thread() -> None:
    """Let BLAS and OpenMP use one thread, also in processes started from here."""
    threadpool_limits(1)
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"


def options() -> argparse.ArgumentParser:
    """What can be said on the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--only", nargs="+", choices=PARTS, help="some of the parts (all but scaling)"
    )
    parser.add_argument("--shapes", nargs="+", choices=list(SHAPES), default=list(SHAPES))
    parser.add_argument("--people", type=int, help="of a shape (100; 1,000 with --full)")
    parser.add_argument("--peer-people", type=int, default=12, help="for each peer (12)")
    parser.add_argument(
        "--seconds", type=float, default=4.0, help="for each way of asking (4); half for a peer"
    )
    parser.add_argument("--full", action="store_true", help="no limit of time; 10 million rows")
    parser.add_argument("--record", metavar="LABEL", help="append a line to the history")
    parser.add_argument("--history", type=Path, default=HISTORY, help=f"a file ({HISTORY.name})")
    parser.add_argument(
        "--out", type=Path, default=Path("build/bench"), help="a folder (build/bench)"
    )
    return parser


def measure_shape(found: Measured, at: Shape, parts: Sequence[str], limits: Limits) -> None:
    """Measure the parts that were asked for on one shape."""
    found.titles[at.name] = at.title
    if at.ordinary:
        found.ordinary.append(at.name)
    if "ours" in parts:
        say(f"{at.name}: ours")
        found.ours[at.name] = measure_ours(at, limits)
    if "setup" in parts:
        say(f"{at.name}: set-up")
        found.setup[at.name] = measure_setup(at)
    if "peers" in parts and at.name not in WITHOUT_PEERS:
        say(f"{at.name}: peers")
        found.peers[at.name] = measure_peers(at, limits.peer_people, limits.seconds / 2)


if __name__ == "__main__":
    main()
