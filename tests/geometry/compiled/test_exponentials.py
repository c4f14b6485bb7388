"""Exponentials of many numbers at once, beside NumPy's."""

from __future__ import annotations

import numpy as np
import pytest

from localface.geometry.compiled.exponentials import exponentials


def test_exponentials_are_numpys_to_the_last_digits() -> None:
    logs = -np.random.default_rng(3).exponential(60.0, 20_000)
    logs[:4] = [0.0, -1e-300, 1e-13, -700.0]
    found = exponentials(logs.copy())
    np.testing.assert_allclose(found, np.exp(logs), rtol=1e-15, atol=1e-307)


def test_what_is_infinitely_far_has_no_kernel_and_what_is_no_number_stays_none() -> None:
    found = exponentials(np.array([-np.inf, -1e4, np.nan, 0.0]))
    np.testing.assert_array_equal(found, [0.0, 0.0, np.nan, 1.0])


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8, 17])
def test_a_number_has_the_same_exponential_wherever_it_stands(n: int) -> None:
    logs = -np.random.default_rng(n).exponential(5.0, n)
    alone = [float(exponentials(np.array([one]))[0]) for one in logs]
    assert exponentials(logs.copy()).tolist() == alone


def test_lines_that_lie_apart_in_memory_are_filled_in_place() -> None:
    logs = np.array([[-1.0, -2.0, -3.0], [-4.0, -5.0, -6.0]], order="F")
    some = logs[:, ::2]
    expected = np.exp(some)
    assert exponentials(some) is some
    np.testing.assert_allclose(some, expected, rtol=1e-15)
    assert logs[:, 1].tolist() == [-2.0, -5.0]
