"""Records in the user's units become points, and points records: the only place that scales."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from localface.box import Box
from localface.errors import DataError
from localface.geometry import Array, Bounds, Mask
from localface.schema import Feature, Schema

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

    def __post_init__(self) -> None:
        widths = [len(f.categories or ()) if f.kind == "categorical" else 1 for f in self.schema]
        object.__setattr__(self, "feature_of", np.repeat(np.arange(len(widths)), widths).astype(np.int64))
        object.__setattr__(self, "discrete", np.repeat([f.discrete for f in self.schema], widths).astype(bool))
        object.__setattr__(self, "_firsts", tuple(int(first) for first in np.cumsum([0, *widths])[:-1]))
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
        small = [0.0 if feature.discrete else (feature.resolution or 0.0) * (1 - 1e-9) for feature in self.schema]
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
        for j, (feature, first) in enumerate(zip(self.schema, self._firsts, strict=True)):
            if feature.kind == "categorical":
                places = first + records[:, j].astype(np.int64)
                points[np.arange(len(records)), places] = self._height(j)
            else:
                points[:, first] = self._column(j, records[:, j])
        return points

    def records(self, points: Array) -> Array:
        """Turn points into the nearest records."""
        records = np.empty((len(points), len(self.schema)))
        for j in range(len(self.schema)):
            records[:, j] = self._codes(j, points)
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
        for j, (feature, first) in enumerate(zip(self.schema, self._firsts, strict=True)):
            if feature.kind == "categorical":
                self._choose(j, box, lower, upper)
                continue
            codes = sorted(box.allowed.get(j, ()))
            low, high = (codes[0], codes[-1]) if len(codes) == 1 else (box.lower[j], box.upper[j])
            lower[first], upper[first] = self._column(j, np.array([low, high], dtype=np.float64))
            up[first], down[first] = box.up[j], box.down[j]
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

    def _column(self, j: int, codes: Array) -> Array:
        return np.asarray((codes - self.centres[j]) / self.scales[j])

    def _codes(self, j: int, points: Array) -> Array:
        feature, first = self.schema.features[j], self._firsts[j]
        if feature.kind == "categorical":
            size = len(feature.categories or ())
            return np.asarray(points[:, first : first + size].argmax(axis=1), dtype=np.float64)
        codes: Array = points[:, first] * self.scales[j] + self.centres[j]
        if feature.kind == "numeric":
            return self._tidied(j, points[:, first], codes)
        whole = np.rint(codes) + 0.0  # no negative zero
        return whole if feature.categories is None else np.clip(whole, 0.0, len(feature.categories) - 1.0)

    def _tidied(self, j: int, column: Array, codes: Array) -> Array:
        """Prefer the number with few digits where it is the same point: 37.3, not 37.300000000000004."""
        size = max(abs(float(self.centres[j])), float(self.scales[j]))
        digits = _DIGITS - int(np.ceil(np.log10(size)))
        if not -_DIGITS < digits <= _EXACT_POWER:
            return codes
        short = np.round(codes, digits)
        return np.where(self._column(j, short) == column, short, codes)


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
