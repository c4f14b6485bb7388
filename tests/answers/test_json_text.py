"""JSON text that can also hold infinity."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from localface.answers.json_text import dump_json, load_json

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
values = st.recursive(
    scalars, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=9
).filter(lambda value: "$float" not in repr(value))


@given(values)
def test_what_is_written_is_read_again(value: object) -> None:
    text = dump_json(value)

    assert load_json(text) == value
    json.loads(text, parse_constant=pytest.fail)


def test_infinity_and_nan_are_spelt() -> None:
    assert dump_json({"a": (math.inf, -math.inf)}) == (
        '{"a": [{"$float": "inf"}, {"$float": "-inf"}]}'
    )
    assert math.isnan(load_json(dump_json([math.nan]))[0])


def test_numbers_of_numpy_are_numbers() -> None:
    assert dump_json([np.int64(3), np.float32(0.5)]) == "[3, 0.5]"


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity"])
def test_words_that_json_does_not_know_are_refused(word: str) -> None:
    with pytest.raises(ValueError, match=f"{word} is no JSON number"):
        load_json(f"[{word}]")


def test_what_has_no_spelling_is_refused() -> None:
    with pytest.raises(TypeError):
        dump_json([object()])
