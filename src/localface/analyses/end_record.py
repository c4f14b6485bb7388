"""The record in which the actions of an answer end."""

from __future__ import annotations

import numpy as np

from localface.answers.recourse import Recourse
from localface.types import Array


def end_record(recourse: Recourse) -> Array:
    """Return the record that the actions lead to; without actions, the end of the path."""
    if not recourse.actions:
        return np.array(recourse.records[-1])
    record = np.array(recourse.records[0])
    schema = recourse.schema
    for action in recourse.actions:
        for name, value in action.changes.items():
            record[schema.index(name)] = schema[name].code(value)
    return record
