"""All findings of an audit, as a sequence that sums itself up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from html import escape
from typing import Any, NamedTuple, overload

import numpy as np

from localface.analyses.audit.finding import Finding, count_with_noun
from localface.answers.disclosure import Disclosure
from localface.answers.wording import format_percent
from localface.data.table_format import table_from_columns
from localface.errors import needs_extra

SUMMARY_QUESTIONS = {
    "proposed": "something is proposed",
    "valid": "valid: the model agrees",
    "in_box": "within the constraints",
    "on_ground": "a common enough state",
    "straight": "straight step through such states",
    "reachable": "reachable through such states",
}
"""What each question of the summary asks."""


class CountedShare(NamedTuple):
    """How many pairs, and what share of all of them that is."""

    n: int
    share: float


_ASKED: dict[str, Callable[[Finding], bool]] = {
    "proposed": lambda one: one.proposed,
    "valid": lambda one: one.valid,
    "in_box": lambda one: one.in_box,
    "on_ground": lambda one: one.on_ground,
    "straight": lambda one: one.straight,
    "reachable": lambda one: one.reachable is True,
}


class Audit(Sequence[Finding]):
    """Findings, one for each pair of a person and a proposal, in the order they came.

    ``disclosure`` says what the whole audit was shown, every row once.
    """

    __slots__ = ("_findings", "_floor", "_kind", "disclosure")

    def __init__(
        self,
        findings: Sequence[Finding],
        *,
        kind: str = "numpy",
        min_density: float = 0.0,
        disclosure: Disclosure | None = None,
    ) -> None:
        self.disclosure = disclosure
        self._findings = tuple(findings)
        self._kind = kind
        self._floor = min_density

    @overload
    def __getitem__(self, index: int) -> Finding: ...
    @overload
    def __getitem__(self, index: slice) -> Audit: ...
    def __getitem__(self, index: int | slice) -> Finding | Audit:
        if isinstance(index, slice):
            return Audit(self._findings[index], kind=self._kind, min_density=self.min_density)
        return self._findings[index]

    def __len__(self) -> int:
        return len(self._findings)

    @property
    def min_density(self) -> float:
        """The floor that proposals were held to."""
        return self._floor

    def summary(self) -> dict[str, CountedShare]:
        """How many pairs pass each question, and what share of *all* pairs that is.

        ``proposed``, ``valid``, ``in_box``, ``on_ground``, ``straight`` (all of the straight
        step is on common enough ground) and ``reachable`` (some way of such steps leads there).
        """
        counts = {name: sum(map(asked, self._findings)) for name, asked in _ASKED.items()}
        return {
            name: CountedShare(count, count / len(self) if len(self) else 0.0)
            for name, count in counts.items()
        }

    def to_frame(self) -> Any:
        """One line a pair, as a table of the kind that the people came in.

        For a NumPy user it is a pandas frame, or a dict of columns without pandas.
        """
        columns = {name: [read(one) for one in self._findings] for name, read in _COLUMNS.items()}
        return table_from_columns(columns, self._kind)

    def plot(self, **options: Any) -> Any:
        """Draw the audit (needs matplotlib); options as for ``localface.apps.plots.plot_audit``."""
        with needs_extra("plots", "a plot"):
            from localface.apps import plots
        return plots.plot_audit(self, **options)

    def __repr__(self) -> str:
        counts = Counter(one.verdict for one in self._findings)
        verdicts = ", ".join(f"{n} {word}" for word, n in counts.most_common())
        proposals = count_with_noun(len(self), "proposal")
        return f"<Audit of {proposals}{': ' + verdicts if verdicts else ''}>"

    def __str__(self) -> str:
        lines = [
            f"  {SUMMARY_QUESTIONS[name]:<36}{n:>5,}  {format_percent(share)}"
            for name, (n, share) in self.summary().items()
        ]
        return "\n".join([repr(self), *lines])

    def _repr_html_(self) -> str:
        head = "".join(f'<th scope="col">{word}</th>' for word in ("", "proposals", "share of all"))
        body = "".join(
            f'<tr><th scope="row">{escape(SUMMARY_QUESTIONS[name])}</th>'
            f"<td>{n:,}</td><td>{format_percent(share)}</td></tr>"
            for name, (n, share) in self.summary().items()
        )
        caption = f"<caption>{escape(repr(self).strip('<>'))}</caption>"
        return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


_COLUMNS: dict[str, Callable[[Finding], Any]] = {
    "number": lambda one: one.number,
    "verdict": lambda one: one.verdict,
    "score_before": lambda one: one.score_before,
    "score": lambda one: np.nan if one.score is None else one.score,
    "valid": lambda one: one.valid,
    "in_box": lambda one: one.in_box,
    "broken": lambda one: "; ".join(one.broken),
    "density": lambda one: np.nan if one.density is None else one.density,
    "on_ground": lambda one: one.on_ground,
    "straight_lowest": lambda one: np.nan if one.jump is None else one.jump.lowest,
    "reachable": lambda one: one.reachable is True,
    "steps": lambda one: 0 if one.recourse is None else len(one.recourse.certificates),
    "actions": lambda one: 0 if one.recourse is None else len(one.recourse.actions),
    "changed": lambda one: ", ".join(one.changed),
    "between": lambda one: one.between,
    "relaxed_to": lambda one: np.nan if one.relaxed_to is None else one.relaxed_to,
}
