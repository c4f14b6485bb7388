"""How fast is an answer? Ratios from one run, in brute-force neighbour queries over the same table.

    make bench                       python benchmarks/bench.py [--full] [--people 400] [--only speed peers scaling]

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
import json
import os
import platform
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from threadpoolctl import threadpool_info

from cells import CHECKED, anonymous, asked, blocks_of, generate, patients, peak_of, recall
from localface import LocalFACE, Recourse, Search, __version__
from localface.cases.readiness import schema as readiness
from localface.cases.readiness import synthetic
from localface.evaluation.baselines import FACE, NICE, NearestUnlike, Task, Wachter
from localface.evaluation.baselines.peers import PEERS as PACKAGED
from localface.evaluation.baselines.peers import available
from localface.geometry.segments import norms
from localface.sources.store import Store, write_store
from localface.types import Array

ROWS, K, MIN_SCORE = 13_943, 50, 0.75
WARM = 5  # people answered before it counts
SIZES, LARGEST = (10_000, 100_000, 1_000_000), 10_000_000
PARTS = ("speed", "peers", "scaling")
KINDS = {
    "Nearest": "neighbours",
    "ScoreRows": "model",
    "ScorePoints": "model",
    "Along": "density",
    "Levels": "density",
    "Company": "counting",
    "Census": "counting",
    "Widening": "counting",
}
SHARED = """Trees that are read directly make one at a time fast, so that lock-step has less left to share: a model
  that is merely called costs about as much for one record as for hundreds. alike: the same status, people, actions
  and scores as one at a time, bit for bit."""
COUNTED = """Whoever has nobody to become is told so by counting, which takes a look at all rows, and once the score of
  every row: this is the share called counting, and what makes the mean and the worst. if found: of those with a way."""
MEMORY = """Memory that maps no file, beyond what the process had before. Writing, fitting, answering: at most; staying:
  once all are answered. The frame itself is not counted."""
TIMES = (
    *(
        "rows",
        "source",
        "s writing",
        "s fitting",
        "median ms",
        "queries",
        "mean if found",
        "mean queries",
    ),
    *("worst queries", "counting %", "found", "recall"),
)
MEMORIES = (
    "rows",
    "source",
    "MB float32",
    "MB writing",
    "MB fitting",
    "MB answering",
    "MB staying",
)
STARTED = time.perf_counter()
T = TypeVar("T")
Answer = Callable[[dict[str, Any]], bool]


@dataclass(frozen=True, slots=True, eq=False)
class World:
    """A table, a forest, and people whom the forest does not call ready."""

    data: pd.DataFrame
    model: RandomForestClassifier
    people: pd.DataFrame
    schema: Any

    def explainer(self, *, called: bool = False, **options: Any) -> LocalFACE:
        """A prescored explainer; ``called`` hides from it that the model is a forest."""
        model = (lambda frame: self.model.predict_proba(frame)[:, 1]) if called else self.model
        search = Search(n_neighbors=K, **options)
        return LocalFACE(
            model, self.data, schema=self.schema, min_score=MIN_SCORE, search=search
        ).prescore()


@dataclass(frozen=True, slots=True)
class Report:
    """One table of figures."""

    title: str
    columns: list[str]
    rows: list[list[Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def lines(self, *, markdown: bool) -> Iterator[str]:
        """The table, aligned, or as Markdown."""
        cells = [self.columns, *([_figure(value) for value in row] for row in self.rows)]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        yield f"## {self.title}" if markdown else self.title
        yield ""
        for i, row in enumerate(cells):
            if markdown:
                yield f"| {' | '.join(row)} |"
            else:
                first, *rest = (one.rjust(width) for one, width in zip(row, widths, strict=True))
                yield "  ".join(["", row[0].ljust(len(first)), *rest])
            if markdown and i == 0:
                yield f"|{'---|' * len(row)}"
        yield ""
        yield from (f"{'' if markdown else '  '}{note}\n" for note in self.notes)


class Spent(NamedTuple):
    """Seconds by the clock and of the processor."""

    wall: float
    cpu: float

    @property
    def worked(self) -> float:
        """What ratios are made of."""
        return self.cpu if single_threaded() else self.wall


def timed(call: Callable[..., T], *arguments: Any, **options: Any) -> tuple[T, Spent]:
    """What a call returns, and what it took."""
    wall, cpu = time.perf_counter(), time.process_time()
    result = call(*arguments, **options)
    return result, Spent(time.perf_counter() - wall, time.process_time() - cpu)


@cache
def single_threaded() -> bool:
    """Whether BLAS works in this thread alone, so that processor time is what an idle machine would take."""
    return all(one["num_threads"] == 1 for one in threadpool_info() if one["user_api"] == "blas")


class Unit:
    """One brute-force neighbour query, timed over and over while the rest is measured."""

    def __init__(self, points: Array) -> None:
        self._points = points
        self._squares = (points**2).sum(axis=1)
        self._spent: list[Spent] = []

    def again(self, times: int = 3) -> None:
        """Take it some more times."""
        self._spent += [timed(self._query)[1] for _ in range(times)]

    def taken(self) -> Spent:
        """The medians since this was last asked."""
        spent, self._spent = self._spent, []
        return Spent(*np.median(spent, axis=0).tolist())

    def _query(self) -> Any:
        return np.argpartition(self._squares - 2 * (self._points @ self._points[0]), K)[:K]


@dataclass(frozen=True, slots=True, eq=False)
class Runs:
    """The same people one at a time and in lock-step, and what a query took in the meantime."""

    alone: list[Spent]
    together: Spent
    unit: Spent
    shares_alone: dict[str, float]
    shares: dict[str, float]
    alike: bool

    @property
    def single(self) -> list[float]:
        """Median in ms, in queries by the clock and in queries; p95 in queries and over the median; mean in queries."""
        worked, one = np.array([spent.worked for spent in self.alone]), self.unit.worked
        median, p95, mean = (
            float(each) for each in (np.median(worked), np.quantile(worked, 0.95), worked.mean())
        )
        clock = float(np.median([spent.wall for spent in self.alone]))
        return [
            1e3 * clock,
            clock / self.unit.wall,
            median / one,
            p95 / one,
            p95 / median,
            mean / one,
        ]

    @property
    def crowd(self) -> list[Any]:
        """A person in ms and in queries, people a second, times one at a time, and whether the answers are alike."""
        many, worked = len(self.alone), sum(spent.worked for spent in self.alone)
        each, times = self.together.wall / many, worked / self.together.worked
        queries = self.together.worked / many / self.unit.worked
        return [1e3 * each, queries, 1 / each, times, "yes" if self.alike else "NO"]


def world(rows: int) -> tuple[Any, Any, Any, Any]:
    """The generated readiness cohort, a forest of 100 trees, and people it was not fitted on."""
    cohort = synthetic(seed=0)
    frame = cohort.frame()
    order = np.random.default_rng(0).permutation(len(frame))
    train, test = order[:rows], order[rows:]
    model = RandomForestClassifier(100, max_depth=7, max_features=0.5, random_state=0)
    model.fit(frame.iloc[train], cohort.ready[train])
    return (
        frame.iloc[train].reset_index(drop=True),
        model,
        frame.iloc[test].reset_index(drop=True),
        cohort.schema,
    )


def unready(rows: int, most: int) -> World:
    """The world, with those people only whom the forest does not call ready."""
    data, model, new, schema = world(rows)
    return World(data, model, new[model.predict_proba(new)[:, 1] < MIN_SCORE].iloc[:most], schema)


# speed


def speed(at: World, unit: Unit) -> tuple[list[Report], dict[str, float]]:
    """One at a time, in lock-step, and where the time goes: with the trees read, and with the model merely called."""
    columns = [
        "",
        "median ms",
        "queries by the clock",
        "queries",
        "p95 queries",
        "p95 / median",
        "mean queries",
    ]
    single = Report("One at a time", columns)
    crowd = Report(
        "In lock-step",
        ["", "ms a person", "queries", "people a second", "times one at a time", "alike"],
    )
    split = Report("Where the time goes, %", ["", *dict.fromkeys(KINDS.values()), "the rest"])
    figures: dict[str, float] = {}
    for called in (False, True):
        explainer = at.explainer(called=called)
        for actions in (False, True):
            name = f"{'model called' if called else 'trees read'}, {'with actions' if actions else 'path only'}"
            say(name)
            runs = both(explainer, at.people, unit, actions=actions)
            single.rows.append([name, *runs.single])
            crowd.rows.append([name, *runs.crowd])
            split.rows.append([f"one at a time, {name}", *_percent(runs.shares_alone)])
            split.rows.append([f"in lock-step, {name}", *_percent(runs.shares)])
            figures |= {f"{name}: queries": runs.single[2], f"{name}: tail": runs.single[4]}
            figures |= {f"{name}: times": runs.crowd[3], f"{name}: rest": _percent(runs.shares)[-1]}
    single.notes.append(f"{len(at.people)} people; a query takes {1e3 * runs.unit.wall:.2f} ms.")
    crowd.notes.append(SHARED)
    split.notes.append(
        "counting: who in the box could be become, and how many people are near. By the clock."
    )
    return [single, crowd, split], figures


def both(explainer: LocalFACE, people: pd.DataFrame, unit: Unit, **options: Any) -> Runs:
    """Measure one at a time in two halves, with lock-step before, between and after."""
    records = people.to_dict("records")
    explainer.explain_many(
        people[:64], progress=False, **options
    )  # what is worked out once is not counted
    alone: list[tuple[Recourse, Spent]] = []
    crowds: list[tuple[Sequence[Recourse], Spent]] = []
    for part in (records[::2], records[1::2], records[:0]):
        unit.again(30)
        crowds.append(timed(explainer.explain_many, people, progress=False, **options))
        for one in part:
            unit.again()
            alone.append(timed(explainer.explain, one, **options))
    singles, spent = [answer for answer, _ in alone], [each for _, each in alone]
    answers, together = sorted(crowds, key=lambda run: run[1].worked)[1]
    return Runs(
        alone=spent,
        together=together,
        unit=unit.taken(),
        shares_alone=shares(singles, sum(each.wall for each in spent)),
        shares=shares(answers, together.wall),
        alike=all(
            _gist(a) == _gist(b)
            for a, b in zip(singles, [*answers[::2], *answers[1::2]], strict=True)
        ),
    )


def shares(answers: Sequence[Recourse], total: float) -> dict[str, float]:
    """How much of the time went where, by the answers' own accounts."""
    spent = dict.fromkeys(KINDS.values(), 0.0)
    for answer in answers:
        for kind, seconds in answer.disclosure.seconds.items():
            spent[KINDS[kind]] += seconds
    return {kind: seconds / total for kind, seconds in spent.items()}


def _percent(part: dict[str, float]) -> list[float]:
    return [100 * share for share in (*part.values(), 1 - sum(part.values()))]


def _gist(answer: Recourse) -> tuple[Any, ...]:
    """What must not depend on who else is asked about."""
    actions = [(sorted(one.changes.items()), one.score) for one in answer.actions]
    return answer.status, answer.rows, answer.records.tobytes(), answer.scores, actions


# peers


def ours(at: World) -> Answer:
    """A path, as short as any within 5 %, on common ground throughout."""
    explainer = at.explainer()
    return lambda record: explainer.explain(record, actions=False).found


def acting(at: World) -> Answer:
    """The same, and few changes in an order."""
    explainer = at.explainer()
    return lambda record: explainer.explain(record).found


def printed(at: World) -> Answer:
    """The published algorithms as printed."""
    explainer = at.explainer(strategy="paper")
    return lambda record: explainer.explain(record, actions=False).found


def straight(at: World) -> Answer:
    """No search: straight to the nearest allowed row that is called ready, if that step keeps to common ground."""
    explainer, schema = at.explainer(), at.schema
    space, density = explainer.engine.space, explainer.density
    points = space.points(at.data.to_numpy(dtype=float))
    ready = at.model.predict_proba(at.data)[:, 1] >= MIN_SCORE

    def answer(record: dict[str, Any]) -> bool:
        own = np.array([record[name] for name in schema.names], dtype=float)
        start = space.points(own[None, :])
        there = np.flatnonzero(ready & space.bounds(schema.box(own)).contain(points))
        if len(there) == 0:
            return False
        end = there[norms(points[there] - start).argmin()]
        return bool(density.lowest_along(start, points[[end]], explainer.floor).passes[0])

    return answer


def other(method: Callable[..., Any], **options: Any) -> Callable[[World], Answer]:
    """A baseline or a peer, made once and asked person by person."""

    def made(at: World) -> Answer:
        asked = method(Task.of(at.model, at.data, schema=at.schema, min_score=MIN_SCORE), **options)
        return lambda record: bool(asked.explain(record).found)

    return made


PEERS: dict[str, Callable[[World], Answer]] = {
    "ours, path only": ours,
    "ours, with actions": acting,
    "strategy='paper', path only": printed,
    "the straight line": straight,
    "FACE, graph built before": other(FACE, graph="knn"),
    "nearest unlike neighbour": other(NearestUnlike),
    "NICE": other(NICE),
    "Wachter": other(Wachter),
    **{
        name: other(PACKAGED[name])
        for name in ("dice-random", "dice-genetic", "dice-kdtree", "treecf")
        if available()[PACKAGED[name].package] is not None
    },
}
"""From a world to what answers one person, and says whether it found a way; whoever has another peer adds it here."""


def peers(at: World, unit: Unit, most: int) -> list[Report]:
    """Everyone answers the same people, in turns."""
    records = at.people.iloc[:most].to_dict("records")
    answers = {name: made(at) for name, made in PEERS.items()}
    spent: dict[str, list[Spent]] = {name: [] for name in PEERS}
    found: Counter[str] = Counter()
    for record in records:
        for name, answer in answers.items():
            unit.again()
            fine, took = timed(answer, record)
            found[name] += fine
            spent[name].append(took)
    one = unit.taken().worked
    own = float(np.median([took.worked for took in next(iter(spent.values()))]))
    report = Report(
        "Peers, on the same people",
        ["", "median ms", "queries", "times ours", "worst queries", "found"],
    )
    for name, times in spent.items():
        clock, median = (
            float(np.median(each))
            for each in zip(*((t.wall, t.worked) for t in times), strict=True)
        )
        worst = max(took.worked for took in times)
        served = f"{found[name]} of {len(records)}"
        report.rows.append([name, 1e3 * clock, median / one, median / own, worst / one, served])
    report.notes.append(
        "found: for the straight line, that its one step is proven to keep to common ground."
    )
    return [report]


# scaling


def scaling(at: World, sizes: Sequence[int], most: int) -> tuple[list[Report], dict[str, float]]:
    """The same people over larger and larger tables: in a store on disk, and as a frame."""
    new = pd.DataFrame(patients(1_000, seed=10_001), columns=at.schema.names)
    people = new[at.model.predict_proba(new)[:, 1] < MIN_SCORE].iloc[: most + WARM]
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        for n in sizes:
            say(f"{n:,} rows")
            table, place = Path(folder) / "table", Path(folder) / f"store-{n}"
            apart(generate, table, n)
            written = apart(write, table, place, n)
            rows.append(
                {"rows": n, "source": "store"} | written | apart(stored, place, at.model, people)
            )
            if n <= max(SIZES):
                rows.append(
                    {"rows": n, "source": "frame"} | apart(framed, table, n, at.model, people)
                )
    return growth(rows, most)


def growth(rows: Sequence[dict[str, Any]], most: int) -> tuple[list[Report], dict[str, float]]:
    """What was measured over tables of several sizes, as tables, and how it grows over the stores."""
    kept = [row for row in rows if row["source"] == "store"]
    times = table_of("Growth with the table, path only: time", rows, TIMES)
    memory = table_of("Growth with the table, path only: memory", rows, MEMORIES)
    times.notes.append(
        f"{most} people, the same everywhere; rows not prescored; queries over {ROWS:,} rows."
    )
    times.notes.append(COUNTED)
    span = f"{kept[0]['rows']:,} to {kept[-1]['rows']:,} rows"
    slopes = {what: slope(kept, what) for what in ("queries", "mean queries", "mean if found")}
    times.notes.append(
        f"Exponents over stores, {span}: {', '.join(f'{w} {v:.2f}' for w, v in slopes.items())}."
    )
    memory.notes.append(MEMORY)
    stays, peak = (
        kept[-1][what] / kept[-1]["MB float32"] for what in ("MB staying", "MB answering")
    )
    figures = {"exponent": slopes["queries"], "exponent of the mean": slopes["mean queries"]}
    return [times, memory], figures | {"memory": stays, "memory at most": peak}


def table_of(title: str, rows: Sequence[dict[str, Any]], columns: Sequence[str]) -> Report:
    """Some columns of what was measured."""
    return Report(title, list(columns), [[row.get(key, "") for key in columns] for row in rows])


def apart(call: Callable[..., Any], *arguments: Any) -> Any:
    """Call in a process of its own, so that its memory is its own."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(call, *arguments).result()


def write(table: Path, place: Path, n: int) -> dict[str, float]:
    """Write a store."""
    write_store(
        place.with_name(f"warm-{n}"), lambda: [patients(300, 0)], readiness()
    )  # what is loaded once is not counted
    (_, grown), spent = timed(
        peak_of, lambda: write_store(place, lambda: blocks_of(table, n), readiness())
    )
    return {"s writing": spent.wall, "MB writing": grown / 1e6}


def stored(place: Path, model: Any, people: pd.DataFrame) -> dict[str, float]:
    """Answer people over a store."""
    store = Store.open(place)
    figures = answering(
        lambda: LocalFACE(model, store, min_score=MIN_SCORE, search=Search(n_neighbors=K)),
        model,
        people,
    )
    _, boxed = asked(store, CHECKED)
    found = recall(store.source(), store, boxed)
    return figures | {"recall": found, "MB float32": 4e-6 * store.n_rows * len(store.schema)}


def framed(table: Path, n: int, model: Any, people: pd.DataFrame) -> dict[str, float]:
    """Answer people over a frame in memory, which is not counted."""
    frame = pd.DataFrame(np.concatenate(list(blocks_of(table, n))), columns=readiness().names)

    def fit() -> LocalFACE:
        return LocalFACE(
            model, frame, schema=readiness(), min_score=MIN_SCORE, search=Search(n_neighbors=K)
        )

    return answering(fit, model, people) | {"MB float32": 4e-6 * frame.size}


def answering(fit: Callable[[], LocalFACE], model: Any, people: pd.DataFrame) -> dict[str, Any]:
    """Fit and answer: seconds, queries, and memory."""
    small = LocalFACE(model, people, schema=readiness(), min_score=MIN_SCORE)
    small.explain_many(people[:WARM], progress=False, actions=False)  # so that all is loaded
    unit = Unit(np.random.default_rng(0).normal(size=(ROWS, len(readiness()))))
    before = anonymous()
    (explainer, fitting), spent = timed(peak_of, fit)
    settled = anonymous() - before

    def each() -> list[tuple[Recourse, Spent]]:
        return [answered(explainer, record, unit) for record in people.to_dict("records")]

    runs, grown = peak_of(each)
    memory = {"fitting": fitting, "answering": settled + grown, "staying": anonymous() - before}
    return {
        "s fitting": spent.wall,
        **costs(runs[WARM:], unit.taken().worked),
        **{f"MB {k}": v / 1e6 for k, v in memory.items()},
    }


def answered(explainer: LocalFACE, record: dict[str, Any], unit: Unit) -> tuple[Recourse, Spent]:
    """One answer, path only, and what it took; some queries in between."""
    unit.again()
    return timed(explainer.explain, record, actions=False)


def costs(runs: Sequence[tuple[Recourse, Spent]], one: float) -> dict[str, Any]:
    """What answers cost, in queries that take ``one`` second each."""
    worked = np.array([spent.worked for _, spent in runs])
    found = np.array([answer.found for answer, _ in runs])
    clock = [spent.wall for _, spent in runs]
    return {
        "median ms": 1e3 * float(np.median(clock)),
        "queries": float(np.median(worked)) / one,
        "mean if found": float(worked[found].mean()) / one,
        "mean queries": float(worked.mean()) / one,
        "worst queries": float(worked.max()) / one,
        "counting %": 100 * shares([answer for answer, _ in runs], sum(clock))["counting"],
        "found": f"{found.sum()} of {len(runs)}",
    }


def slope(rows: Sequence[dict[str, Any]], what: str) -> float:
    """The exponent at which something grows with the rows."""
    return float(
        np.polyfit(np.log([row["rows"] for row in rows]), np.log([row[what] for row in rows]), 1)[0]
    )


# the page


def bars(figures: dict[str, float]) -> Report:
    """What was asked for, beside what was measured."""
    wanted = [
        ("one at a time, median in queries", "trees read, path only: queries", 20, -1),
        ("one at a time, p95 over median", "trees read, path only: tail", 5, -1),
        (
            "lock-step, times one at a time, path only, trees read",
            "trees read, path only: times",
            4,
            1,
        ),
        (
            "lock-step, times one at a time, path only, model called",
            "model called, path only: times",
            4,
            1,
        ),
        (
            "lock-step, times one at a time, with actions, trees read",
            "trees read, with actions: times",
            10,
            1,
        ),
        (
            "lock-step, times one at a time, with actions, model called",
            "model called, with actions: times",
            10,
            1,
        ),
        ("lock-step, % outside the questions, path only", "trees read, path only: rest", 25, -1),
        (
            "lock-step, % outside the questions, with actions",
            "trees read, with actions: rest",
            25,
            -1,
        ),
        ("exponent of the cost a person, median", "exponent", 0.35, -1),
        ("exponent of the cost a person, mean", "exponent of the mean", 0.35, -1),
        ("memory that stays, over the float32 table, largest store", "memory", 1.5, -1),
        ("memory at most while answering, over the same", "memory at most", 1.5, -1),
    ]
    report = Report("Bars", ["", "bar", "measured", "met"])
    for name, key, bar, sign in wanted:
        if key in figures:
            met = sign * figures[key] >= sign * bar
            limit = f"at {'least' if sign > 0 else 'most'} {bar}"
            report.rows.append([name, limit, figures[key], "yes" if met else "no"])
    return report


def say(what: str) -> None:
    """Tell how far it has come."""
    print(f"[{time.perf_counter() - STARTED:5.0f} s] {what} ...", file=sys.stderr, flush=True)


def machine() -> dict[str, Any]:
    """What the figures were measured on."""
    threads = ", ".join(
        sorted({f"{one['internal_api']} {one['num_threads']}" for one in threadpool_info()})
    )
    clock = "processor time" if single_threaded() else "the clock"
    return {
        "localface": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "threads": threads,
        "ratios by": clock,
        "load of late": " ".join(f"{load:.1f}" for load in os.getloadavg()),
    }


def publish(reports: Sequence[Report], figures: dict[str, float], out: Path) -> None:
    """Print the tables, and write them down."""
    about = machine()
    heading = "; ".join(f"{what} {value}" for what, value in about.items())
    for markdown in (False, True):
        text = "\n".join(
            [heading, "", *(line for one in reports for line in one.lines(markdown=markdown))]
        )
        if markdown:
            out.mkdir(parents=True, exist_ok=True)
            (out / "bench.md").write_text(text + "\n", encoding="utf-8")
        else:
            print(text)
    document = {"machine": about, "figures": figures, "tables": [asdict(one) for one in reports]}
    (out / "bench.json").write_text(
        json.dumps(document, indent=1, default=float) + "\n", encoding="utf-8"
    )
    print(f"written to {out / 'bench.md'} and {out / 'bench.json'}")


def _figure(value: Any) -> str:
    """A figure with the digits that mean something."""
    if isinstance(value, str) or not np.isfinite(value):
        return str(value)
    if isinstance(value, int) or abs(value) >= 100:
        return f"{value:,.0f}"
    return (
        f"{value:.4f}"
        if 0.99 <= value < 1
        else f"{value:.1f}"
        if abs(value) >= 10
        else f"{value:.2f}"
    )


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
    reports, figures = list[Report](), dict[str, float]()
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
        reports, figures = [*reports, *grown], figures | found
    publish([*reports, *([bars(figures)] if figures else [])], figures, chosen.out)


if __name__ == "__main__":
    main()
