"""Reading trees directly: the same bits as scikit-learn's own call, or no reader at all."""

from __future__ import annotations

import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
    ExtraTreeRegressor,
)

from localface.models.readers.estimator import TreeSum
from localface.models.readers.sklearn_trees import read_forest
from localface.types import Array

pytestmark = pytest.mark.slow

BATCHES = (1, 2, 7, 64, 1000)
RNG = np.random.default_rng(7)
TABLE = RNG.normal(size=(600, 6)).round(2)  # hundredths, which single precision cannot hold
SUM = TABLE.sum(axis=1) + RNG.normal(size=600)
TWO = (SUM > 0.5).astype(int)
FIVE = np.digitize(SUM, [-3, -1, 1, 3])
PLACES = RNG.normal(size=(1000, 6))


def fitted(model: Any, outcome: Any = TWO) -> Any:
    return model.set_params(random_state=3).fit(TABLE, outcome)


def own_call(model: Any, records: Any) -> Any:
    return model.predict_proba(records) if hasattr(model, "classes_") else model.predict(records)


def read(model: Any) -> TreeSum:
    found = read_forest(model)
    assert found is not None
    return found


def assert_same_bits(model: Any, places: Array = PLACES) -> None:
    """At every batch size, and a record's answer never depends on the batch that it comes in."""
    found, whole = read(model), own_call(model, places)
    for size in BATCHES:
        answer = found(places[:size])
        assert answer.dtype == np.float64
        np.testing.assert_array_equal(answer, own_call(model, places[:size]), strict=True)
        np.testing.assert_array_equal(answer, whole[:size], strict=True)


def on_the_edges(model: Any) -> Array:
    """Records on the thresholds, and off them by one double, half a single and one single."""
    trees = [one.tree_ for one in getattr(model, "estimators_", [model])]
    thresholds = np.concatenate([tree.threshold[tree.children_left >= 0] for tree in trees])
    single = thresholds.astype(np.float32)
    above, below = (
        np.nextafter(single, np.float32(way)).astype(float) for way in (np.inf, -np.inf)
    )
    doubles = [np.nextafter(thresholds, way) for way in (np.inf, -np.inf)]
    halves = [(single.astype(float) + above) / 2, (single.astype(float) + below) / 2]
    beyond = [np.nextafter(half, way) for half in halves for way in (np.inf, -np.inf)]
    edges = np.concatenate([thresholds, single, above, below, *doubles, *halves, *beyond])
    return np.random.default_rng(1).choice(edges, size=(1000, TABLE.shape[1]))


@pytest.mark.parametrize("outcome", [TWO, FIVE], ids=["two classes", "five classes"])
@pytest.mark.parametrize("depth", [None, 7, 1])
@pytest.mark.parametrize("n_trees", [1, 2, 9, 200])
def test_a_forest_is_read_to_the_last_bit(n_trees: int, depth: int | None, outcome: Any) -> None:
    assert_same_bits(fitted(RandomForestClassifier(n_trees, max_depth=depth), outcome))


@pytest.mark.parametrize(
    "model",
    [
        RandomForestClassifier(40, class_weight={0: 1.0, 1: 3.7}),
        RandomForestClassifier(40, class_weight="balanced_subsample", min_samples_leaf=5),
        RandomForestClassifier(40, bootstrap=False, max_features=2, criterion="entropy"),
        RandomForestClassifier(
            40, max_leaf_nodes=20
        ),  # grown best first: its nodes stand in another order
        RandomForestClassifier(40, ccp_alpha=0.005),
        RandomForestClassifier(40, max_depth=6, monotonic_cst=[1, 0, 0, -1, 0, 0]),
        ExtraTreesClassifier(40),
        ExtraTreesClassifier(40, max_depth=4, bootstrap=True),
        DecisionTreeClassifier(),
        DecisionTreeClassifier(max_depth=4, class_weight="balanced"),
        ExtraTreeClassifier(),
    ],
    ids=str,
)
def test_classifiers_of_every_making_are_read_to_the_last_bit(model: Any) -> None:
    assert_same_bits(fitted(clone(model)))


@pytest.mark.parametrize(
    "model",
    [
        RandomForestRegressor(100),
        RandomForestRegressor(30, max_depth=5, criterion="absolute_error"),
        ExtraTreesRegressor(60),
        DecisionTreeRegressor(),
        DecisionTreeRegressor(max_depth=3),
        ExtraTreeRegressor(),
    ],
    ids=str,
)
def test_regressors_are_read_to_the_last_bit(model: Any) -> None:
    assert_same_bits(fitted(clone(model), SUM))


@pytest.mark.parametrize(
    "model",
    [RandomForestClassifier(30), ExtraTreesClassifier(30), DecisionTreeClassifier()],
    ids=str,
)
def test_records_a_hair_from_a_threshold_fall_on_the_side_where_scikit_learn_puts_them(
    model: Any,
) -> None:
    forest = fitted(clone(model))
    assert_same_bits(forest, on_the_edges(forest))


def test_a_tree_that_never_split_is_read_too() -> None:
    assert_same_bits(fitted(RandomForestClassifier(3, min_samples_split=5000)))
    assert_same_bits(fitted(DecisionTreeRegressor(min_samples_split=5000), SUM))


def test_a_forest_fitted_on_a_frame_gets_the_same_numbers_from_an_array() -> None:
    columns = {
        "a": "float64",
        "b": "float32",
        "c": "int64",
        "d": "int8",
        "e": "bool",
        "f": "float64",
    }
    frame = (
        pd.DataFrame((TABLE * 10).round(), columns=list(columns))
        .assign(f=TABLE[:, 5])
        .astype(columns)
    )
    forest = RandomForestClassifier(30, random_state=3).fit(frame, TWO)
    np.testing.assert_array_equal(
        read(forest)(frame.to_numpy(dtype=float)), forest.predict_proba(frame), strict=True
    )


def with_gaps(records: Array) -> Array:
    return np.where(np.random.default_rng(2).random(records.shape) < 0.2, np.nan, records)


@pytest.mark.parametrize(
    "model", [RandomForestClassifier(40), ExtraTreesClassifier(40), DecisionTreeClassifier()]
)
def test_a_forest_fitted_with_gaps_is_read_with_and_without_them(model: Any) -> None:
    forest = clone(model).set_params(random_state=3).fit(with_gaps(TABLE), TWO)
    assert_same_bits(forest)
    assert_same_bits(forest, with_gaps(PLACES))


@pytest.mark.parametrize("value", [np.inf, -np.inf, 1e300])
@pytest.mark.parametrize("n", [1, 1000])
def test_values_that_no_tree_can_place_are_refused(value: float, n: int) -> None:
    records = PLACES[:n].copy()
    records[0, 2] = value
    with pytest.raises(ValueError, match="infinite values, or some beyond single precision"):
        read(fitted(RandomForestClassifier(5)))(records)


def test_a_forest_that_adds_up_in_threads_is_read_but_for_the_order_of_the_sum() -> None:
    forest = fitted(RandomForestClassifier(50, max_depth=5, n_jobs=2))
    found = read(forest)
    # 50 shares of at most 1, each addition off by half a unit of the last place at 50: 7e-15
    # between any two orders.
    np.testing.assert_allclose(found(PLACES), forest.predict_proba(PLACES), rtol=0, atol=7e-15)
    np.testing.assert_array_equal(
        found(PLACES), forest.set_params(n_jobs=None).predict_proba(PLACES)
    )
    assert not found.exact


class Tempered(RandomForestClassifier):
    """A forest that answers in its own way."""

    def predict_proba(self, X: Any) -> Any:
        """Halfway to a half."""
        return (super().predict_proba(X) + 0.5) / 2


class RandomForestLookalike:
    """Another library's forest of the same name."""

    n_outputs_ = 1
    estimators_ = fitted(RandomForestClassifier(3)).estimators_


RandomForestLookalike.__name__ = "RandomForestClassifier"


@pytest.mark.parametrize(
    "model",
    [
        fitted(Tempered(5)),
        RandomForestLookalike(),
        fitted(GradientBoostingClassifier(n_estimators=3)),
        fitted(HistGradientBoostingClassifier(max_iter=3)),
        LogisticRegression().fit(TABLE, TWO),
        make_pipeline(StandardScaler(), RandomForestClassifier(3)).fit(TABLE, TWO),
        fitted(RandomForestClassifier(3)).predict_proba,
        "a forest",
        None,
    ],
    ids=lambda model: type(model).__name__,
)
def test_what_does_not_answer_by_its_trees_alone_is_not_read(model: Any) -> None:
    assert read_forest(model) is None


def test_a_forest_whose_call_was_replaced_is_not_read() -> None:
    forest = fitted(RandomForestClassifier(3))
    forest.predict_proba = lambda records: np.full((len(records), 2), 0.5)
    assert read_forest(forest) is None


def test_a_forest_with_a_foreign_tree_in_it_is_not_read() -> None:
    class Odd(DecisionTreeClassifier):
        """A tree that may answer otherwise."""

    forest = fitted(RandomForestClassifier(3))
    forest.estimators_[1] = fitted(Odd())
    assert read_forest(forest) is None


@pytest.mark.parametrize(
    "kind", [RandomForestClassifier, DecisionTreeClassifier, ExtraTreesRegressor]
)
def test_a_model_that_is_not_fitted_is_not_read(kind: Any) -> None:
    assert read_forest(kind()) is None


@pytest.mark.parametrize(
    "kind", [RandomForestClassifier, DecisionTreeClassifier, RandomForestRegressor]
)
def test_a_model_with_two_outputs_is_not_read(kind: Any) -> None:
    assert read_forest(fitted(kind(), np.column_stack([TWO, FIVE]))) is None


def test_a_forest_of_counts_instead_of_shares_is_not_read() -> None:
    forest = fitted(DecisionTreeClassifier(max_depth=3))
    forest.tree_.value[:] *= 10  # what scikit-learn kept before 1.4
    assert read_forest(forest) is None


@pytest.mark.parametrize("n", [5, 1000])
def test_a_reader_survives_pickling_and_takes_read_only_and_turned_records(n: int) -> None:
    found = read(fitted(RandomForestClassifier(20)))
    again = pickle.loads(pickle.dumps(found))
    still = PLACES[:n].copy()
    still.setflags(write=False)

    np.testing.assert_array_equal(again(still), found(PLACES[:n]))
    np.testing.assert_array_equal(again(np.asfortranarray(still)), found(PLACES[:n]))
    np.testing.assert_array_equal(again(np.repeat(still, 2, axis=1)[:, ::2]), found(PLACES[:n]))


def test_a_reader_answers_many_threads_at_once() -> None:
    forest = fitted(RandomForestClassifier(30))
    found, expected = read(forest), forest.predict_proba(PLACES)
    pieces = [slice(i, i + 1 + i % 400) for i in range(0, 1000, 7)]

    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda piece: found(PLACES[piece]), pieces))

    for piece, answer in zip(pieces, answers, strict=True):
        np.testing.assert_array_equal(answer, expected[piece])


def test_importing_the_library_does_not_import_the_readers() -> None:
    command = (
        "import sys; from localface import LocalFACE; "
        "sys.exit(any(name.startswith('localface.models.readers') for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", command], check=False).returncode == 0


def test_the_module_does_without_scikit_learn() -> None:
    command = (
        "import sys; from localface.models.readers import reader; "
        "reader.read_estimator(object(), 'predict'); "
        "sys.exit(any(name in sys.modules for name in ('sklearn', 'lightgbm', 'xgboost')))"
    )
    assert subprocess.run([sys.executable, "-c", command], check=False).returncode == 0
