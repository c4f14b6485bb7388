"""Scores of records by the user's own model: higher is nearer to the target."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from localface.data.table_format import TableFormat
from localface.errors import ModelError, list_names
from localface.models.output import ModelOutput, read_output
from localface.models.output import signed as signed  # its documented address
from localface.types import Array

if TYPE_CHECKING:  # read only where a model is: `import localface` does without
    from localface.models.readers.reader import ModelReader

_DIGITS = 10  # scores are read to this many digits: below it models differ between batch shapes


class Scorer:
    """Scores records by the user's own model, checked on every call.

    Scores are rounded to ten digits, never across the threshold: a model on BLAS answers
    the same row a little differently in batches of different shapes, and no answer may
    depend on that.

    Parameters
    ----------
    output : how the model's output is read
    table_format : the kind of table that the model is called with
    min_score : the score to reach, as the model gives it
    reader : reads the model's own numbers, where that gives the same
    """

    def __init__(
        self,
        output: ModelOutput,
        table_format: TableFormat,
        *,
        min_score: float,
        reader: ModelReader | None = None,
    ) -> None:
        self._output = output
        self._table_format = table_format
        self._reader = reader
        self.min_score = output.sign * min_score

    @property
    def output(self) -> ModelOutput:
        """How the model's output is read."""
        return self._output

    def with_min_score(self, min_score: float) -> Scorer:
        """Return the same model held to another threshold."""
        return Scorer(self._output, self._table_format, min_score=min_score, reader=self._reader)

    @property
    def table_format(self) -> TableFormat:
        """The kind of table that the model is called with."""
        return self._table_format

    def for_target(self, model: Any, target: object, *, min_score: float) -> Scorer:
        """Return the same model read for another target."""
        output = read_output(model, target=target)
        reader = self._reader if output.call == self._output.call else None
        return Scorer(output, self._table_format, min_score=min_score, reader=reader)

    @property
    def reading(self) -> str:
        """How scores are got: ``"called"``, or ``"read directly"`` with what is read."""
        return "called" if self._reader is None else f"read directly: {self._reader.description}"

    def __call__(self, records: Array) -> Array:
        """Return one score a record, higher is nearer to the target."""
        return self.round_scores(self.exact_scores(records), self.min_score)

    def exact_scores(self, records: Array) -> Array:
        """Return one score a record to the last digit, which serves every threshold."""
        try:
            raw = self._raw_output(records)
        except Exception as error:
            if np.isnan(records).any() and self._reads_complete_records(records):
                raise _cannot_read_missing_error(self._table_format, records, error) from error
            raise ModelError(
                f"the model failed on {len(records)} record(s): {type(error).__name__}: {error}. "
                "It is called with the same kind of table as `data`, with the same columns and "
                "dtypes"
            ) from error
        try:
            return self._output.scores_from_raw(raw, len(records))
        except ModelError as error:
            if np.isnan(records).any() and self._reads_complete_records(records):
                raise _cannot_read_missing_error(self._table_format, records, error) from error
            raise

    def display_scores(self, scores: Sequence[float], records: Array) -> tuple[float, ...]:
        """Return scores of records as the model gives them, to be shown."""
        if not self._output.is_folded or self._output.range is None:
            return tuple(self.display_score(score) for score in scores)
        low, high = self._output.range.ends
        values = self._output.values_from_raw(self._raw_output(records), len(records))
        rounded = self.round_scores(values, self.min_score)
        reached = np.asarray(scores) >= self.min_score
        crossed = ~reached & (rounded >= low) & (rounded <= high)
        outside = np.where(crossed, values, rounded)
        return tuple(np.where(reached, np.clip(rounded, low, high), outside).tolist())

    def _reads_complete_records(self, records: Array) -> bool:
        """Tell whether the model takes the same records once nothing is missing in them."""
        try:
            raw = self._raw_output(np.where(np.isnan(records), 0.0, records))
            self._output.scores_from_raw(raw, len(records))
        except Exception:  # whatever it is, it is not for what is missing
            return False
        return True

    def _raw_output(self, records: Array) -> Any:
        read = None if self._reader is None else self._reader(records)
        if read is not None:
            return read
        return self._output.call(self._table_format.make_table(records))

    def display_score(self, score: float) -> float:
        """Return a score as the model gives it: with its own sign."""
        return self._output.sign * score if self._output.sign < 0 else score

    def round_scores(self, scores: Array, min_score: float) -> Array:
        """Round scores, but never across a threshold."""
        power = math.ceil(math.log10(max(1.0, abs(min_score)))) - _DIGITS
        grid = 10.0**power
        rounded = (np.rint(scores / grid) * grid).round(max(0, -power))
        crossed = (rounded >= min_score) & (scores < min_score)
        return np.asarray(np.where(crossed, scores, rounded))


def _cannot_read_missing_error(
    table_format: TableFormat, records: Array, error: Exception
) -> ModelError:
    """Say that a model cannot read what is missing, and what to run."""
    gone = np.flatnonzero(np.isnan(records).any(axis=0))
    names = [table_format.columns[j].name for j in gone]
    reason = str(error).strip().partition("\n")[0] or type(error).__name__
    return ModelError(
        f"the model cannot read missing values, and {list_names(names)} has some ({reason}). Give "
        "it an imputer and pass both: make_pipeline(SimpleImputer(), model).fit(X, y); or take a "
        "model that reads what is missing, such as HistGradientBoostingClassifier; or drop these "
        "rows",
        feature=names[0],
    )
