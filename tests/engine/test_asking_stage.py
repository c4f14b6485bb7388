"""The stage that asks is read off the chain of generators."""

from __future__ import annotations

from typing import Any

import numpy as np

from localface.density.protocol import SegmentDensities
from localface.engine.asking_stage import asking_stage
from localface.geometry.bounds import Bounds
from localface.search.graph import LocalGraph
from localface.search.person import Person
from localface.search.pipeline import find_recourse
from localface.search.plan import Plan, WalkOptions
from localface.search.questions import Questions, ask_point_scores
from localface.search.stages.explore import explore
from localface.sources.protocol import Nearest
from small_engine import points


def person() -> Person:
    return Person(np.zeros(1), Bounds.unlimited(1), 0.5, -5.0, np.zeros(1, dtype=bool))


def test_the_persons_own_score_is_asked_by_the_search_itself() -> None:
    search = find_recourse(person(), Plan(WalkOptions(5)))
    next(search)

    assert asking_stage(search) == "find_recourse"


def test_a_question_of_a_stage_goes_by_the_stages_name() -> None:
    def search() -> Questions[Any]:
        return (yield from explore(LocalGraph(person(), 0.0), WalkOptions(5)))

    under_way = search()
    question = next(under_way)
    while not isinstance(question, Nearest):
        question = under_way.send(_passing(question))

    assert asking_stage(under_way) == "explore"


def _passing(question: Any) -> Any:
    """Answer a question for densities: everything is common."""
    n = len(question.starts)
    return SegmentDensities(np.zeros(n), np.ones(n, dtype=bool))


def test_a_search_of_ones_own_goes_by_its_functions_name() -> None:
    def measurement() -> Questions[Any]:
        return (yield from ask_point_scores(points(1.0)))

    under_way = measurement()
    next(under_way)

    assert asking_stage(under_way) == "measurement"


def test_what_is_no_generator_goes_by_its_type() -> None:
    class Scripted:
        pass

    scripted: Any = Scripted()

    assert asking_stage(scripted) == "Scripted"
