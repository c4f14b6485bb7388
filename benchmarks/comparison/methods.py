"""The methods that are compared, each made from the same world."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from localface import LocalFACE, Recourse, Search
from localface.analyses.lasting import learnt_lasting
from localface.errors import install_command
from localface.evaluation.baselines import (
    FACE,
    NICE,
    NearestUnlike,
    Proposal,
    Task,
    Wachter,
)
from localface.evaluation.baselines.peers import PEERS, available
from splits import World

EXACT = Search(round_values=False)  # numbers with all their digits, as peers have them
Made = Callable[[World], Any]
"""From a world to something that has ``explain(record)``."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One method: what it is, how it is made, and what a reader should know of it."""

    make: Made
    tuned: bool = False
    package: str | None = None
    at_once: bool = False  # asked about everyone in one pass, and timed over all of them
    outcomes: bool = False  # knows how likely retrained models agree
    every_split: bool = False  # asked about all splits of a table; else about the first
    everyone: bool = False  # asked about all people of a split; else about a quarter of them


@dataclass(frozen=True, slots=True, eq=False)
class Ours:
    """LocalFACE behind the same ``explain``; ``acted`` proposes the states after each action."""

    explainer: LocalFACE
    acted: bool
    lasting: float | None = None
    prefer: str = "features"
    min_density: float | None = None
    setup: float = 0.0  # seconds that were spent before the cell had a process of its own

    def explain(self, person: Any, *, where: Mapping[str, Any] | None = None) -> Proposal:
        """The path, or the states that the actions lead through."""
        answer = self.explainer.explain(
            person,
            where=where,
            actions=self.acted,
            lasting=self.lasting,
            prefer=self.prefer,
            min_density=self.min_density,
        )
        told = answer.with_actions_as_path() if self.acted else answer
        return Seen(
            found=answer.found,
            states=told.records,
            form=answer.form,
            schema=answer.schema,
            rows=told.rows,
            cost=told.cost,
            reason=answer.reason or answer.status.value,
            answer=answer,
        )


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class Seen(Proposal):
    """A proposal that comes with the whole answer behind it."""

    answer: Recourse | None = None


def ours(*, acted: bool = True, search: Search | None = None, **wishes: Any) -> Made:
    """LocalFACE as it comes: a model, a table, a schema, the score to reach."""

    def make(at: World) -> Ours:
        explainer = LocalFACE(
            at.model, at.data, schema=at.schema, min_score=at.min_score, search=search
        )
        return Ours(explainer.prescore(), acted, **wishes)

    return make


def with_outcomes(*, search: Search | None = None, **wishes: Any) -> Made:
    """LocalFACE that was given outcomes too, with or without a wish that answers last.

    What another floor needs is learnt at set-up as well, and not in the first person's time.
    """

    def make(at: World) -> Ours:
        known = learnt(at, search)
        floor = wishes.get("min_density")
        if floor is not None:
            answers = (known.explainer.explain(one, min_density=floor) for one in _rows(at))
            next(answer for answer in answers if answer.found)
        return Ours(known.explainer, acted=True, setup=known.seconds, **wishes)

    return make


def _rows(at: World) -> Iterator[Any]:
    return (at.data.iloc[[i]] for i in range(len(at.data)))


@dataclass(frozen=True, slots=True, eq=False)
class Learnt:
    """An explainer that knows how likely retrained models agree, and what it took to learn."""

    explainer: LocalFACE
    seconds: float


_LEARNT: dict[tuple[str, int, Search | None], Learnt] = {}


def learnt(at: World, search: Search | None = None) -> Learnt:
    """The explainer of a split that was given outcomes: settings that search alike share one."""
    asked = (at.name, at.seed, search)
    if asked not in _LEARNT:
        started = time.thread_time()
        explainer = LocalFACE(
            at.model,
            at.data,
            y=at.labels,
            schema=at.schema,
            min_score=at.min_score,
            search=search,
        ).prescore()
        learnt_lasting(explainer.engine)
        _LEARNT.clear()
        _LEARNT[asked] = Learnt(explainer, time.thread_time() - started)
    return _LEARNT[asked]


def own(method: Callable[..., Any], *, raised: float = 0.0, **options: Any) -> Made:
    """One of the baselines of this package."""

    def make(at: World) -> Any:
        score = at.min_score + raised * (1 - at.min_score)
        task = Task.of(at.model, at.data, schema=at.schema, min_score=score)
        made = method(task, **options)
        getattr(
            made, "density", None
        )  # fitted at set-up, as LocalFACE's is, and not in the first person's time
        return made

    return make


def peer(name: str) -> Made:
    """Somebody else's package."""

    def make(at: World) -> Any:
        return PEERS[name](
            Task.of(at.model, at.data, schema=at.schema, min_score=at.min_score), seed=at.seed
        )

    return make


PART = 4  # one in so many people of a split that others are asked about
TWICE = ("treecf", "treecf-tuned")  # packages that are asked about both splits
LEFT_OUT = (
    "dice-random-tuned",
)  # takes seconds a person; has been sound no more often than as it comes

METHODS: dict[str, Entry] = {
    "localface": Entry(ours(), every_split=True, everyone=True),
    "localface-path": Entry(ours(acted=False), every_split=True, everyone=True),
    "localface-outcomes": Entry(with_outcomes(), outcomes=True, every_split=True, everyone=True),
    "localface-lasting-70": Entry(
        with_outcomes(lasting=0.7), outcomes=True, every_split=True, everyone=True
    ),
    "localface-lasting-90": Entry(
        with_outcomes(lasting=0.9), outcomes=True, every_split=True, everyone=True
    ),
    "localface-lasting-97": Entry(
        with_outcomes(lasting=0.97), outcomes=True, every_split=True, everyone=True
    ),
    "localface-lasting-99": Entry(with_outcomes(lasting=0.99), outcomes=True, every_split=True),
    "localface-effort": Entry(ours(prefer="effort"), every_split=True),
    "localface-effort-lasting-70": Entry(
        with_outcomes(lasting=0.7, prefer="effort"), outcomes=True, every_split=True
    ),
    "localface-effort-lasting-90": Entry(
        with_outcomes(lasting=0.9, prefer="effort"), outcomes=True, every_split=True
    ),
    "localface-rarer-effort": Entry(ours(prefer="effort", min_density=0.01), every_split=True),
    **{
        f"localface-rarer-effort-lasting-{percent}": Entry(
            with_outcomes(lasting=percent / 100, prefer="effort", min_density=0.01),
            outcomes=True,
            every_split=True,
        )
        for percent in (20, 70)
    },
    "localface-anywhere-effort": Entry(
        ours(prefer="effort", min_density=0.0, search=EXACT), every_split=True
    ),
    "localface-anywhere-effort-outcomes": Entry(
        with_outcomes(prefer="effort", min_density=0.0, search=EXACT),
        outcomes=True,
        every_split=True,
    ),
    **{
        f"localface-anywhere-effort-lasting-{percent}": Entry(
            with_outcomes(lasting=percent / 100, prefer="effort", min_density=0.0, search=EXACT),
            outcomes=True,
            every_split=True,
        )
        for percent in (15, 30, 50, 60, 70, 80, 90)
    },
    "face-knn": Entry(own(FACE, graph="knn"), at_once=True, every_split=True, everyone=True),
    "face-kde": Entry(own(FACE, graph="kde", density_rows=2000), at_once=True),
    "nearest-unlike": Entry(own(NearestUnlike), every_split=True, everyone=True),
    "nice-sparse": Entry(own(NICE, reward="sparsity"), every_split=True, everyone=True),
    "nice-plausible": Entry(own(NICE, reward="plausibility"), tuned=True, every_split=True),
    "nice-sparse-raised": Entry(
        own(NICE, reward="sparsity", raised=0.3), tuned=True, every_split=True
    ),
    "wachter": Entry(own(Wachter), every_split=True),
    "wachter-raised": Entry(own(Wachter, raised=0.3), tuned=True, every_split=True),
    **{
        name: Entry(
            peer(name),
            tuned=setting.tuned,
            package=setting.package,
            every_split=name in TWICE,
            everyone=name == "treecf",
        )
        for name, setting in PEERS.items()
        if name not in LEFT_OUT
    },
}
"""Every method by the name that --methods takes; whoever has another adds it here."""


def most_people(name: str, people: int) -> int:
    """How many people of a split a method is asked about: the first ones, the same for all."""
    return people if METHODS[name].everyone else max(people // PART, 1)


def asked_of(name: str, seed: int) -> bool:
    """Whether a method is asked about a split at all."""
    return seed == 0 or METHODS[name].every_split


def missing(name: str) -> str | None:
    """Why a method cannot be run here, if it cannot."""
    package = METHODS[name].package
    if package is None or available()[package] is not None:
        return None
    return f"{package} is not installed: {install_command('peers')}"
