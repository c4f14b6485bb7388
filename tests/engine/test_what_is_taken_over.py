"""A person's projection: points go where the records would, and what is linked goes together."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from localface import Feature, Schema
from localface.engine.engine import Engine
from localface.engine.fitting import fit_engine
from localface.types import Array
from small_engine import options

SCHEMA = Schema(
    [
        Feature("income"),
        Feature("debt", within=0.7),
        Feature("visits", kind="integer", within=1.5),
        Feature("member", kind="binary", categories=(0, 1), moves="never"),
        Feature("ward", kind="categorical", categories=("a", "b", "c")),
        Feature("years", moves="up"),
    ]
)


def people(n: int = 300) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "income": rng.normal(size=n).round(2),
            "debt": rng.normal(size=n).round(2),
            "visits": rng.poisson(3.0, n),
            "member": rng.integers(0, 2, n),
            "ward": rng.choice(["a", "b", "c"], n),
            "years": rng.exponential(2.0, n).round(1),
        }
    )


def engine_for(schema: Schema) -> Engine:
    def score(frame: Any) -> Array:
        return np.asarray(1 / (1 + np.exp(-np.asarray(frame["income"], dtype=float))))

    return fit_engine(score, people(), schema=schema, target=1, options=options())


def records_of(engine: Engine) -> Array:
    return engine.source.records(np.arange(200))


@pytest.mark.parametrize(
    "where", [None, {"ward": ["a", "c"], "income": (0.0, 9.0)}, {"ward": ["b"]}]
)
@pytest.mark.parametrize("factor", [1.0, 1.7])
def test_points_go_where_their_records_would(where: Any, factor: float) -> None:
    engine = engine_for(SCHEMA)
    records = records_of(engine)
    for own in records[::40]:
        box = SCHEMA.box(own, where).with_distances_widened(factor)

        projection = engine.make_person(own, box).projection

        assert projection is not None
        expected = engine.space.points(box.project_records(SCHEMA.features, records, own))
        np.testing.assert_allclose(
            projection.states_of(engine.space.points(records)), expected, rtol=0, atol=1e-12
        )


def test_what_cannot_change_stays_to_the_last_bit() -> None:
    engine = engine_for(SCHEMA.with_("years", moves="never"))
    records = records_of(engine)
    own = records[7]
    box = engine.schema.box(own, {"income": "never", "ward": "never"})

    projection = engine.make_person(own, box).projection

    assert projection is not None
    states = projection.states_of(engine.space.points(records))
    stays = np.isin(engine.space.feature_of, [0, 3, 4, 5])
    assert (states[:, stays] == engine.space.points(own[None, :])[:, stays]).all()
    assert len(np.unique(states, axis=0)) > 1


def test_linked_features_are_taken_over_together_or_not_at_all() -> None:
    schema = SCHEMA.link("debt", "income")
    engine = engine_for(schema)
    records = records_of(engine)
    own = records[7]

    projection = engine.make_person(own, schema.box(own, None)).projection

    assert projection is not None
    points = engine.space.points(records)
    states = projection.states_of(points)
    near = np.abs(records[:, 1] - own[1]) <= 0.7 - 1e-9
    far = np.abs(records[:, 1] - own[1]) > 0.7 + 1e-9
    assert near.any()
    assert far.any()
    assert (states[near][:, :2] == points[near][:, :2]).all()
    assert (states[far][:, :2] == engine.space.points(own[None, :])[0, :2]).all()
