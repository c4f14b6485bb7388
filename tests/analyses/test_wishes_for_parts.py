"""Wishes for the parts of a total: the total follows, unless it is wished for itself."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from localface import Feature, LocalFACE, Schema
from localface.analyses.whynot import read_wish

GRADES = Schema(
    [
        Feature("maths", bounds=(1, 6)),
        Feature("english", bounds=(1, 6)),
        Feature("average"),
        Feature("doubled", kind="integer"),
    ]
).relate("average", "=", {"maths": 0.5, "english": 0.5})
PUPIL = np.array([4.0, 3.0, 3.5, 7.0])


def test_a_total_follows_the_part_that_is_wished_for():
    assert read_wish({"maths": 2}, PUPIL, GRADES).tolist() == [2, 3, 2.5, 7]
    assert PUPIL.tolist() == [4, 3, 3.5, 7]


def test_a_total_of_totals_follows_too_and_stays_whole():
    doubled = GRADES.relate("doubled", "=", {"average": 2})

    assert read_wish({"maths": 2}, PUPIL, doubled).tolist() == [2, 3, 2.5, 5]


def test_a_total_that_was_rounded_moves_by_what_its_parts_do():
    rounded = np.array([4.0, 3.0, 3.4, 7.0])

    found = read_wish({"maths": 3.5}, rounded, GRADES.with_("average", resolution=1))

    np.testing.assert_allclose(found, [3.5, 3, 3.15, 7])


@pytest.mark.parametrize(
    "wish", [{"maths": 2, "average": 3.5}, {"average": 2.5}, {"maths": None}, {"doubled": 5}]
)
def test_nothing_follows_where_the_total_is_named_or_a_part_is_unknown(wish):
    now = dict(zip(GRADES.names, PUPIL.tolist(), strict=True))
    wished = [np.nan if value is None else value for value in {**now, **wish}.values()]

    np.testing.assert_array_equal(read_wish(wish, PUPIL, GRADES), wished)


@pytest.fixture(scope="module")
def explainer() -> LocalFACE:
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.integers(1, 7, (200, 2)).astype(float), columns=["maths", "english"])
    data["average"] = (data["maths"] + data["english"]) / 2
    schema = Schema.infer(data).relate("average", "=", {"maths": 0.5, "english": 0.5})
    return LocalFACE(lambda one: 1 / (1 + one["average"]), data, schema=schema, min_score=0.3)


def test_a_wish_for_a_part_is_not_refused_for_the_total_that_it_changes(explainer):
    found = explainer.check({"maths": 4, "english": 3, "average": 3.5}, {"maths": 1})

    assert found.wish == {"maths": 1, "average": 2}
    assert "relation" not in found.refused_by


def test_a_wish_for_a_total_by_itself_is_told_what_to_wish_for(explainer):
    found = explainer.check({"maths": 4, "english": 3, "average": 3.5}, {"average": 2})
    named = explainer.check({"maths": 4, "english": 3, "average": 3.5}, {"average": 1, "maths": 3})

    instead = "rules out this state: wish for maths and english, and average follows"
    assert found.reasons[0].endswith(instead)
    assert named.reasons[0].endswith("rules out this state")
