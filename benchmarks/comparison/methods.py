"""The methods that are compared, each made from the same world."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from localface import LocalFACE, Recourse, Search
from localface.errors import install_command
from localface.evaluation.baselines import (
    FACE,
    NICE,
    NearestUnlike,
    Proposal,
    StraightLine,
    Task,
    Wachter,
)
from localface.evaluation.baselines.peers import PEERS, available
from splits import World

Made = Callable[[World], Any]
"""From a world to something that has ``explain(record)``."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One method: what it is, how it is made, and what a reader should know of it."""

    make: Made
    kind: str  # "path": every state of the way is claimed; "jump": only where it ends
    family: str
    tuned: bool = False
    package: str | None = None
    at_once: bool = False  # asked about everyone in one pass, and timed over all of them
    cost: int = (
        0  # 1: dear, asked about fewer people; 2: very dear, a few people of the first two splits
    )


@dataclass(frozen=True, slots=True, eq=False)
class Ours:
    """LocalFACE behind the same ``explain``; ``acted`` proposes the states after each action."""

    explainer: LocalFACE
    acted: bool

    def explain(self, person: Any, *, where: Mapping[str, Any] | None = None) -> Proposal:
        """The path, or the states that the actions lead through."""
        answer = self.explainer.explain(person, where=where, actions=self.acted)
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


def ours(*, acted: bool = True, called: bool = False, raised: float = 0.0, **options: Any) -> Made:
    """LocalFACE by default; ``called`` hides its trees, ``raised`` asks for a higher score."""

    def make(at: World) -> Ours:
        model = _hidden(at) if called else at.model
        score = at.min_score + raised * (1 - at.min_score)
        search = Search(**_fitting(at, options))
        explainer = LocalFACE(model, at.data, schema=at.schema, min_score=score, search=search)
        return Ours(explainer.prescore(), acted)

    return make


def own(method: Callable[..., Any], *, raised: float = 0.0, **options: Any) -> Made:
    """One of the baselines of this package."""

    def make(at: World) -> Any:
        score = at.min_score + raised * (1 - at.min_score)
        task = Task.of(at.model, at.data, schema=at.schema, min_score=score)
        made = method(task, **_fitting(at, options))
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


@dataclass(frozen=True, slots=True, eq=False)
class Afresh:
    """FACE as it is mostly used: the graph is built again for each person."""

    at: World

    def explain(self, person: Any, *, where: Mapping[str, Any] | None = None) -> Proposal:
        """Build, then search."""
        task = Task.of(
            self.at.model, self.at.data, schema=self.at.schema, min_score=self.at.min_score
        )
        return FACE(task, graph="knn").explain(person, where=where)


def _fitting(at: World, options: dict[str, Any]) -> dict[str, Any]:
    """Neighbours cannot be more than there are rows."""
    if "n_neighbors" in options:
        return {**options, "n_neighbors": min(options["n_neighbors"], len(at.data) - 1)}
    return options


def _hidden(at: World) -> Callable[[pd.DataFrame], Any]:
    return lambda frame: at.model.predict_proba(frame)[:, 1]


FEW = 4  # people of a split that the dearest methods are asked about
SLOW = ("cfnow", "mlxtend", "fat-forensics", "dice-random-tuned")

METHODS: dict[str, Entry] = {
    "localface": Entry(ours(), "path", "LocalFACE"),
    "localface-path": Entry(ours(acted=False), "path", "LocalFACE"),
    "localface-states": Entry(ours(ends="states"), "path", "LocalFACE", tuned=True),
    "localface-states-path": Entry(
        ours(acted=False, ends="states"), "path", "LocalFACE", tuned=True
    ),
    "localface-called": Entry(ours(called=True), "path", "LocalFACE", cost=2),
    "localface-raised": Entry(ours(raised=0.3, ends="states"), "path", "LocalFACE", tuned=True),
    "localface-raised-more": Entry(
        ours(raised=0.5, ends="states"), "path", "LocalFACE", tuned=True
    ),
    "face-knn": Entry(own(FACE, graph="knn"), "path", "FACE", at_once=True),
    "face-kde": Entry(own(FACE, graph="kde", density_rows=2000), "path", "FACE", at_once=True),
    "face-eps": Entry(own(FACE, graph="eps"), "path", "FACE", at_once=True),
    "face-knn-wide": Entry(
        own(FACE, graph="knn", n_neighbors=200), "path", "FACE", tuned=True, at_once=True
    ),
    "face-built-per-person": Entry(Afresh, "path", "FACE", cost=2),
    "nearest-unlike": Entry(own(NearestUnlike), "jump", "plain"),
    "straight-line": Entry(own(StraightLine), "jump", "plain"),
    "nice-sparse": Entry(own(NICE, reward="sparsity"), "jump", "NICE"),
    "nice-plausible": Entry(own(NICE, reward="plausibility"), "jump", "NICE", tuned=True),
    "nice-sparse-raised": Entry(
        own(NICE, reward="sparsity", raised=0.3), "jump", "NICE", tuned=True
    ),
    "wachter": Entry(own(Wachter), "jump", "Wachter", cost=1),
    "wachter-raised": Entry(own(Wachter, raised=0.3), "jump", "Wachter", tuned=True, cost=2),
    **{
        name: Entry(
            peer(name),
            "jump",
            setting.package,
            tuned=setting.tuned,
            package=setting.package,
            cost=2 if name.startswith(SLOW) else 1 if name.startswith("dice") else 0,
        )
        for name, setting in PEERS.items()
    },
}
"""Every method by the name that --methods takes; whoever has another adds it here."""


def most_people(name: str, people: int) -> int:
    """How many people of a split a method is asked about."""
    return (people, max(people // 4, 1), min(people, FEW))[METHODS[name].cost]


def asked_of(name: str, seed: int) -> bool:
    """Whether a method is asked about a split at all."""
    return METHODS[name].cost < 2 or seed < 2


def missing(name: str) -> str | None:
    """Why a method cannot be run here, if it cannot."""
    package = METHODS[name].package
    if package is None or available()[package] is not None:
        return None
    return f"{package} is not installed: {install_command('peers')}"
