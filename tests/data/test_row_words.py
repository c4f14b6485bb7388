"""What rows are called in answers: people, unless the schema says otherwise."""

from __future__ import annotations

import numpy as np
import pytest

from localface import Feature, LocalFACE, Schema, Search
from localface.data.row_words import PEOPLE, RowWords, read_row_words
from localface.errors import ConstraintError, DataError, SchemaError

HOUSES = Schema([Feature("area"), Feature("rooms", kind="integer")], each_row="house")


@pytest.mark.parametrize(
    ("one", "many"),
    [
        ("house", "houses"),
        ("company", "companies"),
        ("day", "days"),
        ("box", "boxes"),
        ("person", "people"),
        ("hospital stay", "hospital stays"),
        ("child", "children"),
    ],
)
def test_many_are_called_by_the_usual_rules(one, many):
    assert read_row_words(one) == RowWords(one, many)


def test_both_words_may_be_given():
    assert read_row_words(["ox", "oxen"]).many == "oxen"
    assert read_row_words(None) is PEOPLE


@pytest.mark.parametrize("wrong", ["", " ", 3, ("one",), ("a", "b", "c"), ("", "b"), (1, 2)])
def test_what_is_no_word_is_refused_with_what_to_write(wrong):
    with pytest.raises(SchemaError, match="as in each_row='house'"):
        read_row_words(wrong)


def test_words_for_none_and_any_of_them():
    assert (PEOPLE.nobody, PEOPLE.anybody) == ("nobody", "anybody")
    assert (HOUSES.each_row.nobody, HOUSES.each_row.anybody) == ("no house", "any house")
    assert RowWords("person", "people").are_people


def test_errors_about_a_record_use_the_word_too():
    table = np.array([[40.0 + 3 * i, 1 + i % 5] for i in range(60)])
    explainer = LocalFACE(
        lambda rows: rows[:, 0] / 300, table, schema=HOUSES, search=Search(n_neighbors=10)
    )

    for record, said in (
        ({"area": 90.0}, "the house lacks 'rooms': it has 'area'; give None"),
        ({"area": 90.0, "rooms": 3, "roms": 2}, "the house has 'roms', which is no feature"),
        ({"area": 1e15, "rooms": 3}, "in this house, more than"),
        ({"area": None, "rooms": 3}, "this house has no value of area .* every house in the data"),
        (table[:2], "one house is wanted, and 2 rows came"),
    ):
        with pytest.raises(DataError, match=said) as caught:
            explainer.explain(record)
        assert "person" not in str(caught.value)
        assert "people" not in str(caught.value)


def test_errors_about_one_of_many_number_the_houses():
    table = np.array([[40.0 + 3 * i, 1 + i % 5] for i in range(60)])
    explainer = LocalFACE(
        lambda rows: rows[:, 0] / 300, table, schema=HOUSES, search=Search(n_neighbors=10)
    )

    with pytest.raises(DataError, match=r"^house 1: 'area' is 1e\+15 in this house"):
        explainer.explain_many([*table[:1], np.array([1e15, 2.0])], progress=False)
    with pytest.raises(ConstraintError, match="has 3 entries, and 2 houses came: give one a house"):
        explainer.explain_many(table[:2], min_score=[0.5] * 3, progress=False)


def test_a_schema_keeps_its_word_whatever_is_changed_in_it():
    changed = (
        HOUSES.with_("area", moves="never").link("area", "rooms").relate("rooms", "<=", "area")
    )

    assert changed.each_row.many == "houses"
    assert changed.of_columns(["area"]).each_row.many == "houses"
    assert HOUSES.with_each_row("flat").each_row.many == "flats"


def test_the_word_is_written_down_and_read_again():
    assert Schema.from_toml(HOUSES.to_toml()).each_row == HOUSES.each_row
    assert Schema.from_dict(HOUSES.to_dict()).each_row == HOUSES.each_row
    assert Schema.from_toml(
        'each_row = "flat"\n' + HOUSES.to_toml().partition("\n")[2]
    ).each_row.one
    assert "each_row" not in Schema([Feature("area")]).to_dict()
