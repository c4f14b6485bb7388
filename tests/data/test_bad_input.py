"""Bad input: a clear message that names the feature and says what to do, and nothing half done."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer

from localface import Feature, LocalFACE, Recourse, Schema, Status
from localface.errors import (
    ConstraintError,
    DataError,
    DensityError,
    InputError,
    ModelError,
    SchemaError,
)
from worlds import make_explainer

N = 120


def ward(seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"age": rng.normal(50, 10, N), "fio2": rng.normal(0.4, 0.08, N)})
    return frame.assign(unit=rng.choice(["icu", "medical", "surgical"], N))


def breathes(frame: Any) -> Any:
    return 1 / (1 + np.exp((np.asarray(frame["fio2"], dtype=float) - 0.38) * 30))


DATA = ward()
NUMBERS = DATA[["age", "fio2"]]
BREATHES = (DATA["fio2"] < 0.4).astype(int)
PERSON = {"age": 52.0, "fio2": 0.45, "unit": "icu"}


def explainer(model: Any = breathes, data: Any = DATA, **options: Any) -> LocalFACE:
    return make_explainer(model, data, **{"n_neighbors": 15, "min_density": 0.02, **options})


@pytest.fixture(scope="module")
def ready() -> LocalFACE:
    return explainer()


def refused(kind: type[Exception], *pieces: str) -> Any:
    """Expect an error whose message has all the pieces, in this order."""
    return pytest.raises(kind, match="(?s)" + ".*".join(re.escape(piece) for piece in pieces))


def people(*changes: dict[str, object]) -> list[dict[str, object]]:
    return [{**PERSON, **change} for change in changes]


# columns


def test_a_column_that_the_person_lacks_is_named_with_the_near_miss(ready: LocalFACE) -> None:
    person = {"age": 52.0, "fi02": 0.45, "unit": "icu"}
    with refused(
        DataError,
        "the person has 'fi02', which is no feature (did you mean 'fio2'?): "
        "it has 'age', 'fi02', 'unit'; give None for what is not known",
    ) as caught:
        ready.explain(person)
    assert caught.value.feature == "fio2"
    with refused(DataError, "(did you mean 'fio2'?), and lacks 'fio2', 'unit': it has 'age', 'f"):
        ready.explain({"age": 52.0, "fi02": 0.45})
    with refused(DataError, "the person lacks 'fio2': it has 'age', 'name', 'unit'"):
        ready.explain({"age": 52.0, "name": "Ada", "unit": "icu"})


def test_a_column_that_the_data_lacks_is_named_with_the_near_miss(ready: LocalFACE) -> None:
    with refused(
        DataError, "the table lacks 'fio2'", "did you mean 'fi02'?", "it has 'age', 'fi02', 'unit'"
    ):
        explainer(data=DATA.rename(columns={"fio2": "fi02"}), schema=ready.schema)


def test_columns_that_all_people_lack_are_no_one_persons_mistake(ready: LocalFACE) -> None:
    with refused(DataError, "the table lacks 'fio2'") as caught:
        ready.explain_many(DATA.drop(columns="fio2"), progress=False)
    assert "person" not in str(caught.value)


def test_the_wrong_number_of_columns_is_told_with_their_names(ready: LocalFACE) -> None:
    with refused(
        DataError,
        "the array has 2 columns and the schema 3 features ('age', 'fio2', 'unit')",
        "give one",
    ):
        ready.explain(np.array([52.0, 0.45]))


def test_further_columns_of_a_table_or_a_series_are_passed_over(ready: LocalFACE) -> None:
    further = {**PERSON, "name": "Ada"}

    assert ready.explain(pd.Series(further)).found
    assert ready.explain(pd.DataFrame([further])).found


def test_a_key_of_a_dict_that_is_no_feature_is_refused_with_the_near_miss(ready: LocalFACE) -> None:
    with refused(DataError, "the person has 'fio', which is no feature (did you mean 'fio2'?)"):
        ready.explain({**PERSON, "fio": 0.4})


def test_a_key_of_a_dict_that_is_another_column_of_the_data_is_passed_over() -> None:
    ready = explainer(data=DATA.assign(outcome=1), schema=Schema.infer(DATA))

    assert ready.explain({**PERSON, "outcome": 1}).found


def test_what_is_no_table_is_refused() -> None:
    with refused(
        DataError, "a list is not a table", "give a pandas, polars or pyarrow table, or a 2-D array"
    ):
        explainer(data=[[50.0, 0.4, "icu"]])


def test_what_is_no_person_is_refused(ready: LocalFACE) -> None:
    with refused(
        DataError,
        "a list is no person",
        "give a dict, a pandas Series, a 1-D array or a table of one row",
    ):
        ready.explain([52.0, 0.45, "icu"])
    with refused(DataError, "one person is wanted, and 2 rows came", "use explain_many"):
        ready.explain(DATA[:2])
    with refused(DataError, "people are wanted, and one person came", "use explain"):
        ready.explain_many(PERSON)
    with refused(DataError, "the list of people is empty"):
        ready.explain_many([])


# missing and infinite values


@pytest.mark.parametrize("hole", [np.inf, -np.inf])
def test_infinite_values_in_the_data_are_counted_by_column_and_by_row(hole: float) -> None:
    data = DATA.copy()
    data.loc[[3, 5, 7], "age"] = hole
    data.loc[[7, 9], "fio2"] = hole
    with refused(
        DataError,
        "infinite values in 'age' (3 rows), 'fio2' (2 rows), 4 of 120 rows in all",
        "or leave the value missing",
    ):
        explainer(data=data)


def test_missing_values_are_refused_where_the_schema_says_so() -> None:
    data = DATA.copy()
    data.loc[4, "unit"] = None
    schema = Schema.infer(DATA).with_("unit", missing="refuse")
    with refused(DataError, "'unit' (1 row), 1 of 120 rows in all", "missing='keep'"):
        explainer(data=data, schema=schema)
    with refused(DataError, "'unit' is missing", "missing='refuse'"):
        explainer(schema=schema).explain({**PERSON, "unit": None})


@pytest.mark.parametrize("hole", [np.nan, None])
def test_who_lacks_what_everybody_in_the_data_has_is_told_so(
    ready: LocalFACE, hole: object
) -> None:
    with refused(DataError, "no value of fio2 (missing)", "everybody in the data has one"):
        ready.explain({**PERSON, "fio2": hole})


def test_an_infinite_value_of_the_person_is_named(ready: LocalFACE) -> None:
    with refused(DataError, "'fio2' is inf", "a finite number is wanted"):
        ready.explain({**PERSON, "fio2": np.inf})


def test_text_where_a_number_is_wanted_is_named(ready: LocalFACE) -> None:
    with refused(DataError, "'age' is the text 'old': a finite number is wanted"):
        ready.explain({**PERSON, "age": "old"})


@pytest.mark.parametrize(("text", "number"), [("52", 52), ("52.5", 52.5), (" 52 ", 52)])
def test_a_number_in_text_is_refused_with_the_number_that_it_spells(
    ready: LocalFACE, text: str, number: float
) -> None:
    with refused(DataError, f"'age' is the text {text!r}: give the number {number}") as caught:
        ready.explain({**PERSON, "age": text})
    assert caught.value.suggestion == number
    with refused(DataError, "'age' is the text 'inf': a finite number is wanted"):
        ready.explain({**PERSON, "age": "inf"})


# one of many


@pytest.mark.parametrize("kind", [list, pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"age": float("nan")}, "no value of age"),
        ({"unit": "surgcal"}, "unseen category 'surgcal'"),
    ],
)
def test_the_one_of_many_who_is_refused_is_named(
    ready: LocalFACE, kind: Any, change: Any, message: str
) -> None:
    asked = people({}, {}, {}, change, {}, {})
    with refused(DataError, "person 3: ", message):
        ready.explain_many(kind(asked), progress=False)


def test_whoever_has_no_way_at_all_among_many_is_named_before_anybody_is_answered() -> None:
    calls: list[int] = []

    def counted(frame: Any) -> Any:
        calls.append(len(frame))
        return breathes(frame)

    asked = people({"age": 52.0}, {"age": 55.0}, {"age": 30.0})
    with refused(
        ConstraintError, "person 2: nothing is allowed for 'age' (now 30)", "widen one of them"
    ):
        explainer(counted).explain_many(
            asked, where={"age": {"within": 5, "bounds": (50, 60)}}, progress=False
        )
    assert not calls


def test_a_mistake_in_the_constraints_themselves_is_no_one_persons(ready: LocalFACE) -> None:
    with refused(ConstraintError, "where= names 'fi02'") as caught:
        ready.explain_many([PERSON], where={"fi02": "never"}, progress=False)
    assert "person" not in str(caught.value)


def test_after_a_refusal_the_next_person_is_answered_as_if_nothing_had_been(
    ready: LocalFACE,
) -> None:
    before = explainer().explain(PERSON)
    for person in people({"age": np.nan}, {"unit": "?"}, {"age": "old"}):
        with pytest.raises(DataError):
            ready.explain(person)
        with pytest.raises(DataError):
            ready.explain_many([PERSON, person], progress=False)
    with pytest.raises(ConstraintError):
        ready.explain(PERSON, where={"age": (9, 1)})
    assert same(ready.explain(PERSON), before)


def same(one: Recourse, other: Recourse) -> bool:
    return (
        one.status is other.status
        and one.records.tobytes() == other.records.tobytes()
        and one.rows == other.rows
    )


# categories


def test_an_unseen_category_is_named_with_the_near_miss(ready: LocalFACE) -> None:
    with refused(
        DataError,
        "'unit' has the unseen category 'surgcal'",
        "did you mean 'surgical'?",
        "'icu', 'medical'",
    ):
        ready.explain({**PERSON, "unit": "surgcal"})


def test_an_unseen_category_in_the_data_is_named(ready: LocalFACE) -> None:
    with refused(
        DataError,
        "'unit' has the unseen category 'hospice'",
        "the schema knows 'icu', 'medical', 'surgical'",
    ):
        explainer(data=DATA.assign(unit="hospice"), schema=ready.schema)


# what the data cannot tell


def test_a_constant_column_is_kept_and_moves_only_with_a_scale() -> None:
    data = DATA.assign(site=7.0)
    guessed, person = Schema.infer(data), {**PERSON, "site": 7.0}
    assert guessed["site"].moves == "never"
    with refused(
        DataError,
        "'site' has the same value (7) in every row",
        "moves='never'",
        "scale=",
        "drop the column",
    ):
        explainer(data=data, schema=guessed.with_("site", moves="freely"))
    for change in ({"moves": "never"}, {"moves": "freely", "scale": 1.0}):
        answer = explainer(data=data, schema=guessed.with_("site", **change)).explain(person)
        assert answer.found
        assert set(answer.path["site"]) == {7.0}


def test_duplicated_rows_count_once_and_change_no_answer(ready: LocalFACE) -> None:
    once = ready.explain(PERSON)
    twice = explainer(data=pd.concat([DATA, DATA, DATA[:40]])).explain(PERSON)
    assert same(once, twice)
    assert twice.certificates == once.certificates
    assert twice.disclosure.rows == once.disclosure.rows
    assert twice.disclosure.of == 2 * N + 40


def test_no_rows_and_one_row_are_too_few() -> None:
    with refused(DataError, "the table has no rows"):
        explainer(data=DATA[:0])
    with refused(DataError, "the data has 1 row: at least 2 different people are needed"):
        explainer(data=DATA[:1], n_neighbors=1)


def test_the_same_row_many_times_is_one_person() -> None:
    with refused(
        DataError, "the data has 30 rows, all of them the same", "at least 2 different people"
    ):
        explainer(data=pd.concat([DATA[:1]] * 30))


def test_more_neighbors_than_rows_are_refused_with_how_many_there_are() -> None:
    with refused(
        DataError,
        "n_neighbors=121, but the data has only 120 rows",
        "pass n_neighbors=120 or fewer",
    ):
        explainer(n_neighbors=121)
    assert explainer(n_neighbors=120).explain(PERSON).found


def test_a_cover_by_more_people_than_there_are_is_refused() -> None:
    with refused(
        DataError,
        "min_people=120, but everyone has only 119 others",
        "pass min_people=119 or fewer",
    ):
        explainer(edges="cover", min_people=120)


# constraints


@pytest.mark.parametrize(
    ("where", "pieces"),
    [
        (
            {"fio2": {"within": 0.05, "bounds": (0.6, 0.7)}},
            ["'fio2' (now 0.45)", "between 0.6 and 0.7", "within 0.05 of 0.45", "widen"],
        ),
        (
            {"fio2": {"moves": "never", "bounds": (0.6, 0.7)}},
            ["'fio2' (now 0.45)", "never moves", "leave no value"],
        ),
        (
            {"age": (60, 70)},  # kept, since it looks protected
            ["'age' (now 52)", "grows by itself", "leave no value"],
        ),
        (
            {"age": (100, 90)},
            ["the bounds of 'age', 100 to 90, are the wrong way round", "give (low, high)"],
        ),
        ({"age": -1}, ["'age' cannot stay within -1", "give a number that is not negative"]),
        ({"unit": []}, ["leaves 'unit' no category", "'icu', 'medical', 'surgical'"]),
        (
            {"unit": ["surgcal"]},
            ["'unit' has the unseen category 'surgcal'", "did you mean 'surgical'?"],
        ),
        (
            {"fi02": "never"},
            ["where= names 'fi02'", "did you mean 'fio2'?", "'age', 'fio2', 'unit'"],
        ),
        ({"fio2": "nevr"}, ["'fio2' cannot move 'nevr'", "did you mean 'never'?"]),
        ({"fio2": {"bound": (0, 1)}}, ["'fio2' has 'bound'", "did you mean 'bounds'?"]),
        ("never", ["where= is 'never'", "give a dict"]),
    ],
)
def test_constraints_that_make_no_sense_are_refused(
    ready: LocalFACE, where: Any, pieces: list[str]
) -> None:
    with refused(ConstraintError, *pieces):
        ready.explain(PERSON, where=where)


def test_a_call_that_contradicts_the_schema_is_refused(ready: LocalFACE) -> None:
    growing = explainer(schema=ready.schema.with_("age", moves="up"))
    with refused(
        ConstraintError, "'age' only moves up by the schema, and only down by where=", "say 'never'"
    ):
        growing.explain(PERSON, where={"age": "down"})


def test_a_box_in_which_nobody_stands_is_an_answer_that_names_the_constraint(
    ready: LocalFACE,
) -> None:
    free = explainer(schema=ready.schema.with_("age", moves="freely"), through="rows")
    answer = free.explain(PERSON, where={"age": (200, 300)})
    assert answer.status is Status.NO_TARGET
    assert "'age between 200 and 300' alone rules out" in answer.reason
    assert answer.opens == (("age",),)
    assert len(answer.path) == 1


# models


def fails(frame: Any) -> Any:
    raise RuntimeError("no GPU")


@pytest.mark.parametrize(
    ("model", "pieces"),
    [
        (
            fails,
            [
                "the model failed on 1 record(s): RuntimeError: no GPU",
                "same kind of table as `data`",
            ],
        ),
        (
            lambda frame: np.full(len(frame), np.nan),
            ["NaN or infinity for 1 of 1 record(s)", "must be finite"],
        ),
        (
            lambda frame: np.full(len(frame), np.inf),
            ["NaN or infinity for 1 of 1 record(s)", "must be finite"],
        ),
        (
            lambda frame: np.zeros((len(frame), 1, 1)),
            ["shape (1, 1, 1) for 1 record(s)", "one score a record"],
        ),
        (
            lambda frame: np.zeros(len(frame) + 1),
            ["shape (2,) for 1 record(s)", "one score a record"],
        ),
        (lambda frame: 0.3, ["shape () for 1 record(s)", "one score a record"]),
        (lambda frame: np.full(len(frame), -0.2), ["a negative score (-0.2)", "signed(function)"]),
        (lambda frame: ["yes"] * len(frame), ["returned list, which is no array of numbers"]),
    ],
)
def test_a_model_that_gives_no_score_is_refused(model: Any, pieces: list[str]) -> None:
    with refused(ModelError, *pieces):
        explainer(model).explain(PERSON)


def test_a_column_that_a_function_does_not_return_cannot_be_the_target() -> None:
    with refused(ModelError, "shape (1, 3)", "target= for the column's number"):
        explainer(lambda frame: np.zeros((len(frame), 3)), target=3).explain(PERSON)


def test_after_a_model_has_failed_half_way_the_next_answer_is_the_same_as_ever(
    ready: LocalFACE,
) -> None:
    calls: list[int] = []

    def flaky(frame: Any) -> Any:
        calls.append(len(frame))
        if len(calls) == 2:
            raise TimeoutError("the endpoint is asleep")
        return breathes(frame)

    stumbling = explainer(flaky)
    with refused(ModelError, "TimeoutError: the endpoint is asleep"):
        stumbling.explain_many(people({}, {"age": 60.0}), progress=False)
    assert same(stumbling.explain(PERSON), ready.explain(PERSON))


def test_a_class_that_does_not_exist_is_refused_with_those_that_do() -> None:
    model = LogisticRegression().fit(NUMBERS, np.where(BREATHES, "ready", "not yet"))
    with refused(
        ModelError,
        "target 'raedy' is not a class",
        "did you mean 'ready'?",
        "it knows 'not yet', 'ready'",
    ):
        explainer(model, NUMBERS, target="raedy")


def test_a_class_of_the_wrong_type_is_told_as_the_one_that_is_meant() -> None:
    model = LogisticRegression().fit(NUMBERS, BREATHES)
    with refused(ModelError, "target '1' is not a class", "(did you mean 1?)", "it knows 0, 1"):
        explainer(model, NUMBERS, target="1")


def test_a_value_has_no_class_but_a_direction() -> None:
    model = LinearRegression().fit(NUMBERS, DATA["fio2"])
    with refused(
        ModelError, "target 'atleast' makes no sense", "target='at least' or target='at most'"
    ):
        explainer(model, NUMBERS, target="atleast")


def test_a_model_that_was_not_fitted_says_so() -> None:
    with refused(ModelError, "LogisticRegression knows no classes", "fit it first"):
        explainer(LogisticRegression(), NUMBERS)


def test_a_model_that_was_fitted_on_other_columns_is_refused_at_once() -> None:
    model = LogisticRegression().fit(NUMBERS, BREATHES)
    with refused(
        ModelError,
        "fitted with 'fio2', which the data lacks (did you mean 'fi02'?)",
        "give the columns",
    ):
        explainer(model, NUMBERS.rename(columns={"fio2": "fi02"}))
    with refused(ModelError, "fitted with 'fio', which the data lacks: give the columns"):
        both = NUMBERS.assign(fio=1.0)  # a name is no slip for another that the model knows
        explainer(LogisticRegression().fit(both, BREATHES), NUMBERS)
    with refused(
        ModelError, "was not fitted with 'unit'", "drop them from the data (is one the outcome?)"
    ):
        explainer(model, DATA)
    with refused(ModelError, "in another order: 'age', 'fio2'", "Reorder", "feature_names_in_"):
        explainer(model, NUMBERS[["fio2", "age"]])


def test_a_model_that_was_fitted_on_an_array_of_another_width_is_refused_at_once() -> None:
    model = LogisticRegression().fit(NUMBERS.to_numpy(), BREATHES)
    with refused(ModelError, "fitted on 2 features and the data has 3: 'age', 'fio2', 'lead'"):
        explainer(model, NUMBERS.assign(lead=DATA["age"] * 2))


def test_the_last_step_of_a_pipeline_is_refused_with_the_advice_to_give_all_of_it() -> None:
    whole = make_pipeline(SplineTransformer(), LogisticRegression()).fit(NUMBERS, BREATHES)

    with refused(ModelError, "the last step of a pipeline, give the whole pipeline"):
        explainer(whole[-1], NUMBERS)


def test_what_is_no_model_is_refused() -> None:
    with refused(ModelError, "str is no model", "Pass a fitted estimator or a function"):
        explainer("model.skops")


def test_someone_who_already_has_the_outcome_gets_an_answer_and_no_error(ready: LocalFACE) -> None:
    answer = ready.explain({**PERSON, "fio2": 0.25})
    assert answer.status is Status.ALREADY_THERE
    assert not answer.found
    assert answer.status.value == "the outcome is already there: nothing needs to change"
    assert (len(answer.path), answer.certificates, answer.disclosure.rows) == (1, (), 0)


# schemas


@pytest.mark.parametrize(
    ("change", "kind", "pieces"),
    [
        (
            ("unit", {"kind": "numeric"}),
            DataError,
            ["'unit' is numeric and holds text such as", "kind='categorical'"],
        ),
        (
            ("age", {"kind": "integer"}),
            DataError,
            ["'age' is integer, but 120 rows hold fractions", "kind='numeric'"],
        ),
        (
            ("age", {"kind": "binary"}),
            DataError,
            ["'age' has the unseen category", "the schema knows 0, 1"],
        ),
        (
            ("unit", {"categories": ("icu", "ward")}),
            DataError,
            ["'unit' has the unseen category", "'icu', 'ward'"],
        ),
    ],
)
def test_a_schema_that_does_not_fit_the_data_is_refused(
    ready: LocalFACE, change: Any, kind: Any, pieces: Any
) -> None:
    name, declared = change
    with refused(kind, *pieces):
        explainer(schema=ready.schema.with_(name, **declared))


def test_a_feature_of_the_schema_that_the_data_lacks_is_named() -> None:
    with refused(DataError, "the table lacks 'fi02' (did you mean 'fio2'?)"):
        explainer(schema=Schema([Feature("age"), Feature("fi02")]))


def test_what_is_no_schema_is_refused() -> None:
    with refused(SchemaError, "schema= is a dict", "give Schema([Feature(...), ...])"):
        explainer(schema={"age": "numeric"})


# densities


@pytest.mark.parametrize(
    ("density", "pieces"),
    [
        (lambda frame: -np.ones(len(frame)), ["a negative value (-1)", "never negative"]),
        (lambda frame: np.full(len(frame), np.nan), ["NaN or infinity", "finite"]),
        (lambda frame: np.full(len(frame), np.inf), ["NaN or infinity", "finite"]),
        (
            lambda frame: np.ones((len(frame), 2)),
            ["shape (120, 2) for 120 record(s)", "one value each"],
        ),
        (lambda frame: 1.0, ["shape () for 120 record(s)", "one value each"]),
        (lambda frame: ["dense"] * len(frame), ["the density failed on 120 record(s): ValueError"]),
        (fails, ["the density failed on 120 record(s): RuntimeError: no GPU"]),
        (
            lambda frame: np.ones(len(frame)),
            ["the same at every row", "no state is more common than another"],
        ),
        (
            lambda frame: np.zeros(len(frame)),
            ["0 at 120 of 120 rows, where people stand", "must be positive there"],
        ),
        (lambda frame: (frame["age"] > 60) * 1.0, ["rows, where people stand", "score_samples"]),
    ],
)
def test_a_density_that_lies_is_refused_before_anyone_is_explained(
    density: Any, pieces: list[str]
) -> None:
    with refused(DensityError, *pieces):
        explainer(density=density)


def test_a_density_that_lies_later_is_caught_then() -> None:
    def two_faced(frame: Any) -> Any:
        honest = np.exp(-(((frame["age"].to_numpy() - 50) / 10) ** 2))
        return honest if len(frame) == N else -honest

    with refused(DensityError, "the density returned a negative value"):
        explainer(density=two_faced).explain(PERSON)


def test_what_is_no_density_is_refused() -> None:
    with refused(InputError, "density=3", "a function from records to densities", "score_samples"):
        explainer(density=3)


# options


def test_all_mistakes_in_the_options_are_told_at_once() -> None:
    with refused(
        InputError,
        "min_density=1.2: a share from 0 to below 1",
        "edges='stric'",
        "did you mean 'strict'?",
        "strategy='papr'",
        "did you mean 'paper'?",
        "cost='lenght'",
        "did you mean 'length'?",
        "n_neighbors=0: a whole number of at least 1",
        "max_step=-1: a positive number",
        "density='kd'",
        "max_rows=0",
    ):
        explainer(
            edges="stric",
            strategy="papr",
            cost="lenght",
            density="kd",
            min_density=1.2,
            n_neighbors=0,
            max_rows=0,
            max_step=-1,
        )


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("min_score", "high"),
        ("min_score", np.nan),
        ("min_density", -0.1),
        ("n_neighbors", 2.5),
        ("n_neighbors", True),
        ("momentum_steps", -1),
        ("slack", -0.1),
        ("min_people", 0),
        ("radius", 0),
    ],
)
def test_an_option_out_of_range_is_named_with_what_came(option: str, value: object) -> None:
    with refused(InputError, f"{option}={value!r}: ", "is wanted"):
        explainer(**{option: value})


def test_whole_numbers_of_numpy_are_whole_numbers() -> None:
    answer = explainer(
        n_neighbors=np.int64(15), max_rows=np.int32(50), min_score=np.float32(0.5)
    ).explain(PERSON)
    assert Recourse.from_json(answer.to_json()).settings["n_neighbors"] == 15


# counterfactuals that were brought along


def test_a_counterfactual_that_cannot_be_read_is_called_by_its_name(ready: LocalFACE) -> None:
    with refused(DataError, "the counterfactual lacks 'age', 'unit'"):
        ready.explain(PERSON, counterfactual={"fio2": 0.3})
    with refused(DataError, "the counterfactual has no value of fio2 (missing)"):
        ready.explain(PERSON, counterfactual={**PERSON, "fio2": np.nan})


def test_a_counterfactual_that_does_not_reach_the_target_is_an_answer(ready: LocalFACE) -> None:
    answer = ready.explain(PERSON, counterfactual={**PERSON, "fio2": 0.44})
    assert answer.status is Status.NO_TARGET
    assert "the counterfactual that was given does not reach the target" in answer.reason
    assert "score at least 0.5" in answer.reason


def test_a_counterfactual_outside_the_box_is_an_answer_that_names_the_constraints(
    ready: LocalFACE,
) -> None:
    elsewhere = {**PERSON, "fio2": 0.3, "unit": "medical"}
    where = {"unit": "never", "fio2": (0.35, 0.5)}
    answer = ready.explain(PERSON, counterfactual=elsewhere, where=where)
    assert answer.status is Status.NO_TARGET
    assert "outside the constraints: fio2 between 0.35 and 0.5; unit never moves" in answer.reason


@pytest.mark.parametrize("value", [0, 1.5, "two"])
def test_a_number_of_changes_that_is_none_is_refused(ready: LocalFACE, value: Any) -> None:
    with pytest.raises(InputError, match=r"max_changes=.* a whole number of at least 1"):
        ready.explain(PERSON, max_changes=value)


def test_a_value_far_beyond_everyone_is_taken_for_a_slip_and_a_merely_distant_one_is_answered() -> (
    None
):
    data = np.random.default_rng(0).normal(size=(100, 2))
    explainer = LocalFACE(lambda points: 1 / (1 + np.exp(-points[:, 0].clip(-50, 50))), data)
    with pytest.raises(DataError, match=r"'x0' is -1e\+200 in this person"):
        explainer.explain(np.array([-1e200, 0.0]))
    assert explainer.explain(np.array([-1e5, 1e5])).entry
