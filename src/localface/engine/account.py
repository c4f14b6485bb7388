"""What one call was shown for one person, over all its searches."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from localface.answers.disclosure import Disclosure


@dataclass(slots=True, eq=False)
class Account:
    """The rows that were revealed, each once, and what it took: every search adds to it.

    All searches of a call for one person share it, so that what they reveal is counted together
    and held to one budget. Rows are added as they are revealed, the rest when a search ends.
    """

    rows: set[int] = field(default_factory=set)
    questions: int = 0
    model_calls: int = 0
    rows_scored: int = 0
    seconds: dict[str, float] = field(default_factory=dict)

    def make_disclosure(self, of: int) -> Disclosure:
        """Say what was revealed so far, of a table of ``of`` rows."""
        return Disclosure(
            rows=len(self.rows),
            of=of,
            questions=self.questions,
            model_calls=self.model_calls,
            rows_scored=self.rows_scored,
            seconds=dict(self.seconds),
        )

    def add(self, other: Account) -> None:
        """Add what another account holds; a row that both have counts once."""
        self.rows |= other.rows
        self.questions += other.questions
        self.model_calls += other.model_calls
        self.rows_scored += other.rows_scored
        for name, spent in other.seconds.items():
            self.seconds[name] = self.seconds.get(name, 0.0) + spent


def join_accounts(accounts: Iterable[Account]) -> Account:
    """Return what several people's calls were shown together."""
    total = Account()
    for one in accounts:
        total.add(one)
    return total
