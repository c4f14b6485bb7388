"""Why a search found nothing, said of outcomes that are made by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from localface.answers.reasons import ReasonWriter
from localface.answers.status import Status
from localface.answers.target import Target
from localface.data.box import Box
from localface.data.feature import Feature
from localface.data.schema import Schema
from localface.options import Options
from localface.search.outcome import Outcome
from localface.search.questions import BestState, TargetCounts

SCHEMA = Schema(
    [
        Feature("age", kind="integer"),
        Feature("ward", kind="categorical", categories=("a", "b", "c")),
    ]
)
OPTIONS = Options(
    min_score=0.75, min_density=0.05, max_rows=100, density="kde", n_neighbors=15, min_people=5
)
WRITER = ReasonWriter(SCHEMA, Target("class 1", 0.75), OPTIONS, np.array([0, 1, 1, 1]))
OPEN = Box(
    lower=np.full(2, -np.inf),
    upper=np.full(2, np.inf),
    allowed={},
    up=np.zeros(2, dtype=bool),
    down=np.zeros(2, dtype=bool),
    reasons={},
)


def outcome(status: str, **more: Any) -> Outcome:
    return Outcome(
        status=status,
        points=np.zeros((1, 4)),
        ids=(-1,),
        scores=(0.2,),
        log_densities=np.zeros(1),
        step_log_densities=np.zeros(0),
        log_floor=-1.0,
        **more,
    )


def counts(targets: int, anywhere: int, excluded: tuple[int, ...] = (0, 0, 0, 0)) -> TargetCounts:
    return TargetCounts(
        allowed=50,
        targets=targets,
        targets_anywhere=anywhere,
        excluded_by=np.array(excluded, dtype=np.int64),
    )


@pytest.mark.parametrize("status", ["FOUND", "ALREADY_THERE", "NO_TARGET"])
def test_where_the_status_says_it_all_there_is_no_reason(status: str) -> None:
    assert WRITER.why_no_recourse(outcome(status), OPEN, None) == ""


def test_a_spent_budget_names_it() -> None:
    assert WRITER.why_no_recourse(outcome("BUDGET"), OPEN, None) == (
        "max_rows=100 was spent; allow more rows, or widen what may change"
    )


@pytest.mark.parametrize(
    ("max_step", "one_way", "why"),
    [
        (0.5, False, "max_step=0.5 rules out every step onwards"),
        (None, True, "features that only move one way rule out every step onwards"),
        (
            0.5,
            True,
            "max_step=0.5 or features that only move one way rule out every step onwards",
        ),
        (None, False, "no steps from neighbour to neighbour lead there, however unusual"),
    ],
)
def test_where_no_floor_helps_only_that_is_to_blame_which_there_is(
    max_step: float | None, one_way: bool, why: str
) -> None:
    writer = replace(WRITER, options=replace(WRITER.options, max_step=max_step))
    box = replace(OPEN, up=np.array([one_way, False]))

    said = writer.why_no_recourse(outcome("UNREACHABLE", no_floor_helps=True), box, None)

    assert said == f"no floor, however low, opens a way: {why}"


@pytest.mark.parametrize("best", [0.2, 0.1, 0.2001], ids=["as now", "worse", "no visible gain"])
def test_a_best_state_that_gains_nothing_is_not_called_one(best: float) -> None:
    found = replace(counts(0, 9), best=BestState(best, np.ones(4, dtype=bool)))

    said = WRITER.why_no_recourse(outcome("NO_TARGET", counts=found), OPEN, None)

    assert "by changing" not in said
    assert said.endswith("none reaches it or comes nearer: the score is 0.20 now, and at best")


def test_where_no_other_state_is_open_the_reason_names_what_ties_it() -> None:
    only_own = replace(counts(0, 9), allowed=1, best=BestState(0.2, np.ones(4, dtype=bool)))
    kept = replace(OPEN, allowed={1: frozenset({0})})
    linked = replace(WRITER, schema=SCHEMA.link("age", "ward"))

    said = linked.why_no_recourse(outcome("NO_TARGET", counts=only_own), kept, None)

    assert said == (
        "nothing that may change takes another value that goes with the rest: the score is 0.20; "
        "age is tied to ward, which stays as it is"
    )
    open_to_all = linked.why_no_recourse(outcome("NO_TARGET", counts=only_own), OPEN, None)
    assert "tied" not in open_to_all


def test_a_best_state_that_gains_something_says_by_what() -> None:
    found = replace(counts(0, 9), best=BestState(0.3, np.ones(4, dtype=bool)))

    said = WRITER.why_no_recourse(outcome("NO_TARGET", counts=found), OPEN, None)

    assert "the best score is 0.30, by changing" in said
    assert said.endswith(", whatever the floor and the number of features")
    assert "each with what one person in the data has, none reaches it" in said


def test_a_refusal_claims_no_more_than_was_looked_at() -> None:
    assert Status.NO_TARGET.value == "no allowed change that was tried reaches the target"


@pytest.mark.parametrize(
    ("found", "many"),
    [
        (None, "people within the constraints reach the target"),
        (counts(1, 1), "1 person within the constraints reaches the target"),
        (counts(1200, 1200), "1,200 people within the constraints reach the target"),
    ],
)
def test_people_who_cannot_be_reached_are_counted(found: TargetCounts | None, many: str) -> None:
    said = WRITER.why_no_recourse(outcome("UNREACHABLE", counts=found), OPEN, None)

    assert said == (
        f"{many}, but no steps from each state to its 15 nearest, through states at least as "
        "common as 1 in 20 people's, lead there"
    )


def test_states_are_no_people() -> None:
    found = replace(counts(715, 715), of_states=True)

    said = WRITER.why_no_recourse(outcome("UNREACHABLE", counts=found), OPEN, None)

    assert said.startswith("715 states open to this person reach the target, but no steps")


def test_a_search_that_gave_up_does_not_claim_that_there_are_no_steps() -> None:
    gave_up = replace(outcome("UNREACHABLE", counts=counts(3, 3)), cut_short=True)

    said = WRITER.why_no_recourse(gave_up, OPEN, None)

    assert "but none of the steps that were tried from each state" in said


def test_the_longest_step_is_named_where_there_is_one() -> None:
    short = replace(WRITER, options=replace(OPTIONS, max_step=0.5))

    said = short.why_no_recourse(outcome("UNREACHABLE"), OPEN, None)

    assert "no steps of at most 0.5 standard deviations from each state" in said


def test_a_target_that_nobody_reaches_is_said_to_be_one() -> None:
    assert WRITER.why_no_recourse(outcome("NO_TARGET", counts=counts(0, 0)), OPEN, None) == (
        "nobody in the data reaches it, with or without the constraints: "
        "class 1, score at least 0.75"
    )


@pytest.mark.parametrize(
    ("allowed", "excluded", "blamed"),
    [
        ({}, (9, 4, 4, 4), "'ward' alone rules out 12"),  # each column rules out its own people
        ({1: frozenset({0, 2})}, (9, 4, 4, 4), "'ward' alone rules out 12"),
        ({1: frozenset({0})}, (9, 8, 3, 4), "'age may only rise' alone rules out 9"),
        ({1: frozenset({0})}, (5, 8, 3, 4), "'ward' alone rules out 8"),  # one column says it all
    ],
)
def test_the_constraint_that_rules_out_most_is_named(
    allowed: dict[int, frozenset[int]], excluded: tuple[int, ...], blamed: str
) -> None:
    box = replace(OPEN, allowed=allowed, reasons={0: "age may only rise"})

    said = WRITER.why_no_recourse(outcome("NO_TARGET", counts=counts(0, 1500, excluded)), box, None)

    assert said == (
        f"1,500 people in the data have it, but the constraints rule all of them out; {blamed}"
    )


@pytest.mark.parametrize(
    ("goal", "outside"),
    [
        ((30.0, 0.0), "age at least 40"),
        ((50.0, 1.0), "ward stays a"),
        ((30.0, 1.0), "age at least 40; ward stays a"),
    ],
)
def test_a_given_counterfactual_outside_the_constraints_says_which(
    goal: tuple[float, float], outside: str
) -> None:
    box = replace(
        OPEN,
        lower=np.array([40.0, -np.inf]),
        allowed={1: frozenset({0})},
        reasons={0: "age at least 40", 1: "ward stays a"},
    )

    said = WRITER.why_no_recourse(outcome("UNREACHABLE"), box, np.array(goal))

    assert said == f"the counterfactual that was given lies outside the constraints: {outside}"


@pytest.mark.parametrize(
    ("status", "words"),
    [
        ("NO_TARGET", "does not reach the target: class 1, score at least 0.75"),
        ("UNREACHABLE", "cannot be reached through common enough states"),
    ],
)
def test_a_given_counterfactual_within_them_fails_by_score_or_by_density(
    status: str, words: str
) -> None:
    said = WRITER.why_no_recourse(outcome(status), OPEN, np.array([50.0, 1.0]))

    assert said == f"the counterfactual that was given {words}"


def test_a_given_counterfactual_that_breaks_a_relation_says_which() -> None:
    schema = Schema([Feature("low"), Feature("high")], relations=[("low", "<=", "high")])
    writer = replace(WRITER, schema=schema)

    said = writer.why_no_recourse(outcome("UNREACHABLE"), OPEN, np.array([2.0, 1.0]))

    assert said == (
        "the counterfactual that was given breaks what the schema says of every state: low <= high"
    )


@pytest.mark.parametrize("own", [{"moves": "never"}, {"moves": "grows"}, {"protected": True}])
def test_what_stays_a_persons_own_is_not_what_costs_most(own: dict[str, Any]) -> None:
    schema = Schema([Feature("age", kind="integer", **own), SCHEMA["ward"]])
    writer = ReasonWriter(schema, Target("class 1", 0.75), OPTIONS, np.array([0, 1, 1, 1]))
    box = replace(OPEN, allowed={1: frozenset({0, 1})}, reasons={0: "age ...", 1: "ward among a"})
    nobody = outcome("NO_TARGET", counts=counts(0, 31, (31, 0, 0, 7)))
    only_own = outcome("NO_TARGET", counts=counts(0, 31, (31, 0, 0, 0)))

    assert writer.why_no_recourse(nobody, box, None) == (
        "31 people in the data have it, but the constraints rule all of them out; "
        "'ward among a' alone rules out 7"
    )
    assert writer.why_no_recourse(only_own, box, None) == (
        "31 people in the data have it, but none with what stays this person's own"
    )
