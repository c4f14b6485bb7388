"""Records in the user's units as scaled points."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from localface.data.box import Box
from localface.data.feature import Feature
from localface.data.schema import Schema
from localface.errors import DataError
from localface.geometry.bounds import Bounds
from localface.types import Array, Ids, Mask

_IQR_OF_NORMAL = 1.349  # the interquartile range of a normal distribution, in standard deviations
_EXACT_POWER = 22  # the largest power of ten that is a float
_DIGITS = 12  # digits that a number in the user's units is first tried with
_FAR = 1e9  # ordinary differences beyond which a value is taken for a slip


@dataclass(frozen=True, slots=True, eq=False)
class Space:
    """Points whose distance is Euclidean: one ordinary difference between people is one unit.

    Numbers are centred and divided by their scale; a binary feature is one column; a
    categorical one has a column a category, so that two categories are one unit apart.
    """

    schema: Schema
    centres: Array
    scales: Array
    feature_of: Ids = field(init=False)  # the feature of each column
    discrete: Mask = field(init=False)  # whether each column is of a discrete feature
    _firsts: tuple[int, ...] = field(init=False)  # the first column of each feature
    _plain: Ids = field(init=False)  # the features that have one column
    _plain_columns: Ids = field(init=False)  # those columns
    _whole: Ids = field(init=False)  # the features with one column whose codes are whole
    _whole_limits: tuple[Array, Array] = field(init=False)  # their first and last codes
    _short: tuple[tuple[int, Ids], ...] = field(init=False)  # digits to try, and of which features

    def __post_init__(self) -> None:
        features = self.schema.features
        widths = [len(f.categories or ()) if f.kind == "categorical" else 1 for f in features]
        firsts = np.cumsum([0, *widths])[:-1]
        plain = [j for j, f in enumerate(features) if f.kind != "categorical"]
        whole = [j for j in plain if features[j].kind != "numeric"]
        columns: dict[str, object] = {
            "feature_of": np.repeat(np.arange(len(widths)), widths).astype(np.int64),
            "discrete": np.repeat([f.discrete for f in features], widths).astype(bool),
            "_firsts": tuple(int(first) for first in firsts),
            "_plain": np.array(plain, dtype=np.int64),
            "_plain_columns": firsts[plain].astype(np.int64),
            "_whole": np.array(whole, dtype=np.int64),
            "_whole_limits": _code_limits([features[j] for j in whole]),
            "_short": self._digits_per_feature(),
        }
        for name, value in columns.items():
            object.__setattr__(self, name, value)
        for array in (self.centres, self.scales, self.feature_of, self.discrete):
            array.setflags(write=False)

    @classmethod
    def fit(cls, schema: Schema, records: Array) -> Space:
        """Read centres and scales off the records, unless the schema gives a scale."""
        found = [_centre_and_scale(feature, records[:, j]) for j, feature in enumerate(schema)]
        centres, scales = np.array(found, dtype=np.float64).T.copy()
        return cls(schema, centres, scales)

    @property
    def width(self) -> int:
        """How many columns a point has."""
        return len(self.feature_of)

    @property
    def groups(self) -> Ids:
        """The group of each column: columns of one group only ever change together."""
        group = np.arange(len(self.schema))
        for names in self.schema.links:
            linked = np.isin(group, group[[self.schema.index(name) for name in names]])
            group[linked] = group[linked].min()
        return np.asarray(group[self.feature_of])

    @property
    def resolution(self) -> Array:
        """The smallest change of each column that anyone could notice."""
        small = [
            0.0 if feature.discrete else (feature.resolution or 0.0) * (1 - 1e-9)
            for feature in self.schema
        ]
        return np.asarray((np.array(small) / self.scales)[self.feature_of])

    def check_magnitudes(self, records: Array, who: str) -> None:
        """Refuse values so far off that no distance could be told from them any more."""
        far = np.abs((records - self.centres) / self.scales) > _FAR
        if far.any():
            row, j = (int(index) for index in np.argwhere(far)[0])
            name = self.schema.names[j]
            value = records[row, j]
            raise DataError(
                f"{name!r} is {value:g} in {who}, more than {_FAR:g} ordinary differences off: "
                "is it a slip?",
                feature=name,
            )

    def points(self, records: Array) -> Array:
        """Turn records into points."""
        points = np.zeros((len(records), self.width))
        points[:, self._plain_columns] = self._scale_codes(self._plain, records[:, self._plain])
        for j, first in self._one_hot_features():
            columns = first + records[:, j].astype(np.int64)
            points[np.arange(len(records)), columns] = self._category_height(j)
        return points

    def records(self, points: Array) -> Array:
        """Turn points into the nearest records, numbers with few digits where that is the same."""
        records = np.empty((len(points), len(self.schema)))
        records[:, self._plain] = (
            points[:, self._plain_columns] * self.scales[self._plain] + self.centres[self._plain]
        )
        rounded = np.rint(records[:, self._whole]) + 0.0  # no negative zero
        records[:, self._whole] = np.clip(rounded, *self._whole_limits)
        for digits, some in self._short:  # 37.3, not 37.300000000000004, where it is the same point
            short = np.round(records[:, some], digits)
            same = self._scale_codes(some, short) == points[:, [self._firsts[j] for j in some]]
            records[:, some] = np.where(same, short, records[:, some])
        for j, first in self._one_hot_features():
            last = first + len(self.schema.features[j].categories or ())
            records[:, j] = points[:, first:last].argmax(axis=1)
        return records

    def snap(self, point: Array) -> Array:
        """Return the nearest point that a record can have; fractional numbers stay as they are."""
        settled = self.points(self.records(point[None, :]))[0]
        free = np.array([feature.kind == "numeric" for feature in self.schema])[self.feature_of]
        return np.where(free, point, settled)

    def bounds(self, box: Box) -> Bounds:
        """Turn a person's box into bounds on points."""
        low = box.lower.copy()
        high = box.upper.copy()
        for j, codes in box.allowed.items():
            if len(codes) == 1:
                low[j] = high[j] = next(iter(codes))
        lower = np.full(self.width, -np.inf)
        upper = np.full(self.width, np.inf)
        up = np.zeros(self.width, dtype=bool)
        down = np.zeros(self.width, dtype=bool)
        plain = self._plain
        columns = self._plain_columns
        lower[columns] = self._scale_codes(plain, low[plain])
        upper[columns] = self._scale_codes(plain, high[plain])
        up[columns] = box.up[plain]
        down[columns] = box.down[plain]
        for j, _ in self._one_hot_features():
            self._limit_categories(j, box, lower, upper)
        return Bounds(lower, upper, up, down)

    def _limit_categories(self, j: int, box: Box, lower: Array, upper: Array) -> None:
        """Close the columns of categories that are not allowed; fix the one that is left."""
        allowed = box.allowed.get(j)
        if allowed is None:
            return
        columns = np.flatnonzero(self.feature_of == j)
        for code, column in enumerate(columns):
            if code not in allowed:
                upper[column] = 0.0
            elif len(allowed) == 1:
                lower[column] = self._category_height(j)

    def _category_height(self, j: int) -> float:
        """The value in the column of a record's category: two categories are one unit apart."""
        return float(np.sqrt(0.5) / self.scales[j])

    def _scale_codes(self, features: Ids, codes: Array) -> Array:
        return np.asarray((codes - self.centres[features]) / self.scales[features])

    def _one_hot_features(self) -> list[tuple[int, int]]:
        """Features with a column a category, and the first of their columns."""
        return [
            (j, self._firsts[j])
            for j, feature in enumerate(self.schema)
            if feature.kind == "categorical"
        ]

    def _digits_per_feature(self) -> tuple[tuple[int, Ids], ...]:
        """How many digits numbers are worth writing with, and the features of which that is so."""
        found: dict[int, list[int]] = {}
        for j, feature in enumerate(self.schema):
            size = max(abs(float(self.centres[j])), float(self.scales[j]))
            digits = _DIGITS - int(np.ceil(np.log10(size)))
            if feature.kind == "numeric" and -_DIGITS < digits <= _EXACT_POWER:
                found.setdefault(digits, []).append(j)
        return tuple((digits, np.array(some)) for digits, some in found.items())


def _centre_and_scale(feature: Feature, codes: Array) -> tuple[float, float]:
    if feature.discrete:
        return 0.0, float(feature.scale or 1.0)
    low, middle, high = np.quantile(codes, [0.25, 0.5, 0.75])
    if feature.scale is not None:
        return float(middle), float(feature.scale)
    if codes.min() == codes.max():
        if feature.moves != "never":
            raise _constant_feature_error(feature, float(codes[0]))
        return float(middle), 1.0
    robust = float(high - low) / _IQR_OF_NORMAL
    return float(middle), robust if robust > 0 else float(codes.std())


def _constant_feature_error(feature: Feature, code: float) -> DataError:
    name = feature.name
    return DataError(
        f"feature {name!r} has the same value ({feature.format(code)}) in every row, which gives "
        f"no idea of an ordinary difference: declare Feature({name!r}, moves='never'), "
        "give it a scale=, or drop the column",
        feature=name,
    )


def _code_limits(features: list[Feature]) -> tuple[Array, Array]:
    """Return the first and last code of features whose codes are whole, infinite for counts."""
    counts = [np.inf if one.categories is None else len(one.categories) - 1.0 for one in features]
    last = np.array(counts)
    return np.where(np.isinf(last), -np.inf, 0.0), last
