"""Relations of a schema: linear ones, functions, and categories that never follow others."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from localface import LocalFACE
from localface.data.feature import Feature
from localface.data.schema import Schema
from localface.errors import DataError, SchemaError

NUMBERS = Schema([Feature("total", resolution=0.1), Feature("a"), Feature("b")])
STATES = ("single", "married", "divorced", "widowed")
STATUS = Feature("status", kind="categorical", categories=STATES)


def broken(schema: Schema, *records: tuple[float, ...]) -> list[bool]:
    return schema.breaks_relation(np.array(records)).tolist()


def test_a_sum_holds_up_to_the_resolution_and_what_is_missing_breaks_nothing():
    schema = NUMBERS.relate("total", "=", {"a": 1, "b": 2})

    nan = float("nan")
    rows = [(5.0, 1, 2), (5.04, 1, 2), (5.2, 1, 2), (nan, 1, 2), (9.0, 1, nan)]
    assert broken(schema, *rows) == [False, False, True, False, False]
    assert schema.linked == (("total", "a", "b"),)
    assert schema.relation_texts == ("total = a + 2 b",)


def test_bounds_by_a_sum_hold_one_way_and_link_nothing():
    most = NUMBERS.relate("total", "<=", {"a": 1, "b": 1})
    least = NUMBERS.relate("total", ">=", {"a": 0.5})

    assert broken(most, (2.0, 1, 1), (2.1, 1, 1)) == [False, True]
    assert broken(least, (0.5, 1, 9), (0.4, 1, 9)) == [False, True]
    assert most.linked == ()


def test_two_features_may_be_given_either_way_round():
    assert NUMBERS.relate("b", ">=", "a").relations == (("a", "<=", "b"),)
    assert NUMBERS.relate("a", "=", "b").relation_texts == ("a = b",)


def test_a_function_of_a_record_is_a_relation():
    schema = NUMBERS.relate(lambda one: one["a"] is None or one["a"] < one["b"], name="a below b")

    assert broken(schema, (0, 1, 2), (0, 2, 1), (0, float("nan"), 1)) == [False, True, False]
    with pytest.raises(DataError, match="says 'a below b', and 1 row of the data breaks it"):
        schema.check_relations(np.array([[0.0, 1, 2], [0, 2, 1]]), "the data")
    failing = NUMBERS.relate(lambda one: one["c"] > 0, name="c")
    with pytest.raises(DataError, match=r"the rule 'c' failed.*KeyError"):
        broken(failing, (0, 1, 2))


def test_rules_are_written_to_files_except_functions_and_that_is_said():
    schema = NUMBERS.relate("total", "=", {"a": 1, "b": 0.5}).relate(lambda one: True, name="odd")

    text = schema.to_toml()

    assert "the rule 'odd' is a function, which no file holds" in text
    assert Schema.from_toml(text).rules == schema.rules[:1]
    assert Schema.from_dict(schema.to_dict()).rules == schema.rules[:1]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("total", "<", {"a": 1}), "is no relation"),
        (("total", "=", {}), "is no relation"),
        (("total", "=", 5), "is no relation"),
        (("total", "=", {"a": "x"}), "weight of 'a'"),
        (("total", "=", {"c": 1}), "no feature 'c'"),
    ],
)
def test_what_is_no_relation_is_refused(words, message):
    with pytest.raises(SchemaError, match=message):
        NUMBERS.relate(*words)


# --- answers ----------------------------------------------------------------------------------
def loans(n: int = 500) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    own, other = rng.integers(0, 60, n), rng.integers(0, 40, n)
    return pd.DataFrame(
        {"own": own, "other": other, "debt": own + other, "income": rng.integers(10, 90, n)}
    )


def test_no_answer_breaks_a_sum():
    table = loans()
    noise = np.random.default_rng(1).normal(0, 8, len(table))
    model = LogisticRegression().fit(table, table["income"] - table["debt"] / 2 + noise > 35)
    schema = Schema.infer(table).relate("debt", "=", {"own": 1, "other": 1})
    explainer = LocalFACE(model, table, schema=schema)
    refused = table[model.predict(table) == 0].iloc[:25]

    answers = [explainer.explain(refused.iloc[[i]]) for i in range(len(refused))]

    assert any("debt" in action.changes for one in answers for action in one.actions)
    for answer in answers:
        for states in (answer.path, answer.with_actions_as_path().path):
            assert (states["own"] + states["other"] == states["debt"]).all()


def people(n: int = 600) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    status = rng.choice(STATES, n)
    return pd.DataFrame({"status": status, "income": rng.normal(50, 10, n).round(1)})


def test_who_is_divorced_never_becomes_single():
    table = people()
    single = (table["status"] == "single").to_numpy()
    coded = pd.get_dummies(table)
    reached = single * 3 + (coded["income"] - 50) / 10 > 1.5
    fitted = LogisticRegression(max_iter=500).fit(coded, reached)

    def score(rows: pd.DataFrame) -> np.ndarray:
        dummies = pd.get_dummies(rows).reindex(columns=coded.columns, fill_value=0)
        return fitted.predict_proba(dummies)[:, 1]

    barred = Feature(
        "status",
        kind="categorical",
        categories=STATES,
        never_from={"divorced": ["single"], "married": ["single"], "widowed": ["single"]},
    )
    free = LocalFACE(score, table, schema=Schema([STATUS, Feature("income")]))
    bound = LocalFACE(score, table, schema=Schema([barred, Feature("income")]))
    divorced = table[(table["status"] == "divorced") & (score(table) < 0.5)].iloc[:20]

    became = {"free": 0, "bound": 0}
    for i in range(len(divorced)):
        for name, explainer in (("free", free), ("bound", bound)):
            answer = explainer.explain(divorced.iloc[[i]])
            states = [*answer.path["status"], *answer.with_actions_as_path().path["status"]]
            became[name] += "single" in states

    assert became["free"] > 0
    assert became["bound"] == 0


def test_a_category_that_some_never_become_is_entered_from_ones_own_alone():
    feature = Feature(
        "status", kind="categorical", categories=STATES, never_from={"divorced": ["single"]}
    )
    schema = Schema([feature])
    from localface.data.space import Space

    space = Space.fit(schema, np.array([[0.0], [1], [2], [3]]))
    points = space.points(np.array([[0.0], [1], [2], [3]]))
    married = space.bounds(schema.box(np.array([1.0])))
    divorced = space.bounds(schema.box(np.array([2.0])))

    single, own, parted, widowed = points
    assert married.respects_one_way(own, points).tolist() == [True] * 4
    assert not married.respects_one_way(parted, single)
    assert not married.respects_one_way(widowed, single)
    assert divorced.contain(points).tolist() == [False, True, True, True]
    assert "never becomes 'single' from divorced" in schema.box(np.array([2.0])).reasons[0]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"kind": "binary"}, "can have no never_from=: say moves="),
        ({"never_from": ["single"]}, "give a dict from a category"),
        ({"never_from": {"divorced": ["singel"]}}, "no category.*did you mean 'single'"),
    ],
)
def test_transitions_that_make_no_sense_are_refused(settings, message):
    given = {"kind": "categorical", "categories": STATES, "never_from": {"divorced": ["single"]}}
    if settings.get("kind") == "binary":
        given["categories"] = ("single", "divorced")
    with pytest.raises(SchemaError, match=message):
        Feature("status", **{**given, **settings})


def test_transitions_and_codes_are_written_to_files():
    schema = Schema(
        [
            Feature(
                "status",
                kind="categorical",
                categories=STATES,
                never_from={"divorced": ["single", "widowed"]},
            ),
            Feature("score", codes={-9: "no record", -8: "not asked"}),
            Feature("k"),
        ]
    )

    assert Schema.from_toml(schema.to_toml()) == schema
    assert 'never_from = { divorced = ["single", "widowed"] }' in schema.to_toml()
