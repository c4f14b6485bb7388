"""Improving a path: rows that could shorten it are looked at until none is left."""

from __future__ import annotations

import numpy as np
import pytest

from localface.search.improving import PathImprovement
from localface.search.plan import Plan, WalkOptions
from localface.search.questions import Nearest
from localface.search.trails import GraphPath
from scripted import Script, someone

DETOUR = [[1.0, 1.5], [2.0, 0.0]]
SHORT_CUT = [1.0, 0.2]


@pytest.mark.parametrize("k", [1, 3])
def test_a_row_that_the_walk_has_not_seen_shortens_the_path(k: int) -> None:
    script = Script([*DETOUR, SHORT_CUT], score=lambda points: points[:, 0] / 4)
    graph = script.graph(someone([0.0, 0.0], max_step=1.9))
    known = [
        graph.add_state(np.array(point), point[0] / 4, row) for row, point in enumerate(DETOUR)
    ]
    improvement = PathImprovement(GraphPath((0, *known), 3.6))

    script.run(improvement.run(graph, Plan(WalkOptions(k))))

    assert improvement.complete
    assert improvement.path.cost == pytest.approx(2 * np.hypot(1.0, 0.2))
    assert script.n_asked(Nearest) >= 1


@pytest.mark.parametrize(("near", "asked"), [(SHORT_CUT, [1, 2, 8]), ([-0.1, 0.2], [1, 4, 16])])
def test_twice_as_many_rows_are_looked_at_where_some_helped_else_four_times(near, asked) -> None:
    """Of the rows within reach the nearest comes first; those that follow do not help."""
    behind = [[-1.7, 0.1 * i] for i in range(1, 4)]
    script = Script([*DETOUR, near, *behind], score=lambda points: points[:, 0] / 4)
    graph = script.graph(someone([0.0, 0.0], max_step=1.9))
    known = [
        graph.add_state(np.array(point), point[0] / 4, row) for row, point in enumerate(DETOUR)
    ]
    improvement = PathImprovement(GraphPath((0, *known), 3.6))

    script.run(improvement.run(graph, Plan(WalkOptions(1))))

    assert [one.k for one in script.asked if isinstance(one, Nearest)] == asked
    assert improvement.complete
