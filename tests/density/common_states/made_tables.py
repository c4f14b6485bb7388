"""Made tables with relations between their features, for the tests of this folder."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from localface.data.feature import Feature
from localface.data.schema import Schema
from localface.data.space import Space
from localface.density.common_states import CommonStates, fit_common_states
from localface.geometry.point_set import PointSet

Array = np.ndarray[Any, Any]


def phone_bills(n: int, seed: int) -> Array:
    """Months with a company, a plan, a monthly price, what was paid, a contract, and noise."""
    chance = np.random.default_rng(seed)
    months = chance.integers(1, 73, n).astype(float)
    plan = chance.choice(3, n, p=[0.3, 0.4, 0.3])
    price = np.round(20 + 25 * plan + chance.normal(0, 2, n), 1)
    total = np.round(months * price * chance.normal(1, 0.03, n), 1)
    contract = np.where(chance.random(n) < np.clip(1.05 - months / 60, 0.1, 0.95), 0, 1)
    noise = np.exp(chance.normal(0, 1, n))
    return np.column_stack([months, plan, price, total, contract, noise]).astype(float)


def phone_schema(own: tuple[str, ...] = ()) -> Schema:
    """The features of phone bills; ``own`` ones never change."""
    features = [
        Feature("months", kind="integer"),
        Feature("plan", kind="categorical", categories=("small", "medium", "large")),
        Feature("price"),
        Feature("total"),
        Feature("contract", kind="binary"),
        Feature("noise"),
    ]
    schema = Schema(features)
    for name in own:
        schema = schema.with_(name, moves="never")
    return schema


def numbers_schema(n: int, own: tuple[int, ...] = ()) -> Schema:
    """Plain numbers."""
    return Schema([Feature(f"v{j}", moves="never" if j in own else "freely") for j in range(n)])


def space_and_points(records: Array, schema: Schema) -> tuple[Space, Array]:
    """Distinct records as points."""
    distinct = np.unique(records + 0.0, axis=0)
    space = Space.fit(schema, distinct)
    return space, space.points(distinct)


def fit_on(records: Array, schema: Schema, groups: Any = None) -> CommonStates:
    """Fit on distinct records, in their order; ``groups`` names the person of each record."""
    distinct, first = np.unique(records + 0.0, axis=0, return_index=True)
    space = Space.fit(schema, distinct)
    people = None if groups is None else np.unique(groups, return_inverse=True)[1][first]
    return fit_common_states(PointSet(space.points(distinct)), space, groups=people)


def engine_like(density: CommonStates, schema: Schema) -> Any:
    """As much of an engine as the judge looks at."""
    return SimpleNamespace(schema=schema, space=density.space, density=density)


def log_densities(density: CommonStates, records: Array) -> Array:
    """How common records are."""
    points = density.space.points(records)
    return density.lowest_along(points, points, None).log_densities


def shares(density: CommonStates, records: Array) -> Array:
    """The share of people who are less common."""
    return density.scale.share_below(log_densities(density, records))


def composed_records(records: Array, seed: int) -> Array:
    """Every column from somebody else."""
    chance = np.random.default_rng(seed)
    return np.column_stack([chance.permutation(column) for column in records.T])
