"""Readiness for discharge from intensive care: a generated cohort with the features of the paper's case study.

Nobody in it is real. Marginals and correlations were fitted to openly available
intensive-care data; rows are independent and follow no one over time. What comes out
of it is a demonstration: decision support, correlational, not advice.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import numpy as np
from scipy import stats

from localface.geometry import Array, Mask
from localface.schema import Feature, Schema

_GAPS = {"resp_max": "resp_min", "hr_max": "hr_min", "temp_max": "temp_min"}
_KEPT_TUBES = 0.2  # share of tubes that are charted in the second source
SIZES = {"mimic": 13_243, "gicu": 3_506}


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
    """Generate the cohort: 13,243 patients of a first source and 3,506 of a second, half of them ready.

    Features (units; charted over the four hours before the decision)
    ------------------------------------------------------------------
    airway       0 patent, 1 tube in place
    fio2         inspired oxygen, fraction
    spo2_min     lowest oxygen saturation, %
    hco3         bicarbonate, mmol/L
    resp_min/max respiratory rate, /min
    bp_min       lowest systolic blood pressure, mmHg
    hr_min/max   heart rate, /min
    pain         0 to 10
    gcs_min      lowest Glasgow coma score, 3 to 15
    temp_min/max temperature, C
    haemoglobin  g/L
    k, na        potassium, sodium, mmol/L
    creatinine   umol/L
    bun          urea, mmol/L
    bmi          kg/m2
    los          hours since admission
    age          years
    sex          1 male

    Example
    -------
    >>> cohort = synthetic(seed=0, sizes={"mimic": 200, "gicu": 50})
    >>> len(cohort.ready), len(cohort.schema)
    (250, 22)
    """
    facts = json.loads(files("localface.cases").joinpath("readiness.json").read_text(encoding="utf-8"))
    rng = np.random.default_rng(seed)
    counts = sizes or SIZES
    source = np.repeat(list(counts), list(counts.values()))
    ready = rng.random(len(source)) < facts["prevalence"]
    early = rng.random(len(source)) < facts["early_share_of_negatives"]
    component = np.where(ready, "rfd", np.where(early, "early", "callout"))
    ranks = _copula(facts["correlation"]["matrix"], len(source), rng)
    columns = {
        name: _drawn(facts["features"][name], component, ranks[:, i])
        for i, name in enumerate(facts["correlation"]["features"])
    }
    _finish(columns, facts, second=source == "gicu", rng=rng)
    return Cohort(columns, ready.astype(int), source, schema())


def schema() -> Schema:
    """What a patient may change: never their sex, their age within 25 years, their stay within 11.7 days."""
    units = {"spo2_min": "%", "hco3": "mmol/L", "resp_min": "/min", "resp_max": "/min", "bp_min": "mmHg"}
    units |= {"hr_min": "/min", "hr_max": "/min", "temp_min": "C", "temp_max": "C", "haemoglobin": "g/L"}
    units |= {"k": "mmol/L", "na": "mmol/L", "creatinine": "umol/L", "bun": "mmol/L", "bmi": "kg/m2"}
    fine = {"k": 0.1, "temp_min": 0.1, "temp_max": 0.1, "bun": 0.1, "bmi": 0.1}
    features = [
        Feature("airway", kind="binary", categories=(0, 1)),
        Feature("fio2", resolution=0.01, bounds=(0.21, 1.0)),
        *(Feature(name, unit=unit, resolution=fine.get(name, 1)) for name, unit in units.items() if name != "bmi"),
        Feature("pain", kind="integer", bounds=(0, 10)),
        Feature("gcs_min", kind="integer", bounds=(3, 15)),
        Feature("bmi", unit=units["bmi"], resolution=fine["bmi"]),
        Feature("los", unit="h", resolution=1, within=11.7 * 24),
        Feature("age", unit="years", kind="integer", within=25),
        Feature("sex", kind="binary", categories=(0, 1), moves="never"),
    ]
    order = ["airway", "fio2", "spo2_min", "hco3", "resp_min", "resp_max", "bp_min", "hr_min", "hr_max", "pain"]
    order += ["gcs_min", "temp_min", "temp_max", "haemoglobin", "k", "na", "creatinine", "bun", "bmi", "los", "age"]
    order += ["sex"]
    by_name = {feature.name: feature for feature in features}
    return Schema([by_name[name] for name in order], relations=[(low, "<=", high) for high, low in _GAPS.items()])


def _copula(correlation: list[list[float]], n: int, rng: np.random.Generator) -> Array:
    """Ranks in (0, 1) that are correlated as the features are within a class."""
    values, vectors = np.linalg.eigh(np.array(correlation))
    root = vectors * np.sqrt(np.clip(values, 0.0, None))
    normal = rng.normal(size=(n, len(correlation))) @ root.T
    return np.asarray(stats.norm.cdf(normal / np.sqrt((root**2).sum(axis=1))))


def _drawn(parts: dict[str, dict[str, Any]], component: Array, ranks: Array) -> Array:
    values = np.empty(len(ranks))
    for name, part in parts.items():
        mine = component == name
        values[mine] = _marginal(part, ranks[mine])
    return values


def _marginal(part: dict[str, Any], ranks: Array) -> Array:
    """Turn ranks into values of one marginal distribution."""
    if part["kind"] == "discrete":
        steps = np.cumsum(part["p"]) / np.sum(part["p"])
        places = np.minimum(np.searchsorted(steps, ranks), len(steps) - 1)
        return np.asarray(np.array(part["values"], dtype=float)[places])
    low, high = part["range"]
    if part["kind"] == "normal":
        spread = stats.truncnorm((low - part["mean"]) / part["sd"], (high - part["mean"]) / part["sd"])
        return np.asarray(part["mean"] + part["sd"] * spread.ppf(ranks))
    if part["kind"] == "lognormal":
        return np.asarray(np.clip(np.exp(part["mu"] + part["sigma"] * stats.norm.ppf(ranks)), low, high))
    shape = (part["mean"] / part["sd"]) ** 2  # gamma_deficit: so much below the upper end
    deficit = stats.gamma(shape, scale=part["sd"] ** 2 / part["mean"]).ppf(1 - ranks)
    return np.asarray(np.clip(part["upper"] - deficit, low, high))


def _finish(columns: dict[str, Array], facts: dict[str, Any], *, second: Mask, rng: np.random.Generator) -> None:
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
