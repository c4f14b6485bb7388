"""Searches for an answer that is robust enough."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from localface.analyses.robustness.adding import add_robustness
from localface.analyses.robustness.measuring import measure_robustness
from localface.analyses.robustness.noise import NoiseSampler
from localface.answers.recourse import Recourse
from localface.answers.robustness import Robustness
from localface.answers.wording import format_distinct_percents
from localface.engine.engine import Engine
from localface.engine.job import Decode, SearchJob
from localface.engine.requests import Request
from localface.search.outcome import Outcome
from localface.search.person import Person
from localface.search.pipeline import find_recourse
from localface.search.plan import Plan
from localface.search.questions import OutOfTime, Questions, ask_point_scores
from localface.types import Array

_TRIES = 8  # searches that a wish for more robustness may take, beside the first


def explain_robustly(
    engine: Engine, request: Request, plan: Plan, min_robustness: float
) -> Recourse:
    """Answer so that enough of those who miss the end by a little still reach the target.

    The target stays what it is; the search is asked for more than that, by as little as
    it takes. Where that cannot be done, the most robust answer is given, and says so.
    """
    further = _RobustSearch(engine, request, plan, min_robustness)
    ((_, answer),) = engine.answer([request], plan, wrap=further)
    if not answer.found:
        return answer
    measured = measure_robustness(engine, answer, account=request.account)
    success = 0.0 if measured.success is None else measured.success
    missed = ""
    if success < min_robustness:
        missed = _not_robust_enough_sentence(success, min_robustness)
    (answer,) = add_robustness(engine, [(request, answer)])
    known = answer.robustness or Robustness()
    answer = replace(
        answer,
        robustness=replace(
            known,
            success=measured.success,
            interval=measured.interval,
            n=measured.n,
            seed=measured.seed,
            noise=measured.noise,
        ),
        reason="; ".join(part for part in (answer.reason, missed) if part),
    )
    return engine.with_all_revealed(request, answer)


def _not_robust_enough_sentence(success: float, wanted: float) -> str:
    most, share = format_distinct_percents(success, wanted)
    return (
        f"no answer was found in which {share} of small deviations still reach the target "
        f"(min_robustness={wanted:g}); this is the most robust one found, with {most}"
    )


@dataclass(frozen=True, slots=True, eq=False)
class _RobustSearch:
    """Goes on with a search until its end is robust: one meter, one budget for all of it."""

    engine: Engine
    request: Request
    plan: Plan
    share: float

    def __call__(self, job: SearchJob[Outcome]) -> Questions[Outcome]:
        """Ask for a higher score, by what the noise costs, until enough draws reach the target.

        Where that asks too much, halve what is asked beyond the last score that could be had.
        """
        best = yield from job.asks
        if best.status != "FOUND" or best.cut_short:
            return best
        person = self._person_at_floor_of(best)
        try:
            return (yield from self._more_robust(best, person, job.decode))
        except OutOfTime:
            return replace(best, cut_short=True)

    def _more_robust(self, best: Outcome, person: Person, decode: Decode) -> Questions[Outcome]:
        """The most robust outcome that is found."""
        most, lacking = yield from self._success_and_lacking_score(best, decode)
        low = max(person.min_score, _end_score(best))
        high = np.inf
        for _ in range(_TRIES):
            if lacking <= 0 or high - low <= 1e-3 * max(1.0, abs(low)):
                break
            level = low + lacking if low + lacking < high else (low + high) / 2
            trial = yield from self._search_recourse_for(replace(person, min_score=level))
            if trial.cut_short or trial.status == "BUDGET":
                return replace(best, cut_short=True)
            if trial.status != "FOUND":
                high = level
                continue
            success, lacking = yield from self._success_and_lacking_score(trial, decode)
            low = max(level, _end_score(trial))
            if success > most:
                best = replace(trial, relaxed=best.relaxed)
                most = success
        return best

    def _person_at_floor_of(self, best: Outcome) -> Person:
        """Who asks; a floor that had to be lowered stays there: it is not traded for robustness."""
        request = self.request
        person = self.engine.make_person(
            request.record, request.box, weights=request.weights, fixed=request.fixed
        )
        return (
            replace(person, log_floor=min(person.log_floor, best.log_floor))
            if best.relaxed
            else person
        )

    def _search_recourse_for(self, person: Person) -> Questions[Outcome]:
        return find_recourse(person, self.plan, goal=self.engine.goal_point(self.request))

    def _success_and_lacking_score(
        self, outcome: Outcome, decode: Decode
    ) -> Questions[tuple[float, float]]:
        """The share of draws that reach the target, and how much score enough of them lack."""
        engine = self.engine
        end = decode(_end_point(outcome)[None, :], np.zeros((0, len(engine.schema))))[0]
        states = NoiseSampler(engine.schema, engine.answers.scales)(self.request.record, end)
        scores = np.sort((yield from ask_point_scores(engine.space.points(states))))
        needed = math.ceil(self.share * len(scores) - 1e-9)
        success = float((scores >= engine.score.min_score).mean())
        return success, float(engine.score.min_score - scores[len(scores) - needed])


def _end_point(outcome: Outcome) -> Array:
    return outcome.points[-1] if outcome.actions is None else outcome.actions.moves[-1].point


def _end_score(outcome: Outcome) -> float:
    return outcome.scores[-1] if outcome.actions is None else outcome.actions.moves[-1].score
