"""A mixed table of made-up people, some of them twice."""

from __future__ import annotations

import numpy as np

from localface import Feature, Schema
from localface.types import Array

SCHEMA = Schema(
    [
        Feature("weight"),
        Feature("height"),
        Feature("visits", kind="integer"),
        Feature("smokes", kind="binary", categories=(0, 1)),
        Feature("ward", kind="categorical", categories=("a", "b", "c")),
        Feature("stay", moves="up"),
    ]
)


def people(n: int, seed: int) -> Array:
    """Records of a mixed table, with some people twice."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, 5, n)
    columns = [
        70 + 9 * kind + rng.normal(0, 4, n),
        np.round(170 - 5 * kind + rng.normal(0, 6, n), 1),
        rng.poisson(kind + 1.0),
        rng.random(n) < 0.2 + 0.1 * kind,
        rng.integers(0, 3, n),
        rng.exponential(3.0, n),
    ]
    records = np.column_stack(columns).astype(np.float64)
    records[n // 2 : n // 2 + n // 10] = records[: n // 10]
    return records
