"""The states that a person comes to by waiting."""

from __future__ import annotations

import numpy as np
import pytest

from localface.data.feature import Feature
from localface.data.schema import Schema
from localface.engine.growth import grown_records

HIGHEST = np.array([100.0, 9.0])


def grown(feature: Feature, own: float = 40.0, where: object = None) -> list[float]:
    schema = Schema([feature, Feature("b")])
    record = np.array([own, 7.0])
    found = grown_records(schema, record, schema.box(record, where), HIGHEST)
    assert (found[:, 1] == 7).all()
    return found[:, 0].tolist()


def test_values_rise_from_ones_own_to_the_highest_that_was_seen():
    values = grown(Feature("a", moves="grows"))

    assert len(values) == 16
    assert values == sorted(values)
    assert 40 < values[0] < 50
    assert values[-1] == 100


def test_nothing_grows_further_than_it_may():
    assert max(grown(Feature("a", moves="grows", within=5))) == 45
    assert max(grown(Feature("a", moves="grows", bounds=(0, 60)))) == 60
    assert max(grown(Feature("a", moves="grows", within=5), where={"a": 2})) == 42


@pytest.mark.parametrize("settings", [{"kind": "integer"}, {"resolution": 5}])
def test_values_are_those_that_the_feature_can_have(settings):
    feature = Feature("a", moves="grows", **settings)

    values = grown(feature)

    assert all(value % feature.resolution == 0 for value in values)
    assert len(set(values)) == len(values)


def test_without_a_resolution_values_are_round():
    values = grown(Feature("a", moves="grows"), own=40.123456)

    assert all(len(f"{value:g}") <= 4 for value in values[:-1])


def test_nothing_is_tried_where_nothing_grows_or_nobody_is_further_on():
    assert grown(Feature("a", moves="never")) == []
    assert grown(Feature("a", moves="grows"), own=100.0) == []


def test_what_breaks_a_relation_is_left_out():
    schema = Schema([Feature("a", moves="grows"), Feature("b")], relations=[("a", "<=", "b")])
    record = np.array([40.0, 50.0])

    found = grown_records(schema, record, schema.box(record), HIGHEST)

    assert (found[:, 0] <= 50).all()
    assert len(found)
