"""Fits a model again on people drawn anew, as retraining would."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import numpy as np

from localface.data.frames import open_table
from localface.data.people import number_people, take_groups_column
from localface.errors import InputError, ModelError
from localface.options.checks import is_share, raise_on_mistakes, whole_number_mistakes
from localface.types import Ids

_TRIES = 50  # draws in which every class has to turn up at least once
_MOST_SEED = 2**31 - 1  # what every library takes as a seed


def refits(
    model: Any,
    X: Any,
    y: Any,
    *,
    n: int = 20,
    seed: int = 0,
    groups: Any = None,
    times: Any = None,
    latest: float = 0.5,
    progress: bool = True,
) -> list[Any]:
    """Fit a model ``n`` times more, each time on people drawn anew and from another seed.

    Parameters
    ----------
    model
        An estimator in the manner of scikit-learn: ``fit(X, y)``, ``get_params``,
        ``set_params``; pipelines and searches too. It is copied, and stays as it is.
    X, y
        What it was fitted on, row by row.
    n, seed
        How many, and what they are drawn from: the same seed gives the same models.
    groups
        Whose each row is, where people have several: one label a row, or the name of a column of
        ``X``, which is then not learnt from. People are drawn with all their rows.
    times
        When each row was, where only the later ones are to be learnt from: numbers or dates.
    latest
        With ``times``: the share of the rows, the latest ones, that people are drawn from.
    progress
        Whether to show a bar.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> X = np.arange(40.0).reshape(-1, 1)
    >>> y = (X[:, 0] > 20).astype(int)
    >>> model = LogisticRegression().fit(X, y)
    >>> [len(one.classes_) for one in refits(model, X, y, n=3, progress=False)]
    [2, 2, 2]
    """
    raise_on_mistakes(
        mistake
        for name, value, least in (("n", n, 1), ("seed", seed, 0))
        for mistake in whole_number_mistakes(name, value, least)
    )
    labels = read_labels(y, _count_rows(X))
    names, X = take_groups_column(X, groups)
    people = number_people(names, len(labels))
    rows = _rows_to_draw_from(times, latest, len(labels))
    return list(_with_bar(fit_again(model, X, labels, rows, people, n=n, seed=seed), n, progress))


def fit_again(
    model: Any,
    table: Any,
    labels: Any,
    rows: Ids,
    people: Ids | None,
    *,
    n: int,
    seed: int,
) -> Iterator[Any]:
    """Fit copies of a model, each on a draw of its own; the ``k``-th depends on ``seed`` alone."""
    refuse_unrefittable(model)
    for number in range(n):
        rng = np.random.default_rng([seed, number])
        drawn = _draw_rows_with_every_class(rows, people, labels, rng)
        fresh = _unfitted_copy(model)
        _set_seeds(fresh, rng)
        try:
            yield fresh.fit(_take_rows(table, drawn), labels[drawn])
        except Exception as error:
            raise ModelError(
                f"{type(model).__name__} could not be fitted again: {type(error).__name__}: "
                f"{error}. Give X and y as it was fitted on them"
            ) from error


def refuse_unrefittable(model: Any) -> None:
    """Refuse a model that cannot be fitted again, with what to do."""
    if not (hasattr(model, "fit") and hasattr(model, "get_params")):
        raise ModelError(
            f"{type(model).__name__} cannot be fitted again: an estimator in the manner of "
            "scikit-learn is wanted, with fit and get_params. Fit other models yourself, and give "
            "them as others=",
            option="y",
        )


def read_labels(y: Any, n_rows: int) -> Any:
    """Read the outcome of each row as an array."""
    labels = np.asarray(y.to_numpy() if hasattr(y, "to_numpy") else y)
    if labels.shape == (n_rows, 1):
        labels = labels[:, 0]
    if labels.shape != (n_rows,):
        got = " x ".join(map(str, labels.shape)) or "one value"
        raise InputError(f"y= has {got} and X {n_rows:,} rows: give one outcome a row", option="y")
    return labels


def _count_rows(table: Any) -> int:
    return len(open_table(table))


def _rows_to_draw_from(times: Any, latest: float, n_rows: int) -> Ids:
    """Return the rows that are learnt from: all, or the latest share of them."""
    if times is None:
        return np.arange(n_rows)
    if not is_share(latest):
        raise InputError(f"latest={latest!r}: a share above 0, up to 1, is wanted", option="latest")
    when = np.asarray(times)
    if when.shape != (n_rows,):
        raise InputError(f"times= has {len(when):,} entries and X {n_rows:,} rows", option="times")
    order = np.argsort(when, kind="stable")
    return np.sort(order[n_rows - max(1, round(latest * n_rows)) :])


def _draw_rows_with_every_class(
    rows: Ids, people: Ids | None, labels: Any, rng: np.random.Generator
) -> Ids:
    """Draw as many people as there are, with replacement; no class may be left out."""
    few = np.unique(labels[rows]) if labels.dtype.kind in "biuOSU" else labels[:0]
    for _ in range(_TRIES):
        drawn = _draw_rows(rows, people, rng)
        if len(few) > _TRIES or np.isin(few, labels[drawn]).all():
            return drawn
    raise InputError(
        "a class is so rare that draws of the rows miss it: leave it out of X and y", option="y"
    )


def _draw_rows(rows: Ids, people: Ids | None, rng: np.random.Generator) -> Ids:
    if people is None:
        return np.asarray(rng.choice(rows, len(rows)))
    order = rows[np.argsort(people[rows], kind="stable")]
    _, starts = np.unique(people[order], return_index=True)
    each = np.split(order, starts[1:])
    return np.concatenate([each[k] for k in rng.integers(0, len(each), len(each))])


def _unfitted_copy(model: Any) -> Any:
    try:
        from sklearn.base import clone
    except ImportError:
        return copy.deepcopy(model)
    return clone(model)


def _set_seeds(model: Any, rng: np.random.Generator) -> None:
    """Give every part of a model that has a seed another one, in the order of their names."""
    names = sorted(model.get_params(deep=True))
    fresh = {
        name: int(rng.integers(_MOST_SEED))
        for name in names
        if name == "random_state" or name.endswith("__random_state")
    }
    if fresh:
        model.set_params(**fresh)


def _take_rows(table: Any, rows: Ids) -> Any:
    if hasattr(table, "iloc"):
        return table.iloc[rows]
    return table.take(rows) if hasattr(table, "column_names") else table[rows]


def _with_bar(fitted: Iterator[Any], n: int, progress: bool) -> Iterator[Any]:
    if not progress:
        return fitted
    from tqdm.auto import tqdm

    return iter(tqdm(fitted, total=n, unit=" models", desc="refitting", disable=None))
