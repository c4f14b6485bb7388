"""One search from end to end: the stages in order, and each way it can end."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from localface.search import pipeline
from localface.search.going_straight import go_straight_below_floor
from localface.search.outcome import MissingActions
from localface.search.pipeline import (
    _may_end_anywhere,
    count_targets,
    find_recourse,
    least_widening,
    measure_path,
)
from localface.search.plan import Plan, Price, WalkOptions
from localface.search.questions import Census, ComposeStates, Nearest, Widening
from scripted import Script, box, replies, someone, taking_over

STEPS = [[1.0, 0.0], [2.0, 0.0], [3.0, 0.0], [4.0, 0.0], [5.0, 0.0], [6.0, 0.5]]
PLAN = Plan(WalkOptions(3))


def tenth(points):
    return points[:, 0] / 10


def gap(points):
    return np.where(np.abs(points[:, 0] - 2.5) < 0.3, -1.0, 1.0)


def searched(script: Script, plan=PLAN, *, factual=(0.0, 0.0), goal=None, relax=False, **options):
    wished = options.pop("wished", False)
    person = someone(factual, **options)
    point = None if goal is None else np.asarray(goal, dtype=float)
    return script.run(find_recourse(person, plan, goal=point, relax=relax, wished=wished))


def test_someone_already_there_takes_no_steps_and_sees_no_rows():
    script = Script(STEPS, score=tenth)

    found = searched(script, factual=(7.0, 0.0))

    assert (found.status, len(found.points)) == ("ALREADY_THERE", 1)
    assert script.n_asked(Nearest) == 0


def test_the_shortest_path_is_found_proven_and_has_actions():
    script = Script(STEPS, score=tenth)

    found = searched(script)

    assert found.status == "FOUND"
    assert found.points[-1].tolist() == [5.0, 0.0]
    assert (found.proven, found.cost) == (True, 5.0)
    assert [move.point.tolist() for move in found.actions.moves] == [[5.0, 0.0]]


@pytest.mark.parametrize(
    "change",
    [{"exact_source": False}, {"slack": np.inf}, {"cost": "density"}],
    ids=["source", "slack", "cost"],
)
def test_nothing_is_proven_where_rows_may_be_missed_or_lengths_are_not_what_counts(change):
    script = Script(STEPS, score=tenth)

    assert not searched(script, replace(PLAN, **change)).proven


def test_without_actions_the_path_alone():
    script = Script(STEPS, score=tenth)

    assert searched(script, replace(PLAN, actions=False)).actions is None


def test_where_only_existence_counts_nothing_is_measured():
    script = Script(STEPS, score=tenth)

    found = searched(script, replace(PLAN, existence_only=True))

    assert (found.status, found.scores) == ("FOUND", ())


def test_nobody_has_the_target():
    script = Script(STEPS[:3], score=tenth)

    found = searched(script)

    assert (found.status, found.counts.targets) == ("NO_TARGET", 0)


def test_no_path_keeps_the_floor():
    script = Script(STEPS, score=tenth, log_density=gap)

    found = searched(script, Plan(WalkOptions(9)))

    assert (found.status, found.no_floor_helps) == ("UNREACHABLE", False)
    assert found.counts.targets == 2


def test_the_budget_is_spent_before_a_path_is_found():
    script = Script(STEPS, score=tenth, log_density=gap, max_rows=3)

    assert searched(script, Plan(WalkOptions(9))).status == "BUDGET"


def test_a_lower_floor_is_found_where_that_is_wanted():
    script = Script(STEPS, score=tenth, log_density=gap)

    found = searched(script, Plan(WalkOptions(9)), relax=True)

    assert (found.status, found.relaxed) == ("FOUND", True)
    assert found.log_floor == pytest.approx(-1.0, abs=1e-6)


def test_a_floor_that_is_kept_was_not_lowered_where_a_longer_search_was_all_it_took():
    script = Script([[0.1, 0.0], [0.2, 0.0], [0.3, 0.0], [9.0, 0.0]], score=tenth)

    assert searched(script, Plan(WalkOptions(2))).status == "UNREACHABLE"
    found = searched(script, Plan(WalkOptions(2)), relax=True)

    assert (found.status, found.relaxed, found.log_floor) == ("FOUND", False, 0.0)


def test_where_no_floor_helps_that_is_said():
    script = Script(STEPS, score=tenth, log_density=gap)

    found = searched(script, relax=True, max_step=0.5)

    assert (found.status, found.no_floor_helps) == ("UNREACHABLE", True)


def test_a_budget_that_is_spent_while_the_floor_is_lowered_is_said():
    script = Script(
        [[1.0, 0.0], [-1.0, 0.0], [9.0, 0.0]],
        score=tenth,
        max_rows=2,
    )

    found = searched(script, Plan(WalkOptions(2)), relax=True, max_step=1.2)

    assert found.status == "BUDGET"
    assert not found.no_floor_helps


def rare_start(points):
    return np.where(points[:, 0] < 0.9, -1.0, 1.0)


def test_someone_below_the_floor_enters_by_one_step_and_nothing_is_proven():
    script = Script(STEPS, score=tenth, log_density=rare_start)

    found = searched(script)

    assert (found.status, found.entry, found.proven) == ("FOUND", True, False)
    assert found.ids[:2] == (-1, 0)


def test_relaxing_starts_from_the_person_where_that_is_no_less_common():
    script = Script(
        STEPS, score=tenth, log_density=lambda points: np.minimum(rare_start(points), gap(points))
    )

    found = searched(script, Plan(WalkOptions(9)), relax=True, max_step=1.2)

    assert (found.status, found.entry, found.relaxed) == ("FOUND", False, True)
    assert found.ids == (-1, 0, 1, 2, 3, 4)


def test_relaxing_starts_from_the_row_that_one_entered_by_where_that_is_more_common():
    script = Script(
        STEPS,
        score=tenth,
        log_density=lambda points: np.minimum(rare_start(points), gap(points) / 2),
    )

    found = searched(script, Plan(WalkOptions(9)), relax=True, max_step=1.2)

    assert (found.status, found.entry, found.relaxed) == ("FOUND", True, True)
    assert found.log_floor == pytest.approx(-0.5, abs=1e-6)
    assert found.ids == (-1, 0, 1, 2, 3, 4)


def test_the_safest_path_keeps_the_highest_floor():
    script = Script(
        [[1.0, 1.0], [2.0, 0.0], [3.0, 1.0], [5.0, 0.0]],
        score=tenth,
        log_density=lambda points: points[:, 1] + 0.1,
    )

    safest = searched(script, Plan(WalkOptions(9), cost="safest", actions=False))
    shortest = searched(script, Plan(WalkOptions(9), actions=False))

    assert safest.log_floor >= shortest.log_floor
    assert (safest.proven, shortest.proven) == (False, True)


def test_the_safest_path_from_below_the_floor_keeps_its_entry_step():
    script = Script(STEPS, score=tenth, log_density=rare_start)

    found = searched(script, Plan(WalkOptions(9), cost="safest"))

    assert (found.status, found.entry) == ("FOUND", True)


def test_density_can_be_what_a_path_is_paid_for_in():
    script = Script(STEPS, score=tenth)
    price = Price(usual_log_density=2.0, exponent=0.5)

    found = searched(script, replace(PLAN, cost="density", price=price))

    assert found.status == "FOUND"
    assert found.cost == pytest.approx(5.0 * np.exp(0.5))


def test_a_given_goal_is_the_end():
    script = Script(STEPS, score=tenth)

    found = searched(script, goal=[5.5, 0.0])

    assert (found.status, found.ids[-1]) == ("FOUND", -1)
    assert found.points[-1].tolist() == [5.5, 0.0]


def test_a_goal_without_the_score_or_outside_the_constraints_is_none():
    script = Script(STEPS, score=tenth)

    assert searched(script, goal=[3.0, 0.0]).status == "NO_TARGET"
    assert searched(script, goal=[6.0, 0.0], bounds=box(2, upper=5.0)).status == "NO_TARGET"
    broken = searched(script, goal=[6.0, 0.0], keeps_relations=lambda points: points[:, 0] < 5)
    assert broken.status == "NO_TARGET"


def test_a_goal_that_is_wished_for_need_not_have_the_score_and_is_reached_in_full():
    script = Script(STEPS, score=tenth)

    short = searched(script, goal=[3.0, 1.0], wished=True)
    full = searched(script, goal=[6.0, 1.0], wished=True)

    assert (short.status, short.scores[-1]) == ("FOUND", 0.3)
    assert full.actions.moves[-1].point.tolist() == [6.0, 1.0]
    assert searched(script, goal=[6.0, 1.0]).actions.moves[-1].point.tolist() == [5.25, 0.0]


def test_a_goal_below_the_floor_needs_no_step_to_be_tried():
    script = Script(STEPS, score=tenth, log_density=lambda points: 5.5 - points[:, 0])

    found = searched(script, goal=[6.0, 0.0])

    assert found.status == "UNREACHABLE"
    assert script.n_asked(Nearest) == 0


ANYTHING = taking_over(box(2), [0.0, 0.0])  # whoever may take over everything
NEARLY = taking_over(box(2, upper=[np.inf, 9.0]), [0.0, 0.0])  # and who may do so up to a limit


def test_where_a_walk_leads_nowhere_a_few_actions_to_anybodys_values_are_tried():
    script = Script(STEPS[:3], score=tenth, composed=[[5.0, 0.0]])

    nowhere = searched(script)
    assert (nowhere.status, nowhere.cost, nowhere.entry) == ("NO_TARGET", 0.0, False)
    found = searched(script, projection=ANYTHING)

    assert (found.status, found.composed, found.proven) == ("FOUND", True, False)
    assert found.points.tolist() == [[0.0, 0.0], [5.0, 0.0]]
    assert found.actions.moves[-1].point.tolist() == [5.0, 0.0]


def test_with_a_lowered_floor_someone_far_below_it_still_starts_where_they_are():
    """From the start nothing is dense; from where it enters, the gap is all that is in the way."""

    def log_density(points):
        return np.where(points[:, 0] < 0.9, -3.0, np.where(gap(points) < 0, -0.5, 1.0))

    script = Script(STEPS, score=tenth, log_density=log_density)

    found = searched(script, Plan(WalkOptions(6)), relax=True, max_step=1.5)

    assert (found.status, found.relaxed, found.entry) == ("FOUND", True, True)
    assert found.points[0].tolist() == [0.0, 0.0]
    assert found.points[-1].tolist() == [5.0, 0.0]
    assert found.log_floor == pytest.approx(-0.5)


@pytest.mark.parametrize("target", [0, 2])
def test_a_path_that_ends_at_a_row_is_not_composed_whatever_its_number(target):
    rows = [[0.5, 1.0], [0.5, 2.0], [0.5, 3.0]]
    rows[target] = [5.0, 0.0]

    found = searched(Script(rows, score=tenth))

    assert (found.status, found.ids[-1], found.composed) == ("FOUND", target, False)


def test_without_actions_the_straight_way_is_a_path_alone():
    script = Script(STEPS[:3], score=tenth, composed=[[5.0, 0.0]])

    found = searched(script, replace(PLAN, actions=False), projection=ANYTHING)

    assert (found.status, found.actions, found.scores) == ("FOUND", None, (0.0, 0.5))


@pytest.mark.parametrize("least_effort", [False, True])
def test_a_straight_way_with_more_features_than_wanted_is_given_and_says_how_many(least_effort):
    script = Script(
        STEPS[:3], score=lambda points: points.min(axis=1) / 10, composed=[[5.0, 5.0], [6.0, 6.0]]
    )

    plan = replace(PLAN, max_features=1, least_effort=least_effort)
    found = searched(script, plan, projection=ANYTHING)
    asked = searched(script, replace(plan, max_features=2), projection=ANYTHING)

    assert found.status == "FOUND"
    assert found.missing_actions == MissingActions(most=1, fewest=2, with_more=found.actions)
    assert asked.missing_actions is None
    moves = [[move.point.tolist() for move in one.actions.moves] for one in (found, asked)]
    assert moves[0] == moves[1]


def test_a_plan_found_late_that_keeps_the_limit_on_features_is_not_missed(monkeypatch):
    """More is known once the path was improved: what was not found before may be found then."""

    def finds_nothing(graph, plan):
        yield from ()

    monkeypatch.setattr(pipeline, "find_few_actions", finds_nothing)
    steps = [[1.0, 0.1], [2.0, 0.0], [3.0, 0.1], [4.0, 0.0], [5.0, 0.1]]

    found = searched(Script(steps, score=tenth), replace(PLAN, max_features=1))

    assert [move.point.tolist() for move in found.actions.moves] == [[5.0, 0.0]]
    assert found.missing_actions is None


def test_that_there_is_a_straight_way_is_enough_where_only_existence_counts():
    script = Script(STEPS[:3], score=tenth, composed=[[5.0, 0.0]])

    found = searched(script, replace(PLAN, existence_only=True), projection=ANYTHING)

    assert (found.status, found.scores) == ("FOUND", ())


def test_states_that_the_budget_withheld_are_said():
    script = Script(STEPS[:3], score=tenth, composed_cut=True)

    found = searched(script, projection=ANYTHING)

    assert found.status == "BUDGET"
    assert script.n_asked(ComposeStates) == 1


def one_by_one(n: int) -> list[list[float]]:
    """Rows a small step apart, the last of which reaches the target."""
    return [[5.0 * (i + 1) / n, 0.0] for i in range(n)]


def test_a_short_walk_comes_before_the_straight_way():
    script = Script(one_by_one(4), score=tenth, composed=[[0.0, 9.0]])

    found = searched(script, Plan(WalkOptions(3)), projection=ANYTHING)

    assert (found.status, found.composed) == ("FOUND", False)
    assert script.n_asked(ComposeStates) == 0


def test_a_long_walk_comes_after_the_straight_way():
    script = Script(one_by_one(12), score=tenth)

    found = searched(script, Plan(WalkOptions(3)), projection=NEARLY)

    assert (found.status, found.composed) == ("FOUND", False)
    assert script.n_asked(ComposeStates) == 1


@pytest.mark.parametrize("cost", ["length", "density", "safest"])
def test_a_walk_that_gives_up_is_marked(cost):
    rows = [*([i / 50, 0.0] for i in range(1, 400)), [9.0, 0.0]]
    script = Script(rows, score=lambda points: points[:, 0] / 10)

    found = searched(script, Plan(WalkOptions(3), cost=cost), projection=NEARLY)

    assert (found.status, found.cut_short) == ("UNREACHABLE", True)


def test_where_nothing_is_kept_a_walk_through_all_rows_comes_first():
    script = Script(one_by_one(12), score=tenth, composed=[[5.0, 0.0]])

    found = searched(script, Plan(WalkOptions(3)), projection=ANYTHING)

    assert (found.status, found.composed) == ("FOUND", False)
    assert script.n_asked(ComposeStates) == 0


@pytest.mark.parametrize("cost", ["density", "safest"])
def test_where_common_ground_counts_the_straight_way_comes_last(cost):
    script = Script(one_by_one(12), score=tenth, composed=[[5.0, 0.0]])

    found = searched(script, Plan(WalkOptions(3), cost=cost), projection=ANYTHING)

    assert (found.status, found.composed) == ("FOUND", False)
    assert script.n_asked(ComposeStates) == 0


def test_the_straight_way_of_someone_below_the_floor_begins_with_one_entry_step():
    script = Script(
        [[0.1, 9.0]],
        score=lambda points: points.sum(axis=1) / 10,
        log_density=lambda points: np.where(points[:, 0] + points[:, 1] < 3.9, -1.0, 1.0),
        composed=[[2.0, 2.0]],
    )

    found = searched(script, projection=ANYTHING, min_score=0.4, max_step=3.0)

    assert (found.status, found.entry) == ("FOUND", True)
    assert len(found.actions.moves) == 2
    assert found.points.tolist() == [[0.0, 0.0], [2.0, 2.0]]


def test_no_step_of_the_straight_way_is_longer_than_a_step_may_be():
    script = Script(STEPS[:1], score=tenth, composed=[[5.0, 0.0]])

    found = searched(script, projection=ANYTHING, max_step=1.5)
    steps = np.linalg.norm(np.diff(found.points, axis=0), axis=1)
    flip = searched(script, projection=ANYTHING, max_step=1.5, discrete=np.array([True, False]))

    assert found.status == "FOUND"
    assert steps.max() <= 1.5
    assert flip.status != "FOUND"


def test_a_walk_leads_through_states_of_the_person_alone():
    limits = box(2, lower=[-np.inf, 0.25], upper=[np.inf, 0.25])
    person = {"projection": taking_over(limits, [0.0, 0.25]), "bounds": limits}
    script = Script(STEPS, score=tenth)

    found = searched(script, factual=(0.0, 0.25), **person)

    assert found.status == "FOUND"
    assert (found.points[:, 1] == 0.25).all()
    assert (found.ids[-1], found.donors[-1], found.composed) == (-1, 4, True)


def test_weights_and_fixed_columns_are_minded():
    rows = [[5.0, 0.0], [0.0, 6.0]]
    script = Script(rows, score=lambda points: points.max(axis=1) / 10)

    weighted = searched(script, weights=np.array([5.0, 1.0]))
    fixed = searched(script, fixed=np.array([True, False]))

    assert weighted.actions.moves[-1].point.tolist() == [0.0, 5.25]
    assert fixed.actions.moves[-1].point.tolist() == [0.0, 5.25]


def test_what_waiting_would_do_is_worked_out_at_the_end():
    script = Script(STEPS, score=tenth)
    grown = np.array([[8.0, 0.0]])

    found = searched(script, grown=grown)
    without = searched(Script([[1.0, 0.0]], score=tenth), grown=grown)
    asked_if_any = searched(script, replace(PLAN, existence_only=True), grown=grown)
    with_goal = searched(script, goal=(6.0, 0.0), grown=grown)

    assert (found.status, found.waiting.score) == ("FOUND", 0.8)
    assert (without.status, without.waiting.score) == ("NO_TARGET", 0.8)
    assert asked_if_any.waiting is None
    assert with_goal.waiting is None


@pytest.mark.parametrize("momentum_steps", [0, 2])
def test_the_paper_as_printed(momentum_steps):
    script = Script(STEPS, score=tenth)
    plan = Plan(WalkOptions(3, momentum_steps), strategy="paper")

    found = searched(script, plan)

    assert found.status == "FOUND"
    assert found.scores[-1] >= 0.5
    assert (found.actions, found.proven) == (None, False)


def test_the_paper_may_leap_a_gap_and_then_has_no_path():
    script = Script(STEPS, score=tenth, log_density=gap)

    found = searched(script, Plan(WalkOptions(9), strategy="paper"))

    assert found.status == "UNREACHABLE"


def test_the_paper_ends_where_no_row_is_left_or_the_budget_is_spent():
    plan = Plan(WalkOptions(3), strategy="paper")

    assert searched(Script(STEPS[:3], score=tenth), plan).status == "NO_TARGET"
    spent = Script(STEPS, score=tenth, log_density=gap, max_rows=4)
    assert searched(spent, plan).status == "BUDGET"


def test_the_paper_takes_a_given_goal():
    script = Script(STEPS, score=tenth)

    found = searched(script, Plan(WalkOptions(3), strategy="paper"), goal=[5.5, 0.0])

    assert found.points[-1].tolist() == [5.5, 0.0]


def test_a_path_is_measured_whether_or_not_one_could_take_it():
    script = Script(STEPS, score=tenth, log_density=gap)

    found = script.run(measure_path(someone([0.0, 0.0]), np.array([[2.5, 0.0], [5.0, 0.0]])))

    assert found.log_densities.tolist() == [1.0, -1.0, 1.0]
    assert found.step_log_densities.tolist() == [-1.0, -1.0]
    assert (found.cost, script.n_asked(Nearest)) == (5.0, 0)


def test_a_measured_path_begins_with_the_score_of_the_person():
    script = Script(STEPS, score=tenth)

    found = script.run(measure_path(someone([1.0, 0.0]), np.array([[2.5, 0.0], [5.0, 0.0]])))

    assert list(found.scores) == [0.1, 0.25, 0.5]


@pytest.mark.parametrize("given", ["a goal", "no more rows", "nothing to take over"])
def test_nobody_is_sent_straight_below_the_floor_where_that_was_not_asked(given):
    script = Script(STEPS, score=tenth, log_density=gap)
    allowed = None if given == "nothing to take over" else taking_over(box(2), np.zeros(2))
    graph = script.graph(someone([0.0, 0.0], projection=allowed))
    graph.cut = given == "no more rows"
    if given == "a goal":
        graph.goal = graph.add_state(np.array([5.0, 0.0]), 0.5)

    assert script.run(go_straight_below_floor(graph, PLAN)) is None
    assert script.asked == []


def test_counting_returns_counts_and_asks_for_no_reasons():
    script = Script(STEPS, score=tenth)

    counts = script.run(count_targets(someone([0.0, 0.0], bounds=box(2, upper=[5.5, 9.0]))))

    assert (counts.allowed, counts.targets, counts.targets_anywhere) == (5, 1, 2)
    assert [type(question) for question in script.asked] == [Census]
    assert script.asked[0].why is False


def test_the_least_widening_is_a_factor():
    record = np.array([1.0, 2.0])

    asked, factor = replies(least_widening(someone([0.0, 0.0]), record, record), 1.5)

    assert factor == 1.5
    assert isinstance(asked[0], Widening)
    assert asked[0].record is record


def test_where_no_state_reaches_the_target_no_long_walk_is_taken():
    bounds = box(2, upper=[4.0, np.inf])
    crowd = [[x / 10, 0.0] for x in range(1, 60)]
    script = Script(crowd, score=tenth)

    found = searched(script, bounds=bounds, projection=taking_over(bounds, [0.0, 0.0]))

    assert found.status == "NO_TARGET"
    assert len(script.seen) < 20  # of 40 that are states of this person


def questions_until_composing(script: Script) -> list[int]:
    """How often it was looked around before each time that states of anybody were asked for."""
    kinds = [type(question) for question in script.asked]
    places = [i for i, kind in enumerate(kinds) if kind is ComposeStates]
    return [kinds[:place].count(Nearest) for place in places]


def test_four_states_are_walked_to_before_anybodys_are_tried_and_then_sixty_four():
    bounds = box(2, upper=[90.0, np.inf])
    crowd = [[x / 10, 0.0] for x in range(1, 1000)]
    out_of_bounds = [[95.0, 0.0]] * 48  # as many as are asked for: there may be more
    script = Script(crowd, score=lambda points: points[:, 0] / 160, composed=out_of_bounds)

    searched(script, Plan(WalkOptions(3)), bounds=bounds, projection=taking_over(bounds, [0, 0]))

    near, far, *_ = questions_until_composing(script)
    # the last that is accepted is not looked around, and around the first three is known by then
    assert (near, far - near) == (3, 60)


def beyond_a_wall(points):
    return np.where(np.abs(points[:, 0] - 4.5) < 0.2, -1.0, 1.0)


def test_that_no_path_leads_anywhere_takes_few_questions():
    rng = np.random.default_rng(0)
    crowd = np.concatenate([rng.uniform(0, 4, size=(200, 2)), [[5.0, 1.0], [5.5, 2.0]]])
    script = Script(crowd, score=tenth, log_density=beyond_a_wall)

    found = searched(script, Plan(WalkOptions(10)))

    assert found.status == "UNREACHABLE"
    assert not found.cut_short
    assert len(script.seen) >= 200  # all that can be reached was looked at
    assert len(script.asked) < 250


def test_nor_does_it_for_someone_who_enters_from_below_the_floor():
    rng = np.random.default_rng(0)
    crowd = np.concatenate([rng.uniform(0, 4, size=(200, 2)), [[5.0, 1.0], [5.5, 2.0]]])

    def rare_start_and_wall(points):
        return np.where(np.hypot(*points.T) < 0.3, -1.0, beyond_a_wall(points))

    script = Script(crowd, score=tenth, log_density=rare_start_and_wall)

    found = searched(script, Plan(WalkOptions(10)))

    assert found.status == "UNREACHABLE"
    assert not found.cut_short
    assert len(script.seen) >= 190
    assert len(script.asked) < 250


@pytest.mark.parametrize("seed", range(3))
def test_a_long_walk_that_leads_somewhere_is_taken(seed):
    rng = np.random.default_rng(seed)
    outside = [[4.2, 3.9], [4.4, 3.9], [4.6, 3.9], [4.8, 3.9], [5.1, 3.9]]
    crowd = np.concatenate([rng.uniform(0, 4, size=(150, 2)), outside])

    def door(points):
        return np.where((np.abs(points[:, 0] - 4.5) < 0.2) & (points[:, 1] < 3.5), -1.0, 1.0)

    found = searched(Script(crowd, score=tenth, log_density=door), Plan(WalkOptions(12)))

    assert found.status == "FOUND"


def test_with_momentum_a_long_walk_may_end_between_the_states_that_can_be_counted():
    script = Script(STEPS, score=lambda points: np.zeros(len(points)))
    graph = script.graph(someone([0.0, 0.0]))

    by_momentum = script.run(_may_end_anywhere(graph, Plan(WalkOptions(3, 2))))
    from_row_to_row = script.run(_may_end_anywhere(graph, PLAN))

    assert (by_momentum, from_row_to_row) == (True, False)


def test_rows_are_counted_unless_states_are_asked_for():
    """A row beyond the limit is no state of hers; what she could take over of it is."""
    script = Script([[6.0, 20.0], [7.0, 20.0]], score=tenth)
    own = someone([0.0, 0.0], bounds=box(2, upper=[np.inf, 9.0]), projection=NEARLY)

    as_rows = script.run(count_targets(own))
    as_states = script.run(count_targets(own, states=True))

    assert (as_rows.targets, as_rows.of_states) == (0, False)
    assert (as_states.targets, as_states.of_states) == (2, True)


def test_a_straight_way_to_states_further_off_says_nothing_of_more_features_than_wanted():
    """The nearest forty-eight states lie beyond a gap; those further off are reached by one."""
    beyond = [[0.0, 5.0 + i / 1000] for i in range(48)]
    script = Script(
        STEPS[:3],
        score=lambda points: points.sum(axis=1) / 10,
        log_density=lambda points: np.where(points[:, 1] > 2.0, -1.0, 1.0),
        composed=[*beyond, [6.0, 0.0]],
    )

    found = searched(script, replace(PLAN, max_features=1), projection=ANYTHING)

    assert found.status == "FOUND"
    assert found.points[-1, 1] == 0.0
    assert found.missing_actions is None
