"""The people who may be picked on the page: listed, searched, sorted, and looked up by number."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from localface.answers.target import Target
from localface.apps.web.view import Labels, worded
from localface.data.read import read_people
from localface.data.schema import Schema
from localface.errors import DataError, ModelError, listed, near_miss
from localface.explainer import LocalFACE
from localface.sources.holder import list_all_rows
from localface.types import Array, Ids, Mask

SORTS = ("score", "-score", "id")
OUTCOMES = ("true negative", "false negative", "false positive", "true positive")
CALLED = 0.5
"""The probability from which a model's verdict is yes."""

_GIST = 3  # features that a line of the list tells: those in which someone is most unusual
_SCORED = 2**16  # people scored at a time
_COMPARED = re.compile(r"(?P<name>.+?)(?P<how><=|>=|=|<|>)(?P<value>.*)")
_HOW: dict[str, Callable[[Any, Any], Any]] = {
    "<=": operator.le, ">=": operator.ge, "=": operator.eq, "<": operator.lt, ">": operator.gt,
}  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class People:
    """Everyone who may be picked: their numbers, records and scores, and what became of them, where that is known."""

    schema: Schema
    target: Target
    words: Labels
    ids: Ids
    records: Array
    scores: Array  # NaN where the model failed
    outcomes: tuple[str, ...] | None
    odd: npt.NDArray[np.int64]  # for each person the features in which they are most unusual

    @classmethod
    def of(
        cls,
        explainer: LocalFACE,
        table: Any = None,
        *,
        truth: Sequence[bool] | None = None,
        words: Labels | None = None,
    ) -> People:
        """List the rows of a table, or of the explainer's own; ``truth`` tells whose outcome was the target's."""
        ids, records = _own(explainer) if table is None else _given(explainer, table)
        target, scores = explainer.engine.answers.target, _scored(explainer, records)
        outcomes = (
            None if truth is None else _outcomes(target, scores, np.asarray(truth, dtype=bool)[ids])
        )
        scales = np.array(explainer.engine.answers.scales)
        apart = np.abs(records - np.median(records, axis=0)) / scales
        odd = np.argsort(-apart, axis=1, kind="stable")[:, :_GIST]
        return cls(explainer.schema, target, words or Labels(), ids, records, scores, outcomes, odd)

    def __len__(self) -> int:
        return len(self.ids)

    def record(self, id: int) -> dict[str, Any]:
        """Someone's record, feature by feature."""
        place = int(np.searchsorted(self.ids, id))
        if place == len(self.ids) or self.ids[place] != id:
            raise DataError(
                f"there is no person {id}: {len(self):,} are listed, the last of them {int(self.ids[-1])}"
            )
        return dict(self.schema.values(self.records[place]))

    def page(
        self, *, offset: int, limit: int, search: str = "", outcome: str = "", sort: str = "id"
    ) -> dict[str, Any]:
        """A page of the list."""
        found = np.flatnonzero(self._matching(search) & self._with(outcome))
        if sort != "id":
            keys = np.where(
                np.isnan(self.scores), np.inf, self.scores if sort == "score" else -self.scores
            )
            found = found[np.argsort(keys[found], kind="stable")]
        some = found[offset : offset + limit].tolist()
        return {
            "total": len(found),
            "offset": offset,
            "people": [self._line(place) for place in some],
        }

    def _line(self, place: int) -> dict[str, Any]:
        score = float(self.scores[place])
        known = not np.isnan(score)
        return {
            "id": int(self.ids[place]),
            "label": f"person {int(self.ids[place])}",
            "score": score if known else None,
            "score_text": self.target.show(score) if known else "no score",
            "reached": known and self.target.reached(score),
            "outcome": None if self.outcomes is None else self.outcomes[place],
            "gist": self._gist(place),
        }

    def _gist(self, place: int) -> str:
        told = []
        for j in self.odd[place].tolist():
            feature = self.schema.features[j]
            unit = f" {feature.unit}" if feature.unit else ""
            told.append(
                f"{feature.name} {worded(feature, self.records[place, j], self.words)}{unit}"
            )
        return ", ".join(told)

    def _with(self, outcome: str) -> Mask:
        if not outcome:
            return np.ones(len(self), dtype=bool)
        if self.outcomes is None:
            raise DataError(
                "nobody can be listed by outcome: what became of them is not known here"
            )
        if outcome not in OUTCOMES:
            raise DataError(
                f"there is no outcome {outcome!r}{near_miss(outcome, OUTCOMES)}: use {listed(OUTCOMES)}"
            )
        return np.array([one == outcome for one in self.outcomes], dtype=bool)

    def _matching(self, search: str) -> Mask:
        """Whoever every word fits: a number, ``age>70``, or a word of a category."""
        fits = np.ones(len(self), dtype=bool)
        for word in search.lower().split():
            if word != "person":
                fits &= self._fitting(word)
        return fits

    def _fitting(self, word: str) -> Mask:
        compared = _COMPARED.fullmatch(word)
        if compared:
            return self._compared(compared["name"], compared["how"], compared["value"])
        if word.isdecimal():
            return np.char.startswith(self.ids.astype(str), word)
        fits = np.zeros(len(self), dtype=bool)
        for j, feature in enumerate(self.schema):
            for code in range(len(feature.categories or ())):
                if word in worded(feature, code, self.words).lower():
                    fits |= self.records[:, j] == code
        return fits

    def _compared(self, name: str, how: str, value: str) -> Mask:
        known = {one.lower(): one for one in self.schema.names}
        if name not in known:
            near = near_miss(name, known)
            raise DataError(
                f"there is no feature {name!r} to search by{near}: write one, as in age>70"
            )
        feature, j = self.schema[known[name]], self.schema.index(known[name])
        codes = range(len(feature.categories or ()))
        known_as = {worded(feature, code, self.words).lower(): float(code) for code in codes}
        known_as |= {str(feature.value(code)).lower(): float(code) for code in codes}
        try:
            wanted = known_as[value] if value in known_as else float(value)
        except ValueError:
            raise DataError(
                f"{name!r} cannot be compared with {value!r}: write a value, as in age>70"
            ) from None
        shown = self.records[:, j]
        if how == "=" and feature.resolution and feature.categories is None:
            return np.asarray(np.abs(shown - wanted) < feature.resolution / 2)
        return np.asarray(_HOW[how](shown, wanted))


def everyone(explainer: LocalFACE, most: int | None = None) -> Ids:
    """The ids of all rows that an explainer has, or of about so many of them, spread evenly."""
    source = explainer.engine.source
    ids = list_all_rows(source)
    return ids if most is None else ids[:: max(1, len(ids) // most)]


def _own(explainer: LocalFACE) -> tuple[Ids, Array]:
    source, ids = explainer.engine.source, everyone(explainer)
    rows, records = source.row_numbers(ids), source.records(ids)
    order = np.argsort(rows, kind="stable")
    return rows[order], records[order]


def _given(explainer: LocalFACE, table: Any) -> tuple[Ids, Array]:
    records = read_people(table, explainer.schema)
    return np.arange(len(records)), records


def _scored(explainer: LocalFACE, records: Array) -> Array:
    """What the model says of everyone; NaN for those on whom it fails."""
    parts = [records[i : i + _SCORED] for i in range(0, len(records), _SCORED)]
    return np.concatenate([_tried(explainer, part) for part in parts])


def _tried(explainer: LocalFACE, records: Array) -> Array:
    score = explainer.engine.score
    try:
        return np.array([score.shown(one) for one in score(records).tolist()])
    except ModelError:
        if len(records) == 1:
            return np.array([np.nan])
        half = len(records) // 2
        return np.concatenate(
            [_tried(explainer, part) for part in (records[:half], records[half:])]
        )


def _outcomes(target: Target, scores: Array, truth: Mask) -> tuple[str, ...]:
    cut = CALLED if target.kind == "probability" else target.min_score
    called = scores <= cut if target.at_most else scores >= cut
    verdicts, rights = (
        np.where(called, "positive", "negative"),
        np.where(called == truth, "true", "false"),
    )
    return tuple(
        f"{right} {verdict}"
        for right, verdict in zip(rights.tolist(), verdicts.tolist(), strict=True)
    )
