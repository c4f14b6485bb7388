"""The path of an answer as a table of the user's own kind."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np

from localface.answers.facts import RecourseFacts
from localface.answers.json_text import dump_json


def path_table(answer: RecourseFacts) -> Any:
    """Return the path with its step, score and density; notes say what was relaxed."""
    n = len(answer.records)
    extra: dict[str, list[Any]] = {
        "step": list(range(n)),
        "score": list(answer.scores),
        "density": list(answer.densities),
    }
    if answer.relaxed_to is not None:
        extra["relaxed_to"] = [answer.relaxed_to] * n
    extra = {
        _unused_column_name(name, answer.schema.columns): column for name, column in extra.items()
    }
    path = answer.path
    if answer.form.kind == "numpy":
        names = [column.name for column in answer.form.columns]
        columns = {name: path[:, j] for j, name in enumerate(names)}
        try:
            import pandas
        except ModuleNotFoundError:
            return {**columns, **{name: np.array(column) for name, column in extra.items()}}
        path = pandas.DataFrame(columns).infer_objects()
    return _attach_summary(_with_extra_columns(path, extra), answer)


def _unused_column_name(name: str, taken: tuple[str, ...]) -> str:
    """A name for a column of ours that none of the user's has."""
    while name in taken:
        name += "_"
    return name


def _with_extra_columns(path: Any, extra: dict[str, list[Any]]) -> Any:
    """Add columns of ours beside the user's."""
    table = nw.from_native(path, eager_only=True)
    added = [
        nw.new_series(name, column, backend=table.implementation) for name, column in extra.items()
    ]
    return table.with_columns(*added).to_native()


def _attach_summary(frame: Any, answer: RecourseFacts) -> Any:
    """Attach a summary of the answer where the kind of table carries notes."""
    kind = nw.from_native(frame, eager_only=True).implementation
    if kind.is_pandas():
        frame.attrs["localface"] = answer.summary
    elif kind.is_pyarrow():
        note = dump_json(answer.summary).encode()
        notes = {**(frame.schema.metadata or {}), b"localface": note}
        frame = frame.replace_schema_metadata(notes)
    return frame
