"""Tables of every kind, made by chance: what certificates have to hold on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import numpy as np

from localface.data.absence import distinct_records
from localface.data.feature import Feature
from localface.data.schema import Schema
from localface.data.space import Space
from localface.density.common_states import CommonStates, fit_common_states
from localface.geometry.point_set import PointSet

Array = np.ndarray[Any, Any]

KINDS = (
    "normal",
    "skewed",
    "heavy",
    "outliers",
    "ties",
    "almost constant",
    "crowds",
    "whole",
    "scaled",
    "scaled outliers",
    "ordinal",
    "binary",
    "categorical",
)


@dataclass(frozen=True)
class Crowd:
    """A table in codes, its schema, and how common its states are."""

    schema: Schema
    codes: Array
    density: CommonStates

    @property
    def engine(self) -> Any:
        """As much of an engine as the judge looks at."""
        return SimpleNamespace(schema=self.schema, space=self.density.space, density=self.density)


def make_crowd(
    seed: int, width: int, n: int, *, own: int = 0, people: bool = False, gaps: float = 0.0
) -> Crowd:
    """Make a table of ``width`` features that depend on each other, some of them a person's own.

    ``people`` names whose rows they are: everybody has up to three. ``gaps`` is the share of
    values that are missing, or codes, in about half of the features.
    """
    chance = np.random.default_rng([seed, width, n])
    hidden = chance.normal(size=(n, max(2, width // 3)))
    odd_ones = chance.integers(0, n, 3)
    features = []
    columns = []
    for j in range(width):
        kind = str(chance.choice(KINDS))
        score = hidden @ chance.normal(size=hidden.shape[1]) + 0.7 * chance.normal(size=n)
        score = (score - score.mean()) / score.std()
        moves = "never" if j < own else "freely"
        feature, column = _column(kind, f"v{j}", score, chance, odd_ones, moves)
        if column.min() == column.max():
            column[0] = 1.0 - column[0]
        if gaps and chance.random() < 0.6:
            feature, column = _with_gaps(feature, column, chance, gaps)
        features.append(feature)
        columns.append(column)
    schema = Schema(features)
    codes, first = distinct_records(np.column_stack(columns))
    space = Space.fit(schema, codes)
    groups = (np.arange(n) // 3)[first] if people else None
    density = fit_common_states(PointSet(space.points(codes)), space, groups=groups)
    return Crowd(schema, codes, density)


def _with_gaps(
    feature: Feature, column: Array, chance: np.random.Generator, share: float
) -> tuple[Feature, Array]:
    """The same feature with values that are missing, and with codes where it is a number."""
    column = np.where(chance.random(len(column)) < share, np.nan, column)
    if feature.kind in ("numeric", "integer"):
        column = np.where(chance.random(len(column)) < share / 2, -99.0, column)
        feature = replace(feature, codes={-99: "no record"})
    return feature, column


def _column(
    kind: str,
    name: str,
    score: Array,
    chance: np.random.Generator,
    odd_ones: Array,
    moves: str,
) -> tuple[Feature, Array]:
    """One feature of a kind, and its column: some function of a score, but for odd ones."""
    if kind in ("binary", "categorical", "ordinal"):
        size = 2 if kind == "binary" else int(chance.integers(2, 6))
        edges = np.sort(chance.normal(size=size - 1))
        names = tuple(f"c{i}" for i in range(size))
        column = np.digitize(score, edges).astype(float)
        return Feature(name, kind=kind, categories=names, moves=moves), column
    if kind == "whole":
        column = np.round(40 + 12 * score)
        return Feature(name, kind="integer", moves=moves), column
    scale = float(chance.uniform(0.5, 3)) if kind.startswith("scaled") else None
    column = {
        "skewed": lambda: np.exp(2 * score),
        "heavy": lambda: np.sinh(4 * score),
        "ties": lambda: np.round(np.maximum(score, 0.0) * 2) / 2,
        "almost constant": lambda: np.where(score > np.quantile(score, 0.97), 1.0, 0.0),
        "crowds": lambda: score + 25.0 * (score > 0.2),
    }.get(kind, lambda: score.copy())()
    if kind.endswith("outliers"):
        largest = 8.5 if kind == "scaled outliers" else 9.0
        column[odd_ones] = chance.choice([-1.0, 1.0], 3) * 10 ** chance.uniform(6, largest, 3)
    return Feature(name, scale=scale, moves=moves), column


def make_steps(crowd: Crowd, n: int, seed: int) -> tuple[Array, Array]:
    """Steps in codes: between rows, to composed records, in one feature, small, to nowhere."""
    chance = np.random.default_rng(seed)
    codes = crowd.codes
    starts = codes[chance.integers(0, len(codes), n)].copy()
    ends = codes[chance.integers(0, len(codes), n)].copy()
    composed = np.column_stack([chance.choice(column, n) for column in codes.T])
    how = chance.integers(0, 6, n)
    ends[how == 1] = composed[how == 1]
    starts[how == 2] = composed[how == 2]
    one = chance.integers(0, codes.shape[1], n)
    for i in np.flatnonzero(how == 3):  # another's value in one feature
        changed = ends[i, one[i]]
        ends[i] = starts[i]
        ends[i, one[i]] = changed
    for i in np.flatnonzero(how == 4):  # nearly there already
        numeric = [feature.kind == "numeric" for feature in crowd.schema]
        ends[i] = np.where(numeric, starts[i] + 0.01 * (ends[i] - starts[i]), starts[i])
    ends[how == 5] = starts[how == 5]  # no step at all
    own = [feature.moves == "never" for feature in crowd.schema]
    keeps = chance.random(n) < 0.7  # most steps are a person's, who keeps what is theirs
    ends[keeps] = np.where(own, starts[keeps], ends[keeps])
    return starts, ends
