"""The features of a patient with their units, their limits, the nurse-led discharge criteria.

Features (charted over the four hours before the decision)
----------------------------------------------------------
airway       0 patent, 1 tube in place
fio2         inspired oxygen, fraction, 0.21 (room air) to 1
spo2_min     lowest oxygen saturation, %
hco3         bicarbonate, mmol/L
resp_min/max respiratory rate, /min
bp_min       lowest systolic blood pressure, mmHg
hr_min/max   heart rate, /min
pain         0 (none) to 10
gcs_min      lowest Glasgow coma score, 3 to 15
temp_min/max temperature, C
haemoglobin  g/L
k, na        potassium, sodium, mmol/L
creatinine   umol/L
bun          urea, mmol/L
bmi          body mass index, kg/m2
los          hours since admission to intensive care
age          years
sex          0 female, 1 male

The airway stays a number in the table, since a forest is fitted on numbers; ``format_value``
has the words.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from localface.data.feature import Feature
from localface.data.schema import Schema
from localface.errors import DataError, list_names
from localface.types import Mask

AGE_COMPARABLE = 25
"""Years by which other patients may be older or younger: c. 25 in the paper."""

LOS_WITHIN = 11.7 * 24
"""Hours that a patient may be imagined to stay on: c. 11.7 days in the paper."""

FEATURE_WORDS = {
    "airway": "airway",
    "fio2": "inspired oxygen",
    "spo2_min": "lowest oxygen saturation",
    "hco3": "bicarbonate",
    "resp_min": "lowest respiratory rate",
    "resp_max": "highest respiratory rate",
    "bp_min": "lowest systolic blood pressure",
    "hr_min": "lowest heart rate",
    "hr_max": "highest heart rate",
    "pain": "pain score",
    "gcs_min": "lowest Glasgow coma score",
    "temp_min": "lowest temperature",
    "temp_max": "highest temperature",
    "haemoglobin": "haemoglobin",
    "k": "potassium",
    "na": "sodium",
    "creatinine": "creatinine",
    "bun": "urea",
    "bmi": "body mass index",
    "los": "length of stay",
    "age": "age",
    "sex": "sex",
}
"""Every feature in the words of a ward."""

GROUPS = {
    "Breathing": ("airway", "fio2", "spo2_min", "hco3", "resp_min", "resp_max"),
    "Circulation": ("bp_min", "hr_min", "hr_max"),
    "Awareness, pain and temperature": ("pain", "gcs_min", "temp_min", "temp_max"),
    "Blood": ("haemoglobin", "k", "na", "creatinine", "bun"),
    "The person": ("bmi", "los", "age", "sex"),
}
"""The features as a ward round goes through them."""

LABELS = {"airway": ("patent", "tube"), "sex": ("female", "male")}
"""What 0 and 1 mean."""


def schema() -> Schema:
    """What a patient may change: all but their age, sex, body mass index and length of stay.

    The stay grows by itself: what waiting alone would do is said beside an answer. The paper
    lets age and stay vary, in both directions; here nobody is told to be younger, or to have
    stayed for a shorter time.
    """
    features = _patient_features()
    references = {one.feature: (one.low, one.high) for one in CRITERIA if one.feature != "airway"}
    features = [replace(one, reference=references.get(one.name)) for one in features]
    return Schema(
        features,
        relations=[(f"{what}_min", "<=", f"{what}_max") for what in ("resp", "hr", "temp")],
    )


def _patient_features() -> list[Feature]:
    return [
        Feature("airway", kind="binary", categories=(0, 1)),
        Feature("fio2", resolution=0.01, bounds=(0.21, 1.0)),
        Feature("spo2_min", unit="%", resolution=1),
        Feature("hco3", unit="mmol/L", resolution=1),
        Feature("resp_min", unit="/min", resolution=1),
        Feature("resp_max", unit="/min", resolution=1),
        Feature("bp_min", unit="mmHg", resolution=1),
        Feature("hr_min", unit="/min", resolution=1),
        Feature("hr_max", unit="/min", resolution=1),
        Feature("pain", kind="integer", bounds=(0, 10)),
        Feature("gcs_min", kind="integer", bounds=(3, 15)),
        Feature("temp_min", unit="C", resolution=0.1),
        Feature("temp_max", unit="C", resolution=0.1),
        Feature("haemoglobin", unit="g/L", resolution=1),
        Feature("k", unit="mmol/L", resolution=0.1),
        Feature("na", unit="mmol/L", resolution=1),
        Feature("creatinine", unit="umol/L", resolution=1),
        Feature("bun", unit="mmol/L", resolution=0.1),
        Feature("bmi", unit="kg/m2", resolution=0.1, moves="never"),
        Feature("los", unit="h", resolution=1, moves="grows", within=LOS_WITHIN),
        Feature("age", unit="years", kind="integer", protected=True, comparable=AGE_COMPARABLE),
        Feature("sex", kind="binary", categories=(0, 1), protected=True),
    ]


UNITS = {"C": "°C", "umol/L": "µmol/L", "kg/m2": "kg/m²"}
"""Units as people write them, where a schema file keeps to plain letters."""


def format_value(feature: Feature, code: float) -> str:
    """Write a value for people, with its unit.

    >>> plan = schema()
    >>> values = {"airway": 1, "fio2": 0.4, "los": 52.0}
    >>> [format_value(plan[name], code) for name, code in values.items()]
    ['tube', '0.4', '52 h']
    """
    if feature.name in LABELS:
        return LABELS[feature.name][round(code)]
    unit = UNITS.get(feature.unit or "", feature.unit)
    return f"{feature.format(code)} {unit}" if unit else feature.format(code)


@dataclass(frozen=True, slots=True)
class Criterion:
    """One test of the nurse-led discharge criteria: a feature between two ends, both included."""

    name: str
    feature: str
    low: float | None
    high: float | None
    words: str
    unit: str = ""

    def holds(self, values: Any) -> Mask:
        """Tell for each value whether it meets the criterion; what is missing does not.

        >>> CRITERIA[1].holds([0.6, 0.61, float("nan")]).tolist()
        [True, False, False]
        """
        found = np.asarray(values, dtype=float)
        above = np.isfinite(found) if self.low is None else found >= self.low
        return np.asarray(above if self.high is None else above & (found <= self.high))


# The appendix prints "36 >= temp" for the lowest temperature and "hco2" for bicarbonate:
# both are misprints.
CRITERIA = (
    Criterion("airway", "airway", None, 0, "airway patent"),
    Criterion("inspired oxygen", "fio2", None, 0.6, "at most 0.6"),
    Criterion("blood oxygen", "spo2_min", 95, None, "at least 95 %", "%"),
    Criterion("bicarbonate", "hco3", 19, None, "at least 19 mmol/L", "mmol/L"),
    Criterion("respiratory rate, lowest", "resp_min", 10, None, "at least 10 /min", "/min"),
    Criterion("respiratory rate, highest", "resp_max", None, 30, "at most 30 /min", "/min"),
    Criterion("systolic blood pressure", "bp_min", 100, None, "at least 100 mmHg", "mmHg"),
    Criterion("heart rate, lowest", "hr_min", 60, None, "at least 60 /min", "/min"),
    Criterion("heart rate, highest", "hr_max", None, 100, "at most 100 /min", "/min"),
    Criterion("pain", "pain", 0, 1, "0 or 1"),
    Criterion("Glasgow coma score", "gcs_min", 14, None, "at least 14"),
    Criterion("temperature, lowest", "temp_min", 36, None, "at least 36 °C", "°C"),
    Criterion("temperature, highest", "temp_max", None, 37.5, "at most 37.5 °C", "°C"),
    Criterion("haemoglobin", "haemoglobin", 90, None, "at least 90 g/L", "g/L"),
    Criterion("potassium", "k", 3.5, 6.0, "3.5 to 6.0 mmol/L", "mmol/L"),
    Criterion("sodium", "na", 130, 150, "130 to 150 mmol/L", "mmol/L"),
    Criterion("creatinine", "creatinine", 59, 104, "59 to 104 µmol/L", "µmol/L"),
    Criterion("urea", "bun", 2.5, 7.8, "2.5 to 7.8 mmol/L", "mmol/L"),
)
"""The 18 tests of the paper's appendix: meeting all for four hours allows a discharge, it says."""


def criterion_of(feature: str) -> Criterion | None:
    """The criterion that a feature is tested by, if any."""
    return next((one for one in CRITERIA if one.feature == feature), None)


def criteria_met(frame: Any) -> Any:
    """Which criteria each record meets: a table of booleans, one column a criterion.

    Columns are named by the feature that is tested.

    >>> import pandas
    >>> from localface.cases.readiness import synthetic
    >>> criteria_met(synthetic(seed=0, sizes={"mimic": 3}).frame()).shape
    (3, 18)
    """
    import pandas

    missing = [one.feature for one in CRITERIA if one.feature not in frame]
    if missing:
        raise DataError(
            f"the criteria test 18 features, and the table has no column {list_names(missing)}"
        )
    columns = {one.feature: one.holds(frame[one.feature]) for one in CRITERIA}
    return pandas.DataFrame(columns, index=getattr(frame, "index", None))


def count_criteria_met(frame: Any) -> Any:
    """How many of the 18 criteria each record meets."""
    return criteria_met(frame).sum(axis=1)
