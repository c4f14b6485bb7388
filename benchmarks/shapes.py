"""The shapes that speed is measured on: a table, a model, and people whom it refuses."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

import shape_tables as tables
from localface import LocalFACE, Schema, Search
from localface.data.read import read_records
from localface.errors import NearCopiesWarning
from shape_tables import Called, Table
from timing import Unit

ORDINARY_ROWS = 10_000  # with fewer, a query takes less than the overhead of any call of Python
WARM = 4  # people answered before it counts


@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """A table, a model fitted on it, and people held out of both whom the model refuses."""

    name: str
    data: pd.DataFrame
    model: Any
    people: pd.DataFrame
    warm: pd.DataFrame
    schema: Schema | None
    min_score: float
    made: bool

    @property
    def ordinary(self) -> bool:
        """Whether the table is large enough for its queries to be a unit."""
        return len(self.data) >= ORDINARY_ROWS

    @property
    def title(self) -> str:
        """The shape with its size."""
        rows, columns = self.data.shape
        return f"{self.name}{' (generated)' if self.made else ''}, {rows:,} x {columns}"

    def explainer(self, **options: Any) -> LocalFACE:
        """An explainer with the defaults, rows not scored yet."""
        search = Search(**options) if options else None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NearCopiesWarning)
            return LocalFACE(
                self.model, self.data, schema=self.schema, min_score=self.min_score, search=search
            )

    def unit(self, explainer: LocalFACE) -> Unit:
        """One query over the table, each column one coordinate: categories make it no dearer."""
        return Unit(np.nan_to_num(read_records(self.data, explainer.schema)))


SHAPES: dict[str, Callable[[], Table]] = {
    "planes": tables.planes,
    "german": tables.small,
    "cancer": tables.cancer,
    "wide": tables.wide,
    "adult": tables.adult,
    "codes": tables.codes,
    "gaps": tables.gaps,
    "ordinary": tables.ordinary,
    "readiness": tables.readiness,
    "called": tables.called,
}
"""Every shape by the name that --shapes takes; whoever has another adds it here."""


def shape(name: str, people: int) -> Shape:
    """Fit the model on most rows; the first of the others whom it refuses are the people."""
    return split(name, SHAPES[name](), people)


def split(name: str, table: Table, people: int) -> Shape:
    """Hold rows out of a table, and take the first whom the model refuses."""
    order = np.random.default_rng(0).permutation(len(table.frame))
    known = order[table.new :]
    data = table.frame.iloc[known].reset_index(drop=True)
    model = table.fit(data, table.labels[known])
    new = table.frame.iloc[order[: table.new]]
    refused = new[scores(model, new) < table.min_score].reset_index(drop=True)
    warm = refused.iloc[people : people + WARM]
    return Shape(
        name=name,
        data=data,
        model=model,
        people=refused.iloc[:people],
        warm=warm if len(warm) == WARM else refused.iloc[-WARM:],
        schema=table.schema,
        min_score=table.min_score,
        made=table.made,
    )


def scores(model: Any, frame: pd.DataFrame) -> np.ndarray:
    """What a model itself says."""
    if callable(model):
        return np.asarray(model(frame))
    return np.asarray(model.predict_proba(frame)[:, 1])


def forest_behind(model: Any) -> Any:
    """The estimator behind a function, for methods that need one."""
    return model.model if isinstance(model, Called) else model
