"""Goes on with answers until a retrained model is likely enough to agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from localface.analyses.end_record import end_record
from localface.analyses.lasting.judging import judge_ends
from localface.analyses.lasting.learning import LearntLasting, learnt_lasting
from localface.analyses.lasting.refusing import (
    LowerWish,
    as_most_lasting,
    refuse_as_not_lasting,
    round_wish_down,
)
from localface.answers.cautions import is_about_more_features
from localface.answers.recourse import Recourse
from localface.answers.robustness import Lasting, Robustness
from localface.engine.engine import Engine
from localface.engine.requests import Request
from localface.search.plan import Plan

_TRIES = 5  # searches that a wish for a more lasting answer may take, beside the first
_PART = 0.6  # of what a margin lacks is asked for at a time: ends lie past what is asked for
_LEAST_STEP = 0.05  # by which a margin has to grow for another search to be worth it
_LIKELY = 0.9  # unless it was wished: what is tried whether it costs nearly nothing
_LAST_AIM = 0.97  # what every wish that is missed aims at in the end
_NEARLY = 1.05  # times the effort that a more lasting answer may take where nothing was wished
_UNLIKELY = 0.02  # probabilities below are taken as this where a margin is worked out


@dataclass(frozen=True, slots=True, eq=False)
class _Going:
    """One person's best answer so far, how lasting it is, and where more is looked for.

    ``first`` is the answer without a wish, ``at_first`` how lasting it is, at ``first_margin``;
    ``aim`` is the probability that scores are asked for; ``low`` is a margin that could be had,
    ``high`` one that could not. ``lower`` is a lower wish that is kept, where the wish is not.
    """

    request: Request
    first: Recourse
    at_first: Lasting
    first_margin: float
    best: Recourse
    lasting: Lasting
    low: float
    aim: float
    high: float = np.inf
    tries: int = 0
    lower: LowerWish | None = None

    @classmethod
    def begin(cls, request: Request, first: Recourse, lasting: Lasting, margin: float) -> _Going:
        """What is known before any search for more."""
        aim = _wanted_of(request)
        return cls(request, first, lasting, margin, first, lasting, margin, aim)

    @property
    def wanted(self) -> float:
        return _wanted_of(self.request)

    @property
    def lasts(self) -> bool:
        """Whether the best answer is lasting enough."""
        return self.lasting.probability >= self.wanted

    @property
    def misses_wish(self) -> bool:
        """Whether more was wished for than there is."""
        return self.request.lasting is not None and not self.lasts

    @property
    def is_refused(self) -> bool:
        """Whether nothing is given, since what there is misses the wish."""
        return self.misses_wish and not self.request.best_effort

    @property
    def is_done(self) -> bool:
        """Whether it lasts, or nothing more is to be tried."""
        most = _TRIES if self.request.lasting is not None else 1
        narrow = self.high - self.low < _LEAST_STEP
        return self.lasts or self.tries >= most or narrow or self.request.clock.is_up

    def next_margin(self, learnt: LearntLasting) -> float:
        """The margin to ask for next."""
        present = max(self.lasting.probability, _UNLIKELY)
        lacking = learnt.map.margin_lacking(present, self.aim)
        step = max(_LEAST_STEP, _PART * lacking) if np.isfinite(lacking) else 1.0
        asked = self.low + step
        return asked if asked < self.high else (self.low + self.high) / 2

    def after(self, margin: float, trial: Recourse, lasting: Lasting | None, at: float) -> _Going:
        """What is known once a trial is done."""
        tried = replace(self, tries=self.tries + 1)
        if lasting is None:
            return replace(tried, high=margin)
        tried = replace(tried, low=max(margin, at))
        if lasting.probability <= self.lasting.probability or not self._may_take(trial):
            return tried
        return replace(tried, best=trial, lasting=lasting)

    def begun_again(self) -> _Going:
        """The same search from the beginning, with an aim that is the same for all wishes."""
        begun = _Going.begin(self.request, self.first, self.at_first, self.first_margin)
        return replace(begun, aim=_LAST_AIM)

    def begun_for(self, wish: float) -> _Going:
        """The same search from the beginning, for another wish."""
        request = replace(self.request, lasting=wish)
        return _Going.begin(request, self.first, self.at_first, self.first_margin)

    def beside(self, again: _Going, by_wish: _Going | None) -> _Going:
        """What is known once it was begun again: any wish up to what that found is kept.

        ``by_wish`` is what comes of the lower wish itself, where that was tried.
        """
        wish = round_wish_down(again.lasting.probability)
        kept = by_wish.best if by_wish is not None and by_wish.lasts else again.best
        told = replace(self, lower=LowerWish(wish, kept) if wish else None)
        if again.lasting.probability <= self.lasting.probability:
            return told
        return replace(told, best=again.best, lasting=again.lasting)

    def _may_take(self, trial: Recourse) -> bool:
        """Where nothing was wished, a more lasting answer may cost nearly nothing more."""
        if self.request.lasting is not None:
            return True
        fewer = _n_features(trial) <= _n_features(self.first)
        return fewer and trial.effort <= _NEARLY * self.first.effort


def _wanted_of(request: Request) -> float:
    return _LIKELY if request.lasting is None else request.lasting


def go_on_until_lasting(
    engine: Engine, plan: Plan, asked: Sequence[tuple[Request, Recourse]]
) -> list[Recourse]:
    """Answer again, by a higher score, those whose answers a retrained model may refuse.

    The target stays what it is. Where it was wished (``lasting=``), more is asked for until a
    retrained model agrees with that probability; where that cannot be had, the answer is no, or by
    best effort the most lasting one. Otherwise a more lasting answer is taken where it costs nearly
    the same. All are searched for in lock-step; each as if alone.
    """
    answers = [answer for _, answer in asked]
    found = [number for number, answer in enumerate(answers) if _reaches_target(answer)]
    if engine.outcomes is None or not found:
        return answers
    learnt = learnt_lasting(engine)
    assert learnt is not None
    begun = {
        number: _Going.begin(asked[number][0], answers[number], lasting, margin)
        for number, lasting, margin in _judged(engine, learnt, {n: answers[n] for n in found})
    }
    going = _gone_on(engine, plan, learnt, begun)
    missed = {number: one for number, one in going.items() if one.misses_wish}
    going |= _begun_again(engine, plan, learnt, missed)
    for number, one in going.items():
        answers[number] = _told(one)
    return answers


def _reaches_target(answer: Recourse) -> bool:
    """Tell whether an answer reaches what is wanted, not only what could be had of it."""
    return answer.found and "best_effort_for" not in answer.settings


def _gone_on(
    engine: Engine, plan: Plan, learnt: LearntLasting, going: Mapping[int, _Going]
) -> dict[int, _Going]:
    """Search on for each until it lasts, or nothing more is to be tried."""
    going = dict(going)
    if engine.score.output.is_folded:  # a range has no higher score
        return going
    while some := {n: one for n, one in going.items() if not one.is_done}:
        going |= _tried_further(engine, plan, learnt, some)
    return going


def _judged(
    engine: Engine, learnt: LearntLasting, answers: Mapping[int, Recourse]
) -> list[tuple[int, Lasting, float]]:
    """Each answer's number, how lasting it is, and its margin."""
    some = list(answers.values())
    ends = np.stack([end_record(one) for one in some])
    margins = learnt.scale.margins(engine.score(ends)).tolist()
    return list(zip(answers, judge_ends(engine, learnt, some), margins, strict=True))


def _tried_further(
    engine: Engine, plan: Plan, learnt: LearntLasting, going: dict[int, _Going]
) -> dict[int, _Going]:
    """Search once more for each, by a higher score; what was relaxed stays as it was."""
    sign = engine.score.output.sign
    margins = {number: one.next_margin(learnt) for number, one in going.items()}
    planned = []
    for number, one in going.items():
        level = sign * learnt.scale.score_at(margins[number])
        planned.append((engine.with_thresholds(min_score=level), one.request, plan))
    numbers = list(going)
    trials: dict[int, Recourse] = {}
    for position, trial in engine.answer_together(planned):
        one = going[numbers[position]]
        if isinstance(trial, Recourse) and trial.found and _is_comparable(trial, one.first):
            trials[numbers[position]] = replace(
                trial, target=one.first.target, settings=one.first.settings
            )
    done = {n: one.after(margins[n], one.best, None, 0.0) for n, one in going.items()}
    for number, lasting, margin in _judged(engine, learnt, trials) if trials else ():
        done[number] = going[number].after(margins[number], trials[number], lasting, margin)
    return done


def _is_comparable(trial: Recourse, first: Recourse) -> bool:
    """Tell whether nothing was given up for a trial: neither floor, actions nor time."""
    same_floor = trial.relaxed_to == first.relaxed_to
    return same_floor and bool(trial.actions) >= bool(first.actions) and not trial.cut_short


def _n_features(answer: Recourse) -> int:
    return len({name for action in answer.actions for name in action.changes})


def _begun_again(
    engine: Engine, plan: Plan, learnt: LearntLasting, missed: Mapping[int, _Going]
) -> dict[int, _Going]:
    """Search once more for those whose wish was missed, for the scores that every wish comes to.

    What is found on the way to one wish need not be found on the way to another. As all that are
    missed end with the same searches, any wish up to what these find is kept: it can be offered.
    Where rows are limited, searches before may spend them, and the first answer is what is sure.
    A lower wish whose plan would change too many features is tried itself: it may find another one.
    """
    again = {number: one.begun_again() for number, one in missed.items()}
    by_wish: dict[int, _Going] = {}
    if engine.options.max_rows is None:
        again = _gone_on(engine, plan, learnt, again)
        lower = {number: round_wish_down(again[number].lasting.probability) for number in missed}
        by_wish = {
            number: one.begun_for(lower[number])
            for number, one in missed.items()
            if one.is_refused and any(map(is_about_more_features, again[number].best.cautions))
        }
        by_wish = _gone_on(engine, plan, learnt, by_wish)
    return {n: one.beside(again[n], by_wish.get(n)) for n, one in missed.items()}


def _told(one: _Going) -> Recourse:
    """The best answer, with how lasting it is; or no, where it is not as lasting as was wished."""
    known = one.best.robustness or Robustness()
    lasting = replace(one.lasting, wanted=one.request.lasting)
    if one.is_refused:
        late = one.request.clock.is_up
        return refuse_as_not_lasting((one.first, one.best), lasting, one.lower, late=late)
    answer = replace(one.best, robustness=replace(known, lasting=lasting))
    return as_most_lasting(answer, lasting) if one.misses_wish else answer
