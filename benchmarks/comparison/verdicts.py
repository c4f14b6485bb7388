"""Judges what every method said about one split."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import (
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tqdm import tqdm

from cell_files import Cell, Rules, complete, lines
from localface import LocalFACE
from localface.data.read import read_records
from localface.evaluation.metrics import (
    Judge,
    Measures,
    RowClassifier,
    l2,
    measure_many,
    points_of_records,
)
from localface.types import Array
from methods import METHODS, most_people
from oracle import optimum
from running import split
from splits import World, encoded

RETRAINED = {"bootstrap": 8, "seed": 6, "family": 6}
ROWS = 5_000  # that a model is trained on again with, at most
AUDITED = 2  # people of a cell whose counterfactual our path is laid to
LARGE = 10_000  # rows from which on the optimum is asked about


def judged(name: str, seed: int, methods: Sequence[str], rules: Rules) -> list[dict[str, Any]]:
    """Every method that is through with a split; what was judged before is read again."""
    path = rules.out / "judged" / f"{name}-{seed}.json"
    cells = [Cell(name, seed, method) for method in methods]
    fresh = {
        cell.method: cell.file(rules.out).stat().st_mtime for cell in cells if complete(cell, rules)
    }
    if path.exists():
        kept = json.loads(path.read_text(encoding="utf-8"))
        if kept["stamps"] == fresh:
            return list(kept["rows"])
    rows = list(_judge(name, seed, list(fresh), rules))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"stamps": fresh, "rows": rows}), encoding="utf-8")
    return rows


def _judge(name: str, seed: int, methods: Sequence[str], rules: Rules) -> Iterator[dict[str, Any]]:
    at = split(name, seed, rules)
    bench = Bench(at)
    for method in tqdm(methods, desc=f"judging {name} {seed}", leave=False):
        said = lines(Cell(name, seed, method).file(rules.out))
        if "missing" in said[-1]:
            continue
        told = {line["person"]: line for line in said if "person" in line}
        yield from ({**row, "setup": said[-1].get("setup")} for row in bench.rows(method, told))


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
        log_densities = self.judge.rule.along(self.points, self.points).lowest_logs
        self.shares = self.explainer.density.scale.share_below(log_densities)
        self.models = list(retrained(at))

    def _score(self, records: Array) -> Array:
        """A fresh call of the model itself."""
        return self.at.scores(self.form.make_table(records))

    def rows(self, method: str, said: dict[int, dict[str, Any]]) -> Iterator[dict[str, Any]]:
        """One row a person, whether or not anything was proposed."""
        nobody: dict[str, Any] = {"found": False, "error": "not run"}
        asked = max(most_people(method, len(self.people)), len(said))
        told = [said.get(number, nobody) for number in range(asked)]
        paths = [None if not line["found"] else np.array(line["states"]) for line in told]
        measures = measure_many(self.judge, paths, self.boxes[: len(told)])
        people = self.people[: len(told)]
        ends = np.array(
            [
                record if path is None else path[-1]
                for record, path in zip(people, paths, strict=True)
            ]
        )
        votes = np.array(
            [model(self.form.make_table(ends)) >= self.at.min_score for model in self.models]
        )
        reachable = self._audited(method, paths)
        for number, (line, one) in enumerate(zip(told, measures, strict=True)):
            row = {"world": self.at.name, "seed": self.at.seed, "method": method, "person": number}
            row |= {
                key: line.get(key)
                for key in ("error", "seconds", "clock", "calls", "records", "status", "entry")
            }
            row |= {key: line.get(key) for key in ("rows_seen", "rows_of", "proven")}
            row |= personal(one) | {
                "density_start": float(self.shares[number]),
                "reachable": reachable.get(number),
            }
            row["group"] = None if self.at.group is None else str(self.at.group[number])
            row["retrained"] = float(votes[:, number].mean()) if one.found else None
            row |= self._again(line, paths[number])
            if method == "localface-path" and one.found and not line.get("entry"):
                row |= self._optimum(number, float(line["path_cost"]))
            yield row

    def _audited(self, method: str, paths: Sequence[Array | None]) -> dict[int, bool]:
        """For methods that jump: whether a sound way leads to where they jump."""
        if METHODS[method].kind != "jump" or METHODS[method].tuned:
            return {}
        some = [(number, path) for number, path in enumerate(paths) if path is not None][:AUDITED]
        return {number: self._reachable(number, path) for number, path in some}

    def _reachable(self, number: int, path: Array) -> bool:
        try:
            end = self.form.make_table(path[-1:])
            return bool(
                self.explainer.audit(self.at.people.iloc[[number]], end, progress=False)[
                    0
                ].reachable
            )
        except Exception:  # whatever is no record at all cannot be walked to
            return False

    def _again(self, line: dict[str, Any], path: Array | None) -> dict[str, Any]:
        """How far the end moves when the person is measured with a little noise."""
        if path is None or "again" not in line:
            return {"stable": None, "moved": None}
        if line["again"] is None:
            return {"stable": 0.0, "moved": None}
        again = np.array(line["again"])
        if np.array_equal(again[0], path[0]):  # none of their numbers can be off by a little
            return {"stable": None, "moved": None}
        return {"stable": 1.0, "moved": float(l2(path[-1:], again[-1:], self.space)[0])}

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


def retrained(at: World) -> Iterator[Any]:
    """Retrained models: on other draws of the people, with other seeds, of other families."""
    rng = np.random.default_rng(at.seed)
    rows = rng.permutation(len(at.data))[:ROWS]
    for number in range(RETRAINED["bootstrap"]):
        drawn = rng.choice(len(at.data), len(rows))
        yield _scores(encoded(at.data, _trees(number)).fit(at.data.iloc[drawn], at.labels[drawn]))
    families = [
        HistGradientBoostingClassifier(random_state=0),
        ExtraTreesClassifier(100, min_samples_leaf=5, class_weight="balanced", random_state=0),
        make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000, class_weight="balanced")),
        make_pipeline(
            StandardScaler(),
            MLPClassifier((32,), max_iter=200, early_stopping=True, random_state=0),
        ),
        make_pipeline(StandardScaler(), KNeighborsClassifier(25)),
        RandomForestClassifier(100, max_depth=6, class_weight="balanced", random_state=0),
    ]
    for model in [
        *(_trees(100 + number) for number in range(RETRAINED["seed"])),
        *families[: RETRAINED["family"]],
    ]:
        yield _scores(encoded(at.data, model).fit(at.data.iloc[rows], at.labels[rows]))


def _trees(seed: int) -> RandomForestClassifier:
    return RandomForestClassifier(
        100, min_samples_leaf=5, class_weight="balanced", random_state=seed
    )


def _scores(model: Any) -> Any:
    def score(frame: pd.DataFrame) -> Any:
        return model.predict_proba(frame)[:, 1]

    return score
