"""What an answer reveals that was not known before."""

from __future__ import annotations

import numpy as np

from localface.search.revealed import rows_not_known
from localface.sources.protocol import Neighbors


def found(*ids: int, moved: list[bool] | None = None) -> Neighbors:
    rows = np.array(ids, dtype=np.int64)
    points = np.stack([rows, -rows], axis=1).astype(float)
    mask = None if moved is None else np.array(moved)
    return Neighbors(rows, points, np.zeros(len(rows)), moved=mask)


def test_of_several_answers_each_new_row_comes_once_with_its_own_point() -> None:
    ids, points, moved = rows_not_known([found(4, 7), found(7, 2, moved=[True, True])], {4})

    assert ids.tolist() == [7, 2]
    assert points.tolist() == [[7.0, -7.0], [2.0, -2.0]]
    assert moved.tolist() == [False, True]


def test_where_all_is_known_nothing_comes_from_one_answer_or_several() -> None:
    for answers in ([found(4)], [found(4), found(7)]):
        shapes = [one.shape for one in rows_not_known(answers, {4, 7})]
        assert shapes == [(0,), (0, 2), (0,)]
