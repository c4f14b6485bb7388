"""Who reaches a target score: counted and measured, for the latest scores remembered."""

from __future__ import annotations

import numpy as np
import pytest

from localface.engine import targets as targets_module
from localface.engine.score_cache import ScoreCache
from localface.engine.targets import MAX_TARGET_SCORES, TargetRows
from localface.geometry.bounds import Bounds
from localface.search.questions import Census, ComposeStates, Widening
from small_engine import LineScore, line_source, taking_over_up_to, up_to


def targets(score: LineScore | None = None) -> TargetRows:
    score = score or LineScore()
    source = line_source()
    return TargetRows(source, ScoreCache(score.exact_scores, source), score.round_scores)


def test_everyone_is_scored_once_for_all_target_scores() -> None:
    score = LineScore()
    rows = targets(score)

    assert not rows.knows_who_reaches(0.5)
    assert np.flatnonzero(rows.is_target(0.5)).tolist() == [5, 6, 7, 8, 9]
    assert np.flatnonzero(rows.is_target(0.8)).tolist() == [8, 9]
    assert rows.knows_who_reaches(0.5)
    assert len(score.calls) == 1


def test_only_the_latest_target_scores_are_remembered() -> None:
    rows = targets()
    rows.is_target(0.5)
    for i in range(MAX_TARGET_SCORES - 1):
        rows.is_target(0.6 + i / 100)
    rows.is_target(0.5)  # used again, so it is not the next to go

    rows.is_target(0.95)

    assert rows.knows_who_reaches(0.5)
    assert not rows.knows_who_reaches(0.6)


def test_a_census_counts_who_is_allowed_and_who_of_them_reaches_the_target() -> None:
    counts = targets().count_targets(Census(up_to(6.5)), 0.5)

    assert (counts.allowed, counts.targets, counts.targets_anywhere) == (7, 2, 5)
    assert counts.excluded_by.tolist() == [0]


@pytest.mark.parametrize(("why", "excluded"), [(True, 5), (False, 0)])
def test_what_rules_targets_out_is_counted_only_where_it_is_asked(why: bool, excluded: int) -> None:
    counts = targets().count_targets(Census(up_to(3.0), why=why), 0.5)

    assert counts.targets == 0
    assert counts.excluded_by.tolist() == [excluded]


@pytest.mark.parametrize("block", [3, 100])
def test_the_least_factor_is_that_of_the_nearest_target(
    block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("localface.engine.targets.BLOCK_ROWS", block)
    question = Widening(Bounds.unlimited(1), np.array([1.0]), np.array([2.0]))

    assert targets().least_widening_factor(question, 0.5) == 2.0


def test_no_factor_helps_where_no_target_is_allowed_at_all() -> None:
    question = Widening(up_to(3.0), np.array([1.0]), np.array([2.0]))

    assert targets().least_widening_factor(question, 0.5) == np.inf


@pytest.mark.parametrize("block", [2, 100])
def test_projections_come_nearest_first_and_each_state_once(
    block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("localface.engine.targets.BLOCK_ROWS", block)
    question = ComposeStates(np.array([4.2]), taking_over_up_to(6.5), 5, 0.5)

    found, states = targets().nearest_projections(question, 0.5)

    assert states[:, 0].tolist() == [5.0, 6.0, 6.5]  # 7, 8 and 9 come to the same
    assert found.tolist() == [5, 6, 7]


def test_without_limits_targets_are_taken_as_they_are() -> None:
    question = ComposeStates(np.array([9.2]), None, 5, 0.8)

    found, states = targets().nearest_projections(question, 0.8)

    assert states[:, 0].tolist() == [9.0, 8.0]
    assert found.tolist() == [9, 8]


@pytest.mark.parametrize("block", [2, 100])
def test_no_more_projections_come_than_are_looked_at_and_never_the_persons_own_state(
    block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("localface.engine.targets.BLOCK_ROWS", block)
    question = ComposeStates(np.array([6.0]), taking_over_up_to(8.5), 5, 0.5, last=3)

    found, states = targets().nearest_projections(question, 0.5)

    assert states[:, 0].tolist() == [5.0, 7.0, 8.0]
    assert found.tolist() == [5, 7, 8]


@pytest.mark.parametrize("block", [3, 100])
def test_states_of_a_person_are_listed_once_each_and_only_allowed_ones(
    block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("localface.engine.targets.BLOCK_ROWS", block)
    question = Census(up_to(5.5), projection=taking_over_up_to(6.5))

    states = targets().different_states(question)

    assert states[:, 0].tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    wide = targets().different_states(Census(up_to(9.0), projection=taking_over_up_to(6.5)))
    assert wide[:, 0].tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 6.5]


def test_without_limits_everyone_is_counted_and_nobody_is_looked_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows = targets()
    rows.is_target(0.5)
    monkeypatch.setattr(rows._holder, "list_rows", None)

    counts = rows.count_targets(Census(Bounds.unlimited(1), why=False), 0.5)

    assert (counts.allowed, counts.targets, counts.targets_anywhere) == (10, 5, 5)


@pytest.mark.parametrize(("exact", "looked_at"), [(True, [5, 6, 7, 8, 9]), (False, [5, 8])])
def test_of_very_many_targets_in_cells_an_even_sample_is_taken_over_from(
    monkeypatch: pytest.MonkeyPatch, exact: bool, looked_at: list[int]
) -> None:
    rows = targets()
    monkeypatch.setattr(targets_module, "BLOCK_ROWS", 2)
    monkeypatch.setattr(type(rows._holder), "exact", exact)
    question = ComposeStates(np.array([0.0]), None, 9, 0.5)

    found, states = rows.nearest_projections(question, 0.5)

    assert found.tolist() == looked_at
    assert states.ravel().tolist() == looked_at
