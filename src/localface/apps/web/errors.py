"""What the service says of itself: errors as JSON without anything private, and counts for Prometheus."""

from __future__ import annotations

import json
import logging
import re
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Any

from localface.errors import DensityError, InputError, LocalFACEError, ModelError

LOG = logging.getLogger("localface.apps.web")
_QUOTED = re.compile(r"""(?P<quote>['"])(?P<name>.*?)(?P=quote)""")
_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


class Refused(LocalFACEError):
    """A request that is not let through, with the status that says why."""

    def __init__(self, status: int, kind: str, message: str) -> None:
        super().__init__(message)
        self.status, self.kind = status, kind


@dataclass(frozen=True, slots=True)
class Reply:
    """A status and a body that is ready to send."""

    status: int
    body: bytes


def body_of(content: object) -> bytes:
    """Write JSON; a number that is none is a mistake of ours."""
    return json.dumps(content, allow_nan=False, ensure_ascii=False, separators=(",", ":")).encode()


def problem(status: int, kind: str, message: str, feature: str | None = None) -> Reply:
    """An error as it is sent."""
    return Reply(status, body_of({"error": {"type": kind, "message": message, "feature": feature}}))


def told(error: Exception, names: Collection[str] = ()) -> Reply:
    """Say what went wrong in the library's own words; a model's own may hold a path, and stay in the log."""
    if isinstance(error, Refused):
        return problem(error.status, error.kind, str(error))
    message = str(error)
    if isinstance(error, ModelError | DensityError):
        LOG.warning("%s", error, exc_info=error.__cause__)
        if error.__cause__ is not None:
            what, kind = (
                "model" if isinstance(error, ModelError) else "density",
                type(error.__cause__).__name__,
            )
            message = f"the {what} failed on this record ({kind}); whoever runs the service finds more in its log"
        return problem(502, type(error).__name__, message)
    if isinstance(error, InputError):
        first = _QUOTED.search(
            message
        )  # a sentence names first what it is about, and lists what there is after that
        about = first["name"] if first and first["name"] in names else None
        return problem(422, type(error).__name__, message, about)
    LOG.error("a request failed", exc_info=error)
    return problem(
        500,
        "ServiceError",
        "the service failed on this request; whoever runs it finds more in its log",
    )


@dataclass(slots=True, eq=False)
class ServiceMetrics:
    """What has happened so far, for ``GET /metrics``."""

    requests: Counter[tuple[str, int]] = field(default_factory=Counter)
    seconds: dict[str, list[float]] = field(
        default_factory=dict
    )  # by route: a count per bucket, then sum
    widest: int = 0
    shared: int = 0
    dropped: int = 0

    def note(self, route: str, status: int, seconds: float) -> None:
        """Note a request that was answered."""
        self.requests[route, status] += 1
        cells = self.seconds.setdefault(route, [0.0] * (len(_BUCKETS) + 1))
        for i, edge in enumerate(_BUCKETS):
            cells[i] += seconds <= edge
        cells[-1] += seconds

    def text(self, *, open_: int) -> str:
        """Everything in Prometheus' text format."""
        lines = [
            *_family(
                "localface_requests_total", "counter", "Requests answered, by route and status."
            )
        ]
        lines += [
            f'localface_requests_total{{route="{route}",status="{status}"}} {n}'
            for (route, status), n in sorted(self.requests.items())
        ]
        lines += _family(
            "localface_request_seconds", "histogram", "Seconds from request to answer."
        )
        for route, cells in sorted(self.seconds.items()):
            lines += self._histogram(route, cells)
        numbers = (
            (
                "shared_requests_total",
                "counter",
                "Requests answered by a search that was under way.",
                self.shared,
            ),
            (
                "dropped_requests_total",
                "counter",
                "Requests dropped since nobody waited any more.",
                self.dropped,
            ),
            ("requests_open", "gauge", "Requests that are being searched, in lock-step.", open_),
            ("requests_open_max", "gauge", "The most that were searched at a time.", self.widest),
        )
        for name, kind, words, value in numbers:
            lines += [*_family(f"localface_{name}", kind, words), f"localface_{name} {value}"]
        return "\n".join(lines) + "\n"

    def _histogram(self, route: str, cells: list[float]) -> list[str]:
        total = sum(n for (one, _), n in self.requests.items() if one == route)
        name, label = "localface_request_seconds", f'route="{route}"'
        lines = [
            f'{name}_bucket{{{label},le="{edge:g}"}} {int(n)}'
            for edge, n in zip(_BUCKETS, cells[:-1], strict=True)
        ]
        lines += [f'{name}_bucket{{{label},le="+Inf"}} {total}']
        return [
            *lines,
            f"{name}_sum{{{label}}} {cells[-1]:.6f}",
            f"{name}_count{{{label}}} {total}",
        ]


def _family(name: str, kind: str, words: str) -> list[str]:
    return [f"# HELP {name} {words}", f"# TYPE {name} {kind}"]


def sentence_of(mistakes: Iterable[Any]) -> tuple[str, str | None]:
    """Put what a request model refused into one sentence, and find the feature it is about."""
    told_, feature = [], None
    for mistake in mistakes:
        place = [str(part) for part in mistake["loc"] if part not in ("body", "query", "path")]
        words = str(mistake["msg"]).removeprefix("Value error, ")
        told_.append(f"{'.'.join(place[:2])}: {words[:1].lower()}{words[1:]}" if place else words)
        if (
            feature is None
            and len(place) > 1
            and place[0] in ("person", "wish", "where", "weights")
        ):
            feature = place[1]
    return "; ".join(dict.fromkeys(told_)), feature
