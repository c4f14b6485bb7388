"""What became of the people of a table: what their model is fitted on again."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from localface.data.people import number_people, take_groups_column
from localface.errors import InputError, list_names
from localface.models.output import class_labels
from localface.models.refitting import read_labels, refuse_unrefittable
from localface.options.checks import raise_on_mistakes, whole_number_mistakes
from localface.sources.store import Store
from localface.types import Ids


@dataclass(frozen=True, slots=True, eq=False)
class Outcomes:
    """The user's table with the outcome of each row, and whose rows they are.

    ``model`` is the estimator that can be fitted again, ``n_refits`` how often; ``learnt``
    remembers what was fitted or learnt of it, so that it is done once, and only where it is asked
    for.
    """

    model: Any
    data: Any
    labels: Any
    people: Ids | None
    n_refits: int
    learnt: dict[object, Any] = field(default_factory=dict)


def read_outcomes(
    model: Any, data: Any, y: Any, *, groups: Any = None, n_refits: int = 20
) -> Outcomes | None:
    """Read the outcomes that came with a table; None where none did."""
    if y is None:
        return None
    if isinstance(data, Store):
        raise InputError(
            "y= is for rows in memory, and those of a store stay on disk: fit other models "
            "yourself, and give them as others=",
            option="y",
        )
    raise_on_mistakes(whole_number_mistakes("n_refits", n_refits, 2))
    first = model[0] if isinstance(model, list | tuple) else model
    refuse_unrefittable(first)
    labels = read_labels(y, len(data))
    _refuse_unknown_classes(first, labels)
    people = number_people(take_groups_column(data, groups)[0], len(labels))
    return Outcomes(first, data, labels, people, n_refits)


def _refuse_unknown_classes(model: Any, labels: Any) -> None:
    """Refuse outcomes of other classes than the model's: a refit could not be read as it is."""
    classes = class_labels(model)
    seen = np.unique(labels).tolist()
    if classes is not None and seen != sorted(classes):
        raise InputError(
            f"y= has {list_names(seen)}, and the classes of the model are {list_names(classes)}: "
            "give the outcomes that it was fitted on",
            option="y",
        )
