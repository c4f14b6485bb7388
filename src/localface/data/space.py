"""Records in the user's units become points, and points records: the only place that scales."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from localface.data.box import Box
from localface.data.schema import Feature, Schema
from localface.errors import DataError
from localface.geometry.bounds import Bounds
from localface.types import Array, Mask

_IQR_OF_NORMAL = 1.349  # the interquartile range of a normal distribution, in standard deviations
_EXACT_POWER = 22  # the largest power of ten that is a float
_DIGITS = 12  # digits that a number in the user's units is first tried with


_FAR = 1e9  # ordinary differences beyond which a value is taken for a slip


@dataclass(frozen=True, slots=True, eq=False)
class Space:
    """Where distance is Euclidean and one ordinary difference between people is one unit.

    Numbers are centred and divided by their scale; a binary feature is one column; a
    categorical one has a column a category, so that two categories are one unit apart.
    """

    schema: Schema
    centres: Array
    scales: Array
    feature_of: npt.NDArray[np.int64] = field(init=False)
    discrete: Mask = field(init=False)
    _firsts: tuple[int, ...] = field(init=False)
    _plain: npt.NDArray[np.int64] = field(init=False)  # features with one column, and those columns
    _columns: npt.NDArray[np.int64] = field(init=False)
    _whole: tuple[npt.NDArray[np.int64], Array, Array] = field(
        init=False
    )  # features that are whole; first, last code
    _short: tuple[tuple[int, npt.NDArray[np.int64]], ...] = field(
        init=False
    )  # digits worth writing, and of whom

    def __post_init__(self) -> None:
        widths = [len(f.categories or ()) if f.kind == "categorical" else 1 for f in self.schema]
        object.__setattr__(
            self, "feature_of", np.repeat(np.arange(len(widths)), widths).astype(np.int64)
        )
        object.__setattr__(
            self, "discrete", np.repeat([f.discrete for f in self.schema], widths).astype(bool)
        )
        object.__setattr__(
            self, "_firsts", tuple(int(first) for first in np.cumsum([0, *widths])[:-1])
        )
        plain = np.array(
            [j for j, f in enumerate(self.schema) if f.kind != "categorical"], dtype=np.int64
        )
        object.__setattr__(self, "_plain", plain)
        object.__setattr__(self, "_columns", np.array(self._firsts, dtype=np.int64)[plain])
        codes = [
            (j, f.categories)
            for j, f in enumerate(self.schema)
            if f.kind not in ("numeric", "categorical")
        ]
        last = np.array([np.inf if labels is None else len(labels) - 1.0 for _, labels in codes])
        first = np.where(np.isinf(last), -np.inf, 0.0)
        object.__setattr__(
            self, "_whole", (np.array([j for j, _ in codes], dtype=np.int64), first, last)
        )
        object.__setattr__(self, "_short", self._digits())
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
    def groups(self) -> npt.NDArray[np.int64]:
        """Which columns only ever change together: those of one feature, and of features that are linked."""
        group = np.arange(len(self.schema))
        for names in self.schema.links:
            linked = np.isin(group, group[[self.schema.index(name) for name in names]])
            group[linked] = group[linked].min()
        return np.asarray(group[self.feature_of])

    @property
    def grain(self) -> Array:
        """The smallest change of each column that anyone could notice."""
        small = [
            0.0 if feature.discrete else (feature.resolution or 0.0) * (1 - 1e-9)
            for feature in self.schema
        ]
        return np.asarray((np.array(small) / self.scales)[self.feature_of])

    def check(self, records: Array, who: str) -> None:
        """Refuse values so far off that no distance could be told from them any more."""
        far = np.abs((records - self.centres) / self.scales) > _FAR
        if far.any():
            row, j = (int(place) for place in np.argwhere(far)[0])
            name, value = self.schema.names[j], records[row, j]
            raise DataError(
                f"{name!r} is {value:g} in {who}, more than {_FAR:g} ordinary differences off: is it a slip?"
            )

    def points(self, records: Array) -> Array:
        """Turn records into points."""
        points = np.zeros((len(records), self.width))
        points[:, self._columns] = self._scaled(self._plain, records[:, self._plain])
        for j, first in self._one_hot():
            places = first + records[:, j].astype(np.int64)
            points[np.arange(len(records)), places] = self._height(j)
        return points

    def records(self, points: Array) -> Array:
        """Turn points into the nearest records; whole numbers are whole, and others have few digits where they can."""
        records = np.empty((len(points), len(self.schema)))
        records[:, self._plain] = (
            points[:, self._columns] * self.scales[self._plain] + self.centres[self._plain]
        )
        whole, *limits = self._whole
        records[:, whole] = np.clip(np.rint(records[:, whole]) + 0.0, *limits)  # no negative zero
        for digits, some in self._short:  # 37.3, not 37.300000000000004, where it is the same point
            short = np.round(records[:, some], digits)
            same = self._scaled(some, short) == points[:, [self._firsts[j] for j in some]]
            records[:, some] = np.where(same, short, records[:, some])
        for j, first in self._one_hot():
            records[:, j] = points[
                :, first : first + len(self.schema.features[j].categories or ())
            ].argmax(axis=1)
        return records

    def settle(self, point: Array) -> Array:
        """Return the nearest point that a record can have; numbers that need not be whole stay as they are."""
        settled = self.points(self.records(point[None, :]))[0]
        free = np.array([feature.kind == "numeric" for feature in self.schema])[self.feature_of]
        return np.where(free, point, settled)

    def bounds(self, box: Box) -> Bounds:
        """Turn a person's box into bounds on points."""
        lower, upper = np.full(self.width, -np.inf), np.full(self.width, np.inf)
        up, down = np.zeros(self.width, dtype=bool), np.zeros(self.width, dtype=bool)
        low, high = box.lower.copy(), box.upper.copy()
        for j, codes in box.allowed.items():
            if len(codes) == 1:
                (low[j],) = (high[j],) = codes
        plain, columns = self._plain, self._columns
        lower[columns], upper[columns] = (
            self._scaled(plain, low[plain]),
            self._scaled(plain, high[plain]),
        )
        up[columns], down[columns] = box.up[plain], box.down[plain]
        for j, _ in self._one_hot():
            self._choose(j, box, lower, upper)
        return Bounds(lower, upper, up, down)

    def _choose(self, j: int, box: Box, lower: Array, upper: Array) -> None:
        """Shut the columns of categories that are not allowed, and pin the one that is left."""
        allowed = box.allowed.get(j)
        if allowed is None:
            return
        columns = np.flatnonzero(self.feature_of == j)
        for code, column in enumerate(columns):
            if code not in allowed:
                upper[column] = 0.0
            elif len(allowed) == 1:
                lower[column] = self._height(j)

    def _height(self, j: int) -> float:
        """What stands in the column of a person's category: two such columns make one unit."""
        return float(np.sqrt(0.5) / self.scales[j])

    def _scaled(self, features: npt.NDArray[np.int64], codes: Array) -> Array:
        return np.asarray((codes - self.centres[features]) / self.scales[features])

    def _one_hot(self) -> list[tuple[int, int]]:
        """Features with a column a category, and the first of their columns."""
        return [
            (j, self._firsts[j])
            for j, feature in enumerate(self.schema)
            if feature.kind == "categorical"
        ]

    def _digits(self) -> tuple[tuple[int, npt.NDArray[np.int64]], ...]:
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
            raise _constant(feature, float(codes[0]))
        return float(middle), 1.0
    robust = float(high - low) / _IQR_OF_NORMAL
    return float(middle), robust if robust > 0 else float(codes.std())


def _constant(feature: Feature, code: float) -> DataError:
    name = feature.name
    return DataError(
        f"feature {name!r} has the same value ({feature.format(code)}) in every row, which gives no idea of an "
        f"ordinary difference: declare Feature({name!r}, moves='never'), give it a scale=, or drop the column"
    )
