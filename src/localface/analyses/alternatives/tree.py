"""Finds recourses that change different features, by a hitting-set tree."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from localface.analyses.alternatives.changes import (
    Cost,
    Names,
    changed_by,
    changes_too_many,
    cost_of,
    merge_linked_features,
)
from localface.analyses.alternatives.value import MOST_BRANCHES, Alternatives
from localface.analyses.robustness.adding import add_robustness
from localface.answers.recourse import Recourse
from localface.engine.engine import Engine
from localface.engine.requests import Request
from localface.search.plan import Plan


def find_alternatives(engine: Engine, request: Request, plan: Plan, n_paths: int) -> Alternatives:
    """Enumerate recourses that change different features, by a hitting-set tree.

    Any other set of changes leaves out at least one feature of a set that is known. So each
    branch fixes one more feature of the recourse above it. All branches of a level are
    searched in lock-step. A known recourse that changes no fixed feature is reused, and a
    branch without recourse is not extended.
    """
    tree = _Tree(engine, request, plan)
    level = tree.follow_branches([frozenset()])
    while level and len(tree.minimal_feature_sets()) < n_paths and tree.may_go_on:
        level = tree.follow_branches(_branches_of_next_level(level))
    chosen = tree.cheapest_recourses(n_paths)
    chosen = tuple(add_robustness(engine, [(request, one) for one in chosen]))
    exhausted = not level and not tree.cut
    return Alternatives(
        chosen or (tree.refusal,),
        n_paths,
        exhausted,
        request.account.make_disclosure(engine.source.n_rows),
        weights=request.weights,
    )


class _Tree:
    """The recourses found so far, by the features that they change, and the branches tried."""

    def __init__(self, engine: Engine, request: Request, plan: Plan) -> None:
        self.engine = engine
        self.request = request
        self.plan = plan
        self.ways: dict[Names, Recourse] = {}
        self.branches = 0
        self.cut = False
        self._seen: set[Names] = set()
        self._closed: list[Names] = []

    @property
    def may_go_on(self) -> bool:
        """Whether another level may be followed: not too many branches, and time is left."""
        return self.branches < MOST_BRANCHES and not self.request.clock.is_up

    def follow_branches(self, branches: Iterable[Names]) -> list[tuple[Names, Names]]:
        """Follow branches, each given by what it fixes; returns those with a recourse.

        Each comes with the features that its recourse changes.
        """
        fresh = [
            fixed
            for fixed in dict.fromkeys(branches)
            if fixed not in self._seen and not self._is_known_dead_end(fixed)
        ]
        self._seen.update(fresh)
        known = {
            fixed: next((names for names in self.ways if not names & fixed), None)
            for fixed in fresh
        }
        unknown = [fixed for fixed in fresh if known[fixed] is None]
        open_ = unknown[: MOST_BRANCHES - self.branches]
        self.branches += len(open_)
        self.cut = self.cut or len(open_) < len(unknown)
        for fixed, answer in sorted(self._answers_by_branch(open_), key=lambda one: sorted(one[0])):
            self.cut = self.cut or answer.cut_short
            known[fixed] = self._keep_recourse(fixed, answer)
        return [(fixed, names) for fixed, names in known.items() if names is not None]

    def minimal_feature_sets(self) -> list[Names]:
        """The sets that contain no other."""
        return [names for names in self.ways if not any(other < names for other in self.ways)]

    def cheapest_recourses(self, n: int) -> tuple[Recourse, ...]:
        """The cheapest; one that changes more than another does only if nothing else is left."""
        least = set(self.minimal_feature_sets())

        def sort_key(names: Names) -> tuple[Cost, float, list[str]]:
            return (
                cost_of(self.ways[names], self.request.weights),
                self.ways[names].cost,
                sorted(names),
            )

        some = sorted(self.ways, key=lambda names: (names not in least, sort_key(names)))[:n]
        return tuple(self.ways[names] for names in sorted(some, key=sort_key))

    def _answers_by_branch(self, branches: list[Names]) -> Iterator[tuple[Names, Recourse]]:
        """Search each branch: without touching what it fixes, at first by the actions alone.

        The path leads to other ends where it leaves these features as they are, too: a branch is
        without recourse only if that finds none either.
        """
        again = []
        requests = [replace(self.request, fixed=fixed) for fixed in branches]
        for i, answer in self.engine.answer(requests, self.plan):
            if (
                self._is_a_way(branches[i], answer)
                or not branches[i]
                or self.request.goal is not None
            ):
                yield branches[i], answer
            else:
                again.append(branches[i])
        kept = [self._request_that_keeps(fixed) for fixed in again]
        for i, answer in self.engine.answer(kept, self.plan):
            yield again[i], answer

    def _request_that_keeps(self, fixed: Names) -> Request:
        """The request of somebody who may not change some features at all."""
        schema = self.engine.schema
        never = schema.box(self.request.record, dict.fromkeys(fixed, "never"))
        indices = [schema.index(name) for name in fixed]
        return replace(self.request, fixed=fixed, box=self.request.box.kept_in(indices, never))

    def _keep_recourse(self, fixed: Names, answer: Recourse) -> Names | None:
        """Keep a recourse; returns the features that it changes, None where there is none."""
        if not fixed:
            self.refusal = answer
        if not self._is_a_way(fixed, answer):
            self._closed.append(fixed)
            return None
        names = merge_linked_features(answer.schema, changed_by(answer))
        self.ways.setdefault(names, answer)
        return names

    def _is_a_way(self, fixed: Names, answer: Recourse) -> bool:
        """Tell whether there are actions; a branch's are to change no more than was asked for."""
        too_many = bool(fixed) and changes_too_many(answer, self.plan.max_features)
        return answer.found and bool(changed_by(answer)) and not too_many

    def _is_known_dead_end(self, fixed: Names) -> bool:
        return any(closed <= fixed for closed in self._closed)


def _branches_of_next_level(level: list[tuple[Names, Names]]) -> Iterator[Names]:
    for fixed, names in level:
        for name in sorted(names):
            yield fixed | {name}
