"""A generated credit table of mixed kinds: nobody in it is real.

Two hidden traits, means and steadiness, run through all columns, so that what people have
goes together as it does in real applications: rent and little saved, a house and a long
employment. Whether a loan was repaid depends on the columns and on chance.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from localface.data.feature import Feature
from localface.data.schema import Schema
from localface.types import Array

_SCHOOL = ("basic", "middle", "vocational", "degree")
_HOMES = ("rents", "with family", "owns")
_PURPOSES = ("car", "furniture", "education", "business", "repairs")


@dataclass(frozen=True, slots=True, eq=False)
class Credit:
    """Columns by name, whether each loan was repaid, and the schema."""

    columns: dict[str, Any]
    repaid: Array
    schema: Schema

    def frame(self) -> Any:
        """The features as a pandas frame."""
        import pandas

        return pandas.DataFrame(self.columns)


def schema() -> Schema:
    """What an application is, and how far an applicant may move until the next one."""
    return Schema(
        [
            Feature("age", unit="years", kind="integer", moves="up", within=2, bounds=(18, 90)),
            Feature("school", kind="ordinal", categories=_SCHOOL, moves="up"),
            Feature("home", kind="categorical", categories=_HOMES),
            Feature("purpose", kind="categorical", categories=_PURPOSES, moves="never"),
            Feature("employed", unit="years", kind="integer", within=3, bounds=(0, 60)),
            Feature("income", unit="a month", bounds=(400, 20_000), resolution=10),
            Feature("savings", bounds=(0, 200_000), resolution=50),
            Feature("amount", bounds=(500, 60_000), resolution=100),
            Feature("months", kind="integer", bounds=(6, 84)),
            Feature("debts", unit="loans", kind="integer", bounds=(0, 12)),
            Feature("late", unit="payments late", kind="integer", moves="never"),
            Feature("guarantor", kind="binary", category_labels={0: "no", 1: "yes"}),
        ]
    )


def synthetic(n: int = 12_000, *, seed: int = 0) -> Credit:
    """Generate ``n`` applications.

    Example
    -------
    >>> credit = synthetic(300)
    >>> len(credit.repaid), len(credit.schema)
    (300, 12)
    """
    rng = np.random.default_rng(seed)
    people, money = _draw_applicants(n, rng)
    odds = 1 / (1 + np.exp(-1.4 * _log_odds_of_repaying(people, money)))
    columns: dict[str, Any] = {
        "age": people["age"].astype(int),
        "school": np.array(_SCHOOL)[people["school"].astype(int)],
        "home": np.array(_HOMES)[people["home"].astype(int)],
        "purpose": rng.choice(_PURPOSES, n, p=[0.35, 0.25, 0.1, 0.1, 0.2]),
        "employed": people["employed"].astype(int),
        "income": np.round(money["income"], -1),
        "savings": np.round(money["savings"] / 50) * 50,
        "amount": np.round(money["amount"], -2),
        "months": money["months"].astype(int),
        "debts": money["debts"].astype(int),
        "late": money["late"].astype(int),
        "guarantor": people["guarantor"] > 0,
    }
    return Credit(columns, (rng.random(n) < odds).astype(int), schema())


def _draw_applicants(n: int, rng: np.random.Generator) -> tuple[dict[str, Array], dict[str, Array]]:
    """Who applies, and their money, both by the same two hidden traits."""
    means, steady = rng.normal(size=(2, n))
    age = np.clip(
        np.rint(38 + 11 * (0.3 * means + 0.5 * steady + 0.8 * rng.normal(size=n))), 18, 90
    )
    school = np.digitize(means + 0.7 * rng.normal(size=n), [-0.9, 0.1, 1.0])
    employed = np.clip(np.rint((age - 18) * rng.beta(2 + np.exp(0.6 * steady), 3)), 0, 60)
    money = _draw_finances(means, steady, school, rng)
    home = np.digitize(
        0.6 * means + 0.4 * steady + (age - 38) / 20 + 0.6 * rng.normal(size=n), [0.1, 0.5]
    )
    who = {
        "age": age,
        "school": school,
        "employed": employed,
        "home": home,
        "guarantor": rng.random(n) < 0.18,
    }
    return {name: np.asarray(one, dtype=float) for name, one in who.items()}, money


def _draw_finances(
    means: Array, steady: Array, school: Array, rng: np.random.Generator
) -> dict[str, Array]:
    """What applicants earn, have, ask for and owe."""
    n = len(means)
    income = np.clip(
        np.exp(7.5 + 0.35 * means + 0.1 * school + 0.15 * rng.normal(size=n)), 400, 20_000
    )
    savings = np.clip(income * np.exp(0.4 + 0.7 * steady + 0.5 * rng.normal(size=n)), 0, 200_000)
    amount = np.clip(income * np.exp(1.0 + 0.4 * rng.normal(size=n)), 500, 60_000)
    months = np.clip(np.rint(12 + 10 * amount / income + 6 * rng.normal(size=n)), 6, 84)
    debts = np.minimum(rng.poisson(np.exp(0.4 - 0.4 * steady)), 12)
    late = np.minimum(rng.poisson(np.exp(-0.9 - 0.8 * steady)), 20)
    return {
        "income": income,
        "savings": savings,
        "amount": amount,
        "months": months,
        "debts": debts,
        "late": late,
    }


def _log_odds_of_repaying(people: dict[str, Array], money: dict[str, Array]) -> Array:
    """The log odds of repaying before scaling: what people have, less what they owe."""
    burden = money["amount"] / money["months"] / money["income"]
    return np.asarray(
        1.3
        + 0.9 * np.tanh(np.log(money["savings"] / 3000 + 0.05))
        + 0.35 * (people["home"] == 2)
        + 0.04 * np.minimum(people["employed"], 15)
        + 0.3 * people["school"]
        - 5.0 * burden
        - 0.35 * money["debts"]
        - 0.6 * np.minimum(money["late"], 4)
        + 0.8 * people["guarantor"]
    )
