"""Judges what every method said about one split."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from tqdm import tqdm

from cell_files import Cell, Rules, complete, lines
from localface import LocalFACE
from localface.data.read import read_records
from localface.evaluation.metrics import (
    Judge,
    Measures,
    RowClassifier,
    measure_many,
    points_of_records,
)
from localface.types import Array
from methods import most_people
from oracle import optimum
from retraining import other_families, unseen_refits
from running import split
from splits import World

LARGE = 5_000  # rows from which on the optimum is asked about
TOLD = (
    *("error", "seconds", "clock", "calls", "records", "status", "entry"),
    *("rows_seen", "rows_of", "proven", "stated"),
)  # by the method itself


def judged(name: str, seed: int, methods: Sequence[str], rules: Rules) -> list[dict[str, Any]]:
    """Every method that is through with a split; what was judged before is read again."""
    path = rules.out / "judged" / f"{name}-{seed}.json"
    cells = [Cell(name, seed, method) for method in methods]
    fresh = {
        cell.method: cell.file(rules.out).stat().st_mtime for cell in cells if complete(cell, rules)
    }
    if not fresh:
        return []
    if path.exists():
        kept = json.loads(path.read_text(encoding="utf-8"))
        if kept["stamps"] == fresh:
            return list(kept["rows"])
    rows = list(_judge(name, seed, list(fresh), rules))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"stamps": fresh, "rows": rows}), encoding="utf-8")
    return rows


def _judge(name: str, seed: int, methods: Sequence[str], rules: Rules) -> Iterator[dict[str, Any]]:
    bench = Bench(split(name, seed, rules))
    said = {method: lines(Cell(name, seed, method).file(rules.out)) for method in methods}
    cells = [bench.told(method, some) for method, some in said.items() if "missing" not in some[-1]]
    agreed = bench.agreement(cells)
    for one in tqdm(cells, desc=f"judging {name} {seed}", leave=False):
        yield from bench.rows(one, agreed[one.method])


class Told(NamedTuple):
    """What one method said: a line a person, and the paths (None where nothing was found)."""

    method: str
    setup: float | None
    lines: Sequence[dict[str, Any]]
    paths: Sequence[Array | None]


class Bench:
    """One split, and all that it takes to judge proposals about its people."""

    def __init__(self, at: World) -> None:
        self.at = at
        self.explainer = LocalFACE(
            at.model, at.data, schema=at.schema, min_score=at.min_score
        ).prescore()
        self.space = self.explainer.engine.space
        self.people = read_records(at.people, at.schema)
        self.points = points_of_records(self.people, self.space)
        self.boxes = [at.schema.box(record) for record in self.people]
        self.form = self.explainer.engine.form
        known = read_records(at.data, at.schema)
        unseen = read_records(at.held_out, at.schema)
        self.judge = Judge.of(
            self.space,
            known,
            self._score,
            min_score=at.min_score,
            heldout=unseen,
            density=self.explainer.density,
            classifier=RowClassifier.fit(known, unseen, at.schema, seed=at.seed),
        )
        assert self.judge.rule is not None
        assert self.judge.heldout is not None
        log_densities = self.judge.rule.along(self.points, self.points).lowest_logs
        self.shares = self.explainer.density.scale.share_below(log_densities)
        self.heldout_shares = self.judge.heldout.share(
            self.judge.heldout.log_densities(self.points)
        )
        self.refits = unseen_refits(at)
        self.families = other_families(at)

    def _score(self, records: Array) -> Array:
        """A fresh call of the model itself."""
        return self.at.scores(self.form.make_table(records))

    def told(self, method: str, said: Sequence[dict[str, Any]]) -> Told:
        """One line a person who was asked about, whether or not the method came that far."""
        known = {line["person"]: line for line in said if "person" in line}
        nobody: dict[str, Any] = {"found": False, "error": "not run"}
        asked = max(most_people(method, len(self.people)), len(known))
        each = [known.get(number, nobody) for number in range(asked)]
        paths = [np.array(line["states"]) if line["found"] else None for line in each]
        return Told(method, said[-1].get("setup"), each, paths)

    def agreement(self, cells: Sequence[Told]) -> dict[str, dict[str, Array]]:
        """The shares of models that let each end through; each is called once for all methods."""
        ends = [
            self.people[number] if path is None else path[-1]
            for cell in cells
            for number, path in enumerate(cell.paths)
        ]
        if not ends:
            return {}
        table = self.form.make_table(np.array(ends))
        cuts = np.cumsum([len(cell.paths) for cell in cells])[:-1]
        found: dict[str, dict[str, Array]] = {cell.method: {} for cell in cells}
        for key, models in (("retrained", self.refits), ("families", self.families)):
            votes = np.mean([model(table) >= self.at.min_score for model in models], axis=0)
            for cell, part in zip(cells, np.split(votes, cuts), strict=True):
                found[cell.method][key] = part
        return found

    def rows(self, cell: Told, agreed: dict[str, Array]) -> Iterator[dict[str, Any]]:
        """One row a person, whether or not anything was proposed."""
        measures = measure_many(self.judge, cell.paths, self.boxes[: len(cell.paths)])
        for number, (line, one) in enumerate(zip(cell.lines, measures, strict=True)):
            row = {"world": self.at.name, "seed": self.at.seed, "method": cell.method}
            row |= {"person": number, "setup": cell.setup}
            row |= {key: line.get(key) for key in TOLD} | personal(one)
            row |= self._person(number)
            for key, shares in agreed.items():
                row[key] = float(shares[number]) if one.found else None
            if cell.method == "localface-path" and one.found and not line.get("entry"):
                row |= self._optimum(number, float(line["path_cost"]))
            yield row

    def _person(self, number: int) -> dict[str, Any]:
        """Where somebody starts, by the rule's density and by that of held-out people; groups."""
        return {
            "density_start": float(self.shares[number]),
            "heldout_start": float(self.heldout_shares[number]),
            "groups": {kind: str(told[number]) for kind, told in self.at.groups.items()},
        }

    def _optimum(self, number: int, length: float) -> dict[str, Any]:
        """How long our path is beside the shortest over all the data."""
        if len(self.at.data) < LARGE:
            return {}
        assert self.judge.rule is not None
        bounds = self.space.bounds(self.boxes[number])
        reaches_target = self.judge.reaches_target
        best = optimum(self.judge.rule, self.points[number], bounds, reaches_target, within=length)
        return {"over_optimum": length / best.length, "settled": best.settled}


def personal(one: Measures) -> dict[str, float]:
    """The measures, with the personal floor: whoever stands on rare ground may start from there."""
    plain = one.to_dict()
    kept = {"sound": plain["sound_personal"], "traversable": plain["traversable_personal"]}
    return {**plain, "sound_strict": plain["sound"], **kept}
