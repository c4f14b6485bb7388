"""Which of the vertices that are known lie below the floor."""

from __future__ import annotations

import numpy as np
import pytest

from localface.density.protocol import RESTATED_TOLERANCE
from localface.search.below_floor import are_below_floor
from localface.search.questions import RowDensities
from scripted import Script, someone


@pytest.mark.parametrize("above", [0.0, -RESTATED_TOLERANCE, 1.0])
def test_a_row_at_the_floor_or_a_rounding_below_is_not_below_it(above: float) -> None:
    script = Script([[1.0, 0.0]], log_density=lambda points: np.full(len(points), 2.0 + above))
    graph = script.graph(someone([0.0, 0.0], log_floor=2.0))
    (row,) = script.run(graph.reveal_rows_around(0, 1))

    assert script.run(are_below_floor(graph, [row])).tolist() == [False]


def test_rows_and_states_below_the_floor_are_told_from_those_above() -> None:
    script = Script([[1.0, 0.0], [3.0, 0.0]], log_density=lambda points: points[:, 0])
    graph = script.graph(someone([0.0, 0.0], log_floor=2.0))
    rows = script.run(graph.reveal_rows_around(0, 2))
    states = [graph.add_state(np.array([x, 1.0]), 0.2) for x in (1.5, 2.5)]

    assert script.run(are_below_floor(graph, [*rows, *states])).tolist() == [True, False] * 2


def test_each_state_is_held_against_the_floor_the_first_and_the_last_as_well() -> None:
    script = Script(np.zeros((0, 2)), log_density=lambda points: points[:, 0])
    graph = script.graph(someone([0.0, 0.0], log_floor=2.0))
    states = [graph.add_state(np.array([x, 1.0]), 0.2) for x in (2.5, 1.5, 2.5)]

    assert script.run(are_below_floor(graph, states)).tolist() == [False, True, False]


def test_a_row_is_asked_about_as_a_row_alone_whatever_its_number() -> None:
    script = Script([[1.0, 0.0], [3.0, 0.0]], log_density=lambda points: points[:, 0])
    graph = script.graph(someone([0.0, 0.0], log_floor=2.0))
    rows = script.run(graph.reveal_rows_around(0, 2))
    script.asked.clear()

    script.run(are_below_floor(graph, rows))

    assert [type(question) for question in script.asked] == [RowDensities]
    assert script.asked[0].ids.tolist() == [0, 1]
