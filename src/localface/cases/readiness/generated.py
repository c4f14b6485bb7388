"""A generated cohort of intensive-care patients with the features of the paper's case study.

Nobody in it is real. Marginals and correlations were fitted to openly available
intensive-care data; rows are independent and follow no one over time.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import numpy as np
from scipy.special import gammaincinv, ndtr, ndtri

from localface.cases.readiness.codebook import schema
from localface.data.schema import Schema
from localface.types import Array, Mask

_GAPS = {"resp_max": "resp_min", "hr_max": "hr_min", "temp_max": "temp_min"}
_KEPT_TUBES = 0.2  # share of tubes that are charted in the second source
SIZES = {"mimic": 13_243, "gicu": 3_506}
"""Rows of each source, as many as in the paper."""


@dataclass(frozen=True, slots=True, eq=False)
class Cohort:
    """Columns by name, whether each patient was ready, where they come from, and the schema."""

    columns: dict[str, Array]
    ready: Array
    source: Array
    schema: Schema

    def frame(self) -> Any:
        """The features as a pandas frame."""
        import pandas

        return pandas.DataFrame(self.columns)


def synthetic(seed: int = 0, *, sizes: dict[str, int] | None = None) -> Cohort:
    """Generate the cohort: 13,243 patients of one source, 3,506 of another, half of them ready.

    What the 22 features are and in which units: see `localface.cases.readiness.codebook`.

    Example
    -------
    >>> cohort = synthetic(seed=0, sizes={"mimic": 200, "gicu": 50})
    >>> len(cohort.ready), len(cohort.schema)
    (250, 22)
    """
    facts = json.loads(
        files("localface.cases").joinpath("readiness.json").read_text(encoding="utf-8")
    )
    rng = np.random.default_rng(seed)
    counts = sizes or SIZES
    source = np.repeat(list(counts), list(counts.values()))
    ready = rng.random(len(source)) < facts["prevalence"]
    early = rng.random(len(source)) < facts["early_share_of_negatives"]
    component = np.where(ready, "rfd", np.where(early, "early", "callout"))
    ranks = _draw_correlated_ranks(facts["correlation"]["matrix"], len(source), rng)
    columns = {
        name: _draw_values(facts["features"][name], component, ranks[:, i])
        for i, name in enumerate(facts["correlation"]["features"])
    }
    _adjust_columns_in_place(columns, facts, second=source == "gicu", rng=rng)
    return Cohort(columns, ready.astype(int), source, schema())


def _draw_correlated_ranks(
    correlation: list[list[float]], n: int, rng: np.random.Generator
) -> Array:
    """Ranks in (0, 1) that are correlated as the features are within a class."""
    values, vectors = np.linalg.eigh(np.array(correlation))
    root = vectors * np.sqrt(np.clip(values, 0.0, None))
    normal = rng.normal(size=(n, len(correlation))) @ root.T
    return np.asarray(ndtr(normal / np.sqrt((root**2).sum(axis=1))))


def _draw_values(parts: dict[str, dict[str, Any]], component: Array, ranks: Array) -> Array:
    values = np.empty(len(ranks))
    for name, part in parts.items():
        mine = component == name
        values[mine] = _values_at_ranks(part, ranks[mine])
    return values


def _values_at_ranks(part: dict[str, Any], ranks: Array) -> Array:
    """Turn ranks into values of one marginal distribution."""
    if part["kind"] == "discrete":
        steps = np.cumsum(part["p"]) / np.sum(part["p"])
        indices = np.minimum(np.searchsorted(steps, ranks), len(steps) - 1)
        return np.asarray(np.array(part["values"], dtype=float)[indices])
    low, high = part["range"]
    if part["kind"] == "normal":
        mean = part["mean"]
        sd = part["sd"]
        below = ndtr((low - mean) / sd)
        within = ndtr((high - mean) / sd) - below
        return np.asarray(mean + sd * ndtri(below + ranks * within))
    if part["kind"] == "lognormal":
        return np.asarray(np.clip(np.exp(part["mu"] + part["sigma"] * ndtri(ranks)), low, high))
    shape = (part["mean"] / part["sd"]) ** 2  # gamma_deficit: so much below the upper end
    deficit = gammaincinv(shape, 1 - ranks) * part["sd"] ** 2 / part["mean"]
    return np.asarray(np.clip(part["upper"] - deficit, low, high))


def _adjust_columns_in_place(
    columns: dict[str, Array], facts: dict[str, Any], *, second: Mask, rng: np.random.Generator
) -> None:
    """Add gaps to minima, shift the second source, keep max >= min, and round."""
    for high, low in _GAPS.items():
        columns[high] = columns[low] + columns[high]
    for name, shift in facts["site_shift"].items():
        columns[name] = columns[name] + shift * second
    for high, low in _GAPS.items():
        columns[high] = np.maximum(columns[high], columns[low])
    dropped = second & (rng.random(len(second)) > _KEPT_TUBES)
    columns["airway"] = np.where(dropped, 0.0, columns["airway"])
    for name, decimals in facts["decimals"].items():
        columns[name] = np.round(columns[name], decimals)
