"""Outcomes that are made by hand, put into the user's units."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from localface.answers.assemble import AnswerAssembler
from localface.answers.disclosure import Disclosure
from localface.answers.recourse import Recourse
from localface.answers.status import Status
from localface.answers.target import Target
from localface.data.box import Box
from localface.data.feature import Feature
from localface.data.schema import Schema
from localface.data.table_format import TableFormat
from localface.density.protocol import RESTATED_TOLERANCE, DensityScale
from localface.options import Options
from localface.search.move import Move
from localface.search.outcome import ActionPath, Outcome

SCHEMA = Schema([Feature("a"), Feature("b")])
OPTIONS = Options(
    min_score=0.75, min_density=0.5, max_rows=100, density="kde", n_neighbors=15, min_people=5
)
ASSEMBLER = AnswerAssembler(
    schema=SCHEMA,
    target=Target("class 1", 0.75),
    options=OPTIONS,
    scale=DensityScale(np.array([-2.0, -1.0, 0.0])),  # -1 is the median, the floor of 0.5
    scales=(1.0, 2.0),
    certified=True,
    radius=0.8,
    feature_of=np.array([0, 1]),
    group_of=np.array([0, 1]),
    display_score=lambda score: 10 * score,
    version="1.2.3",
)
BOX = Box(
    lower=np.full(2, -np.inf),
    upper=np.full(2, np.inf),
    allowed={},
    up=np.zeros(2, dtype=bool),
    down=np.zeros(2, dtype=bool),
    reasons={},
)
POINTS = np.array([[0.0, 0.0], [3.0, 4.0], [3.0, 5.0]])
FOUND = Outcome(
    status="FOUND",
    points=POINTS,
    ids=(-1, 4, 7),
    scores=(0.2, 0.5, 0.8),
    log_densities=np.array([-2.0, -0.5, 0.0]),
    step_log_densities=np.array([-1.0, -0.5]),
    log_floor=-1.0,
)


def assembled(
    outcome: Outcome, assembler: AnswerAssembler = ASSEMBLER, action_records: Any = None
) -> Recourse:
    return assembler.assemble_recourse(
        outcome,
        10 * outcome.points,
        (None, *outcome.ids[1:]),
        form=TableFormat.of(np.zeros((3, 2)), SCHEMA),
        box=BOX,
        disclosure=Disclosure(3, 10),
        goal=None,
        action_records=action_records,
    )


def test_log_densities_become_shares_and_scores_those_of_the_user() -> None:
    answer = assembled(FOUND)

    assert answer.status is Status.FOUND
    assert answer.densities == (0.0, 0.75, 1.0)
    assert answer.scores == (2.0, 5.0, 8.0)
    assert answer.rows == (None, 4, 7)
    assert answer.relaxed_to is None
    assert answer.proven_within is None
    assert answer.version == "1.2.3"


def test_each_step_has_its_length_and_its_lowest_share() -> None:
    first, second = assembled(FOUND).certificates

    assert (first.length, first.lowest, first.floor) == (5.0, 0.5, 0.5)
    assert (second.length, second.lowest) == (1.0, 0.75)
    assert first.holds
    assert not first.entry
    assert (first.people, first.radius) == (None, None)


@pytest.mark.parametrize(
    ("below", "lowest"), [(RESTATED_TOLERANCE / 2, 0.5), (RESTATED_TOLERANCE * 2, 0.499999)]
)
def test_a_step_within_the_tolerance_is_on_the_floor(below: float, lowest: float) -> None:
    under = np.array([-1.0 - below, -0.5])

    first, _ = assembled(replace(FOUND, step_log_densities=under)).certificates

    assert first.lowest == pytest.approx(lowest, abs=1e-12)
    assert first.holds is (lowest == 0.5)


def test_only_the_first_step_is_an_entry() -> None:
    under = np.array([-1.8, -1.0])

    first, second = assembled(replace(FOUND, entry=True, step_log_densities=under)).certificates

    assert (first.entry, second.entry) == (True, False)
    assert first.lowest == pytest.approx(0.1)


def test_a_relaxed_floor_is_a_share_too_and_what_the_steps_are_held_to() -> None:
    under = np.array([-1.5, -0.5])

    answer = assembled(replace(FOUND, relaxed=True, log_floor=-1.5, step_log_densities=under))

    assert answer.relaxed_to == 0.25
    assert answer.min_density == 0.5
    assert [one.floor for one in answer.certificates] == [0.25, 0.25]
    assert all(one.holds for one in answer.certificates)


def test_proof_and_composed_ends_are_passed_on() -> None:
    answer = assembled(replace(FOUND, proven=True, composed=True))

    assert answer.proven_within == 0.05
    assert answer.composed


def test_the_cover_rule_names_people_and_radius() -> None:
    covers = replace(ASSEMBLER, options=replace(OPTIONS, edges="cover"))

    first, _ = assembled(FOUND, covers).certificates

    assert (first.rule, first.people, first.radius) == ("cover", 5, 0.8)


def test_recall_is_part_of_the_settings_where_it_is_not_whole() -> None:
    assert "recall" not in assembled(FOUND).settings
    assert assembled(FOUND, replace(ASSEMBLER, recall=0.99)).settings["recall"] == 0.99
    assert assembled(FOUND).settings["n_neighbors"] == 15


def acting(log_floor: float, lowest: tuple[float, float]) -> Outcome:
    actions = ActionPath(
        moves=(
            Move(np.array([3.0, 0.0]), 0.4),
            Move(np.array([3.0, 4.0]), 0.8, follows=(0,)),
        ),
        log_densities=np.array([-1.0, 0.0]),
        step_log_densities=np.array(lowest),
        log_floor=log_floor,
    )
    return replace(FOUND, actions=actions)


ACTION_RECORDS = np.array([[0.0, 0.0], [30.0, 0.0], [30.0, 40.0]])


def test_actions_name_what_changes_in_units() -> None:
    first, second = assembled(acting(-1.0, (-1.0, -0.5)), action_records=ACTION_RECORDS).actions

    assert (dict(first.before), dict(first.changes)) == ({"a": 0.0}, {"a": 30.0})
    assert (dict(second.before), dict(second.changes)) == ({"b": 0.0}, {"b": 40.0})
    assert (first.score, first.density, first.follows) == (4.0, 0.5, ())
    assert (second.score, second.density, second.follows) == (8.0, 1.0, (0,))
    assert (first.certificate.length, second.certificate.length) == (3.0, 4.0)
    assert first.certificate.floor == 0.5
    assert first.certificate.holds


def test_without_the_records_of_actions_there_are_none() -> None:
    assert assembled(acting(-1.0, (-1.0, -0.5))).actions == ()


def test_a_floor_that_is_no_share_of_people_is_said_as_the_share_that_was_asked_for() -> None:
    by_radius = replace(acting(-5.0, (-5.0, -5.0)), log_floor=-5.0)

    first, _ = assembled(by_radius, action_records=ACTION_RECORDS).actions

    assert first.certificate.floor == 0.5
    assert first.certificate.lowest == 0.5


def test_someone_below_the_floor_keeps_a_lower_one_by_their_actions() -> None:
    first, second = assembled(acting(-1.8, (-1.8, -1.9)), action_records=ACTION_RECORDS).actions

    assert first.certificate.floor == pytest.approx(0.1)
    assert first.certificate.holds
    assert not first.certificate.entry
    assert second.certificate.entry  # below even that
    assert second.certificate.lowest == pytest.approx(0.05)


def test_an_outcome_without_a_path_says_why() -> None:
    spent = Outcome(
        status="BUDGET",
        points=POINTS[:1],
        ids=(-1,),
        scores=(0.2,),
        log_densities=np.array([-1.0]),
        step_log_densities=np.zeros(0),
        log_floor=-1.0,
    )

    answer = assembled(spent)

    assert answer.status is Status.BUDGET
    assert answer.certificates == ()
    assert answer.reason.startswith("max_rows=100 was spent")
