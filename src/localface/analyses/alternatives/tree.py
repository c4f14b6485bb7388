"""Find ways that change different features, by a hitting-set tree."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from localface.analyses.alternatives.changes import Cost, Names, changed_by, cost_of, units_of
from localface.analyses.alternatives.ways import MOST_BRANCHES, Alternatives
from localface.answers.disclosure import Disclosure
from localface.answers.recourse import Recourse
from localface.engine.engine import Engine
from localface.engine.meter import total_disclosure
from localface.engine.requests import Request
from localface.search.plan import Plan


def find_alternatives(engine: Engine, request: Request, plan: Plan, n_paths: int) -> Alternatives:
    """Enumerate ways that change different features, by a hitting-set tree.

    Any other set of changes leaves out at least one feature of a set that is known. So
    from each way one branches: once for each of its features, which is held as it is on
    top of what the branch holds already. All branches of a level are asked about in
    lock-step. A way that is known and touches nothing of what a branch holds is taken
    for its answer; what held too much once is not tried with more.
    """
    tree = _Tree(engine, request, plan)
    level = tree.asked([frozenset()])
    while level and len(tree.minimal()) < n_paths and tree.branches < MOST_BRANCHES:
        level = tree.asked(_branches(level))
    chosen = tree.chosen(n_paths)
    exhausted = not level and not tree.cut
    return Alternatives(
        chosen or (tree.refusal,),
        n_paths,
        exhausted,
        total_disclosure(tree.disclosures),
        weights=request.weights,
    )


class _Tree:
    """The ways found so far by the sets that they change, and what holding which features has led to."""

    def __init__(self, engine: Engine, request: Request, plan: Plan) -> None:
        self.engine, self.request, self.plan = engine, request, plan
        self.ways: dict[Names, Recourse] = {}
        self.disclosures: list[Disclosure] = []
        self.branches, self.cut = 0, False
        self._seen: set[Names] = set()
        self._closed: list[Names] = []

    def asked(self, branches: Iterable[Names]) -> list[tuple[Names, Names]]:
        """Follow branches, each given by what it holds; those that lead somewhere come back with what changes."""
        fresh = [
            fixed
            for fixed in dict.fromkeys(branches)
            if fixed not in self._seen and not self._hopeless(fixed)
        ]
        self._seen.update(fresh)
        known = {
            fixed: next((names for names in self.ways if not names & fixed), None)
            for fixed in fresh
        }
        unknown = [fixed for fixed in fresh if known[fixed] is None]
        open_ = unknown[: MOST_BRANCHES - self.branches]
        self.branches, self.cut = self.branches + len(open_), self.cut or len(open_) < len(unknown)
        requests = [replace(self.request, fixed=fixed) for fixed in open_]
        for fixed, answer in sorted(self._answers(open_, requests), key=lambda one: sorted(one[0])):
            self.disclosures.append(answer.disclosure)
            known[fixed] = self._kept(fixed, answer)
        return [(fixed, names) for fixed, names in known.items() if names is not None]

    def minimal(self) -> list[Names]:
        """The sets that contain no other."""
        return [names for names in self.ways if not any(other < names for other in self.ways)]

    def chosen(self, n: int) -> tuple[Recourse, ...]:
        """The cheapest ways; one that changes all that another does and more only where nothing else is left."""
        least = set(self.minimal())

        def order(names: Names) -> tuple[Cost, float, list[str]]:
            return (
                cost_of(self.ways[names], self.request.weights),
                self.ways[names].cost,
                sorted(names),
            )

        some = sorted(self.ways, key=lambda names: (names not in least, order(names)))[:n]
        return tuple(self.ways[names] for names in sorted(some, key=order))

    def _answers(
        self, branches: list[Names], requests: list[Request]
    ) -> Iterator[tuple[Names, Recourse]]:
        for i, answer in self.engine.answered(requests, self.plan):
            yield branches[i], answer

    def _kept(self, fixed: Names, answer: Recourse) -> Names | None:
        """Keep a way; none that changes what its branch holds."""
        if not fixed:
            self.refusal = answer
        names = units_of(answer.schema, changed_by(answer))
        if not (answer.found and names):
            self._closed.append(fixed)
            return None
        self.ways.setdefault(names, answer)
        return names

    def _hopeless(self, fixed: Names) -> bool:
        return any(closed <= fixed for closed in self._closed)


def _branches(level: list[tuple[Names, Names]]) -> Iterator[Names]:
    for fixed, names in level:
        for name in sorted(names):
            yield fixed | {name}
