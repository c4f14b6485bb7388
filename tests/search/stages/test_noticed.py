"""What can just be noticed is a change in every stage, and what cannot is none in any."""

from __future__ import annotations

import numpy as np
import pytest

from localface.search.questions import ScorePoints
from localface.search.stages.effort import find_ends_of_little_effort, find_shrunken_ends
from localface.search.stages.mixing import find_way_by_mixing
from localface.search.stages.settle import settle_values
from localface.search.stages.swaps import Swaps
from localface.types import NO_ROWS
from scripted import Script, someone

OWN = 10.0
SMALL = 1.0  # from so large a change on it can be noticed


def person(sign: float):
    """Someone who would not notice a change of less than one, one way, and any the other way."""
    low, high = sorted([OWN, OWN + sign * SMALL])
    return someone([OWN], just_noticeable=(np.array([low]), np.array([high])), min_score=0.5)


def sizes_asked(script: Script, sign: float) -> list[float]:
    asked = [one.points for one in script.asked if isinstance(one, ScorePoints)]
    return sorted(set((sign * (np.concatenate(asked) - OWN)).ravel().tolist()))


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize(("size", "is_change"), [(1.0, True), (0.99, False)])
def test_what_somebody_else_has_is_a_change_from_there_on(sign, size, is_change):
    swaps = Swaps(person(sign), np.array([[OWN + sign * size]]))

    assert swaps.differs.any() == is_change


def setting(script: Script, sign: float, size: float):
    graph = script.graph(person(sign))
    donor = graph.add_state(np.array([OWN + sign * size]), 0.9, 0)
    return graph, [donor]


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_value_settles_no_nearer_than_that(sign):
    script = Script(np.zeros((0, 1)), score=lambda points: np.zeros(len(points)))
    graph, _ = setting(script, sign, 4.0)

    script.run(settle_values(graph, np.array([OWN + sign * 4.0]), [0], NO_ROWS))

    assert sizes_asked(script, sign) == [i / 4 for i in range(4, 17)]


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_number_goes_further_than_others_by_no_less_than_that(sign):
    """Twice a half can just be noticed; a half as it is, or half as much again, cannot."""
    script = Script(np.zeros((0, 1)), score=lambda points: np.zeros(len(points)))
    graph, donors = setting(script, sign, 4.0)
    donors.append(graph.add_state(np.array([OWN + sign * 0.5]), 0.9, 1))

    def find_way(end):
        return None
        yield

    script.run(find_way_by_mixing(graph, donors, most=1, find_way=find_way))

    assert sizes_asked(script, sign) == [1.0, 1.125, 1.25, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0]


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_ends_of_little_effort_change_no_number_by_less(sign):
    script = Script(np.zeros((0, 1)), score=lambda points: np.zeros(len(points)))
    graph, donors = setting(script, sign, 4.0)

    script.run(find_ends_of_little_effort(graph, donors, log_floor=0.0, most=None, least=np.inf))

    assert sizes_asked(script, sign) == pytest.approx([4 * (i / 12) ** 2 for i in range(6, 13)])


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_ends_shrink_to_that_and_then_to_nothing(sign):
    script = Script(np.zeros((0, 1)), score=lambda points: np.zeros(len(points)))
    graph, donors = setting(script, sign, 4.0)

    script.run(find_shrunken_ends(graph, donors, np.zeros((0, 1))))

    assert sizes_asked(script, sign) == pytest.approx([4 * i / 12 for i in range(3, 13)])
