"""Schemas written as TOML or JSON come back as they were."""

from __future__ import annotations

import json
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localface.data.feature import Feature
from localface.data.schema import Schema
from localface.errors import SchemaError

AGE = Feature("age", unit="year", kind="integer")


FIO2 = Feature("fio2", resolution=0.01)


SEX = Feature("sex", kind="binary", categories=("F", "M"))


WARD = Feature("ward", kind="categorical", categories=("icu", "step-down", "home"))


PAIN = Feature("pain", kind="ordinal", categories=("none", "mild", "severe"))


@pytest.fixture
def schema() -> Schema:
    return Schema([AGE, FIO2, SEX, WARD, PAIN])


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
    moves = ["freely", "never"]
    moves += ["up", "down"] * (kind != "categorical")
    moves += ["grows"] * (kind not in ("binary", "categorical"))
    settings["moves"] = draw(st.sampled_from(moves))
    own = settings["moves"] in ("never", "grows")
    settings["protected"] = own and draw(st.booleans())
    settings["scale"] = draw(st.none() | NUMBERS)
    if kind in ("binary", "categorical") or (kind == "ordinal" and draw(st.booleans())):
        size = (2, 2) if kind == "binary" else (1, 4)
        labels = draw(st.lists(LABELS, min_size=size[0], max_size=size[1], unique=True))
        settings["categories"] = tuple(labels)
        if own and kind != "ordinal":
            groups = [None, [], labels[:1], [labels[:1], labels[1:]]]
            settings["comparable"] = draw(st.sampled_from(groups))
    else:
        settings["comparable"] = draw(st.none() | NUMBERS) if own else None
        settings["within"] = draw(st.none() | NUMBERS)
        resolutions = NUMBERS.filter(lambda number: number != 1)  # 1.0 is left out as the usual 1
        settings["resolution"] = draw(st.none() | resolutions)
        low, high = sorted(draw(st.tuples(NUMBERS, NUMBERS)))
        settings["bounds"] = draw(st.sampled_from([None, (low, high), (None, high), (low, None)]))
    return Feature(draw(TEXT), **settings)  # type: ignore[arg-type]


SCHEMAS = st.lists(features(), min_size=1, max_size=4, unique_by=lambda feature: feature.name).map(
    Schema
)


@given(SCHEMAS)
def test_any_schema_comes_back_from_toml_as_it_was(schema):
    back = Schema.from_toml(schema.to_toml())

    assert back == schema
    expected = [repr(one) for one in schema.features]
    assert [repr(one) for one in back.features] == expected  # 1 stays 1, True stays True


@given(SCHEMAS)
def test_any_schema_comes_back_from_json_as_it_was(schema):
    back = Schema.from_dict(json.loads(json.dumps(schema.to_dict())))

    assert [repr(one) for one in back.features] == [repr(one) for one in schema.features]


def test_true_and_false_stay_what_they_are_in_toml():
    schema = Schema([Feature("on", kind="binary", categories=(False, True))])

    assert Schema.from_toml(schema.to_toml())["on"].categories[1] is True


def test_names_with_odd_characters_survive_a_file(tmp_path):
    odd = 'q"u\\o\nt\x7fe\r\u2028é' + string.punctuation
    schema = Schema([Feature(odd, unit="\t")])

    schema.save(tmp_path / "schema.toml")

    assert Schema.load(tmp_path / "schema.toml") == schema


def test_a_hand_written_schema_is_read():
    schema = Schema.from_toml('[[features]]\nname = "fio2"\nbounds = [0.21, inf]\nmoves = "down"\n')

    assert schema["fio2"].bounds == (0.21, None)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name = ", "not valid TOML"),
        ("features = 3", r"list of \[\[features\]\]"),
        ("x = 1", r"list of \[\[features\]\]"),
        ('[[features]]\nkind = "numeric"', "has no name"),
        ('[[features]]\nname = "x"\nresolutoin = 1', "no 'resolutoin'.*did you mean 'resolution'"),
        ("[[features]]\nname = 1", "name is 1"),
    ],
)
def test_a_schema_that_cannot_be_read_says_why(text, message):
    with pytest.raises(SchemaError, match=message):
        Schema.from_toml(text)


def test_a_schema_file_that_is_not_there_or_not_text_says_so(tmp_path):
    (tmp_path / "model.bin").write_bytes(b"\xff\xfe\x80")

    with pytest.raises(SchemaError, match="no schema file"):
        Schema.load(tmp_path / "none.toml")
    with pytest.raises(SchemaError, match="not a text file"):
        Schema.load(tmp_path / "model.bin")
