"""Cases for fuzzing: tables, models and limits of every kind, drawn by Hypothesis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import strategies as st

from localface import Feature, LocalFACE, Schema, Search

Array = np.ndarray[Any, Any]

KINDS = ("normal", "skewed", "ties", "huge", "tiny", "outliers", "count", "flag", "category")
MODELS = ("linear", "bent", "steps", "wave", "one feature", "nobody", "everybody")
LETTERS = ("a", "b", "c", "d")


@dataclass(frozen=True)
class FuzzedCase:
    """A table, a model, limits, and some people."""

    data: pd.DataFrame
    schema: Schema
    model: str
    weights: tuple[float, ...]
    people: list[dict[str, Any]]
    where: dict[str, Any]
    min_score: float
    min_density: float
    search: Search
    ask: dict[str, Any]
    order: Array

    def score(self, frame: pd.DataFrame) -> Array:
        """What the model says of each row; a gap counts as nothing unusual."""
        columns = []
        for name in self.data:
            known = _as_numbers(self.data[name])
            spread = np.nanstd(known) or 1.0
            columns.append(np.nan_to_num((_as_numbers(frame[name]) - np.nanmean(known)) / spread))
        table = np.clip(np.column_stack(columns), -50, 50)
        summed = table @ np.array(self.weights)
        return np.asarray(_OUTPUTS[self.model](table, summed))

    def explainer(self, *, shuffled: bool = False) -> LocalFACE:
        """An explainer, of the rows as they are or in another order."""
        order = self.order if shuffled else np.arange(len(self.data))
        data = self.data.iloc[order].reset_index(drop=True)
        return LocalFACE(
            self.score,
            data,
            schema=self.schema,
            groups=order.tolist(),  # whose row it is goes with the row
            min_score=self.min_score,
            min_density=self.min_density,
            search=self.search,
        )


def _sigmoid(values: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-np.clip(values, -60, 60))))


_OUTPUTS: dict[str, Any] = {
    "linear": lambda table, summed: _sigmoid(summed),
    "bent": lambda table, summed: _sigmoid(summed - 0.3 * table[:, 0] ** 2),
    "steps": lambda table, summed: np.round(_sigmoid(summed) * 8) / 8,
    "wave": lambda table, summed: 0.5 + 0.5 * np.sin(2 * summed),
    "one feature": lambda table, summed: (table[:, 0] > 0.3) * 0.9 + 0.05,
    "nobody": lambda table, summed: 0.2 * _sigmoid(summed),
    "everybody": lambda table, summed: 0.8 + 0.2 * _sigmoid(summed),
}


@st.composite
def fuzzed_cases(draw: st.DrawFn) -> FuzzedCase:
    """Draw a case: its shape by Hypothesis, its numbers by a seed."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    kinds = draw(st.lists(st.sampled_from(KINDS), min_size=2, max_size=6))
    n = draw(st.sampled_from([12, 30, 60, 110]))
    group = rng.integers(0, 2, n)
    gaps = draw(st.sampled_from([0.0, 0.0, 0.0, 0.15]))
    data = pd.DataFrame(
        {f"f{i}": _make_column(kind, group, rng, gaps) for i, kind in enumerate(kinds)}
    )
    if draw(st.booleans()):  # some rows are there twice
        data = pd.concat([data, data.iloc[: n // 5]], ignore_index=True)
    features = [_make_feature(f"f{i}", kind, data, draw) for i, kind in enumerate(kinds)]
    people = [_make_person(data, rng) for _ in range(3)]
    where = {
        feature.name: rule
        for feature in features
        if (rule := _make_rule(feature, data, people[0], rng, draw)) is not None
    }
    ask = draw(
        st.sampled_from(
            [{}, {}, {"actions": False}, {"max_features": 1}, {"max_features": 2}, {"relax": True}]
        )
    )
    return FuzzedCase(
        data=data,
        schema=Schema(features),
        model=draw(st.sampled_from(MODELS)),
        weights=tuple((rng.normal(size=len(kinds)) + 0.3).tolist()),
        people=people,
        where=where,
        min_score=draw(st.sampled_from([0.5, 0.6, 0.9])),
        min_density=draw(st.sampled_from([0.05, 0.1, 0.2])),
        search=Search(
            n_neighbors=draw(st.sampled_from([5, 10])),
            max_step=draw(st.sampled_from([None, None, 0.8, 2.0])),
        ),
        ask=dict(ask),
        order=rng.permutation(len(data)),
    )


def _make_column(kind: str, group: Array, rng: np.random.Generator, gaps: float) -> Any:
    n = len(group)
    plain = group + rng.normal(0, 0.7, n)
    columns: dict[str, Any] = {
        "normal": plain.round(2),
        "skewed": np.exp(plain).round(2),
        "ties": np.round(plain * 2) / 2,
        "huge": (plain * 1e7).round(-3),
        "tiny": plain * 1e-6,
        "outliers": np.where(rng.random(n) < 0.04, 1e5, plain).round(2),
        "count": rng.poisson(1.0 + 2 * group),
        "flag": rng.integers(0, 2, n),
        "category": rng.choice(LETTERS, n, p=[0.4, 0.3, 0.2, 0.1]),
    }
    found = columns[kind]
    if gaps and kind in ("normal", "skewed", "ties"):
        found = np.where(rng.random(n) < gaps, np.nan, found)
    return found


def _make_feature(name: str, kind: str, data: pd.DataFrame, draw: st.DrawFn) -> Feature:
    moves: Any = draw(st.sampled_from(["freely", "freely", "freely", "never", "up", "down"]))
    if kind in ("flag", "category"):
        moves = "never" if moves == "never" else "freely"
        labels: Any = (0, 1) if kind == "flag" else LETTERS
        shape: Any = "binary" if kind == "flag" else "categorical"
        return Feature(name, kind=shape, categories=labels, moves=moves)
    within = None
    if moves == "freely" and draw(st.integers(0, 3)) == 0:
        within = float(np.nanstd(data[name])) * draw(st.sampled_from([0.5, 2.0])) or None
    return Feature(
        name, kind="integer" if kind == "count" else "numeric", moves=moves, within=within
    )


def _make_person(data: pd.DataFrame, rng: np.random.Generator) -> dict[str, Any]:
    """Somebody of the table, at times with a number of somebody else's."""
    first, second = rng.integers(0, len(data), 2)
    person = {str(name): _plain(data[name].iloc[first]) for name in data}
    if rng.random() < 0.5:
        name = str(rng.choice(list(data)))
        person[name] = _plain(data[name].iloc[second])
    return person


def _make_rule(
    feature: Feature, data: pd.DataFrame, person: dict[str, Any], rng: Any, draw: st.DrawFn
) -> Any:
    """A limit for one call, or none."""
    own = person[feature.name]
    if feature.own or own != own or draw(st.integers(0, 9)) < 6:
        return None
    if feature.categories is not None:
        return draw(st.sampled_from(["never", [own, feature.categories[0]]]))
    spread = float(np.nanstd(data[feature.name])) or 1.0
    rule = draw(st.sampled_from(["never", "up", "down", "within", "between"]))
    if rule == "within":
        return round(spread, 3) or spread
    if rule == "between":
        return (own - spread, own + 2 * spread)
    return rule if feature.moves == "freely" or rule == "never" else "never"


def _as_numbers(values: Any) -> Array:
    if values.dtype.kind in "biuf":
        return np.asarray(values, dtype=float)
    return np.array([LETTERS.index(one) if one in LETTERS else np.nan for one in values], float)


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
