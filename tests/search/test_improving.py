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
