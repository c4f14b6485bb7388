"""Large tables, in cells or in a folder: as sound as an exact search, and recall is told."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from judge import Judge
from localface import Feature, LocalFACE, Recourse, Schema, Search
from localface.sources.cells import Cells
from localface.sources.store import Store, write_store
from localface.sources.table import TableSource

pytestmark = pytest.mark.slow

Array = np.ndarray[Any, Any]
NAMES = ["a", "b", "c", "d", "tube"]
WHERE = {"d": 0.6, "tube": "never"}


def rows(n: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(n, 4)) @ (
        np.eye(4) + 0.3 * np.random.default_rng(9).normal(size=(4, 4))
    )
    table = pd.DataFrame(np.round(values, 3), columns=NAMES[:4])
    return (
        table.assign(tube=(rng.random(n) < 0.3).astype(int))
        .drop_duplicates()
        .reset_index(drop=True)
    )


def schema() -> Schema:
    return Schema(
        [*(Feature(name) for name in NAMES[:4]), Feature("tube", kind="binary", categories=(0, 1))]
    )


def score(table: Any) -> Array:
    numbers = np.asarray(table, dtype=float)
    return 1 / (
        1 + np.exp(-1.5 * (numbers[:, 0] + 0.7 * numbers[:, 1] - 1.0 - 0.3 * numbers[:, 4]))
    )


DATA, PEOPLE = rows(2500, 0), rows(60, 1)
REFUSED = PEOPLE[score(PEOPLE) < 0.5].head(24).reset_index(drop=True)


@pytest.fixture
def in_cells(monkeypatch: pytest.MonkeyPatch) -> LocalFACE:
    """An explainer for which 2,500 rows are many, fitting the density from 600 of them."""
    monkeypatch.setattr("localface.engine.loading.MAX_SCANNED_ROWS", 500)
    monkeypatch.setattr("localface.engine.loading.SAMPLE", 600)
    return LocalFACE(score, DATA, schema=schema(), search=Search(n_neighbors=25))


@pytest.fixture
def whole_in_cells(monkeypatch: pytest.MonkeyPatch) -> LocalFACE:
    """An explainer in cells that learns from all rows."""
    monkeypatch.setattr("localface.engine.loading.MAX_SCANNED_ROWS", 500)
    return LocalFACE(score, DATA, schema=schema(), search=Search(n_neighbors=25))


def answered(explainer: LocalFACE, people: Any = REFUSED, **wishes: Any) -> Any:
    return explainer.explain_many(people, where=WHERE, progress=False, **wishes)


def bits(answer: Recourse) -> tuple[Any, ...]:
    actions = [(dict(one.changes), one.follows, one.score) for one in answer.actions]
    return (
        answer.status,
        answer.records.tobytes(),
        answer.rows,
        answer.scores,
        answer.reason,
        actions,
    )


def assert_same(answer: Recourse, other: Recourse) -> None:
    assert bits(answer) == bits(other)
    assert answer.densities == pytest.approx(other.densities, abs=1e-9)
    assert [one.lowest for one in answer.certificates] == pytest.approx(
        [one.lowest for one in other.certificates], abs=1e-9
    )


def judge_of(explainer: LocalFACE) -> Judge:
    """A judge of the rows that an explainer learnt from: they must be rows of the table."""
    records = explainer.engine.space.records(explainer.density.rows.points)
    assert set(map(tuple, records.tolist())) <= set(map(tuple, DATA.to_numpy(dtype=float).tolist()))
    return Judge.of_codes(explainer.engine, records, 0.05)


def share_of(judge: Judge, level: float) -> float:
    """The share of rows below a level, with parts of a row in between; ties but for rounding."""
    shares = np.linspace(0, 1, len(judge.levels))
    return float(np.interp(round(level, 9), np.round(judge.levels, 9), shares))


def test_many_rows_are_searched_in_cells_and_few_are_scanned(in_cells: LocalFACE) -> None:
    assert isinstance(in_cells._engine.source, Cells)
    assert isinstance(
        LocalFACE(
            score, DATA.head(400), schema=schema(), search=Search(n_neighbors=25)
        )._engine.source,
        TableSource,
    )
    assert len(in_cells.density.rows) == 600


def test_recall_is_told_and_nothing_is_claimed_that_it_does_not_bear(in_cells: LocalFACE) -> None:
    recall = in_cells._engine.source.recall
    assert 0.99 < recall < 1
    assert f"{recall:.2%} of near rows found" in repr(in_cells)
    answers = answered(in_cells)
    assert any(answer.found for answer in answers)
    for answer in answers:
        assert answer.settings["recall"] == recall
        assert answer.proven_within is None
        assert json.loads(answer.to_json())
    exact = answered(
        LocalFACE(score, DATA.head(499), schema=schema(), search=Search(n_neighbors=25))
    )
    assert any(answer.proven_within is not None for answer in exact)
    assert "recall" not in exact[0].settings
    assert "near people" not in repr(
        LocalFACE(score, DATA.head(499), schema=schema(), search=Search(n_neighbors=25))
    )


@pytest.mark.parametrize("learns", ["from some", "from all"])
def test_every_step_is_sound_by_a_full_sum_over_the_rows_that_were_learnt_from(
    learns: str, request: pytest.FixtureRequest
) -> None:
    explainer = request.getfixturevalue("in_cells" if learns == "from some" else "whole_in_cells")
    answers = answered(explainer)
    judge = judge_of(explainer)
    found = [answer for answer in answers if answer.found]
    assert len(found) > 10
    for answer in found:
        points = judge.space.points(answer.records)
        for one, start, end in zip(answer.certificates, points[:-1], points[1:], strict=True):
            lowest = judge.lowest(start, end)
            assert one.entry or lowest >= judge.floor - 1e-7
            assert one.lowest == pytest.approx(share_of(judge, lowest), abs=2e-3)
        for share, point in zip(answer.densities, points, strict=True):
            expected = share_of(judge, judge.lowest(point, point))
            assert share == pytest.approx(expected, abs=1 / len(judge.levels))


def assert_inside_the_box(answer: Recourse) -> None:
    for record in answer.records[1:]:
        assert abs(record[3] - answer.records[0][3]) <= 0.6 + 1e-9
        assert record[4] == answer.records[0][4]
    for action in answer.actions:
        assert "tube" not in action.changes


def test_states_of_an_answer_are_inside_the_box_and_a_row_is_named_only_where_it_is_one(
    in_cells: LocalFACE,
) -> None:
    lowest = DATA.min().to_numpy(float)
    highest = DATA.max().to_numpy(float)
    for answer in answered(in_cells):
        assert_inside_the_box(answer)
        own = answer.records[0]
        for record, row in list(zip(answer.records, answer.rows, strict=True))[1:]:
            assert ((record == own) | ((lowest <= record) & (record <= highest))).all()
            if row is not None:
                assert record.tolist() == DATA.iloc[row].to_numpy(dtype=float).tolist()


@pytest.mark.usefixtures("in_cells")  # to which as many rows are many
def test_rows_of_an_answer_are_rows_of_the_table_inside_the_box() -> None:
    explainer = LocalFACE(
        score, DATA, schema=schema(), search=Search(n_neighbors=25, through="rows")
    )
    found = [answer for answer in answered(explainer) if answer.found]
    assert len(found) > 5
    for answer in found:
        assert_inside_the_box(answer)
        for record, row in list(zip(answer.records, answer.rows, strict=True))[1:]:
            assert record.tolist() == DATA.iloc[row].to_numpy(dtype=float).tolist()


def test_the_answers_are_those_of_an_exact_search_where_recall_is_high(
    whole_in_cells: LocalFACE, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = answered(whole_in_cells)
    monkeypatch.setattr("localface.engine.loading.MAX_SCANNED_ROWS", 10**6)
    exact = answered(LocalFACE(score, DATA, schema=schema(), search=Search(n_neighbors=25)))
    assert [one.status for one in answers] == [one.status for one in exact]
    assert (
        np.mean([bits(one) == bits(other) for one, other in zip(answers, exact, strict=True)]) > 0.8
    )
    for one, other in zip(answers, exact, strict=True):
        if bits(one) == bits(other):
            assert one.densities == pytest.approx(other.densities, abs=1 / len(DATA))


@pytest.mark.parametrize("wishes", [{}, {"relax": True}, {"actions": False}], ids=str)
def test_alone_or_together_the_answer_is_the_same(
    in_cells: LocalFACE, wishes: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    people = REFUSED.head(8)
    together = answered(in_cells, people, **wishes)
    for i in range(4):
        assert_same(in_cells.explain(people.iloc[i], where=WHERE, **wishes), together[i])
    monkeypatch.setattr("localface.engine.driver._WIDTH", 3)
    for one, other in zip(answered(in_cells, people[::-1], **wishes), together[::-1], strict=True):
        assert_same(one, other)


def test_prescoring_all_rows_changes_no_answer(in_cells: LocalFACE) -> None:
    lazy = answered(in_cells)
    for one, other in zip(answered(in_cells.prescore()), lazy, strict=True):
        assert_same(one, other)


def test_neither_the_order_of_rows_nor_a_copy_of_some_changes_an_answer(
    in_cells: LocalFACE, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("localface.engine.loading.SAMPLE", 600)
    expected = answered(in_cells)
    shuffled = DATA.sample(frac=1, random_state=3).reset_index(drop=True)
    copied = pd.concat([shuffled, shuffled[shuffled["a"] > 0.5]], ignore_index=True)
    for table in (shuffled, copied):
        answers = answered(LocalFACE(score, table, schema=schema(), search=Search(n_neighbors=25)))
        for one, other in zip(answers, expected, strict=True):
            assert one.scales == other.scales
            assert one.records.tobytes() == other.records.tobytes()


def test_a_folder_answers_as_memory_does(whole_in_cells: LocalFACE, tmp_path: Path) -> None:
    records = DATA.to_numpy(dtype=float)
    write_store(tmp_path / "rows", lambda: iter([records[:1000], records[1000:]]), schema())
    stored = LocalFACE(score, Store.open(tmp_path / "rows"), search=Search(n_neighbors=25))
    assert repr(stored) == repr(whole_in_cells)
    for one, other in zip(answered(stored), answered(whole_in_cells), strict=True):
        assert_same(one, other)


@pytest.mark.parametrize("kind", ["memory", "folder"])
def test_a_copy_through_pickle_answers_the_same(
    in_cells: LocalFACE, kind: str, tmp_path: Path
) -> None:
    explainer = in_cells
    if kind == "folder":
        records = DATA.to_numpy(dtype=float)
        write_store(tmp_path / "rows", lambda: iter([records]), schema(), sample=600)
        explainer = LocalFACE(score, Store.open(tmp_path / "rows"), search=Search(n_neighbors=25))
    people = REFUSED.head(6)
    expected = answered(explainer, people)
    copied = pickle.loads(pickle.dumps(explainer))
    assert repr(copied) == repr(explainer)
    for one, other in zip(answered(copied, people), expected, strict=True):
        assert_same(one, other)


def test_people_who_are_rows_of_the_table_are_judged_without_themselves(
    whole_in_cells: LocalFACE,
) -> None:
    people = DATA[score(DATA) < 0.4].head(8).reset_index(drop=True)
    answers = answered(whole_in_cells, people)
    judge = Judge.of(whole_in_cells, DATA, answers[0])
    for answer in answers:
        first = judge.space.points(answer.records[:1])[0]
        own = judge.lowest(first, first)
        expected = share_of(judge, own)
        assert answer.densities[0] == pytest.approx(expected, abs=1 / len(DATA))
