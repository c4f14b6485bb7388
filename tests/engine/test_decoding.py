"""Points become records again, and what is known comes back bit for bit."""

from __future__ import annotations

from typing import Any

import numpy as np

from localface import Feature, Schema
from localface.data.space import Space
from localface.engine.decoding import action_records, make_decoder, path_records
from localface.search.move import Move
from localface.search.outcome import ActionPath, Outcome
from small_engine import line_source, points

SCHEMA = Schema(
    [Feature("a", bounds=(0.0, 1.0)), Feature("b", kind="categorical", categories=("x", "y", "z"))]
)
SPACE = Space(SCHEMA, np.array([0.1, 0.0]), np.array([0.7, 1.0]))
NOBODY = np.zeros((0, 2))


def outcome(ids: tuple[int, ...], at: Any, actions: ActionPath | None = None) -> Outcome:
    nothing = np.zeros(0)
    return Outcome("FOUND", at, ids, (), nothing, nothing, 0.0, actions=actions)


def test_known_records_come_back_as_they_are() -> None:
    record = np.array([1 / 3, 2.0])
    decode = make_decoder(SPACE, [record])

    whole = decode(SPACE.points(record[None, :]), NOBODY)

    assert whole.tolist() == [record.tolist()]


def test_a_point_takes_over_the_values_it_shares_with_a_known_record_or_a_donor() -> None:
    person = np.array([1 / 3, 0.0])
    donor = np.array([2 / 7, 2.0])
    mixed = SPACE.points(np.array([[1 / 3, 2.0], [2 / 7, 0.0], [0.5, 1.0]]))

    records = make_decoder(SPACE, [person])(mixed, donor[None, :])

    assert records[0].tolist() == [1 / 3, 2.0]
    assert records[1].tolist() == [2 / 7, 0.0]
    assert np.allclose(records[2], [0.5, 1.0])


def test_without_known_records_points_are_decoded_by_the_space() -> None:
    at = SPACE.points(np.array([[0.25, 1.0]]))

    assert np.allclose(make_decoder(SPACE, [])(at, NOBODY), [[0.25, 1.0]])


def test_rounding_does_not_overstep_the_limits_of_a_box() -> None:
    low, high = 0.4000000000001, 33 / 41 + 1e-13  # values that are not quite decoded as they were
    box = SCHEMA.box(np.array([0.5, 0.0]), {"a": (low, high)})
    bounds = SPACE.bounds(box)
    edges = SPACE.points(np.array([[0.5, 0.0], [0.5, 0.0]]))
    edges[:, 0] = [bounds.lower[0], bounds.upper[0]]

    records = make_decoder(SPACE, [], box)(edges, NOBODY)

    rounded = SPACE.records(edges)[:, 0]
    assert rounded[0] < low
    assert rounded[1] > high
    assert records[:, 0].tolist() == [low, high]


def test_rows_of_a_path_are_those_of_the_data_and_other_states_are_decoded() -> None:
    def decode(at: Any, donors: Any) -> Any:
        assert len(donors) == 0
        return at * 100

    records, rows = path_records(line_source(), outcome((-1, 4, 7), points(1.5, 4.0, 7.0)), decode)

    assert records[:, 0].tolist() == [150.0, 4.0, 7.0]
    assert rows == (None, 4, 7)


def test_without_actions_there_are_no_states_to_bring_back() -> None:
    without = outcome((-1,), points(1.0))

    assert action_records(line_source(), without, lambda at, donors: at) is None


def test_the_states_of_the_actions_begin_with_the_persons_own() -> None:
    moves = (Move(np.array([2.0]), 0.2, ()), Move(np.array([3.0]), 0.3, (0,)))
    nothing = np.zeros(0)
    actions = ActionPath(moves, nothing, nothing, 0.0, donors=(5, 3))
    given = []

    def decode(at: Any, donors: Any) -> Any:
        given.append(donors)
        return at

    states = action_records(line_source(), outcome((-1, 3), points(1.0, 3.0), actions), decode)

    assert states is not None
    assert states[:, 0].tolist() == [1.0, 2.0, 3.0]
    assert given[0][:, 0].tolist() == [3.0, 5.0]


def test_many_donors_are_taken_over_from_as_one_by_one() -> None:
    rng = np.random.default_rng(0)
    donors = np.column_stack([rng.integers(0, 90, 200) / 97, rng.integers(0, 3, 200)]).astype(float)
    person = np.array([1 / 3, 0.0])
    mixed = SPACE.points(np.column_stack([rng.permutation(donors[:, 0]), donors[:, 1]]))
    mixed[::7, 0] += 1e-3

    together = make_decoder(SPACE, [person])(mixed, donors)

    one_by_one = SPACE.records(mixed)
    for record, at in zip(
        [*donors, person], SPACE.points(np.array([*donors, person])), strict=True
    ):
        one_by_one[mixed[:, 0] == at[0], 0] = record[0]
        one_by_one[(mixed[:, 1:] == at[1:]).all(axis=1), 1] = record[1]
    assert together.tolist() == one_by_one.tolist()
