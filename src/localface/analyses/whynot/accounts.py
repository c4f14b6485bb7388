"""What several searches for one person saw, added up."""

from __future__ import annotations

from collections.abc import Sequence

from localface.answers.disclosure import Disclosure


def together(accounts: Sequence[Disclosure]) -> Disclosure:
    """Add accounts up; rows that were seen twice count twice, but never more than there are."""
    seconds: dict[str, float] = {}
    for name, spent in [item for one in accounts for item in one.seconds.items()]:
        seconds[name] = seconds.get(name, 0.0) + spent
    return Disclosure(
        rows=min(accounts[0].of, sum(one.rows for one in accounts)),
        of=accounts[0].of,
        questions=sum(one.questions for one in accounts),
        model_calls=sum(one.model_calls for one in accounts),
        rows_scored=sum(one.rows_scored for one in accounts),
        seconds=seconds,
    )
