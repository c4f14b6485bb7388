"""Answers questions from a source, a density and a model: all of one kind in one call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from localface.density.protocol import Density, SegmentDensities
from localface.engine.meter import Meter
from localface.engine.others import ChangedOthers, Others, helped_by_each
from localface.engine.score_cache import BLOCK_ROWS, ScoreCache, ScoreFunction
from localface.engine.targets import TargetRows
from localface.errors import ModelError
from localface.search.questions import (
    BestState,
    Census,
    ComposedStates,
    ComposeStates,
    DensityAlong,
    HelpOthers,
    NearestToEach,
    OthersHelped,
    RowDensities,
    ScorePoints,
    ScoreRows,
    TargetCounts,
    Widening,
)
from localface.sources.holder import RowHolder
from localface.sources.protocol import Nearest, Neighbors, Source
from localface.types import NO_ROWS, Array, Ids

_FEW_ROWS = 1024  # up to which the states of all who ask are scored together
Metered = Sequence[tuple[Meter, Any]]
"""Questions of one kind, each with the account of the search that asks it."""
Scored = Array | TargetCounts | ComposedStates | list[OthersHelped]
AnswerKind = tuple[tuple[type, ...], Callable[[Metered], Sequence[Any]]]


class QuestionAnswerer:
    """The only caller of source, density and model on behalf of searches.

    ``fitted_on_sample`` says that the density knows rows of its own, by other ids than the source.
    """

    def __init__(
        self,
        rows: RowHolder,
        density: Density,
        score: ScoreFunction,
        *,
        fitted_on_sample: bool = False,
    ) -> None:
        self._source: Source = rows  # what searches ask is answered from this view alone
        self._density = density
        self._score = score
        self._fitted_on_sample = fitted_on_sample
        self._scores = ScoreCache(score.exact_scores, rows)
        self._targets = TargetRows(rows, self._scores, score.round_scores)
        self._others = Others(rows)

    @property
    def answer_kinds(self) -> tuple[AnswerKind, ...]:
        """The kinds of questions in the order they are answered, with what answers them."""
        return (
            ((Nearest,), self._answer_nearest),
            ((NearestToEach,), self._answer_nearest_to_each),
            ((ScoreRows, ScorePoints, Census, ComposeStates, HelpOthers), self._answer_scores),
            ((DensityAlong,), self._answer_density_along),
            ((RowDensities,), self._answer_row_densities),
            ((Widening,), self._answer_widening),
        )

    def prescore(self) -> None:
        """Score the whole table once."""
        self._scores.scores_of_rows(self._targets.all_row_ids())

    def _answer_nearest(self, asked: Metered) -> list[Neighbors]:
        found = self._source.nearest([question for _, question in asked])
        return [
            meter.spend_budget_on_neighbors(one)
            for (meter, _), one in zip(asked, found, strict=True)
        ]

    def _answer_nearest_to_each(self, asked: Metered) -> list[list[Neighbors]]:
        """Answer search by search: each holds as many points against the rows as memory allows."""
        return [
            self._answer_nearest([(meter, one) for one in question.questions])
            for meter, question in asked
        ]

    def _answer_scores(self, asked: Metered) -> list[Scored]:
        """Score what all ask in one call, and states that are counted for one after the other.

        These are about as many as there are rows: those of all together would be out of reach of
        the processor's caches, and take memory.
        """
        counted = [i for i, (_, question) in enumerate(asked) if _counts_states(question)]
        if not counted or len(asked) == 1 or self._source.n_rows <= _FEW_ROWS:
            return self._answer_scores_together(asked)
        rest = [i for i in range(len(asked)) if i not in set(counted)]
        answers: dict[int, Scored] = {}
        for some in (rest, *([i] for i in counted)):
            if some:
                found = self._answer_scores_together([asked[i] for i in some])
                answers.update(zip(some, found, strict=True))
        return [answers[i] for i in range(len(asked))]

    def _answer_scores_together(self, asked: Metered) -> list[Scored]:
        """Score in one call; a model that fails on others may still do for the person."""
        try:
            return self._score_in_one_call(asked)
        except ModelError:
            if not any(isinstance(question, HelpOthers) for _, question in asked):
                raise
        rest = [one for one in asked if not isinstance(one[1], HelpOthers)]
        answers = iter(self._score_in_one_call(rest) if rest else [])
        return [
            self._help_if_it_can_be_told(*one) if isinstance(one[1], HelpOthers) else next(answers)
            for one in asked
        ]

    def _help_if_it_can_be_told(self, meter: Meter, question: HelpOthers) -> Scored:
        try:
            return self._score_in_one_call([(meter, question)])[0]
        except ModelError:
            return [one.unknown() for one in self._others.compose(meter, question)]

    def _score_in_one_call(self, asked: Metered) -> list[Scored]:
        """Score unseen rows, states off the data, others, everyone who is to be counted."""
        fresh = self._rows_to_score(asked)
        states = [self._states_to_score(meter, question) for meter, question in asked]
        meters = [meter for meter, _ in asked]
        exact = self._exact_scores(fresh, list(zip(meters, states, strict=True)))
        answers: list[Scored] = []
        for (meter, question), some in zip(asked, states, strict=True):
            n = len(some)
            scores = exact[:n]
            if n:
                scores = self._score.round_scores(scores, meter.min_score)
                exact = exact[n:]
                meter.count_scored_records(n)
            if isinstance(question, ScorePoints):
                answers.append(scores)
            elif isinstance(question, ComposeStates):
                answers.append(_compose(meter, question, some, scores))
            elif isinstance(question, HelpOthers):
                answers.append(helped_by_each(some.others, scores))
            elif isinstance(question, ScoreRows):
                scores = self._scores.scores_of_rows(question.ids)
                answers.append(self._score.round_scores(scores, meter.min_score))
                if len(fresh):
                    meter.count_scored_records(int(np.isin(question.ids, fresh).sum()))
            elif question.projection is not None:
                answers.append(_count_states(meter, question, some, scores))
            else:
                answers.append(self._targets.count_targets(question, meter.min_score))
        return answers

    def _exact_scores(self, fresh: Ids, asked: Sequence[tuple[Meter, _States]]) -> Array:
        """Score unseen rows and states in one call; where these are very many, some at a time."""
        some = [(meter, states) for meter, states in asked if len(states)]
        if sum(len(states) for _, states in some) <= BLOCK_ROWS:
            records = [states.records(meter, self._source) for meter, states in some]
            return self._scores.score_rows_and_states(fresh, records)
        self._scores.score_rows_and_states(fresh)
        parts = [
            self._scores.score_rows_and_states(NO_ROWS, [part.records(meter, self._source)])
            for meter, states in some
            for part in states.parts(BLOCK_ROWS)
        ]
        return np.concatenate(parts)

    def _states_to_score(self, meter: Meter, question: Any) -> _States:
        """Return the states off the data that have to be scored to answer."""
        if isinstance(question, ScorePoints):
            return _States(question.points, donors=question.donors)
        if isinstance(question, ComposeStates):
            ids, points = self._targets.nearest_projections(question, meter.min_score)
            return _States(points[question.first :], ids[question.first :])
        if _counts_states(question):
            return _States(self._targets.different_states(question))
        if isinstance(question, HelpOthers):
            return _States(_NO_POINTS, others=self._others.compose(meter, question))
        return _NO_STATES

    def _rows_to_score(self, asked: Metered) -> Ids:
        """Return the rows that have to be scored to answer, each once."""
        wanted = [question.ids for _, question in asked if isinstance(question, ScoreRows)]
        if any(
            isinstance(question, Census)
            and question.projection is None
            and not self._targets.knows_who_reaches(meter.min_score)
            for meter, question in asked
        ):
            wanted.append(self._targets.all_row_ids())
        return self._scores.unscored_rows(np.concatenate(wanted)) if wanted else NO_ROWS

    def _answer_density_along(self, asked: Metered) -> list[SegmentDensities]:
        """Judge the segments of all searches together.

        Under each rule it takes one call for verdicts and one for values.
        """
        if len(asked) == 1:
            ((_, alone),) = asked
            judge = self._judge_by(alone.rule)
            return [judge(alone.starts, alone.ends, alone.log_floor, askers=_askers_of(asked))]
        answers: dict[int, SegmentDensities] = {}
        groups: dict[tuple[str, bool], list[int]] = {}
        for i, (_, question) in enumerate(asked):
            groups.setdefault((question.rule, question.log_floor is None), []).append(i)
        for (rule, in_full), members in groups.items():
            some = [asked[i] for i in members]
            counts = [len(question.starts) for _, question in some]
            found = self._ask_density(some, rule, in_full=in_full)
            lasts = np.cumsum(counts).tolist()
            for i, first, last in zip(members, [0, *lasts], lasts, strict=False):
                answers[i] = found.for_segments(first, last)
        return [answers[i] for i in range(len(asked))]

    def _judge_by(self, rule: str) -> Callable[..., SegmentDensities]:
        return self._density.lowest_along if rule == "lowest" else self._density.mean_along

    def _ask_density(self, asked: Metered, rule: str, *, in_full: bool) -> SegmentDensities:
        """Ask the density about all segments, each against its floor or ``in_full``."""
        judge = self._judge_by(rule)
        askers = _askers_of(asked)
        questions = [question for _, question in asked]
        starts = np.concatenate([question.starts for question in questions])
        ends = np.concatenate([question.ends for question in questions])
        if in_full:
            return judge(starts, ends, None, askers=askers)
        floors = [np.full(len(one.starts), one.log_floor, dtype=float) for one in questions]
        return judge(starts, ends, np.concatenate(floors), askers=askers)

    def _answer_row_densities(self, asked: Metered) -> list[Array]:
        if self._fitted_on_sample:
            points = np.concatenate([question.points for _, question in asked])
            found = self._density.lowest_along(points, points, None).log_densities
        else:
            ids = np.concatenate([question.ids for _, question in asked])
            found = self._density.row_log_densities(ids)
        lasts = np.cumsum([len(question.ids) for _, question in asked])
        return np.split(found, lasts[:-1])

    def _answer_widening(self, asked: Metered) -> list[float]:
        return [
            self._targets.least_widening_factor(question, meter.min_score)
            for meter, question in asked
        ]


@dataclass(frozen=True, slots=True, eq=False)
class _States:
    """States to score, the rows that they are taken from, and rows that they share values with.

    Or ``others``, who are given a person's changes.
    """

    points: Array
    ids: Ids = field(default_factory=lambda: NO_ROWS)
    donors: Ids = field(default_factory=lambda: NO_ROWS)
    others: Sequence[ChangedOthers] = ()

    def __len__(self) -> int:
        return len(self.points) + sum(len(one) for one in self.others)

    def parts(self, n: int) -> list[_States]:
        """Return the states some at a time, but others all at once."""
        if self.others or len(self) <= n:
            return [self]
        firsts = range(0, len(self), n)
        return [replace(self, points=self.points[first : first + n]) for first in firsts]

    def records(self, meter: Meter, source: Source) -> Array:
        """Return what the model is asked about."""
        if self.others:
            return np.concatenate([one.flat_records for one in self.others])
        return meter.decode(self.points, source.records(self.donors))


def _askers_of(asked: Metered) -> Array | None:
    """Where those stand whom each segment is about; None where it is known of nobody.

    Where it is not known of some, the start stands for them: its row does not count anyway.
    """
    if all(meter.asker is None and question.askers is None for meter, question in asked):
        return None
    return np.concatenate([_askers_of_one(meter, question) for meter, question in asked])


def _askers_of_one(meter: Meter, question: DensityAlong) -> Array:
    if question.askers is not None:
        return question.askers
    if meter.asker is None:
        return question.starts
    return np.broadcast_to(meter.asker, question.starts.shape)


def _counts_states(question: Any) -> bool:
    return isinstance(question, Census) and question.projection is not None


_NO_POINTS = np.zeros((0, 0))
_NO_STATES = _States(_NO_POINTS)


def _count_states(meter: Meter, question: Census, states: _States, scores: Array) -> TargetCounts:
    """Count the states that reach the target, of all that one person may take over."""
    reached = scores >= meter.min_score
    targets = int(reached.sum())
    nobody = np.zeros(len(question.bounds.lower), dtype=np.int64)
    best = None
    if question.point is not None and len(scores):
        first = int(np.argmax(scores))
        best = BestState(float(scores[first]), states.points[first] != question.point)
    which = (states.points, reached) if question.which else None
    return TargetCounts(
        len(scores), targets, targets, nobody, of_states=True, best=best, states=which
    )


def _compose(
    meter: Meter, question: ComposeStates, states: _States, scores: Array
) -> ComposedStates:
    """Return the nearest states that have the score; their rows are seen."""
    fine = np.flatnonzero(scores >= question.min_score)[: question.k]
    admitted = fine[meter.spend_budget_on_rows(states.ids[fine])]
    cut = len(admitted) < len(fine)
    ended = question.first + len(scores) < question.last
    found = (states.points[admitted], scores[admitted], states.ids[admitted])
    return ComposedStates(*found, cut, ended)
