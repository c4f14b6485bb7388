"""Records in the user's units as scaled points."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

import numpy as np

from localface.data.absence import absent_values, is_absent
from localface.data.absence_columns import AbsenceColumns, lay_out_absences
from localface.data.box import Box
from localface.data.normal_scores import NormalScores
from localface.data.plain_columns import PlainColumns
from localface.data.schema import Schema
from localface.data.value_scales import absences_in, centre_and_scale
from localface.errors import DataError
from localface.geometry.bounds import Bounds
from localface.types import Array, Floats, Ids, Mask

_FAR = 1e9  # ordinary differences beyond which a value is taken for a slip


@dataclass(frozen=True, slots=True, eq=False)
class Space:
    """Points whose distance is Euclidean: one ordinary difference between people is one unit.

    Numbers enter by their normal scores, or, where the schema gives a scale, centred and divided
    by it; a binary feature is one column; a categorical one has a column a category, so that
    two categories are one unit apart. What is missing, or is a code for a reason, is a category
    of its own: ``absences`` holds, of each feature, the codes of such that occur, and each has
    a column after those of the value. ``scales`` say what one ordinary difference is in the
    user's units, about the middle of the rows.
    """

    schema: Schema
    centres: Array
    scales: Array
    normal_scores: tuple[NormalScores | None, ...] = ()  # of each feature; None: divide by scale
    absences: tuple[tuple[float, ...], ...] = ()  # of each feature; empty: no value is missing
    absence_columns: AbsenceColumns = field(init=False)
    feature_of: Ids = field(init=False)  # the feature of each column
    discrete: Mask = field(init=False)  # whether each column is of a discrete feature
    groups: Ids = field(init=False)  # columns of one group only ever change together
    goes_part_of_the_way: Mask = field(init=False)  # columns of numbers linked with no other
    first_columns: Ids = field(init=False)  # the first column of each feature
    _firsts: tuple[int, ...] = field(init=False)  # the first column of each feature
    _plain: Ids = field(init=False)  # the features that have one column
    _plain_columns: Ids = field(init=False)  # those columns
    _plain_codes: PlainColumns = field(init=False)  # their codes
    _one_hot: Ids = field(init=False)  # the features that have a column a category
    _one_hot_columns: Ids = field(init=False)  # the first of these columns, of each
    _heights: Array = field(init=False)  # the value in the column of one's category
    _is_plain: bool = field(init=False)  # whether every column is a feature, in their order
    _noticeable: Array = field(init=False)  # how much of each feature anyone would notice

    def __post_init__(self) -> None:
        features = self.schema.features
        sizes = [len(f.categories or ()) if f.kind == "categorical" else 1 for f in features]
        missing = [len(codes) for codes in self.absences] if self.absences else [0] * len(features)
        widths = [size + more for size, more in zip(sizes, missing, strict=True)]
        firsts = np.cumsum([0, *widths])[:-1]
        plain = [j for j, f in enumerate(features) if f.kind != "categorical"]
        one_hot = [j for j, f in enumerate(features) if f.kind == "categorical"]
        columns: dict[str, object] = {
            "_one_hot": np.array(one_hot, dtype=np.int64),
            "_one_hot_columns": firsts[one_hot].astype(np.int64),
            "_heights": np.sqrt(0.5) / self.scales[one_hot],
            "absence_columns": lay_out_absences(self.schema, self.absences, self.scales, sizes),
            "feature_of": np.repeat(np.arange(len(widths)), widths).astype(np.int64),
            "discrete": np.repeat([f.discrete for f in features], widths).astype(bool),
            "first_columns": firsts.astype(np.int64),
            "_firsts": tuple(int(first) for first in firsts),
            "_plain": np.array(plain, dtype=np.int64),
            "_plain_columns": firsts[plain].astype(np.int64),
            "_plain_codes": PlainColumns.of(
                self.schema, self.centres, self.scales, self.normal_scores
            ),
        }
        columns["_is_plain"] = not one_hot and sum(widths) == len(features)
        small = [0.0 if one.discrete else (one.resolution or 0.0) for one in features]
        columns["_noticeable"] = np.array(small) * (1 - 1e-9)
        for name, value in columns.items():
            object.__setattr__(self, name, value)
        self.discrete[self.absence_columns.numbers] = True
        object.__setattr__(self, "groups", self._find_groups())
        object.__setattr__(self, "goes_part_of_the_way", self._find_columns_of_their_own())
        fixed = (self.centres, self.scales, self.feature_of, self.discrete, self.groups)
        for array in (*fixed, self.goes_part_of_the_way, self.first_columns):
            array.setflags(write=False)

    def __reduce__(self) -> tuple[type[Space], tuple[object, ...]]:
        return Space, (
            self.schema,
            self.centres,
            self.scales,
            self.normal_scores,
            self.absences,
        )

    @classmethod
    def fit(
        cls,
        schema: Schema,
        records: Array,
        *,
        linear: bool = False,
        absences: tuple[tuple[float, ...], ...] | None = None,
    ) -> Space:
        """Read normal scores off the records, unless the schema gives a scale.

        ``linear`` centres and divides all numbers by their scale instead, as the paper has it.
        ``absences`` are those of all rows, where the records are a sample of them.
        """
        columns = [records[:, j] for j in range(len(schema))]
        present = [
            codes[~is_absent(feature, codes)]
            for feature, codes in zip(schema, columns, strict=True)
        ]
        found = [centre_and_scale(*pair) for pair in zip(schema, present, strict=True)]
        centres, scales = np.array(found, dtype=np.float64).T.copy()
        curved = [not (linear or one.discrete or one.scale is not None) for one in schema]
        normal_scores = tuple(
            NormalScores.fit(codes) if bends and len(codes) else None
            for codes, bends in zip(present, curved, strict=True)
        )
        if absences is None:
            absences = absences_in(schema, records)
        return cls(schema, centres, scales, normal_scores, absences)

    @property
    def width(self) -> int:
        """How many columns a point has."""
        return len(self.feature_of)

    def _find_groups(self) -> Ids:
        group = np.arange(len(self.schema))
        for names in self.schema.linked:
            linked = np.isin(group, group[[self.schema.index(name) for name in names]])
            group[linked] = group[linked].min()
        return np.asarray(group[self.feature_of])

    @property
    def own_columns(self) -> Mask:
        """The columns that are a person's own: of what never changes, and of what is missing."""
        own = np.array([feature.own for feature in self.schema])[self.feature_of]
        return np.asarray(own | self.absence_columns.mask(self.width))

    def _find_columns_of_their_own(self) -> Mask:
        groups = self.groups
        features = np.unique(np.column_stack([groups, self.feature_of]), axis=0)
        several = np.bincount(features[:, 0], minlength=len(self.schema)) > 1
        return np.asarray(~self.discrete & ~several[groups])

    def just_noticeable(self, record: Array, point: Array | None = None) -> tuple[Array, Array]:
        """Return the points just far enough below and above a record for anyone to notice.

        Further inwards a column is as good as unchanged. ``point`` is the record's, where known.
        """
        if point is not None and not self._noticeable.any():
            return point, point
        step = np.where(absent_values(self.schema, record), 0.0, self._noticeable)
        low, high = self.points(np.stack([record - step, record + step]))
        return low, high

    def check_magnitudes(self, records: Array | Floats, who: str) -> None:
        """Refuse values so far off that no distance could be told from them any more."""
        if len(records) == 1 and not self._far_off(records.astype(np.float64)).any():
            return  # nor is what is absent, whatever stands in its place
        present = ~absent_values(self.schema, records)
        lowest = records.min(axis=0, where=present, initial=np.inf)
        highest = records.max(axis=0, where=present, initial=-np.inf)
        ends = np.where(present.any(axis=0), [lowest, highest], self.centres)
        if self._far_off(ends).any():  # every map rises: the ends tell of all between them
            far = self._far_off(records.astype(np.float64)) & present
            row, j = (int(index) for index in np.argwhere(far)[0])
            name = self.schema.names[j]
            value = records[row, j]
            raise DataError(
                f"{name!r} is {value:g} in {who}, more than {_FAR:g} standard deviations away: "
                "is it a typing error?",
                feature=name,
            )

    def _far_off(self, records: Array) -> Mask:
        far = np.abs((records - self.centres) / self.scales) > _FAR
        far[:, self._plain] |= np.abs(self._plain_codes.to_columns(records[:, self._plain])) > _FAR
        return np.asarray(far)

    def points(self, records: Array) -> Array:
        """Turn records into points."""
        if self._is_plain:
            return self._plain_codes.to_columns(np.asarray(records, dtype=np.float64))
        points = np.zeros((len(records), self.width))
        points[:, self._plain_columns] = self._plain_codes.to_columns(records[:, self._plain])
        codes = records[:, self._one_hot]
        rows, which = np.nonzero(~np.isnan(codes))
        columns = self._one_hot_columns[which] + codes[rows, which].astype(np.int64)
        points[rows, columns] = self._heights[which]
        self.absence_columns.fill_points(points, records)
        return points

    def records(self, points: Array) -> Array:
        """Turn points into the nearest records, numbers with few digits where that is the same."""
        if self._is_plain:
            return self._plain_codes.nearest(points)
        records = np.empty((len(points), len(self.schema)))
        records[:, self._plain] = self._plain_codes.nearest(points[:, self._plain_columns])
        for j, first in self._one_hot_features():
            last = first + len(self.schema.features[j].categories or ())
            records[:, j] = points[:, first:last].argmax(axis=1)
        self.absence_columns.fill_records(records, points)
        return records

    def column_codes(self, j: int, values: Array) -> Array:
        """Turn values of the one column of a number into its codes; the other columns are not."""
        points = np.zeros((len(values), len(self._plain)))
        place = int(np.searchsorted(self._plain, j))
        points[:, place] = values
        return self._plain_codes.nearest(points)[:, place]

    def column_values(self, j: int, codes: Array) -> Array:
        """Turn codes of a number that is there into values of its one column."""
        records = np.zeros((len(codes), len(self._plain)))
        place = int(np.searchsorted(self._plain, j))
        records[:, place] = codes
        return self._plain_codes.to_columns(records)[:, place]

    def columns_of(self, names: Collection[str]) -> Mask:
        """Tell which columns belong to some features."""
        return np.isin(self.schema.names, list(names))[self.feature_of]

    def curve(self, points: Array, n: int = 40) -> Array:
        """Return values along the straight steps between points, ``n`` a step, to draw them.

        A step is a curve in the user's units. Counts are not rounded; what is discrete changes
        half way. The last line is the last point.
        """
        t = np.arange(n)[:, None] / n
        starts = np.repeat(points[:-1], n, axis=0)
        ends = np.repeat(points[1:], n, axis=0)
        t = np.tile(t, (max(len(points) - 1, 0), 1))
        flipped = np.where(t < 0.5, starts, ends)
        along = np.where(self.discrete, flipped, starts + t * (ends - starts))
        every = np.concatenate([along, points[-1:]])
        values = self.records(every)
        values[:, self._plain] = self._plain_codes.to_codes(every[:, self._plain_columns])
        self.absence_columns.fill_records(values, every)
        return values

    def snap(self, point: Array) -> Array:
        """Return the nearest point that a record can have; fractional numbers stay as they are."""
        settled = self.points(self.records(point[None, :]))[0]
        free = np.array([feature.kind == "numeric" for feature in self.schema])[self.feature_of]
        return np.where(free & ~self.discrete, point, settled)

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
        lower[columns], upper[columns] = self._plain_codes.to_columns(
            np.stack([low[plain], high[plain]])
        )
        up[columns] = box.up[plain]
        down[columns] = box.down[plain]
        for j, _ in self._one_hot_features():
            self._limit_categories(j, box, lower, upper)
        if box.absent is not None:
            self._keep_absences(box.absent, lower, upper)
        entered = tuple(
            (self._firsts[j] + code, self._firsts[j] + own)
            for j, (own, codes) in box.only_from_own.items()
            for code in sorted(codes - {own})
        )
        return Bounds(lower, upper, up, down, entered)

    def _keep_absences(self, absent: Mapping[int, float], lower: Array, upper: Array) -> None:
        """Fix which features have no value: those that the person has none of."""
        numbers = self.absence_columns.numbers
        lower[numbers] = upper[numbers] = 0.0
        if not absent:
            return
        record = np.array([self.centres])
        record[:, list(absent)] = list(absent.values())
        (point,) = self.points(record)
        fixed = np.isin(self.feature_of, list(absent))
        lower[fixed] = upper[fixed] = point[fixed]

    def _limit_categories(self, j: int, box: Box, lower: Array, upper: Array) -> None:
        """Close the columns of categories that are not allowed; fix the one that is left."""
        allowed = box.allowed.get(j)
        if allowed is None:
            return
        first = self._firsts[j]
        for code in range(len(self.schema.features[j].categories or ())):
            column = first + code
            if code not in allowed:
                upper[column] = 0.0
            elif len(allowed) == 1:
                lower[column] = self._category_height(j)

    def _category_height(self, j: int) -> float:
        """The value in the column of a record's category: two categories are one unit apart."""
        return float(np.sqrt(0.5) / self.scales[j])

    def _one_hot_features(self) -> list[tuple[int, int]]:
        """Features with a column a category, and the first of their columns."""
        return [
            (j, self._firsts[j])
            for j, feature in enumerate(self.schema)
            if feature.kind == "categorical"
        ]
