"""Ten rows on a line and a model that counts its calls, for searches that are scripted."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pandas as pd

from localface.density.fit import fit_kde
from localface.density.kde import KDE
from localface.engine.driver import Driver
from localface.engine.engine import Engine
from localface.engine.fitting import fit_engine
from localface.engine.job import SearchJob, take_points_as_records
from localface.errors import ModelError
from localface.geometry.bounds import Bounds
from localface.geometry.point_set import PointSet
from localface.geometry.projection import Projection
from localface.options import Options
from localface.search.questions import Questions
from localface.sources.table import TableSource

Array = np.ndarray[Any, Any]
RECORDS = np.arange(10.0)[:, None]  # a row's id, its record and its point are the same number


class LineScore:
    """A score of a tenth of the record, which notes every call and fails on some records."""

    def __init__(self, fails_on: Iterable[float] = ()) -> None:
        self.calls: list[list[float]] = []
        self.fails_on = tuple(fails_on)

    def exact_scores(self, records: Array) -> Array:
        values = records[:, 0].tolist()
        self.calls.append(values)
        if any(value in self.fails_on for value in values):
            raise ModelError(f"the model failed on {len(values)} record(s)")
        return np.asarray(records[:, 0] / 10)

    def round_scores(self, scores: Array, min_score: float) -> Array:
        return np.round(scores, 6)


class SomeRows(TableSource):
    """A source that does not promise to find every near row."""

    exact = False


def line_source(kind: type[TableSource] = TableSource) -> TableSource:
    return kind(PointSet(RECORDS), RECORDS, np.arange(10), n_rows=10)


def line_density() -> KDE:
    return fit_kde(PointSet(RECORDS), np.zeros(1, dtype=bool), bandwidth=1.0)


def line_driver(score: LineScore | None = None, **options: Any) -> Driver:
    return Driver(line_source(), line_density(), score or LineScore(), **options)


def job(asks: Questions[Any], *, min_score: float = 0.5, **options: Any) -> SearchJob[Any]:
    return SearchJob(asks, take_points_as_records, min_score, **options)


def up_to(limit: float) -> Bounds:
    """Bounds that allow everything no further than a limit."""
    nothing = np.zeros(1, dtype=bool)
    return Bounds(np.array([-np.inf]), np.array([limit]), nothing, nothing)


def taking_over_up_to(limit: float) -> Projection:
    """What someone may take over who may go no further than a limit."""
    return Projection(up_to(limit), np.zeros(1), np.zeros(1, dtype=np.int64))


def points(*values: float) -> Array:
    return np.array(values, dtype=float)[:, None]


def ids(*rows: int) -> Array:
    return np.array(rows, dtype=np.int64)


def table(n: int = 200, seed: int = 0) -> pd.DataFrame:
    """Two numbers, of which the first makes the score."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame({"a": rng.normal(size=n).round(2), "b": rng.normal(size=n).round(2)})


def rising(frame: Any) -> Array:
    """A model whose score rises with ``a``."""
    return np.asarray(1 / (1 + np.exp(-2 * np.asarray(frame["a"], dtype=float))))


def options(**given: Any) -> Options:
    usual: dict[str, Any] = {
        "min_score": 0.5,
        "min_density": 0.05,
        "max_rows": None,
        "density": "kde",
        "n_neighbors": 15,
    }
    return Options(**{**usual, **given})


def small_engine(model: Callable[[Any], Any] = rising, **given: Any) -> Engine:
    """An engine for ``table()``."""
    return fit_engine(model, table(), schema=None, target=1, options=options(**given))
