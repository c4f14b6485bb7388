"""Whether answers hold for noisy measurements, or under retrained models."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from localface.data.space import Space
from localface.evaluation.metrics.changes import l2
from localface.evaluation.metrics.endpoints import Score, valid
from localface.evaluation.metrics.intervals import ShareInterval, success_share
from localface.evaluation.metrics.record_points import points_of_records
from localface.types import Array, Mask

Explain = Callable[[Array], Array | None]
"""From one record, in the user's units, to the end of its recourse; None if nothing is found."""


class Stability(NamedTuple):
    """What becomes of answers when people are measured with noise.

    ``found`` is the share of noisy copies that still get an answer, ``distance`` how far
    its end is from the first one, ``relative`` the same over how far the copy is from the
    person: below 1, noise is damped. Of people who have an answer without noise.
    """

    people: int
    found: ShareInterval
    distance: float
    relative: float


def stability(
    explain: Explain,
    people: Array,
    space: Space,
    *,
    noise: float = 0.05,
    n: int = 10,
    seed: int = 0,
) -> Stability:
    """Ask again for ``n`` noisy copies of each person who has an answer."""
    flags: list[bool] = []
    distances: list[float] = []
    ratios: list[float] = []
    answered = 0
    for i, person in enumerate(people):
        end = explain(person)
        if end is None:
            continue
        answered += 1
        rng = np.random.default_rng([seed, i])
        for copy in noisy_copies(person, space, noise=noise, n=n, rng=rng):
            again = explain(copy)
            flags.append(again is not None)
            if again is None:
                continue
            distances.append(_distance_between_records(end, again, space))
            moved = _distance_between_records(person, copy, space)
            if moved > 0:
                ratios.append(distances[-1] / moved)
    return Stability(answered, success_share(flags), _mean_or_nan(distances), _mean_or_nan(ratios))


def noisy_copies(
    record: Array, space: Space, *, noise: float, n: int, rng: np.random.Generator
) -> Array:
    """Copies of a record, each number off by a normal error of ``noise`` standard deviations.

    The error is in points, so that it is as large where rows are far apart as where they are
    close, in their own terms. Whole numbers stay whole, and within their list where they have
    one; categories, and what never moves, are known exactly. A copy that breaks a declared
    relation is the record itself.
    """
    schema = space.schema
    exact = np.array([feature.discrete or feature.own for feature in schema])
    errors = noise * rng.normal(size=(n, len(schema)))
    points = points_of_records(record[None, :], space) + errors[:, space.feature_of]
    copies = np.where(exact, record, space.records(points))
    return np.where(schema.breaks_relation(copies)[:, None], record, copies)


def valid_under_models(
    ends: Sequence[Array | None], models: Sequence[Score], *, min_score: float
) -> Mask:
    """Which ends (down) are valid under which retrained models (across); None is never valid.

    The mean of it is the share of (person, model) pairs, failures in the denominator; the
    mean over the rows with an end is the share among answers.
    """
    answered = [i for i, end in enumerate(ends) if end is not None]
    found = np.zeros((len(ends), len(models)), dtype=bool)
    if answered:
        records = np.stack([end for end in ends if end is not None])
        for m, score in enumerate(models):
            found[answered, m] = valid(records, score, min_score=min_score)
    return found


def _distance_between_records(first: Array, second: Array, space: Space) -> float:
    return float(l2(first[None, :], second[None, :], space)[0])


def _mean_or_nan(values: list[float]) -> float:
    return float(np.mean(values)) if values else float("nan")
