"""What a baseline answers: the states it proposes, or why it proposes none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from localface.data.schema import Schema
from localface.data.table_format import TableFormat
from localface.types import Array


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class Proposal:
    """The states that a method proposes to one person, in the user's units.

    The person as they are comes first; a method that only proposes an end has two states.
    ``rows`` says which states are rows of the data; ``cost`` is what the method itself
    minimises, where it says so.
    """

    found: bool
    states: Array
    form: TableFormat
    schema: Schema
    rows: tuple[int | None, ...] = ()
    cost: float | None = None
    reason: str = ""

    def __post_init__(self) -> None:
        states = np.array(self.states, dtype=np.float64)
        states.flags.writeable = False
        object.__setattr__(self, "states", states)
        object.__setattr__(self, "rows", tuple(self.rows) or (None,) * len(states))

    @property
    def path(self) -> Any:
        """The states as a table of the user's own kind, the person as they are first."""
        return self.form.make_table(self.states)

    @property
    def counterfactual(self) -> Any:
        """The last state, in the form the person came in; None when nothing was found."""
        return self.form.make_person(self.states[-1]) if self.found else None

    def __repr__(self) -> str:
        if not self.found:
            return f"<Proposal: not found: {self.reason or 'nothing proposed'}>"
        n = len(self.states) - 1
        return f"<Proposal: found, {n} step{'' if n == 1 else 's'}>"
