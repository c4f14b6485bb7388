"""What a search knows of states is not asked again."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from localface.geometry.bounds import Bounds
from localface.geometry.projection import Projection
from localface.search.known_states import KnownStates
from localface.search.questions import ComposedStates, ComposeStates
from scripted import Script

HERE = np.zeros(1)
ROWS = [[0.1], [0.6], [0.7], [0.8]]


def projection() -> Projection:
    return Projection(Bounds.unlimited(1), HERE, np.zeros(1, dtype=np.int64))


def composed(script: Script, known: KnownStates, k: int, **other: object) -> ComposedStates:
    asked = {"projection": PROJECTION, "k": k, "min_score": 0.5, **other}
    return script.run(known.composed_of_targets(**asked))  # type: ignore[no-any-return, arg-type]


PROJECTION = projection()


@pytest.mark.parametrize(
    ("first", "then", "n_asked"), [(3, 3, 1), (3, 2, 1), (4, 9, 1), (3, 9, 2), (2, 3, 2)]
)
def test_states_are_composed_again_only_where_there_may_be_more(
    first: int, then: int, n_asked: int
) -> None:
    script = Script(ROWS, composed=ROWS)
    known = KnownStates(HERE, 0.0, rule="lowest")
    composed(script, known, first)

    found = composed(script, known, then)

    fresh = composed(Script(ROWS, composed=ROWS), KnownStates(HERE, 0.0, rule="lowest"), then)
    assert script.n_asked(ComposeStates) == n_asked
    assert found.points.tolist() == fresh.points.tolist()
    assert found.scores.tolist() == fresh.scores.tolist()
    assert found.ids.tolist() == fresh.ids.tolist()


def test_states_for_something_else_are_composed_for_it() -> None:
    script = Script(ROWS, composed=ROWS)
    known = KnownStates(HERE, 0.0, rule="lowest")
    composed(script, known, 9)

    assert len(composed(script, known, 9, min_score=0.75).ids) == 1
    composed(script, known, 9, projection=projection())

    assert script.n_asked(ComposeStates) == 3


def test_states_of_which_the_budget_withheld_some_are_asked_for_again() -> None:
    script = replace(Script(ROWS, composed=ROWS), composed_cut=True)
    known = KnownStates(HERE, 0.0, rule="lowest")

    assert composed(script, known, 9).cut
    assert composed(script, known, 9).cut

    assert script.n_asked(ComposeStates) == 2
