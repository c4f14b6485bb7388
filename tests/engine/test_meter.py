"""The account of one search: rows counted once, the budget kept, accounts added up."""

from __future__ import annotations

import numpy as np

from localface.answers.disclosure import Disclosure
from localface.engine.job import take_points_as_records
from localface.engine.meter import Meter, sum_disclosures
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

    assert account.make_disclosure(10).rows == 3


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

    seen = account.make_disclosure(10)
    assert (seen.questions, seen.model_calls, seen.rows_scored, seen.of) == (3, 1, 3, 10)
    assert seen.seconds == {"Nearest": 0.75, "Census": 1.0}


def test_accounts_add_up_to_no_more_rows_than_there_are() -> None:
    one = Disclosure(
        rows=7, of=10, questions=1, model_calls=2, rows_scored=3, seconds={"Nearest": 1.0}
    )
    other = Disclosure(
        rows=6, of=10, questions=4, model_calls=5, rows_scored=6, seconds={"Census": 2.0}
    )

    total = sum_disclosures([one, other])

    assert (total.rows, total.of, total.questions) == (10, 10, 5)
    assert (total.model_calls, total.rows_scored) == (7, 9)
    assert total.seconds == {"Nearest": 1.0, "Census": 2.0}
