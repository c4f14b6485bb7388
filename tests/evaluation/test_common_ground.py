"""The judge's own kernels, pairs and own features, beside those that searches go by."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier

from localface import LocalFACE, Schema, Search
from localface.data.read import read_records
from localface.data.space import Space
from localface.density.common_states import CommonStates, fit_common_states
from localface.errors import DataError
from localface.evaluation.metrics import (
    CommonGround,
    Judge,
    ReferenceRows,
    RowClassifier,
    TraversalRule,
    measure_many,
    points_of_records,
)
from localface.evaluation.metrics.pair_evidence import PairEvidence
from localface.geometry.point_set import PointSet

pytestmark = pytest.mark.slow

Array = np.ndarray[Any, Any]


def table(n: int, n_numbers: int, seed: int, *, own: bool = False) -> pd.DataFrame:
    """Skewed numbers that go together, counts, categories that follow them, extreme outliers."""
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=n)
    numbers = hidden[:, None] * rng.uniform(-1, 1, n_numbers) + rng.normal(size=(n, n_numbers))
    numbers[:, ::3] = np.exp(numbers[:, ::3])
    numbers[rng.integers(0, n, 2), 0] *= 1e6
    frame = pd.DataFrame(numbers, columns=[f"x{j}" for j in range(n_numbers)])
    frame["visits"] = rng.poisson(np.exp(0.5 * hidden))
    frame["job"] = np.array(["none", "part", "full"])[
        np.clip(np.rint(hidden + rng.normal(size=n) + 1), 0, 2).astype(int)
    ]
    frame["smokes"] = rng.random(n) < 0.3
    if own:
        frame["age"] = np.clip(np.rint(50 + 12 * hidden + 8 * rng.normal(size=n)), 18, 95)
        frame["sex"] = np.array(["f", "m"])[(rng.random(n) < 0.5).astype(int)]
    return frame


def schema_of(frame: pd.DataFrame) -> Schema:
    schema = Schema.infer(frame)
    for name in ("age", "sex"):
        if name in frame:
            schema = schema.with_(name, moves="never")
    return schema


class Ground:
    """A fitted density, the judge's rule beside it, and steps to try both on."""

    def __init__(self, frame: pd.DataFrame, *, groups: Array | None = None) -> None:
        schema = schema_of(frame)
        records, first = np.unique(read_records(frame, schema), axis=0, return_index=True)
        self.space = Space.fit(schema, records)
        people = None if groups is None else np.unique(groups[first], return_inverse=True)[1]
        rows = PointSet(self.space.points(records))
        self.density: CommonStates = fit_common_states(rows, self.space, groups=people)
        self.rows = ReferenceRows(points_of_records(records, self.space))
        self.rule = TraversalRule.of_density(self.density, self.rows)

    def steps(self, n: int, seed: int) -> tuple[Array, Array]:
        """Steps from rows and from beside rows to rows, and to rows in some features only."""
        rng = np.random.default_rng(seed)
        features = self.space.feature_of
        starts = self.rows.points[rng.integers(0, len(self.rows), n)]
        beside = self.rows.points[rng.integers(0, len(self.rows), n)]
        starts = np.where((rng.random((n, 1)) < 0.5) & self.space.discrete, beside, starts)
        ends = self.rows.points[rng.integers(0, len(self.rows), n)]
        kept = rng.random((n, len(self.space.schema))) < rng.choice([0.0, 0.7, 0.9], (n, 1))
        never = np.array([feature.moves == "never" for feature in self.space.schema])
        ends = np.where((kept | never)[:, features], starts, ends)
        ends[::9] = starts[::9]
        return starts, ends


GROUNDS = {
    "two numbers": lambda: Ground(table(400, 2, 0)),
    "many columns": lambda: Ground(table(500, 30, 1)),
    "own features": lambda: Ground(table(900, 5, 2, own=True)),
    "few rows": lambda: Ground(table(60, 6, 3, own=True)),
    "copies": lambda: Ground(copied(table(250, 4, 4), 4)),
    "people named": lambda: Ground(
        copied(table(250, 4, 5), 3), groups=np.repeat(np.arange(250), 3)
    ),
    "numbers only": lambda: Ground(table(500, 6, 6)[[f"x{j}" for j in range(6)]]),
    "one column": lambda: Ground(table(200, 1, 7)[["x0"]]),
}


def copied(frame: pd.DataFrame, times: int) -> pd.DataFrame:
    """Everybody several times, each time with hardly other numbers."""
    rows = frame.loc[np.repeat(frame.index, times)].reset_index(drop=True)
    numbers = [name for name in rows if str(name).startswith("x")]
    noise = np.random.default_rng(0).normal(size=(len(rows), len(numbers)))
    rows[numbers] = rows[numbers] * (1 + 1e-4 * noise)
    return rows


@pytest.mark.parametrize("seed", range(3))
def test_points_are_those_that_are_searched(seed: int) -> None:
    frame = table(300, 4, seed, own=True)
    schema = schema_of(frame).with_("x1", scale=3.0).with_("job", scale=2.0)
    records = read_records(frame, schema)
    for linear in (False, True):
        space = Space.fit(schema, records[:200], linear=linear)
        beyond = records * np.where([one.discrete for one in schema], 1.0, 3.0)
        for some in (records, beyond):
            np.testing.assert_allclose(
                points_of_records(some, space), space.points(some), rtol=1e-9, atol=1e-9
            )


@pytest.mark.parametrize("name", GROUNDS)
def test_points_are_as_common_as_searches_have_it(name: str) -> None:
    ground = GROUNDS[name]()
    starts, ends = ground.steps(150, 0)
    for points in (starts, ends):
        theirs = ground.density.lowest_along(points, points, None).log_densities
        np.testing.assert_allclose(
            ground.rule.along(points, points).lowest_logs, theirs, atol=1e-6, rtol=1e-9
        )


@pytest.mark.parametrize("name", GROUNDS)
def test_no_step_that_is_certified_falls_below_the_floor(name: str) -> None:
    ground = GROUNDS[name]()
    starts, ends = ground.steps(400, 1)
    density = ground.density
    along = ground.rule.along(starts, ends)

    certified = density.lowest_along(starts, ends, None).log_densities
    passes = density.lowest_along(starts, ends, ground.rule.log_floor).passes

    assert (certified <= along.lowest_logs + 1e-6).all()
    np.testing.assert_allclose(certified, along.lowest_logs, atol=0.05, rtol=1e-3)
    ours = ground.rule.traversable(starts, ends)
    assert (ours >= passes).all()
    assert np.mean(ours == passes) > 0.99
    assert 0 < passes.mean() < 1
    means = density.mean_along(starts, ends, None).log_densities
    np.testing.assert_allclose(along.mean_logs, means, atol=0.05)


def test_the_fitted_tables_are_counted_again() -> None:
    ground = GROUNDS["copies"]()
    tables = ground.density.pairs.tables
    common = ground.rule.ground
    assert isinstance(common, CommonGround)
    assert ground.density.copies.distance > 0
    assert common.pairs is not None
    theirs = np.concatenate(
        [tables.tables[pair].counts.ravel() for pair in ground.density.pairs.considered]
    )
    np.testing.assert_allclose(common.pairs.counts, theirs)
    assert not np.allclose(theirs, np.rint(theirs))  # copies share one


def test_pairs_worked_by_hand() -> None:
    points = np.array([[0.0, 0.0], [0.0, 1.0], [0.0, 1.0], [1.0, 1.0]])
    pairs = PairEvidence.count(
        points,
        np.ones(4),
        columns=[np.array([0]), np.array([1])],
        edges=[np.array([0.5]), np.array([0.5])],
        pairs=np.array([[0, 1]]),
        weights=np.array([2.0]),
    )
    nobody = np.array([[1.0, 0.0]])
    assert pairs.values(nobody, [])[0] == pytest.approx(np.log(1 / 1.25) * np.array([1, 2]))
    twice = np.array([[0.0, 1.0]])
    assert pairs.values(twice, [1])[0, 0] == pytest.approx(np.log(2 / 3.25))
    assert pairs.values(twice, [0, 1])[0, 0] == pytest.approx(np.log(2 / 3.25))  # 0 is elsewhere
    passed = pairs.points_in_every_cell(
        np.array([0.0, 0.0]), np.array([1.0, 0.8]), np.zeros(2, dtype=bool)
    )
    cells = {tuple((point > 0.5).astype(int)) for point in passed}
    assert cells == {(0, 0), (1, 0), (1, 1)}


def test_ties_that_only_rounding_breaks_stay_ties() -> None:
    ground = GROUNDS["people named"]()
    for values in ground.density.common.values:
        assert np.diff(values).min() > 1e-13


def test_of_new_people_about_as_many_are_below_the_floor_as_it_says() -> None:
    frame = table(3500, 6, 8, own=True)
    ground = Ground(frame.iloc[:2000])
    fresh = points_of_records(read_records(frame.iloc[2000:], schema_of(frame)), ground.space)
    below = ground.rule.along(fresh, fresh).lowest_logs < ground.rule.log_floor
    assert 0.03 < below.mean() < 0.07
    sex = schema_of(frame).index("sex")
    column = int(np.flatnonzero(ground.space.feature_of == sex)[0])
    for value in np.unique(fresh[:, column]):
        assert 0.02 < below[fresh[:, column] == value].mean() < 0.10


def test_answers_are_sound_on_mixed_tables_with_own_features() -> None:
    frame = table(1200, 4, 9, own=True)
    wanted = frame["visits"] + frame["x1"] + (frame["job"] == "full") > 1.5
    encoded = frame.assign(job=frame["job"].map({"none": 0, "part": 1, "full": 2}))
    encoded["sex"] = (frame["sex"] == "m").astype(int)
    model = RandomForestClassifier(30, min_samples_leaf=5, random_state=0).fit(encoded, wanted)
    schema = schema_of(encoded)
    known = encoded.iloc[:800]
    explainer = LocalFACE(model, known, schema=schema, search=Search(n_neighbors=15))

    def score(records: Array) -> Array:
        return np.asarray(model.predict_proba(explainer.engine.form.make_table(records))[:, 1])

    people = encoded.iloc[800:][model.predict_proba(encoded.iloc[800:])[:, 1] < 0.5].iloc[:25]
    records = read_records(known, schema)
    judge = Judge.of(
        explainer.engine.space,
        records,
        score,
        min_score=0.5,
        heldout=read_records(encoded.iloc[800:], schema),
        density=explainer.density,
    )
    answers = list(explainer.explain_many(people, progress=False))
    paths = [np.asarray(one.records) if one.found else None for one in answers]
    boxes = [schema.box(one.records[0]) for one in answers]
    measures = measure_many(judge, paths, boxes)

    assert sum(one.found for one in answers) > 12
    for answer, one in zip(answers, measures, strict=True):
        if answer.found and not answer.entry:
            assert one.sound
            assert one.l2 <= one.length + 1e-9


def test_what_cannot_be_judged_is_refused() -> None:
    ground = GROUNDS["one column"]()
    other = ReferenceRows(ground.rows.points[:-1])
    with pytest.raises(DataError, match="fitted on 200 other points than these 199"):
        TraversalRule.of_density(ground.density, other)
    with pytest.raises(DataError, match="rule of a KDE cannot be judged"):
        TraversalRule.of_density(ground.density.kde, ground.rows)


def test_a_classifier_tells_rows_from_composed_records() -> None:
    frame = table(2500, 5, 10)
    schema = schema_of(frame)
    frame["x1"] = frame["x0"] * 2 + 0.01 * frame["x1"]  # two features that go hand in hand
    records = read_records(frame, schema)
    classifier = RowClassifier.fit(records[:1500], records[1500:2000], schema)
    rng = np.random.default_rng(0)
    composed = np.column_stack([rng.permutation(column) for column in records[2000:].T])
    assert np.median(classifier.share(records[2000:])) == pytest.approx(0.5, abs=0.1)
    assert np.mean(classifier.share(composed) < 0.05) > 0.6
    assert classifier.share(records[:0]).tolist() == []
    space = Space.fit(schema, np.unique(records[:1500], axis=0))
    judge = Judge.of(space, records[:1500], lambda r: r[:, 0], min_score=0.0, classifier=classifier)
    paths = [np.stack([records[0], end]) for end in (records[2001], composed[1])]
    found = measure_many(judge, paths, [schema.box(records[0])] * 2)
    np.testing.assert_allclose(
        [one.likeness for one in found],
        classifier.share(np.stack([records[2001], composed[1]])),
    )
