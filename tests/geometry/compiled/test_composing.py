"""The different states that a person may take over: the same bits, compiled or not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from by_numpy import needs_compiled
from localface.engine import targets
from localface.engine.targets import states_open_to
from localface.geometry.bounds import Bounds
from localface.geometry.compiled.composing import compose_states
from localface.geometry.projection import Projection

pytestmark = needs_compiled

Array = np.ndarray
VALUES = np.array([-1.0, -0.5, -0.0, 0.0, 0.5, 1.0])  # few, so that many states are the same


def random_bounds(chance: np.random.Generator, width: int, share: float) -> Bounds:
    lower = np.where(chance.random(width) < share, chance.choice(VALUES, width), -np.inf)
    upper = np.where(chance.random(width) < share, chance.choice(VALUES, width), np.inf)
    one_way = np.zeros(width, dtype=bool)
    return Bounds(np.minimum(lower, upper), np.maximum(lower, upper), one_way, one_way)


def random_projection(chance: np.random.Generator, width: int) -> Projection:
    return Projection(
        random_bounds(chance, width, 0.5),
        chance.choice(VALUES, width),
        np.sort(chance.integers(0, width, width)),
        random_bounds(chance, width, 0.2) if chance.random() < 0.5 else None,
        chance.random(width) < 0.3 if chance.random() < 0.5 else np.zeros(0, dtype=bool),
    )


@given(
    st.integers(0, 2**32),
    st.integers(1, 9),
    st.sampled_from([0, 1, 2, 40, 700]),
    st.integers(1, 4),
)
def test_the_states_open_to_a_person_are_those_of_numpy(
    seed: int, width: int, n: int, n_blocks: int
) -> None:
    chance = np.random.default_rng(seed)
    rows = np.where(
        chance.random((n, width)) < 0.8,
        chance.choice(VALUES, (n, width)),
        chance.normal(size=(n, width)),
    )
    projection = random_projection(chance, width)
    bounds = random_bounds(chance, width, 0.2)

    blocks = np.array_split(rows, n_blocks)
    found = compose_states(blocks, n, projection, bounds)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(targets, "compose_states", lambda *_: None)
        wanted = states_open_to(projection, bounds, [rows], n)
        again = states_open_to(projection, bounds, blocks, n)
    assert found is not None
    assert found.shape == wanted.shape
    assert found.tobytes() == wanted.tobytes()  # the sign of zero as well
    assert found.tobytes() == again.tobytes()
