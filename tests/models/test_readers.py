"""Models read directly: what a call returns, whatever stands in front, or no reader at all."""

from __future__ import annotations

import pickle
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import (
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
)
from sklearn.feature_selection import VarianceThreshold
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier, SGDClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from localface import Feature, LocalFACE, Schema
from localface.data.read import read_records
from localface.data.table_format import TableFormat
from localface.errors import ModelError
from localface.models.model_table import model_table_format
from localface.models.output import ModelOutput, read_output
from localface.models.readers.front import _transform_each
from localface.models.readers.reader import ModelReader
from localface.models.readers.verify import agrees, verified_reader_or_none
from localface.models.scorer import Scorer
from localface.types import Array

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]

WORDS = ["job", "home"]
NUMBERS = ["age", "income", "debt"]


def people(seed: int = 0, n: int = 300, gaps: float = 0.0) -> pd.DataFrame:
    """A table of words and numbers, some of them missing."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "age": rng.integers(18, 80, n),
            "job": rng.choice(["none", "office", "farm", "ship"], n),
            "income": rng.gamma(2, 1000, n).round(2),
            "home": rng.choice(["own", "rent", "free"], n),
            "debt": rng.normal(0, 3, n).round(3),
        }
    ).astype({"job": object, "home": object})
    for name in ("job", "income", "debt"):
        table.loc[rng.random(n) < gaps, name] = np.nan
    return table


def outcome(table: pd.DataFrame) -> Any:
    worth = table["income"].fillna(1000) / 1000 + table["debt"].fillna(0)
    return (worth + (table["job"] == "office") - (table["home"] == "free") > 2.2).astype(int)


class Read(NamedTuple):
    reader: ModelReader | None
    output: ModelOutput
    form: TableFormat
    records: Array

    def call(self, records: Array) -> Any:
        return self.output.call(self.form.make_table(records))


def read(model: Any, table: Any, *, target: object = 1, schema: Schema | None = None) -> Read:
    schema = Schema.infer(table) if schema is None else schema
    records = read_records(table, schema)
    form = model_table_format(model, TableFormat.of(table, schema), schema)
    output = read_output(model, target=target)
    return Read(verified_reader_or_none(model, output, form, records), output, form, records)


def mixed_up(records: Array, seed: int = 5) -> Array:
    """Records whose every value is somebody's, and numbers between two people's."""
    rng = np.random.default_rng(seed)
    drawn = np.stack([rng.permutation(column) for column in records.T], axis=1)
    fraction = (records % 1 != 0).any(axis=0)
    share = np.where(fraction, rng.random(records.shape), 0)
    return drawn + share * (drawn[::-1] - drawn)


def assert_read(model: Any, table: Any, **options: Any) -> ModelReader:
    """What is read is what a call returns, and the same in every batch."""
    found = read(model, table, **options)
    assert found.reader is not None
    records = np.concatenate([found.records, mixed_up(found.records)])
    expected = np.asarray(found.call(records))
    whole = found.reader(records)
    assert whole is not None
    assert whole.shape == expected.shape
    if found.reader.estimator.exact:
        np.testing.assert_array_equal(whole, expected)
    np.testing.assert_allclose(whole, expected, rtol=1e-12, atol=1e-12)
    for size in (1, 2, 7, 64):
        np.testing.assert_array_equal(found.reader(records[:size]), whole[:size])
    return found.reader


def coded(*, gaps: bool = False) -> Any:
    """Words by number, numbers as they are."""
    encoder = OrdinalEncoder(
        handle_unknown="use_encoded_value", unknown_value=-1, encoded_missing_value=-2
    )
    rest: Any = SimpleImputer() if gaps else "passthrough"
    return make_column_transformer((encoder, WORDS), remainder=rest)


def one_hot(scaler: Any) -> Any:
    """A column a word, numbers filled in and scaled."""
    return make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), WORDS),
        (make_pipeline(SimpleImputer(strategy="median", add_indicator=True), scaler), NUMBERS),
    )


FRONTS = {
    "ordinal": coded(gaps=True),
    "one-hot, standard": one_hot(StandardScaler()),
    "one-hot, range": one_hot(MinMaxScaler(clip=True)),
    "one-hot, robust": one_hot(RobustScaler()),
    "one-hot, largest": one_hot(MaxAbsScaler()),
    "drop": make_column_transformer(
        (OneHotEncoder(drop="first"), ["home"]),
        (SimpleImputer(strategy="constant", fill_value=-7.0), ["debt"]),
        ("drop", ["income"]),
    ),
    "words filled in": make_column_transformer(
        (
            make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder(max_categories=3)),
            WORDS,
        ),
        (FunctionTransformer(), ["age"]),
        (FunctionTransformer(np.log1p), ["age"]),
    ),
    "two steps": Pipeline(
        [
            ("columns", one_hot(MinMaxScaler())),
            ("nothing", "passthrough"),
            ("few", VarianceThreshold(0.01)),
            ("scale", StandardScaler(with_mean=False)),
        ]
    ),
    "beside each other": make_pipeline(
        coded(gaps=True),
        FeatureUnion([("one", StandardScaler()), ("other", MinMaxScaler((-1, 1)))]),
    ),
}
ESTIMATORS = {
    "forest": RandomForestClassifier(12, random_state=0),
    "forest in threads": RandomForestClassifier(12, random_state=0, n_jobs=2),
    "tree": DecisionTreeClassifier(max_depth=6, random_state=0),
    "boosted": GradientBoostingClassifier(n_estimators=12, random_state=0),
    "boosted, exponential": GradientBoostingClassifier(n_estimators=5, loss="exponential"),
    "boosted from nothing": GradientBoostingClassifier(n_estimators=5, init="zero"),
    "binned": HistGradientBoostingClassifier(max_iter=12),
    "logistic": LogisticRegression(),
    "ridge": RidgeClassifier(),
    "margin": LinearSVC(),
    "descent": SGDClassifier(loss="log_loss", random_state=0),
    "discriminant": LinearDiscriminantAnalysis(),
    "network": MLPClassifier((8, 4), max_iter=20, random_state=0),
    "calibrated forest": CalibratedClassifierCV(RandomForestClassifier(5, random_state=0), cv=2),
    "calibrated margin": CalibratedClassifierCV(LinearSVC(), cv=2, method="isotonic"),
    "calibrated boosting": CalibratedClassifierCV(HistGradientBoostingClassifier(max_iter=5), cv=2),
}


@pytest.mark.parametrize("estimator", ESTIMATORS.values(), ids=ESTIMATORS)
def test_an_estimator_behind_a_column_transformer_is_read(estimator: Any) -> None:
    table = people(gaps=0.1)
    model = make_pipeline(one_hot(StandardScaler()), clone(estimator)).fit(table, outcome(table))
    reader = assert_read(model, table)
    assert "behind a column transformer" in reader.description
    assert reader.reads_missing[[1, 2, 4]].all()


@pytest.mark.parametrize("front", FRONTS.values(), ids=FRONTS)
@pytest.mark.parametrize("name", ["forest", "binned", "logistic"])
def test_transformers_are_read(front: Any, name: str) -> None:
    table = people(seed=1, gaps=0.1)
    model = make_pipeline(clone(front), clone(ESTIMATORS[name])).fit(table, outcome(table))
    assert_read(model, table)


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    front=st.sampled_from(sorted(FRONTS)),
    estimator=st.sampled_from(sorted(ESTIMATORS)),
    seed=st.integers(0, 10_000),
    n=st.integers(40, 200),
    gaps=st.sampled_from([0.0, 0.3]),
    classes=st.sampled_from([2, 3]),
)
def test_what_is_read_is_what_a_call_returns(
    front: str, estimator: str, seed: int, n: int, gaps: float, classes: int
) -> None:
    table = people(seed, n, gaps)
    wanted = outcome(table).to_numpy()
    if classes == 3:
        wanted = wanted + (table["age"] > 50).to_numpy()
    model = make_pipeline(clone(FRONTS[front]), clone(ESTIMATORS[estimator]))
    try:
        model.fit(table, wanted)
    except ValueError:  # too few of a class, or three where two are wanted
        return
    found = read(model, table)
    if found.reader is None:  # one against each other is left to the model itself
        assert classes == 3
        return
    assert agrees(found.reader, found.records, found.call(found.records))


VALUES = {
    "forest": ExtraTreesRegressor(8, random_state=0),
    "boosted": GradientBoostingRegressor(n_estimators=8, random_state=0),
    "binned": HistGradientBoostingRegressor(max_iter=8),
    "binned counts": HistGradientBoostingRegressor(max_iter=8, loss="poisson"),
    "ridge": Ridge(),
    "network": MLPRegressor(
        hidden_layer_sizes=(6,), activation="tanh", max_iter=20, random_state=0
    ),
}


@pytest.mark.parametrize("estimator", VALUES.values(), ids=VALUES)
def test_models_of_values_are_read(estimator: Any) -> None:
    table = people()
    model = make_pipeline(one_hot(StandardScaler()), clone(estimator)).fit(table, table["age"])
    assert_read(model, table, target="at least")


@pytest.mark.parametrize(
    "name", ["forest", "boosted", "binned", "logistic", "network", "margin", "descent"]
)
def test_several_classes_are_read(name: str) -> None:
    table = people(n=400)
    three = outcome(table) + (table["age"] > 50)
    assert_read(make_pipeline(coded(), clone(ESTIMATORS[name])).fit(table, three), table)


@pytest.mark.parametrize("name", ["forest", "binned", "logistic"])
def test_a_bare_estimator_on_numbers_is_read(name: str) -> None:
    table = people()[NUMBERS]
    model = clone(ESTIMATORS[name]).fit(table, outcome(people()))
    assert "behind" not in assert_read(model, table).description
    bare = clone(ESTIMATORS[name]).fit(table.to_numpy(), outcome(people()))
    assert_read(bare, table.to_numpy())


@pytest.mark.parametrize("estimator", [RandomForestClassifier(20), MLPClassifier((4,))])
def test_many_records_are_read_some_at_a_time(
    estimator: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = people()
    front = make_column_transformer((OneHotEncoder(), WORDS), remainder="passthrough")
    found = read(make_pipeline(front, estimator).fit(table, outcome(table)), table)
    whole = found.reader(found.records)

    monkeypatch.setattr("localface.models.readers.reader._RECORDS_AT_ONCE", 128)

    np.testing.assert_allclose(found.reader(found.records), whole, rtol=1e-12)
    unknown = found.records.copy()
    unknown[-1, table.columns.get_loc("debt")] = np.inf
    assert found.reader(unknown) is None, "one of the last part is left to the model"


def test_a_model_of_one_class_only_is_read() -> None:
    table = people()
    model = make_pipeline(coded(), RandomForestClassifier(3)).fit(table, np.ones(len(table)))
    assert_read(model, table)


def test_what_a_search_for_settings_found_is_read() -> None:
    table = people()
    model = make_pipeline(coded(), RandomForestClassifier(5, random_state=0))
    search = GridSearchCV(model, {"randomforestclassifier__max_depth": [2, 4]}, cv=2)
    assert_read(search.fit(table, outcome(table)), table)


def test_categories_that_histogram_boosting_codes_itself_are_read() -> None:
    table = people(n=500).astype({"job": "category", "home": "category"})
    model = HistGradientBoostingClassifier(max_iter=20, categorical_features="from_dtype")
    reader = assert_read(model.fit(table, outcome(table)), table)
    assert any(len(part.category_right) for part in reader.estimator.parts)  # type: ignore[attr-defined]


def test_categories_after_an_encoder_are_read_with_unknown_ones() -> None:
    table = people(n=500)
    front = coded()
    model = make_pipeline(front, HistGradientBoostingClassifier(categorical_features=[0, 1]))
    known = table[table["job"] != "ship"]
    assert_read(model.fit(known, outcome(known)), table)


def test_one_hot_columns_that_tell_one_feature_are_read() -> None:
    table = pd.get_dummies(people(), columns=WORDS, dtype=int)
    schema = Schema.infer(table)
    assert len(schema) < len(table.columns)
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(table, outcome(people()))
    assert_read(model, table, schema=schema)


def test_polars_and_numpy_tables_are_read() -> None:
    polars = pytest.importorskip("polars")
    table = people()
    numbers = table.assign(job=table["job"].str.len(), home=table["home"].str.len())
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(
        numbers.to_numpy(dtype=float), outcome(table)
    )
    assert_read(model, polars.from_pandas(numbers))
    assert_read(model, numbers.to_numpy(dtype=float))


def test_single_precision_is_read_as_it_is_but_not_through_a_scaler() -> None:
    table = people().astype(dict.fromkeys(NUMBERS, "float32"))
    wanted = outcome(people())
    model = make_pipeline(coded(), LogisticRegression(max_iter=500))
    assert_read(model.fit(table, wanted), table)
    scaled = make_pipeline(one_hot(StandardScaler()), RandomForestClassifier(5))
    assert read(scaled.fit(table, wanted), table).reader is None


@pytest.mark.parametrize("kind", ["str", "category", "polars", "numpy"])
def test_tables_of_words_of_any_kind_are_read(kind: str) -> None:
    polars = pytest.importorskip("polars")
    table = people()
    words: list[Any] = WORDS
    kept: Any = table
    if kind == "polars":
        kept = polars.from_pandas(table)
    elif kind == "numpy":
        kept = table.to_numpy(dtype=object)
        words = [1, 3]
    else:
        kept = table.astype(dict.fromkeys(WORDS, kind))
    front = make_column_transformer((OneHotEncoder(), words), remainder="passthrough")
    model = make_pipeline(front, RandomForestClassifier(5, random_state=0))
    assert_read(model.fit(kept, outcome(table)), kept)


# LightGBM and XGBoost


def lightgbm(**options: Any) -> Any:
    library = pytest.importorskip("lightgbm")
    return library.LGBMClassifier(n_estimators=12, verbose=-1, n_jobs=1, **options)


def xgboost(**options: Any) -> Any:
    library = pytest.importorskip("xgboost")
    return library.XGBClassifier(n_estimators=12, n_jobs=1, **options)


@pytest.mark.parametrize("kind", [lightgbm, xgboost])
@pytest.mark.parametrize("gaps", [0.0, 0.2])
@pytest.mark.parametrize("classes", [2, 3])
def test_boosted_trees_of_other_libraries_are_read(kind: Any, gaps: float, classes: int) -> None:
    table = people(n=400, gaps=gaps)[NUMBERS]
    wanted = outcome(people(n=400)) + (classes == 3) * (table["age"] > 50)
    reader = assert_read(kind().fit(table, wanted), table)
    assert reader.reads_missing.all()


@pytest.mark.parametrize("kind", [lightgbm, xgboost])
def test_boosted_trees_of_other_libraries_are_read_behind_transformers(kind: Any) -> None:
    table = people(n=400, gaps=0.1)
    assert_read(make_pipeline(coded(gaps=True), kind()).fit(table, outcome(table)), table)


def test_values_of_other_libraries_are_read() -> None:
    table = people(n=400)[NUMBERS]
    for name, kind in (("lightgbm", "LGBMRegressor"), ("xgboost", "XGBRegressor")):
        for objective in ("regression", "poisson"):
            spelled = objective
            if name == "xgboost":
                spelled = {"regression": "reg:squarederror", "poisson": "count:poisson"}[objective]
            model = getattr(pytest.importorskip(name), kind)(n_estimators=9, objective=spelled)
            model.set_params(n_jobs=1, **({"verbose": -1} if name == "lightgbm" else {}))
            assert_read(model.fit(table, table["age"]), table, target="at least")


def test_the_categories_of_lightgbm_are_read() -> None:
    table = people(n=600, gaps=0.1).astype({"job": "category", "home": "category"})
    model = lightgbm(min_data_per_group=5, cat_smooth=1).fit(table, outcome(table))
    reader = assert_read(model, table)
    assert any(len(part.category_right) for part in reader.estimator.parts)  # type: ignore[attr-defined]


def test_a_bare_booster_of_lightgbm_is_read() -> None:
    table = people()[NUMBERS]
    booster = lightgbm().fit(table, outcome(people())).booster_
    assert_read(booster, table, target="at least")


def test_a_fit_that_was_stopped_early_is_read_up_to_its_best_round() -> None:
    table = people(n=400)[NUMBERS]
    wanted = np.random.default_rng(0).integers(0, 2, 400)  # nothing to learn: it stops at once
    model = xgboost(early_stopping_rounds=2).set_params(n_estimators=60)
    model.fit(table[:200], wanted[:200], eval_set=[(table[200:], wanted[200:])], verbose=False)
    reader = assert_read(model, table)
    assert model.best_iteration + 3 > int(reader.description.split()[0])


def test_trees_that_are_weighted_or_averaged_are_called() -> None:
    table = people()[NUMBERS]
    wanted = outcome(people())
    averaged = lightgbm(boosting_type="rf", subsample=0.5, subsample_freq=1)
    linear = lightgbm(linear_tree=True)
    weighted = xgboost(booster="dart", rate_drop=0.5)
    for model in (averaged, linear, weighted, xgboost(booster="gblinear")):
        assert read(model.fit(table, wanted), table).reader is None


# what is not read


class Stretched(StandardScaler):
    """A scaler of somebody's own."""

    def transform(self, X: Any, copy: bool | None = None) -> Any:
        """Twice as far."""
        return 2 * super().transform(X, copy)


class Doubtful(LogisticRegression):
    """A classifier that answers in its own way."""

    def predict_proba(self, X: Any) -> Any:
        """Halfway to a half."""
        return (super().predict_proba(X) + 0.5) / 2


@pytest.mark.parametrize(
    "steps",
    [
        [Stretched(), LogisticRegression()],
        [StandardScaler(), Doubtful()],
        [KNNImputer(), LogisticRegression()],
        [PolynomialFeatures(), LogisticRegression()],
        [FunctionTransformer(lambda rows: rows * 2), LogisticRegression()],
        [OneHotEncoder(handle_unknown="ignore"), LogisticRegression()],
    ],
    ids=lambda steps: type(steps[0]).__name__ + type(steps[1]).__name__,
)
def test_what_is_not_known_is_called(steps: list[Any]) -> None:
    table = people()[NUMBERS]
    assert read(make_pipeline(*steps).fit(table, outcome(people())), table).reader is None


def test_a_model_whose_method_was_replaced_is_called() -> None:
    table = people()
    model = make_pipeline(coded(), RandomForestClassifier(3)).fit(table, outcome(table))
    model[-1].predict_proba = lambda rows: np.full((len(rows), 2), 0.5)
    assert read(model, table).reader is None
    model = make_pipeline(coded(), RandomForestClassifier(3)).fit(table, outcome(table))
    model[0].transform = lambda rows: np.zeros((len(rows), 5))
    assert read(model, table).reader is None


def test_a_model_that_answers_otherwise_than_its_numbers_say_is_called() -> None:
    table = people()
    model = make_pipeline(coded(), HistGradientBoostingClassifier(max_iter=5))
    model.fit(table, outcome(table))
    model[-1]._predictors[2][0].nodes["value"] += 1e-9  # read after: the call sees it too
    assert_read(model, table)

    found = read(model, table)
    model[-1]._predictors[2][0].nodes["value"] += 1e-9
    assert found.reader is not None
    assert not agrees(found.reader, found.records, found.call(found.records))


def test_one_category_that_is_changed_in_the_call_alone_is_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = people()
    model = make_pipeline(coded(), LogisticRegression(max_iter=500)).fit(table, outcome(table))
    assert read(model, table).reader is not None

    own = LogisticRegression.predict_proba

    def odd(self: Any, rows: Any) -> Any:
        return np.where(np.asarray(rows)[:, :1] == 3, 0.5, own(self, rows))

    monkeypatch.setattr(LogisticRegression, "predict_proba", odd)
    assert read(model, table).reader is None


# what is missing, infinite or unknown


def scorer(model: Any, table: pd.DataFrame) -> tuple[Scorer, Array]:
    found = read(model, table)
    assert found.reader is not None
    return Scorer(found.output, found.form, min_score=0.5, reader=found.reader), found.records


def test_a_model_that_cannot_read_what_is_missing_says_so_as_before() -> None:
    table = people()
    model = make_pipeline(coded(), LogisticRegression(max_iter=500)).fit(table, outcome(table))
    score, records = scorer(model, table)
    records[0, 2] = np.nan
    with pytest.raises(ModelError, match="cannot read missing values, and 'income' has some"):
        score(records[:3])


@pytest.mark.parametrize("value", [np.inf, -np.inf])
@pytest.mark.parametrize("name", ["forest", "logistic"])
def test_infinite_values_are_refused_by_the_model_itself(value: float, name: str) -> None:
    table = people()
    model = make_pipeline(coded(), clone(ESTIMATORS[name])).fit(table, outcome(table))
    score, records = scorer(model, table)
    records[0, 2] = value
    with pytest.raises(ModelError, match="infinity"):
        score(records[:3])


def test_a_category_that_the_encoder_refuses_is_left_to_the_model() -> None:
    table = people()
    known = table[table["job"] != "ship"]
    front = make_column_transformer((OrdinalEncoder(), WORDS), remainder="passthrough")
    model = make_pipeline(front, RandomForestClassifier(5)).fit(known, outcome(known))
    schema = Schema.infer(table)
    form = TableFormat.of(table, schema)
    records = read_records(table, schema)
    output = read_output(model, target=1)
    reader = verified_reader_or_none(model, output, form, records[table["job"] != "ship"])

    assert reader is not None
    assert reader(records[(table["job"] != "ship").to_numpy()]) is not None
    assert reader(records[(table["job"] == "ship").to_numpy()]) is None


def test_categories_beyond_count_are_left_to_the_model() -> None:
    table = people(n=3000)[["age", "job"]]
    table["job"] = [f"job {i}" for i in range(3000)]
    jobs = tuple(table["job"])
    schema = Schema([Feature("age"), Feature("job", kind="categorical", categories=jobs)])
    model = make_pipeline(
        make_column_transformer((OneHotEncoder(), ["job"]), remainder="passthrough"),
        LogisticRegression(max_iter=5),
    ).fit(table, outcome(people(n=3000)))
    assert read(model, table, schema=schema).reader is None


def test_transformers_that_refuse_what_is_missing_are_not_asked_category_by_category() -> None:
    table = people()
    calls = []
    encoder = OrdinalEncoder()
    front = make_column_transformer((encoder, WORDS), remainder="passthrough").fit(table)
    form = TableFormat.of(table, Schema.infer(table))

    class Counted(NamedTuple):
        def transform(self, rows: Any) -> Any:
            calls.append(len(rows))
            return front.transform(rows)

    records = read_records(table, Schema.infer(table))
    _transform_each([Counted()], form, records, np.ones(len(records), dtype=bool))
    assert len(calls) == 2
    records[5, 1] = np.nan
    calls.clear()
    likely = np.arange(len(records)) != 5
    _, allowed = _transform_each([Counted()], form, records, likely)
    assert len(calls) == 3
    assert np.flatnonzero(~allowed).tolist() == [5]
    _, allowed = _transform_each([Counted()], form, records, np.ones(len(records), dtype=bool))
    assert np.flatnonzero(~allowed).tolist() == [5]


def test_missing_values_are_read_for_the_features_where_the_model_takes_them() -> None:
    table = people(gaps=0.2)
    front = make_column_transformer(
        (OrdinalEncoder(), WORDS), (SimpleImputer(), ["income", "debt"]), ("passthrough", ["age"])
    )
    wanted = outcome(table)
    model = make_pipeline(front, GradientBoostingClassifier(n_estimators=5))
    model.fit(table.dropna(subset="job"), wanted[table["job"].notna()])
    reader = read(model, table.dropna(subset="job")).reader
    assert reader is not None
    assert reader.reads_missing.tolist() == [False, False, True, False, True]


# the explainer


def test_an_explainer_tells_whether_its_model_is_read() -> None:
    table = people()
    model = make_pipeline(coded(), RandomForestClassifier(20, random_state=0))
    model.fit(table, outcome(table))
    expected = "read directly: forest of 20 trees behind a column transformer"
    assert LocalFACE(model, table).model_reading == expected
    assert LocalFACE([model, model], table).model_reading == f"{expected}; {expected}"
    called = LocalFACE(lambda rows: model.predict_proba(rows)[:, 1], table)
    assert called.model_reading == "called"


def test_answers_are_those_of_the_called_model() -> None:
    table = people(n=400, gaps=0.05)
    model = make_pipeline(one_hot(StandardScaler()), RandomForestClassifier(20, random_state=0))
    model.fit(table, outcome(table))
    rejected = table[model.predict(table) == 0].head(5)
    schema = Schema.infer(table)
    by_reading = LocalFACE(model, table, schema=schema).explain_many(rejected, progress=False)
    called = LocalFACE(lambda rows: model.predict_proba(rows)[:, 1], table, schema=schema)
    by_calling = called.explain_many(rejected, progress=False)
    for one, other in zip(by_reading, by_calling, strict=True):
        assert one.status == other.status
        assert repr(one.path) == repr(other.path)


def test_a_reader_survives_pickling() -> None:
    table = people(gaps=0.1)
    for estimator in ESTIMATORS.values():
        model = make_pipeline(one_hot(RobustScaler()), clone(estimator)).fit(table, outcome(table))
        found = read(model, table)
        again = pickle.loads(pickle.dumps(found.reader))
        assert found.reader is not None
        np.testing.assert_array_equal(again(found.records), found.reader(found.records))
