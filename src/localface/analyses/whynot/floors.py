"""Says how far the floor must come down where no steps keep it, once that was tried."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

from localface.analyses.whynot.trials import Trial, run_trials
from localface.answers.recourse import Recourse
from localface.answers.status import Status
from localface.answers.wording import format_number, round_share_down
from localface.engine.engine import Engine
from localface.engine.requests import Request
from localface.search.lower_floor import LowerFloor, find_lower_floor
from localface.search.outcome import Outcome
from localface.search.pipeline import find_recourse
from localface.search.plan import Plan
from localface.search.questions import Questions

_LOWER = (1.0, 0.5)  # shares of the floor that should open a way, each tried in turn


class NeededFloor(NamedTuple):
    """The share of people that a floor is to come down to, and whether no higher one would do."""

    share: float
    is_highest: bool


def offer_lower_floors(
    engine: Engine, plan: Plan, asked: Sequence[tuple[Request, Recourse]]
) -> list[Recourse]:
    """Add to what is unreachable the floor under which a search finds a way, if there is one.

    Who asked to relax has been told already.
    """
    trials = _FloorTrials(engine, plan, asked, [answer for _, answer in asked])
    shut = [i for i, one in enumerate(asked) if _is_refused_by_floor(plan, *one)]
    needed = trials.find_needed_floors(shut)
    opening: dict[int, float] = {}
    for part in _LOWER:
        opening |= trials.try_floors(
            {
                i: floor
                for i, (share, _) in needed.items()
                if share > 0
                and i not in opening
                and (floor := round_share_down(part * share)) < trials.answers[i].min_density
            }
        )
    for i, found in needed.items():
        answer = trials.answers[i]
        sentence = _lower_floor_sentence(answer.min_density, opening.get(i), found)
        trials.answers[i] = replace(answer, reason=f"{answer.reason}; {sentence}")
    return trials.answers


def _is_refused_by_floor(plan: Plan, request: Request, answer: Recourse) -> bool:
    unreachable = answer.status is Status.UNREACHABLE and plan.strategy == "guided"
    return unreachable and not request.relax


@dataclass(frozen=True, slots=True, eq=False)
class _FloorTrials:
    """The people refused, and their answers so far."""

    engine: Engine
    plan: Plan
    asked: Sequence[tuple[Request, Recourse]]
    answers: list[Recourse]

    def find_needed_floors(self, people: Sequence[int]) -> dict[int, NeededFloor]:
        """The floor that should open a way for each, 0 where everybody is above it.

        It is no higher than the one that there is.
        """
        trials = [Trial(i, self._request(i), partial(self._needed_floor, i)) for i in people]
        found = {}
        for trial, lower in run_trials(self.engine, trials):
            if lower is not None:
                answer = self.answers[trial.number]
                share = float(self.engine.answers.scale.share_below(lower.log_density))
                # Who stands below the floor may be brought above it first, by relaxing alone.
                stands = answer.densities[0] >= answer.min_density
                share = min(share, answer.min_density)
                found[trial.number] = NeededFloor(share, lower.is_highest and stands)
        return found

    def try_floors(self, floors: Mapping[int, float]) -> dict[int, float]:
        """Those of the floors under which a search finds a way."""
        trials = [
            Trial(i, self._request(i), partial(self._recourse_at, i, floor))
            for i, floor in floors.items()
        ]
        found = {}
        for trial, outcome in run_trials(self.engine, trials):
            if outcome.status == "FOUND":
                found[trial.number] = floors[trial.number]
        return found

    def _needed_floor(self, i: int) -> Questions[LowerFloor | None]:
        request = self._request(i)
        return find_lower_floor(
            self.engine.make_person(request.record, request.box),
            n_neighbors=self.plan.walk_options.n_neighbors,
            goal=self.engine.goal_point(request),
        )

    def _recourse_at(self, i: int, floor: float) -> Questions[Outcome]:
        request = self._request(i)
        at = self.engine.with_thresholds(min_density=floor)
        person = at.make_person(request.record, request.box)
        quick = replace(self.plan, walk_options=at.plan.walk_options, existence_only=True)
        return find_recourse(person, quick, goal=at.goal_point(request))

    def _request(self, i: int) -> Request:
        return self.asked[i][0]


def _lower_floor_sentence(now: float, opens: float | None, needed: NeededFloor) -> str:
    """Say what opens a way; where it keeps to the floor as it is, a longer search does."""
    if opens is None and needed.share >= now:
        return "a longer search finds a way: ask with relax=True"
    if opens is None:
        return "relax=True opens a way through less common states"
    least = opens == round_share_down(needed.share) and needed.is_highest
    less = "" if least else "; relax=True may find one for which it comes down less"
    return (
        f"a way opens if the floor comes down from {format_number(100 * now)} % to "
        f"{100 * opens:.3g} % (min_density={opens:g}){less}"
    )
