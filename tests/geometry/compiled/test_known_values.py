"""Known values are taken over to the last bit, compiled or not."""

from __future__ import annotations

import numpy as np
import pytest

from by_numpy import needs_compiled
from localface.data.box import Box
from localface.engine import decoding
from localface.geometry.compiled.known_values import keep_within_limits, take_over_values

pytestmark = needs_compiled

Array = np.ndarray


def one_by_one(
    records: Array, points: Array, sources: Array, source_points: Array, firsts: Array
) -> Array:
    """As it is defined: of each feature the value of the last source that has its columns."""
    found = records.copy()
    ends = [*firsts[1:].tolist(), points.shape[1]]
    for i, point in enumerate(points):
        for j, (first, last) in enumerate(zip(firsts.tolist(), ends, strict=True)):
            for source, at in zip(sources, source_points, strict=True):
                if (at[first:last] == point[first:last]).all():
                    found[i, j] = source[j]
    return found


@pytest.mark.parametrize("n_sources", [0, 1, 5, 90])
@pytest.mark.parametrize("seed", range(5))
def test_the_last_source_that_has_the_columns_gives_the_value(n_sources: int, seed: int) -> None:
    chance = np.random.default_rng([seed, n_sources])
    sizes = chance.integers(1, 4, int(chance.integers(1, 7)))
    firsts = np.cumsum([0, *sizes[:-1]])
    n = int(chance.integers(0, 12))
    points = chance.choice(
        [0.0, -0.0, 0.5, np.nan], p=[0.4, 0.2, 0.35, 0.05], size=(n, sizes.sum())
    )
    source_points = chance.choice([0.0, -0.0, 0.5], size=(n_sources, sizes.sum()))
    records = chance.normal(size=(n, len(sizes)))
    sources = chance.normal(size=(n_sources, len(sizes)))
    given = records.copy()

    found = take_over_values(records, points, sources, source_points, firsts)

    wanted = one_by_one(records, points, sources, source_points, firsts)
    np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(records, given)  # whose they are is not touched
    if n_sources:
        many = decoding._with_values_of_many(records, points, sources, source_points, firsts)
        np.testing.assert_array_equal(many, wanted)
    turned = [np.asfortranarray(one) for one in (records, points, sources, source_points)]
    np.testing.assert_array_equal(take_over_values(*turned, firsts), wanted)


@pytest.mark.parametrize("seed", range(20))
def test_records_are_kept_within_limits_as_by_numpy(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = np.random.default_rng(seed)
    sizes = chance.integers(1, 4, int(chance.integers(1, 7)))
    firsts = np.cumsum([0, *sizes[:-1]])
    points = chance.choice([-np.inf, 0.0, 0.5, 1.0, np.inf], size=(30, sizes.sum()))
    records = np.where(
        chance.random((30, len(sizes))) < 0.1, np.nan, chance.normal(size=(30, len(sizes)))
    )
    low, high = np.sort(chance.choice([-np.inf, 0.0, 0.5, 1.0, np.inf], size=(2, len(sizes))), 0)
    lower, upper = np.sort(chance.normal(size=(2, len(sizes))), axis=0)
    box = Box(lower, upper, {}, sizes > 9, sizes > 9, {})

    found = keep_within_limits(records.copy(), points, firsts, (low, high, lower, upper))

    monkeypatch.setattr(decoding, "keep_within_limits", lambda *_: None)
    wanted = decoding._keep_records_within(box, points, records, (low, high), firsts)
    np.testing.assert_array_equal(found, wanted)
    assert not np.array_equal(found, records, equal_nan=True)
