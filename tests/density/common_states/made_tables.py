"""Made tables with relations between their features, for the tests of this folder."""

from __future__ import annotations

import numpy as np


def phone_bills(n: int, seed: int) -> tuple[np.ndarray, list[int]]:
    """Months with a company, a monthly price, their product, a contract and a plain flag."""
    chance = np.random.default_rng(seed)
    months = chance.integers(1, 73, n).astype(float)
    plan = chance.choice(3, n, p=[0.3, 0.4, 0.3])
    price = np.round(20 + 25 * plan + chance.normal(0, 2, n), 1)
    total = np.round(months * price * chance.normal(1, 0.03, n), 1)
    contract = np.where(chance.random(n) < np.clip(1.05 - months / 60, 0.1, 0.95), 0, 1)
    noise = np.exp(chance.normal(0, 1, n))
    columns = [months, plan, price, total, contract, noise]
    return np.column_stack(columns).astype(float), [0, 3, 0, 0, 2, 0]


def composed_records(records: np.ndarray, seed: int) -> np.ndarray:
    """Every column from somebody else."""
    chance = np.random.default_rng(seed)
    return np.column_stack([chance.permutation(column) for column in records.T])
