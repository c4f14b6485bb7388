"""What a service is made of: an explainer, people, words and limits."""

from __future__ import annotations

from dataclasses import dataclass, field

from localface.apps.web.http.connections import ConnectionLimits
from localface.apps.web.http.guard import RequestLimits
from localface.apps.web.views.labels import Labels
from localface.apps.web.views.people_list import PeopleList
from localface.apps.web.workers.member import WorkerLimits
from localface.engine.outcomes import Outcomes
from localface.explainer import LocalFACE


@dataclass(frozen=True, slots=True, eq=False)
class Service:
    """What is served: an explainer, the people who may be picked, and how they are shown.

    ``outcomes`` are what the model is fitted on again, apart from searches, to say how firm plans
    are; ``promises`` is the folder in which plans are kept as promises.
    """

    explainer: LocalFACE
    people: PeopleList | None = None
    title: str = "Recourse"
    labels: Labels = field(default_factory=Labels)
    limits: RequestLimits = field(default_factory=RequestLimits)
    connection_limits: ConnectionLimits = field(default_factory=ConnectionLimits)
    worker_limits: WorkerLimits = field(default_factory=WorkerLimits)
    workers: int = 1
    token: str | None = None
    loopback: bool = True
    outcomes: Outcomes | None = None
    promises: str | None = None
