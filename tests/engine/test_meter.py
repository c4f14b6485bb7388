"""Rows are counted once, the budget is kept by all searches of a call together."""

from __future__ import annotations

import numpy as np

from localface.engine.account import Account, join_accounts
from localface.engine.job import take_points_as_records
from localface.engine.meter import Meter
from localface.sources.protocol import Neighbors
from small_engine import ids, points


def meter(max_rows: int | None = None) -> Meter:
    return Meter(take_points_as_records, 0.5, max_rows)


def neighbors(*rows: int) -> Neighbors:
    return Neighbors(ids(*rows), points(*rows), np.arange(len(rows), dtype=float))


def test_a_row_that_is_seen_twice_counts_once() -> None:
    account = meter()

    account.spend_budget_on_neighbors(neighbors(1, 2))
    account.spend_budget_on_neighbors(neighbors(2, 3))

    assert account.close(10).rows == 3


def test_without_a_budget_an_answer_passes_as_it_is() -> None:
    found = neighbors(1, 2, 3)

    assert meter().spend_budget_on_neighbors(found) is found


def test_what_the_budget_does_not_cover_is_withheld_furthest_first() -> None:
    account = meter(max_rows=2)

    admitted = account.spend_budget_on_neighbors(neighbors(4, 5, 6))

    assert admitted.ids.tolist() == [4, 5]
    assert admitted.points[:, 0].tolist() == [4.0, 5.0]
    assert admitted.distances.tolist() == [0.0, 1.0]
    assert admitted.cut


def test_rows_that_were_seen_before_cost_no_budget() -> None:
    account = meter(max_rows=2)
    account.spend_budget_on_neighbors(neighbors(1, 2))

    again = account.spend_budget_on_neighbors(neighbors(2, 3, 1))

    assert again.ids.tolist() == [2]  # what comes after a row that is withheld stays away too
    assert again.cut


def test_an_empty_answer_is_no_cut() -> None:
    found = neighbors()

    assert meter(max_rows=0).spend_budget_on_neighbors(found) is found


def test_questions_model_calls_and_seconds_are_counted() -> None:
    account = meter()

    account.count_question("Nearest", 0.5)
    account.count_question("Nearest", 0.25)
    account.count_question("Census", 1.0)
    account.count_scored_records(3)
    account.count_scored_records(0)

    seen = account.close(10)
    assert (seen.questions, seen.model_calls, seen.rows_scored, seen.of) == (3, 1, 3, 10)
    assert seen.seconds == {"Nearest": 0.75, "Census": 1.0}


def test_searches_of_one_call_share_a_budget_and_what_was_revealed() -> None:
    shared = Account()
    first = Meter(take_points_as_records, 0.5, 3, shared)
    second = Meter(take_points_as_records, 0.5, 3, shared)

    first.spend_budget_on_neighbors(neighbors(1, 2))
    admitted = second.spend_budget_on_neighbors(neighbors(2, 5, 6))

    assert (admitted.ids.tolist(), admitted.cut) == ([2, 5], True)
    assert (first.close(10).rows, second.close(10).rows) == (2, 2)
    assert shared.make_disclosure(10).rows == 3


def test_what_searches_took_is_added_up_when_they_end() -> None:
    shared = Account()
    for kind, seconds, scored in (("Nearest", 1.0, 3), ("Census", 2.0, 6)):
        one = Meter(take_points_as_records, 0.5, None, shared)
        one.count_question(kind, seconds)
        one.count_scored_records(scored)
        one.close(10)

    total = shared.make_disclosure(10)

    assert (total.rows, total.of, total.questions) == (0, 10, 2)
    assert (total.model_calls, total.rows_scored) == (2, 9)
    assert total.seconds == {"Nearest": 1.0, "Census": 2.0}


def test_a_row_on_two_accounts_counts_once_for_both() -> None:
    both = join_accounts([Account(rows={1, 2}), Account(rows={2, 3})])

    assert both.make_disclosure(10).rows == 3
