"""A forest kept in a file: the same to the last bit, without scikit-learn."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier

from localface import LocalFACE, Search
from localface.errors import ModelError
from localface.models.readers.stored_forest import StoredForest, read_stored_forest, write_forest
from localface.models.refitting import refits

RNG = np.random.default_rng(5)
X = RNG.normal(size=(400, 3)).round(2)
X[RNG.random(X.shape) < 0.05] = np.nan
Y = np.where(np.nan_to_num(X[:, 0]) + 0.3 * RNG.normal(size=400) > 0, "yes", "no")
FOREST = RandomForestClassifier(12, max_depth=5, max_features=0.5, random_state=3).fit(X, Y)


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> StoredForest:
    path = tmp_path_factory.mktemp("forest") / "forest.npz"
    write_forest(FOREST, path)
    return read_stored_forest(path)


def test_it_scores_as_the_forest_that_was_written_to_the_last_bit(stored: StoredForest) -> None:
    others = RNG.normal(size=(2_000, 3)) * 3
    for records in (X, others, others[:1]):
        assert np.array_equal(stored.predict_proba(records), FOREST.predict_proba(records))
    assert stored.classes_.tolist() == ["no", "yes"]
    assert stored.made_with == sklearn.__version__


def test_an_explainer_reads_it_directly_and_answers_alike(stored: StoredForest) -> None:
    people = np.nan_to_num(X)
    refused = people[FOREST.predict(people) == "no"][:5]
    ours, theirs = (
        LocalFACE(model, people, target="yes", search=Search(n_neighbors=15))
        for model in (stored, FOREST)
    )
    assert ours.model_reading == theirs.model_reading == "read directly: forest of 12 trees"
    for person in refused:
        ours_found, theirs_found = ours.explain(person), theirs.explain(person)
        assert ours_found.status is theirs_found.status
        assert np.array_equal(ours_found.records, theirs_found.records)
        assert ours_found.scores == theirs_found.scores


def test_it_is_fitted_again_as_the_forest_itself_would_be(stored: StoredForest) -> None:
    assert clone(stored).get_params() == clone(FOREST.set_params(n_jobs=None)).get_params()
    ours, theirs = (refits(model, X, Y, n=2, progress=False) for model in (stored, FOREST))
    for one, other in zip(ours, theirs, strict=True):
        assert np.array_equal(one.predict_proba(X), other.predict_proba(X))
    assert np.array_equal(stored.fit(X, Y).predict_proba(X), FOREST.predict_proba(X))


def test_what_is_no_such_forest_is_not_written(tmp_path: Path) -> None:
    trees = ExtraTreesClassifier(3).fit(np.nan_to_num(X), Y)
    with pytest.raises(ModelError, match=re.escape("ExtraTreesClassifier is no forest")):
        write_forest(trees, tmp_path / "trees.npz")
    assert not list(tmp_path.iterdir())


def test_a_forest_too_large_for_the_file_is_not_written_wrongly(tmp_path: Path) -> None:
    many = RNG.normal(size=(140_000, 1))
    grown = RandomForestClassifier(1, max_depth=1).fit(many, many[:, 0] > 0)
    with pytest.raises(ModelError, match="too large"):
        write_forest(grown, tmp_path / "forest.npz")
