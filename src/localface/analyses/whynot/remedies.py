"""Names what would open a way where there is none: the constraints, the floor."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import NamedTuple

from localface.analyses.whynot.allowing import what_to_allow
from localface.analyses.whynot.floors import offer_lower_floors
from localface.analyses.whynot.lifting import ASKED, DECLARED, KEPT, Lift, Limits
from localface.analyses.whynot.trials import Trial, run_trials
from localface.analyses.whynot.widening import answer_with_wider_limits
from localface.answers.recourse import Recourse
from localface.answers.status import Status
from localface.answers.wording import format_count
from localface.data.box import Box
from localface.engine.engine import Engine
from localface.engine.requests import Request
from localface.geometry.bounds import Bounds
from localface.search.person import Person
from localface.search.pipeline import count_targets, find_recourse
from localface.search.plan import Plan
from localface.types import Array

_PAIRS_UP_TO = 12  # constrained features up to which pairs are tried
_MOST_SCORED = 120_000  # states that the model is asked about to tell which constraints to free
_MOST_SEARCHED = 6  # sets of features that are tried by a search for one person
_NAMED = 3  # sets of features that a sentence names


_Set = tuple[int, ...]  # features, by their index in the schema


def explain_refusals(
    engine: Engine, plan: Plan, asked: Sequence[tuple[Request, Recourse]]
) -> list[Recourse]:
    """Say, where there is no way, what would open one: each was tried before it is told.

    Every other answer is passed on as it is, and so is one that widening opened. All searches
    for one person share their time, and the budget of rows.
    """
    requests = [request for request, _ in asked]
    answers = answer_with_wider_limits(engine, plan, asked)
    answers = _name_constraints_to_free(engine, plan, requests, answers)
    return offer_lower_floors(engine, plan, list(zip(requests, answers, strict=True)))


def _name_constraints_to_free(
    engine: Engine, plan: Plan, requests: Sequence[Request], answers: list[Recourse]
) -> list[Recourse]:
    """Say, where no target is allowed, which constraints would have to give way.

    Single constraints are tried first, then pairs; what stays a person's own is not among them.
    Limits are lifted no further than a way needs: those within what the schema and the rest of
    the call allow come first.
    """
    shut = [i for i, one in enumerate(requests) if _has_no_allowed_target(one, answers[i])]
    trials = _LimitTrials(
        engine,
        replace(plan, strategy="guided", existence_only=True),
        requests,
        {i: Limits.of(engine.schema, requests[i]) for i in shut},
    )
    constrained = {i: _features_that_limit(engine, requests[i]) for i in shut}
    opening: dict[int, list[_Opening]] = {i: [] for i in shut}
    for size in (1, 2):
        freed = [(i, some) for i in shut for some in _sets_of_features(constrained[i], size)]
        for number, found in trials.openings(freed, only_kept=[i for i in shut if opening[i]]):
            opening[number].append(found)
        shut = [i for i in shut if all(one.stage != KEPT for one in opening[i])]
    return [
        _with_what_would_open(answer, sorted(opening.get(i, ()), key=lambda one: one.stage))
        for i, answer in enumerate(answers)
    ]


class _Opening(NamedTuple):
    """Features whose limits open a way where they give way, how far they have to, and in words."""

    names: tuple[str, ...]
    stage: int
    words: str


@dataclass(frozen=True, slots=True, eq=False)
class _LimitTrials:
    """Trials of lifting the limits of some people, by their number."""

    engine: Engine
    plan: Plan
    requests: Sequence[Request]
    limits: Mapping[int, Limits]

    def openings(
        self, freed: Sequence[tuple[int, _Set]], *, only_kept: Collection[int]
    ) -> list[tuple[int, _Opening]]:
        """Those sets of features that open a way, each with the number of the person.

        They are searched in lock-step, the likeliest of each person; what fails within other
        limits is tried once more without any. Some only let change what the call keeps.
        """
        lifts = self._lifts_with_targets(freed, only_kept)
        found = self._run(lifts)
        failed = [one for one in lifts if one not in found and one.number not in only_kept]
        again = [self._lifted_furthest(one) for one in failed]
        found |= self._run([one for one in again if one not in failed])
        return [(one.number, self._opening(one, states)) for one, states in found.items()]

    def _lifts_with_targets(
        self, freed: Sequence[tuple[int, _Set]], only_kept: Collection[int]
    ) -> list[Lift]:
        """The gentlest lift of each set that lets in some target; no row is looked at.

        States that a person could take over are counted, or rows where that were too many to
        score: for each by their own sets, whoever else is asked about.
        """
        n_sets = Counter(number for number, _ in freed)
        furthest = [
            Lift(number, some, KEPT if number in only_kept else DECLARED) for number, some in freed
        ]
        targets = self._counted([self._gentlest_alike(one) for one in furthest], n_sets)
        for stage in (KEPT, ASKED):
            gentler = [
                one._replace(stage=stage)
                for one in targets
                if one.stage > stage and self.limits[one.number].lets_in_more(one.features, stage)
            ]
            for one, n_targets in self._counted(gentler, n_sets).items():
                targets = {other: n for other, n in targets.items() if other[:2] != one[:2]} | {
                    one: n_targets
                }
        numbers = dict.fromkeys(one.number for one in targets)
        return sorted(one for number in numbers for one in _likeliest(targets, number))

    def _gentlest_alike(self, lift: Lift) -> Lift:
        """The same lift, where a later stage leaves no more than an earlier one."""
        limits = self.limits[lift.number]
        while lift.stage > KEPT and not limits.lets_in_more(lift.features, lift.stage):
            lift = lift._replace(stage=lift.stage - 1)
        return lift

    def _lifted_furthest(self, lift: Lift) -> Lift:
        return self._gentlest_alike(lift._replace(stage=DECLARED))

    def _counted(self, lifts: Sequence[Lift], n_sets: Mapping[int, int]) -> dict[Lift, int]:
        """How many targets each lift lets in, where there are any."""
        trials = []
        for one in lifts:
            if not self.limits[one.number].lets_in_more(one.features, KEPT) and one.stage == KEPT:
                continue
            states = n_sets[one.number] * self.engine.source.n_rows <= _MOST_SCORED
            count = partial(count_targets, self._person(one), states=states)
            trials.append(Trial(one.number, self.requests[one.number], count, one))
        found = run_trials(self.engine, trials)
        return {trial.tried: counts.targets for trial, counts in found if counts.targets}

    def _run(self, lifts: Sequence[Lift]) -> dict[Lift, Array]:
        """The lifts that open a way, each with the states of one; it is not worked out further."""
        trials = [
            Trial(
                one.number,
                self.requests[one.number],
                partial(find_recourse, self._person(one), self.plan),
                one,
            )
            for one in lifts
        ]
        return {
            trial.tried: self._records(trial.tried, outcome.points)
            for trial, outcome in run_trials(self.engine, trials)
            if outcome.status == "FOUND"
        }

    def _person(self, lift: Lift) -> Person:
        return self.engine.make_person(self.requests[lift.number].record, self._box(lift))

    def _box(self, lift: Lift) -> Box:
        return self.limits[lift.number].lifted(lift.features, lift.stage)

    def _records(self, lift: Lift, points: Array) -> Array:
        record = self.requests[lift.number].record
        decode = self.engine.make_decoder([record], self._box(lift))
        return decode(points, record[None, :])

    def _opening(self, lift: Lift, states: Array) -> _Opening:
        names = tuple(self.engine.schema.names[j] for j in lift.features)
        words = what_to_allow(self.limits[lift.number], lift.features, states)
        return _Opening(names, lift.stage, words)


def _likeliest(targets: Mapping[Lift, int], number: int) -> list[Lift]:
    """As many lifts of one person as are searched: the gentlest, of which most targets are left."""
    own = [one for one in targets if one.number == number]
    return sorted(own, key=lambda one: (one.stage, -targets[one]))[:_MOST_SEARCHED]


def _has_no_allowed_target(request: Request, answer: Recourse) -> bool:
    return answer.status is Status.NO_TARGET and request.goal is None


def _sets_of_features(constrained: list[int], size: int) -> list[_Set]:
    """Sets of constrained features of one size; no pairs where there would be too many."""
    if size > 1 and len(constrained) > _PAIRS_UP_TO:
        return []
    return list(combinations(constrained, size))


def _features_that_limit(engine: Engine, request: Request) -> list[int]:
    """The features whose constraints could give way, and would let in anything if they did.

    A feature that stays a person's own could not. Limits that the person and all rows keep, such
    as those that nature sets, let in nothing.
    """
    box = request.box
    named = [
        j for j in box.reasons if not engine.schema.features[j].own and j not in (box.absent or ())
    ]
    bounds = engine.space.bounds(box)
    return sorted(j for j in named if not _is_kept_by_all(engine, request, bounds, j))


def _is_kept_by_all(engine: Engine, request: Request, bounds: Bounds, feature: int) -> bool:
    """Tell whether a constraint is only an interval in which the person and all rows are."""
    box = request.box
    moves = box.up[feature] or box.down[feature] or feature in box.distance_limits
    if moves or feature in box.allowed or feature in box.only_from_own:
        return False
    if not box.lower[feature] <= request.record[feature] <= box.upper[feature]:
        return False
    column = int(engine.space.first_columns[feature])
    lowest, highest = (ends[column] for ends in engine.source.extremes)
    return bool(bounds.lower[column] <= lowest and highest <= bounds.upper[column])


def _with_what_would_open(answer: Recourse, opening: Sequence[_Opening]) -> Recourse:
    """Name the sets of features whose constraints would have to give way, where there are any."""
    if not opening:
        return answer
    some = [f"if {one.words}" for one in opening[:_NAMED]]
    left = len(opening) - len(some)
    some += [f"in {format_count(left, 'other way', 'other ways')}"] if left else []
    return replace(
        answer,
        opens=tuple(one.names for one in opening),
        reason=f"{answer.reason}; a way opens {', or '.join(some)}",
    )
