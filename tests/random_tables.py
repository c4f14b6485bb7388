"""Random small tables with random limits, for tests by brute force: a case for each seed."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from localface import Feature, LocalFACE, Schema, Search

Array = np.ndarray[Any, Any]

HOMES = ("rent", "own", "family")


@dataclass(frozen=True)
class Case:
    """A table, a model, a schema, and somebody with limits of their own on what may change."""

    data: pd.DataFrame
    weights: Array
    features: dict[str, Feature]
    person: dict[str, Any]
    where: dict[str, Any]
    min_score: float
    min_density: float
    search: Search
    relations: tuple[tuple[str, str, str], ...] = ()
    density: Any = field(default="kde")

    def score(self, frame: pd.DataFrame) -> Array:
        """A logistic score of the numbers and of owning a home, with a bend in it."""
        numbers = np.column_stack([_as_numbers(frame[name]) for name in self.data])
        known = np.column_stack([_as_numbers(self.data[name]) for name in self.data])
        scaled = (numbers - known.mean(axis=0)) / (known.std(axis=0) + 1e-9)
        return 1 / (1 + np.exp(-(scaled @ self.weights - 0.3 * scaled[:, 0] ** 2)))

    @property
    def schema(self) -> Schema:
        """The features, with what the schema says of them."""
        return Schema(self.features.values(), relations=self.relations)

    def explainer(self, **options: Any) -> LocalFACE:
        """An explainer of the case."""
        return LocalFACE(
            self.score,
            self.data,
            schema=self.schema,
            groups=range(len(self.data)),
            **{
                "min_score": self.min_score,
                "min_density": self.min_density,
                "density": self.density,
                "search": self.search,
                **options,
            },
        )

    def without_limits(self, names: Any) -> Case:
        """The same case where nothing limits some features."""
        freed = {
            name: replace(one, moves="freely", within=None, bounds=None) if name in names else one
            for name, one in self.features.items()
        }
        where = {name: rule for name, rule in self.where.items() if name not in names}
        return replace(self, features=freed, where=where)

    def kept_names(self) -> set[str]:
        """What may never be named as something that could move."""
        return {name for name, one in self.features.items() if one.own or one.protected}


def make_case(seed: int) -> Case:
    """Make the case of a seed."""
    rng = np.random.default_rng(seed)
    data = _make_table(rng, int(rng.integers(50, 170)), plane=seed % 3 == 0)
    features = {str(name): _make_feature(rng, str(name), data) for name in data}
    relations: tuple[tuple[str, str, str], ...] = ()
    if "paid" in features and rng.random() < 0.5:
        relations = (("paid", "<=", "income"),)
    person = _make_person(rng, data)
    if not relations or person["paid"] <= person["income"]:
        pass
    else:
        person["paid"] = person["income"]
    case = Case(
        data=data,
        weights=rng.normal(size=data.shape[1]) + 0.2,
        features=_with_schema_limits(rng, features, data, person),
        person=person,
        where={},
        min_score=float(rng.choice([0.5, 0.6, 0.75, 0.9])),
        min_density=float(rng.choice([0.05, 0.1, 0.2])),
        search=Search(
            n_neighbors=int(rng.choice([5, 12, 50])),
            max_step=[None, None, 0.6, 1.2, 2.5][int(rng.integers(5))],
            edges="average" if rng.random() < 0.12 else "strict",
        ),
        relations=relations,
    )
    return replace(case, where=_make_where(rng, case))


def make_wish(case: Case, seed: int) -> dict[str, Any]:
    """Somebody else's values in some features, or values that nobody has."""
    rng = np.random.default_rng([seed, 1])
    names = list(case.data)
    some = rng.choice(names, size=int(rng.integers(1, len(names) + 1)), replace=False)
    if rng.random() < 0.85:
        some = [name for name in some if not case.features[name].own] or [names[0]]
    other = case.data.iloc[int(rng.integers(len(case.data)))]
    wish = {str(name): other[name] for name in some}
    for name in wish:
        if case.features[name].kind == "numeric" and rng.random() < 0.3:
            low, high = case.data[name].min(), case.data[name].max()
            wish[name] = round(float(low + (high - low) * rng.uniform(-0.1, 1.1)), 2)
    return {name: _plain(value) for name, value in wish.items()}


def _make_table(rng: np.random.Generator, n: int, *, plane: bool) -> pd.DataFrame:
    cluster = rng.integers(0, 2, n)
    income = (30 + 12 * cluster + rng.normal(0, 5, n)).round(1)
    debt = (20 - 6 * cluster + rng.normal(0, 3, n)).round(1)
    if plane:
        return pd.DataFrame({"income": income, "debt": debt})
    table = {
        "income": income,
        "debt": debt,
        "years": rng.poisson(5 + 3 * cluster).astype(int),
        "home": rng.choice(HOMES, n, p=[0.5, 0.3, 0.2]),
        "age": rng.integers(20, 70, n),
        "sex": rng.choice(["f", "m"], n),
        "paid": np.round(income * rng.uniform(0.2, 1.0, n), 1),
    }
    names = list(table)
    dropped = rng.choice(names[2:], size=int(rng.integers(0, 4)), replace=False)
    return pd.DataFrame({name: table[name] for name in names if name not in dropped})


def _make_feature(rng: np.random.Generator, name: str, data: pd.DataFrame) -> Feature:
    if name == "home":
        return Feature(name, kind="categorical", categories=HOMES)
    if name == "sex":
        return Feature(name, kind="binary", categories=("f", "m"), protected=True)
    if name == "age":
        own = rng.random() < 0.7
        return Feature(name, kind="integer", moves="never" if own else "freely", protected=own)
    if name == "years":
        return Feature(name, kind="integer", moves=str(rng.choice(["freely", "up"])))  # type: ignore[arg-type]
    return Feature(name)


def _make_person(rng: np.random.Generator, data: pd.DataFrame) -> dict[str, Any]:
    row = data.iloc[int(rng.integers(len(data)))]
    person = {str(name): _plain(row[name]) for name in data}
    if rng.random() < 0.5:  # off the rows, perhaps somewhere that few people are
        person["income"] = round(person["income"] + float(rng.normal(0, 5)), 1)
        person["debt"] = round(person["debt"] + float(rng.normal(0, 3)), 1)
    return person


def _with_schema_limits(
    rng: np.random.Generator, features: dict[str, Feature], data: pd.DataFrame, person: Any
) -> dict[str, Feature]:
    """Limits in the schema: some features are own, move one way, or stay within a distance."""
    found = dict(features)
    for name in ("income", "debt"):
        draw = rng.random()
        spread = float(data[name].std())
        if draw < 0.12:
            found[name] = replace(found[name], moves=str(rng.choice(["up", "down"])))
        elif draw < 0.3:
            found[name] = replace(found[name], within=round(spread * rng.uniform(0.2, 1.5), 1))
        elif draw < 0.4:
            low = round(person[name] - spread * rng.uniform(0, 1), 1)
            found[name] = replace(found[name], bounds=(low, round(low + 1.5 * spread, 1)))
    return found


def _make_where(rng: np.random.Generator, case: Case) -> dict[str, Any]:
    """Limits of one call."""
    where: dict[str, Any] = {}
    for name, feature in case.features.items():
        if feature.own or rng.random() < 0.6:
            continue
        if feature.categories is not None:
            others = [one for one in feature.categories if one != case.person[name]]
            where[name] = [case.person[name], others[0]] if rng.random() < 0.5 else "never"
            continue
        spread = float(case.data[name].std())
        choice = int(rng.integers(4))
        if choice == 0:
            where[name] = round(spread * rng.uniform(0.1, 1.0), 1)
        elif choice == 1 and feature.bounds is None:
            at = case.person[name]
            low = float(np.floor(at - spread * rng.uniform(0, 1)))
            where[name] = (low, float(np.ceil(at + spread * rng.uniform(0, 1))))
        elif choice == 2 and feature.moves == "freely":
            where[name] = str(rng.choice(["up", "down"]))
        elif choice == 3:
            where[name] = "never"
    return where


def _as_numbers(column: pd.Series) -> Array:
    values = column.to_numpy()
    if values.dtype.kind in "OUT" or not np.issubdtype(values.dtype, np.number):
        return np.array([float(str(one) in ("own", "f")) for one in values])
    return values.astype(float)


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value
