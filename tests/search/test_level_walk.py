"""What walks at one level find out, and what it says of other levels."""

from __future__ import annotations

import numpy as np

from localface.search.level_walk import KnownGround
from localface.search.questions import DensityAlong
from scripted import Script, someone


def known_ground(log_density: float) -> tuple[Script, KnownGround, int]:
    script = Script(np.zeros((0, 2)), log_density=lambda points: np.full(len(points), log_density))
    graph = script.graph(someone([0.0, 0.0]))
    vertex = graph.add_state(np.array([1.0, 0.0]), 0.2)
    return script, KnownGround(graph), vertex


def test_a_state_that_is_refused_at_one_level_still_has_its_own() -> None:
    script, ground, vertex = known_ground(1.0)

    judged = [script.run(ground.judge_vertices(np.array([vertex]), one)) for one in (1.5, 1.0)]

    assert [one.tolist() for one in judged] == [[False], [True]]


def test_an_edge_that_is_refused_at_one_level_still_has_its_own() -> None:
    script, ground, vertex = known_ground(1.0)

    judged = [script.run(ground.judge_edges([(0, vertex)], one)) for one in (1.5, 1.0)]

    assert judged == [[False], [True]]


def test_what_follows_from_another_level_is_not_asked_again() -> None:
    script, ground, vertex = known_ground(1.0)
    for level in (1.5, 0.5):
        script.run(ground.judge_vertices(np.array([vertex]), level))
        script.run(ground.judge_edges([(0, vertex)], level))
    script.asked.clear()

    for level, has_it in [(2.0, False), (0.2, True)]:
        assert script.run(ground.judge_vertices(np.array([vertex]), level)).tolist() == [has_it]
        assert script.run(ground.judge_edges([(0, vertex)], level)) == [has_it]

    assert script.n_asked(DensityAlong) == 0
