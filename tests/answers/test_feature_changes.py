"""Which features differ between two states."""

from __future__ import annotations

import numpy as np
import pandas as pd
from handmade import acted_answer, answer, short_answer

from localface.answers.changes import changes_between
from localface.data.feature import Feature
from localface.data.schema import Schema
from localface.data.table_format import TableFormat


def test_changes_below_the_resolution_are_no_changes() -> None:
    shown = str(answer())

    assert "0.551" not in shown
    assert "smaller" not in shown


def test_changes_are_ordered_by_what_is_ordinary_between_people() -> None:
    assert [change.name for change in answer().changes] == ["gcs_min", "fio2", "spo2_min", "airway"]
    assert (answer().changes[0].before, answer().changes[0].after) == (9, 14)
    assert answer().changes[-1].after == "patent"


def test_a_change_of_exactly_the_resolution_counts_in_spite_of_rounding() -> None:
    schema = Schema([Feature("x", resolution=0.05)])
    records = np.array([[0.35], [0.3]])  # 0.35 - 0.3 is a little less than 0.05
    form = TableFormat.of(pd.DataFrame({"x": [0.35, 0.3]}), schema)

    one = short_answer(schema, form, records)

    assert [change.name for change in one.changes] == ["x"]


def test_a_change_is_written_with_its_unit() -> None:
    schema = Schema([Feature("spo2", unit="%", kind="integer"), Feature("age", kind="integer")])

    changes = changes_between(schema, (3.0, 9.0), np.array([91.0, 40.0]), np.array([95.0, 41.0]))

    assert [change.values_text for change in changes] == ["91 -> 95 %", "40 -> 41"]
    assert [str(change) for change in changes] == ["spo2 91 -> 95 %", "age 40 -> 41"]
    assert changes[0].size == 4 / 3


def test_the_changes_of_an_answer_are_those_of_its_actions() -> None:
    acted = acted_answer()

    changed = {name for action in acted.actions for name in action.changes}

    assert {change.name for change in acted.changes} == changed
    assert {change.name for change in acted.changes} < {one.name for one in answer().changes}
