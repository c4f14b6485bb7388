"""All promises after a recheck, as a sequence that sums itself up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from html import escape
from statistics import median
from typing import Any, overload

from localface._version import __version__
from localface.analyses.promises.fingerprint import Fingerprint
from localface.analyses.promises.thresholds import KeepingThreshold, keeping_thresholds
from localface.analyses.promises.verdict import PromiseStatus, RecheckedPromise, WayOn
from localface.answers.json_text import dump_json
from localface.answers.wording import format_count, format_percent
from localface.data.table_format import table_from_columns

RECHECK_FORMAT = "localface/recheck"
RECHECK_VERSION = 1


class Recheck(Sequence[RecheckedPromise]):
    """What has become of each promise, in the order in which they were given.

    ``fingerprint`` is that of the explainer that rechecked them; ``unfinished`` counts those whose
    repair was not looked for because the work was stopped, ``strangers`` the rows of the progress
    that belong to nobody with a promise.
    """

    __slots__ = ("_found", "_kind", "fingerprint", "strangers", "unfinished")

    def __init__(
        self,
        found: Sequence[RecheckedPromise],
        *,
        kind: str = "numpy",
        fingerprint: Fingerprint | None = None,
        unfinished: int = 0,
        strangers: int = 0,
    ) -> None:
        self._found = tuple(found)
        self._kind = kind
        self.fingerprint = fingerprint or Fingerprint()
        self.unfinished = unfinished
        self.strangers = strangers

    @overload
    def __getitem__(self, index: int) -> RecheckedPromise: ...
    @overload
    def __getitem__(self, index: slice) -> Recheck: ...
    def __getitem__(self, index: int | slice) -> RecheckedPromise | Recheck:
        if isinstance(index, slice):
            return Recheck(self._found[index], kind=self._kind, fingerprint=self.fingerprint)
        return self._found[index]

    def __len__(self) -> int:
        return len(self._found)

    @property
    def broken(self) -> tuple[RecheckedPromise, ...]:
        """The promises that are broken."""
        return tuple(one for one in self._found if one.status is PromiseStatus.BROKEN)

    def counts(self) -> dict[PromiseStatus, int]:
        """How many promises have each status."""
        found = Counter(one.status for one in self._found)
        return {status: found[status] for status in PromiseStatus}

    @property
    def thresholds(self) -> list[KeepingThreshold]:
        """The threshold that would keep what is broken, for each target."""
        return keeping_thresholds(self._found)

    def summary(self) -> list[str]:
        """Return what the owner of the model should know, sentence by sentence."""
        return [*self._changes(), *self._breaks(), *self._ways(), *self._rest()]

    def to_frame(self) -> Any:
        """One line a promise, as a table of the user's own kind.

        For a NumPy user it is a pandas frame, or a dict of columns without pandas.
        """
        columns = {name: [read(one) for one in self._found] for name, read in _COLUMNS.items()}
        return table_from_columns(columns, self._kind)

    def to_json(self, indent: int | None = None) -> str:
        """Write everything down, the new plans as whole answers."""
        written = {
            "format": RECHECK_FORMAT,
            "version": RECHECK_VERSION,
            "made_with": __version__,
            "summary": self.summary(),
            "counts": {status.name: n for status, n in self.counts().items()},
            "thresholds": [
                {
                    "target": one.target.label,
                    "broken": len(one.scores),
                    "before": one.before,
                    "keeps_all": one.keeping(),
                }
                for one in self.thresholds
            ],
            "unfinished": self.unfinished,
            "promises": [one.to_plain() for one in self._found],
        }
        return dump_json(written, indent)

    def __repr__(self) -> str:
        counts = [f"{n:,} {_word(status, n)}" for status, n in self.counts().items() if n]
        told = f": {', '.join(counts)}" if counts else ""
        return f"<Recheck of {format_count(len(self), 'promise', 'promises')}{told}>"

    def __str__(self) -> str:
        return "\n".join([repr(self), *(f"  {line}" for line in self.summary())])

    def _repr_html_(self) -> str:
        lines = "".join(f"<li>{escape(line)}</li>" for line in self.summary())
        return f"<p>{escape(repr(self).strip('<>'))}</p><ul>{lines}</ul>"

    def _changes(self) -> Iterator[str]:
        """Say what is another than when promises were given."""
        for what in ("model", "data", "schema"):
            n = sum(one.changed.get(what) is True for one in self._found)
            if n:
                yield f"the {what} has changed since {_of_promises(n, len(self))}"

    def _breaks(self) -> Iterator[str]:
        """Say what the model breaks, and which threshold would keep it."""
        counts = self.counts()
        judged = len(self) - counts[PromiseStatus.NOT_RECHECKED]
        broken = counts[PromiseStatus.BROKEN]
        if not judged:
            return
        if broken:
            yield (
                f"the model of today breaks {format_percent(broken / judged)} of {judged:,} open "
                f"{'promise' if judged == 1 else 'promises'} ({broken:,})"
            )
        else:
            none = f"none of {judged:,} open promises" if judged > 1 else "no open promise"
            yield f"the model of today breaks {none}"
        drifted = sum(one.valid_as_promised for one in self.broken)
        if drifted:
            yield (
                f"{drifted:,} of these would hold as they were promised: what has changed since "
                "beside the plan breaks them"
            )
        yield from (one.sentence for one in self.thresholds)
        if counts[PromiseStatus.OFF_GROUND]:
            yield (
                f"{counts[PromiseStatus.OFF_GROUND]:,} still end at the target, "
                "but by states that are now too unusual"
            )

    def _ways(self) -> Iterator[str]:
        """Say how people go on from here."""
        ways = Counter(one.way for one in self._found)
        if ways[WayOn.NEW_PLAN]:
            costs = [one.cost or 0.0 for one in self._found if one.way is WayOn.NEW_PLAN]
            yield (
                f"{_people_have(ways[WayOn.NEW_PLAN])} a new plan from where they are now: "
                f"{median(costs):.2g} standard deviations of change, in the median"
            )
        if ways[WayOn.NONE]:
            yield f"for {ways[WayOn.NONE]:,} no new plan was found"
        if ways[WayOn.NOTHING]:
            arrived = _people_have(ways[WayOn.NOTHING])
            yield f"{arrived} arrived: the model accepts them as they are now"

    def _rest(self) -> Iterator[str]:
        failed = self.counts()[PromiseStatus.NOT_RECHECKED]
        if failed:
            first = next(one.reason for one in self._found if one.measured is None)
            yield f"{failed:,} could not be rechecked, the first because {first}"
        if self.unfinished:
            yield f"stopped: for {self.unfinished:,} no new plan was looked for yet"
        if self.strangers:
            rows = format_count(self.strangers, "row", "rows")
            yield f"{rows} of the progress: nobody with a promise"


def _word(status: PromiseStatus, n: int) -> str:
    return "hold" if status is PromiseStatus.HOLDS and n != 1 else status.word


def _of_promises(n: int, total: int) -> str:
    if total == 1:
        return "it was given"
    verb = "was" if n == 1 else "were"
    return f"{'all' if n == total else f'{n:,} of'} {total:,} {verb} given"


def _people_have(n: int) -> str:
    return "1 person has" if n == 1 else f"{n:,} people have"


_COLUMNS: dict[str, Callable[[RecheckedPromise], Any]] = {
    "id": lambda one: one.promise.id,
    "person": lambda one: one.promise.person,
    "time": lambda one: one.promise.time,
    "status": lambda one: one.status.name,
    "valid": lambda one: one.valid,
    "on_ground": lambda one: one.on_ground,
    "score_now": lambda one: one.measured and one.measured.score_now,
    "score_promised": lambda one: one.measured and one.measured.score_promised,
    "score": lambda one: one.measured and one.measured.score,
    "done": lambda one: one.done,
    "left": lambda one: "; ".join(f"{change.name} {change.values_text}" for change in one.left),
    "cost_left": lambda one: one.measured and one.measured.cost,
    "way": lambda one: one.way.name,
    "cost": lambda one: one.cost,
    "reason": lambda one: one.reason,
}
