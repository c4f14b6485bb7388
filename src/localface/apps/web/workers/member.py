"""One worker of a lane, as the service sees it: what it holds, and when it was last heard of."""

from __future__ import annotations

from dataclasses import dataclass, field

from localface.apps.web.workers.pending import PendingRequest
from localface.apps.web.workers.search_workers import SearchWorker


@dataclass(frozen=True, slots=True)
class WorkerLimits:
    """When a worker is replaced, and how long requests may wait for one.

    Parameters
    ----------
    silent_seconds : without a sign of life after which others no longer wait for it
    hung_seconds : without a sign of life after which it is ended, with one request to itself
    start_seconds : that it may take to load the model
    idle_seconds : after which a worker with nothing to do may be let go
    queue_seconds : that a request may be expected to wait until it is begun; else it is refused
    grown_bytes : memory that it may take beyond what it began with
    grown_share : the same as a share of what it began with, once it has nothing to do
    """

    silent_seconds: float = 0.6
    hung_seconds: float = 10.0
    start_seconds: float = 120.0
    idle_seconds: float = 3.0
    queue_seconds: float = 10.0
    grown_bytes: int = 256 * 2**20
    grown_share: float = 0.08


@dataclass(slots=True, eq=False)
class Member:
    """A worker with the requests it holds."""

    worker: SearchWorker
    heard: float  # when it last gave a sign of life, or was handed something
    used: float  # when it last had something to do
    open: dict[int, PendingRequest] = field(default_factory=dict)
    is_ready: bool = False
    is_leaving: bool = False
    is_silent: bool = False
    has_withdrawn: bool = False  # a request that it may still be busy with
    first_memory: int = 0
    waited: float = 0.0  # seconds that others have kept it from a processor

    @property
    def is_busy(self) -> bool:
        """Whether it should be at work."""
        return bool(self.open) or self.has_withdrawn

    @property
    def holds_suspect(self) -> bool:
        """Whether it has a request to itself that a worker was lost with."""
        return any(one.is_suspect for one in self.open.values())

    def allow_for_waiting(self, now: float) -> None:
        """Not count as silence the time in which it had no processor: the machine was busy."""
        waited = self.worker.seconds_waited()
        self.heard = min(now, self.heard + max(0.0, waited - self.waited))
        self.waited = waited

    def has_room(self, width: int) -> bool:
        """Whether it may take one more ordinary request."""
        if not self.is_ready or self.is_leaving or self.is_silent or self.holds_suspect:
            return False
        return len(self.open) < width

    def has_grown(self, limits: WorkerLimits, now: float) -> bool:
        """Whether it takes so much more memory than at first that another should take over."""
        memory = self.worker.memory()
        self.first_memory = self.first_memory or memory
        grown = memory - self.first_memory
        allowed = limits.grown_bytes
        if self.is_idle(limits, now):
            allowed = int(limits.grown_share * self.first_memory)
        return grown > allowed

    def is_idle(self, limits: WorkerLimits, now: float) -> bool:
        """Whether it has had nothing to do for a while."""
        return self.is_ready and not self.is_busy and now - self.used > limits.idle_seconds
