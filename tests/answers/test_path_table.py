"""The path as a table."""

from __future__ import annotations

import json
import math
import sys

import numpy as np
import pytest
from handmade import ICU, PATH, PATIENTS, answer

from localface.data.feature import Feature
from localface.data.schema import Schema
from localface.data.table_format import TableFormat


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_the_frame_is_of_the_users_kind_with_step_score_and_density(kind: str) -> None:
    library = pytest.importorskip(kind)
    data = library.table(PATIENTS) if kind == "pyarrow" else library.DataFrame(PATIENTS)
    one = answer(form=TableFormat.of(data, ICU), relaxed_to=0.012)

    frame = one.to_frame()

    assert type(frame) is type(data)
    columns = (
        frame.to_pydict()
        if kind == "pyarrow"
        else {name: list(frame[name]) for name in frame.columns}
    )
    assert list(columns) == [*ICU.names, "step", "score", "density", "relaxed_to"]
    assert columns["airway"] == ["ventilated", "patent", "patent", "patent"]
    assert columns["score"] == list(one.scores)
    assert columns["step"] == [0, 1, 2, 3]


def test_a_numpy_user_gets_a_pandas_frame_or_columns_without_pandas(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    schema = Schema([Feature("x0"), Feature("score")])
    form = TableFormat.of(np.zeros((3, 2)), schema)
    one = answer(schema=schema, form=form, records=PATH[:, 2:], scales=(1.0, 1.0))

    frame = one.to_frame()
    monkeypatch.setitem(sys.modules, "pandas", None)
    columns = one.to_frame()

    assert list(frame.columns) == ["x0", "score", "step", "score_", "density"]
    assert isinstance(one.path, np.ndarray)
    assert isinstance(columns, dict)
    assert list(columns) == list(frame.columns)
    assert columns["score_"].tolist() == list(one.scores)


def test_the_notes_of_a_table_say_what_was_relaxed() -> None:
    pyarrow = pytest.importorskip("pyarrow")
    relaxed = answer(relaxed_to=0.012, min_density=math.inf)
    arrow = answer(
        form=TableFormat.of(pyarrow.table(PATIENTS), ICU), relaxed_to=0.012, min_density=math.inf
    )

    notes = json.loads(arrow.to_frame().schema.metadata[b"localface"])

    assert relaxed.to_frame().attrs["localface"] == relaxed.summary
    assert notes["relaxed_to"] == 0.012
    assert notes["min_density"] == {"$float": "inf"}
