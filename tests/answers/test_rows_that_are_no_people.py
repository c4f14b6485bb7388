"""Answers about houses speak of houses, in every rendering."""

from __future__ import annotations

import json
import re

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.text import Text
from sklearn.linear_model import LogisticRegression

from localface import LocalFACE, Recourse, Schema, Search
from localface.apps.plots import plot_against_line, plot_pipeline
from localface.apps.web.views.view import answer_view, check_view

PERSONAL = re.compile(r"people|person|anybody|nobody|somebody", re.IGNORECASE)


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(1)
    area = rng.normal(120, 30, 400).round()
    rooms = (area / 30 + rng.normal(0, 0.7, 400)).round().clip(1)
    return pd.DataFrame({"area": area, "rooms": rooms, "garden": rng.integers(0, 2, 400)})


@pytest.fixture(scope="module")
def houses(table):
    model = LogisticRegression().fit(table, table["area"] + 5 * table["rooms"] > 150)
    return LocalFACE(model, table, each_row="house")


def small(table):
    return table[(table["area"] > 80) & (table["rooms"] == 3)].sort_values("area").iloc[0]


def texts_of(answer):
    view = answer_view(answer)
    keys = ("density_text", "step", "on_the_way")
    return [
        str(answer),
        answer._repr_html_(),
        *json.loads(answer.to_json())["cautions"],
        *view["notices"],
        *view["cautions"],
        *(one["text"] for one in view["facts"]),
        *(str(one[key]) for one in view["actions"] for key in keys),
    ]


def without_script(text):
    """What is read of a page: neither code nor the words that its script knows."""
    return re.sub(r"<script.*?</script>|<style.*?</style>", "", text, flags=re.DOTALL)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"only": ["rooms"]},
        {"relax": True, "min_density": 0.4},
        {"where": {"area": "never", "rooms": "never"}},
        {"min_density": 0},
    ],
)
def test_an_answer_about_houses_speaks_of_no_people(houses, table, options):
    answer = houses.explain(small(table), **options)

    assert not [text for text in map(without_script, texts_of(answer)) if PERSONAL.search(text)]


def test_common_states_are_told_by_houses(houses, table):
    assert "at least as common as 1 in 20 houses'" in str(houses.explain(small(table)))
    assert repr(houses).startswith("<LocalFACE: 400 houses, ")
    assert LocalFACE(houses.engine.model, table).schema.each_row.many == "people"


def test_a_house_that_none_is_like_is_told_as_one(houses, table):
    answer = houses.explain({**small(table), "area": 900.0, "rooms": 1.0})

    assert "area 900 is higher than any house's in the data" in answer.cautions[0]
    assert not any(map(PERSONAL.search, answer.cautions))


@pytest.mark.parametrize("wish", [{"area": 190, "rooms": 1}, {"area": 150, "rooms": 5}])
def test_a_check_speaks_of_houses(houses, table, wish):
    found = houses.check(small(table), wish=wish)

    assert not PERSONAL.search(str(found))
    assert "houses" in check_view(found)["density_text"] or "house" in str(found)


def test_steps_by_company_and_an_audit_speak_of_houses(houses, table):
    covered = LocalFACE(
        houses.engine.model, table, each_row="house", search=Search(edges="cover", min_people=3)
    )
    answer = covered.explain(small(table))
    audit = houses.audit(table.iloc[:3], table.iloc[3:6])

    assert "similar houses around each of its states" in str(answer)
    assert not PERSONAL.search(str(audit[0]))


def test_an_answer_that_is_read_again_still_speaks_of_houses(houses, table):
    answer = houses.explain(small(table))
    again = Recourse.from_json(answer.to_json())

    assert str(again) == str(answer)


def test_the_words_may_come_with_the_schema(houses, table):
    schema = Schema.infer(table, each_row=("flat", "flats"))

    assert "1 in 20 flats'" in str(
        LocalFACE(houses.engine.model, table, schema=schema).explain(small(table))
    )


def words_of(figure):
    figure.canvas.draw()
    return " ".join(text.get_text() for text in figure.findobj(Text) if text.get_visible())


def test_axes_and_legends_of_figures_speak_of_houses(table):
    plane = table[["area", "rooms"]]
    model = LogisticRegression().fit(plane, plane["area"] > 120)
    houses = LocalFACE(model, plane, each_row="house", search=Search(n_neighbors=20))
    start = small(table)[["area", "rooms"]]

    figures = [
        plot_against_line(houses, start),
        plot_pipeline(houses, start),
        houses.explain(start).plot(),
        houses.audit(plane.iloc[:3], plane.iloc[3:6], progress=False).plot(),
    ]

    for figure in figures:
        assert not PERSONAL.search(words_of(figure))
    assert "houses in" in words_of(figures[0])
    assert "houses in" in words_of(figures[3])
    plt.close("all")


def test_a_report_on_the_floor_speaks_of_houses(houses, table):
    schema = Schema.infer(table, each_row="house").with_("garden", moves="never")
    explainer = LocalFACE(houses.engine.model, table, schema=schema)

    report = explainer.ground_report(progress=False)

    assert "compare houses alike in garden" in str(report)
