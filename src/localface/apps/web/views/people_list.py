"""The list of people who may be picked on the page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from localface.answers.target import Target
from localface.apps.web.views.labels import Labels, value_text
from localface.apps.web.views.people_search import PeopleSearch
from localface.apps.web.views.scoring import scores_or_nan
from localface.data.absence import absent_values
from localface.data.read import read_people
from localface.data.schema import Schema
from localface.errors import DataError, did_you_mean, list_names
from localface.explainer import LocalFACE
from localface.sources.holder import list_all_rows
from localface.types import Array, Ids, Mask

OUTCOMES = ("true negative", "false negative", "false positive", "true positive")
DECISION_THRESHOLD = 0.5
"""The probability from which a model's verdict is yes."""

_N_UNUSUAL = 3  # features that a line of the list tells: those in which someone is most unusual


@dataclass(frozen=True, slots=True, eq=False)
class PeopleList:
    """Everyone who may be picked: their numbers, records, scores, and outcomes where known."""

    schema: Schema
    target: Target
    labels: Labels
    ids: Ids
    records: Array
    scores: Array  # NaN where the model failed
    nearness: Array  # how far from the target, those who have reached it after all others
    outcomes: tuple[str, ...] | None
    unusual: npt.NDArray[np.int64]  # for each person the features in which they are most unusual

    @classmethod
    def of(
        cls,
        explainer: LocalFACE,
        table: Any = None,
        *,
        truth: Sequence[bool] | None = None,
        labels: Labels | None = None,
    ) -> PeopleList:
        """List the rows of a table, or of the explainer's own.

        ``truth`` tells whose outcome was the target's.
        """
        ids, records = (
            _own_ids_and_records(explainer)
            if table is None
            else _table_ids_and_records(table, explainer)
        )
        target = explainer.engine.answers.target
        scores = scores_or_nan(explainer, records)
        outcomes = None
        if truth is not None:
            outcomes = _outcome_per_person(target, scores, np.asarray(truth, dtype=bool)[ids])
        scales = np.array(explainer.engine.answers.scales)
        deviations = _deviations(explainer.schema, records) / scales
        unusual = np.argsort(-deviations, axis=1, kind="stable")[:, :_N_UNUSUAL]
        return cls(
            schema=explainer.schema,
            target=target,
            labels=labels or Labels(),
            ids=ids,
            records=records,
            scores=scores,
            nearness=_nearness(target, scores),
            outcomes=outcomes,
            unusual=unusual,
        )

    def __len__(self) -> int:
        return len(self.ids)

    def record(self, id: int) -> dict[str, Any]:
        """Someone's record, feature by feature."""
        return dict(self.schema.values(self.records[self._index_of(id)]))

    def person(self, id: int) -> dict[str, Any]:
        """Someone's record and score."""
        return {**self._list_entry(self._index_of(id)), "record": self.record(id)}

    def _index_of(self, id: int) -> int:
        index = int(np.searchsorted(self.ids, id))
        if index == len(self.ids) or self.ids[index] != id:
            last = int(self.ids[-1])
            one = self.schema.each_row.one
            raise DataError(
                f"there is no {one} {id}: {len(self):,} are listed, the last of them {last}"
            )
        return index

    def page(
        self, *, offset: int, limit: int, search: str = "", outcome: str = "", sort: str = "id"
    ) -> dict[str, Any]:
        """A page of the list."""
        matches, understood = self._search.find(search)
        found = np.flatnonzero(matches & self._people_with_outcome(outcome))
        if sort != "id":
            keys = np.where(np.isnan(self.scores), np.inf, self._sort_keys(sort))
            found = found[np.argsort(keys[found], kind="stable")]
        some = found[offset : offset + limit].tolist()
        return {
            "total": len(found),
            "offset": offset,
            "understood": understood,
            "people": [self._list_entry(index) for index in some],
        }

    @property
    def _search(self) -> PeopleSearch:
        return PeopleSearch(self.schema, self.labels, self.ids, self.records, self.scores)

    def _sort_keys(self, sort: str) -> Array:
        """What people are sorted by: the score, its negative, or how near it is to the target's."""
        if sort == "score":
            return self.scores
        return -self.scores if sort == "-score" else self.nearness

    def _list_entry(self, index: int) -> dict[str, Any]:
        score = float(self.scores[index])
        known = not np.isnan(score)
        return {
            "id": int(self.ids[index]),
            "label": f"{self.schema.each_row.one} {int(self.ids[index])}",
            "score": score if known else None,
            "score_text": self.target.format_score(score) if known else "no score",
            "reached": known and self.target.is_reached_by(score),
            "outcome": None if self.outcomes is None else self.outcomes[index],
            "gist": self._summary_text(index),
        }

    def _summary_text(self, index: int) -> str:
        """What is most unusual about someone."""
        texts = []
        for column in self.unusual[index].tolist():
            feature = self.schema.features[column]
            unit = f" {feature.unit}" if feature.unit else ""
            value = value_text(feature, self.records[index, column], self.labels)
            called = self.labels.features.get(feature.name) or feature.display_name
            texts.append(f"{called} {value}{unit}")
        return ", ".join(texts)

    def _people_with_outcome(self, outcome: str) -> Mask:
        if not outcome:
            return np.ones(len(self), dtype=bool)
        if self.outcomes is None:
            raise DataError(
                "nobody can be listed by outcome: what became of them is not known here"
            )
        if outcome not in OUTCOMES:
            near = did_you_mean(outcome, OUTCOMES)
            raise DataError(f"there is no outcome {outcome!r}{near}: use {list_names(OUTCOMES)}")
        return np.array([one == outcome for one in self.outcomes], dtype=bool)


def _nearness(target: Target, scores: Array) -> Array:
    """How far people are from the target; whoever has reached it comes after all who have not."""
    missing = np.array([target.distance_from(score) for score in scores.tolist()])
    beyond = np.abs(scores - target.min_score)
    return np.where(missing <= 0, np.nanmax(missing, initial=0.0) + 1 + beyond, missing)


def _deviations(schema: Schema, records: Array) -> Array:
    """How far values are from the middle of all; what is missing is nowhere."""
    found = np.zeros(records.shape)
    present = ~absent_values(schema, records)
    for j, known in enumerate(present.T):
        codes = records[known, j]
        found[known, j] = np.abs(codes - np.median(codes)) if len(codes) else 0.0
    return found


def _own_ids_and_records(explainer: LocalFACE) -> tuple[Ids, Array]:
    """The explainer's own rows with their numbers in the user's table, in that order."""
    source = explainer.engine.source
    ids = list_all_rows(source)
    rows = source.row_numbers(ids)
    order = np.argsort(rows, kind="stable")
    return rows[order], source.records(ids)[order]


def _table_ids_and_records(table: Any, explainer: LocalFACE) -> tuple[Ids, Array]:
    records = read_people(table, explainer.schema)
    return np.arange(len(records)), records


def _outcome_per_person(target: Target, scores: Array, truth: Mask) -> tuple[str, ...]:
    """Whether the model's verdict on each person was right, such as ``"false negative"``."""
    threshold = DECISION_THRESHOLD if target.kind == "probability" else target.min_score
    positive = scores <= threshold if target.at_most else scores >= threshold
    verdicts = np.where(positive, "positive", "negative").tolist()
    rights = np.where(positive == truth, "true", "false").tolist()
    return tuple(f"{right} {verdict}" for right, verdict in zip(rights, verdicts, strict=True))
