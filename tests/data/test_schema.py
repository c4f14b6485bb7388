"""Schemas: looked up, changed, printed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import strategies as st

from localface.data.feature import Feature
from localface.data.schema import Schema
from localface.errors import SchemaError

AGE = Feature("age", unit="year", kind="integer")


FIO2 = Feature("fio2", resolution=0.01)


SEX = Feature("sex", kind="binary", categories=("F", "M"))


WARD = Feature("ward", kind="categorical", categories=("icu", "step-down", "home"))


PAIN = Feature("pain", kind="ordinal", categories=("none", "mild", "severe"))


PERSON = np.array([63.0, 0.55, 1.0, 0.0, 1.0])


@pytest.fixture
def schema() -> Schema:
    return Schema([AGE, FIO2, SEX, WARD, PAIN])


def test_a_schema_is_looked_up_by_name(schema):
    assert schema["age"] is AGE
    assert schema.index("fio2") == 1
    assert schema.names == ("age", "fio2", "sex", "ward", "pain")
    assert list(schema) == [AGE, FIO2, SEX, WARD, PAIN]
    assert schema.values(PERSON) == {
        "age": 63,
        "fio2": 0.55,
        "sex": "M",
        "ward": "icu",
        "pain": "mild",
    }


@pytest.mark.parametrize(
    ("features", "message"),
    [
        ([], "at least one feature"),
        ([AGE, AGE], "names 'age' more than once"),
        (["age"], r"write Feature\('age'\)"),
    ],
)
def test_a_schema_that_cannot_be_is_refused(features, message):
    with pytest.raises(SchemaError, match=message):
        Schema(features)


def test_an_unknown_feature_is_answered_with_the_near_miss(schema):
    with pytest.raises(
        SchemaError, match=r"no feature 'agee'.*did you mean 'age'.*there are 'age', 'fio2'"
    ):
        schema["agee"]
    with pytest.raises(SchemaError, match=r"no 'untis'.*did you mean 'unit'"):
        schema.with_("age", untis="year")


def test_several_features_are_declared_one_at_a_time(schema):
    with pytest.raises(SchemaError, match="call with_ for each"):
        schema.with_(["age", "sex"], moves="never")


def test_a_changed_declaration_leaves_the_old_schema_alone(schema):
    changed = schema.with_("age", moves="never", unit="years")

    assert (changed["age"].moves, changed["age"].unit) == ("never", "years")
    assert schema["age"].moves == "freely"
    assert changed.names == schema.names


def test_a_changed_kind_takes_what_belonged_to_the_old_one_with_it(schema):
    assert schema.with_("age", kind="numeric")["age"].resolution is None
    assert schema.with_("sex", kind="integer")["sex"].categories is None
    assert schema.with_("pain", kind="categorical")["pain"].categories == PAIN.categories
    growing = schema.with_("age", moves="grows", comparable=5, protected=True)
    settled = growing.with_("age", kind="binary")["age"]
    assert (settled.moves, settled.comparable, settled.protected) == ("never", None, True)


def test_codes_are_no_steps_of_an_order():
    speaks = Feature(
        "language", kind="categorical", categories=("?", "A2", "B1"), codes={"?": "not known"}
    )
    order = {"kind": "ordinal", "categories": ["A2", "B1"]}
    what = r"codes '\?', .*\['language'\]\.replace\(\['\?'\]"
    with pytest.raises(SchemaError, match=what) as told:
        Schema([speaks]).with_("language", **order)

    assert told.value.feature == "language"
    assert Schema([speaks]).with_("language", codes=None, **order)["language"].codes is None


def test_an_order_that_nobody_gave_is_said_to_be_the_alphabets():
    school = Feature("school", kind="categorical", categories=("lower", "middle", "none"))
    guessed = Schema([school]).with_("school", kind="ordinal")

    (note,) = guessed.notes
    assert note == (
        "'school' is in the order of the alphabet, lower, middle, none: if that is not from "
        "lowest to highest, schema.with_('school', categories=[...])"
    )
    ranked = guessed.with_("school", categories=["none", "lower", "middle"])
    assert ranked.notes == ()
    own_order = Feature("size", kind="categorical", categories=("small", "large"))
    assert Schema([own_order]).with_("size", kind="ordinal").notes == ()


def test_of_moving_and_of_being_protected_what_is_said_last_wins(schema):
    protected = schema.with_("age", protected=True, comparable=25)
    assert (protected["age"].moves, protected["age"].protected) == ("never", True)

    free = protected.with_("age", moves="up")
    assert (free["age"].protected, free["age"].comparable) == (False, None)

    assert protected.with_("age", protected=False)["age"].moves == "never"
    with pytest.raises(SchemaError, match="protected and cannot move 'freely'"):
        schema.with_("age", moves="freely", protected=True)


def test_a_schema_prints_what_is_protected_and_who_is_comparable():
    ward = {"kind": "categorical", "categories": ("a", "b", "c"), "moves": "never"}
    schema = Schema(
        [
            Feature("age", kind="integer", moves="grows", protected=True, comparable=25),
            Feature("sex", kind="binary", moves="never", comparable=[]),
            Feature("ward", comparable=[["a", "b"], ["c"]], **ward),
        ]
    )

    _, _, age, sex, where = repr(schema).splitlines()

    assert age.split() == ["age", "integer", "grows", "any", "protected,", "comparable", "25"]
    assert sex.endswith("comparable only if the same")
    assert where.endswith("comparable a, b / c")


def test_a_schema_prints_as_an_aligned_table():
    schema = Schema(
        [
            Feature("age", unit="year", kind="integer", moves="up", within=5, bounds=(18, None)),
            SEX,
            PAIN,
        ]
    )

    lines = repr(schema).splitlines()

    assert lines[0] == "<Schema: 3 features>"
    assert lines[1].split() == [
        "name",
        "kind",
        "unit",
        "moves",
        "range",
        "or",
        "categories",
        "note",
    ]
    assert lines[2].split() == ["age", "integer", "year", "up", "from", "18", "within", "5"]
    starts = {
        line.index(word)
        for line, word in zip(lines[1:], ("kind", "integer", "binary", "ordinal"), strict=True)
    }
    assert len(starts) == 1
    assert "F, M" in lines[3]


# --- written down -----------------------------------------------------------------------------
TEXT = st.text(min_size=1, max_size=8)


NUMBERS = st.floats(min_value=1e-300, max_value=1e300) | st.integers(1, 10**6)


LABELS = (
    st.text(max_size=6)
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
)


@st.composite
def features(draw: st.DrawFn) -> Feature:
    kind = draw(st.sampled_from(["numeric", "integer", "ordinal", "binary", "categorical"]))
    settings: dict[str, object] = {"kind": kind, "unit": draw(st.none() | st.text(max_size=5))}
    settings["moves"] = draw(
        st.sampled_from(["freely", "never"] + ["up", "down"] * (kind != "categorical"))
    )
    settings["scale"] = draw(st.none() | NUMBERS)
    if kind in ("binary", "categorical") or (kind == "ordinal" and draw(st.booleans())):
        size = (2, 2) if kind == "binary" else (1, 4)
        labels = draw(st.lists(LABELS, min_size=size[0], max_size=size[1], unique=True))
        settings["categories"] = tuple(labels)
    else:
        settings["within"] = draw(st.none() | NUMBERS)
        resolutions = NUMBERS.filter(lambda number: number != 1)  # 1.0 is left out as the usual 1
        settings["resolution"] = draw(st.none() | resolutions)
        low, high = sorted(draw(st.tuples(NUMBERS, NUMBERS)))
        settings["bounds"] = draw(st.sampled_from([None, (low, high), (None, high), (low, None)]))
    return Feature(draw(TEXT), **settings)  # type: ignore[arg-type]
