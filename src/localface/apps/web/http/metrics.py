"""Counts of the service for Prometheus, in a registry of each service's own."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


class ServiceMetrics:
    """What has happened so far, for ``GET /metrics``."""

    content_type = CONTENT_TYPE_LATEST

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._most = 0
        self._add_request_metrics()
        self._add_worker_metrics()
        self._connections = self._make_gauge("connections", "Open connections.")
        self._closed = self._make_counter(
            "connections_closed",
            "Connections ended by the service: silent, unread, or too many.",
            "reason",
        )

    def _add_request_metrics(self) -> None:
        self._answered = self._make_counter(
            "requests", "Requests answered, by route and status.", "route", "status"
        )
        self._seconds = Histogram(
            "localface_request_seconds",
            "Seconds from request to answer.",
            ("route",),
            buckets=_BUCKETS,
            registry=self._registry,
        )
        self._shared = self._make_counter(
            "shared_requests", "Requests answered by a search that was under way."
        )
        self._dropped = self._make_counter(
            "dropped_requests", "Requests dropped since nobody waited any more."
        )
        self._open = self._make_gauge(
            "requests_open", "Requests that are being searched, in lock-step."
        )
        self._most_open = self._make_gauge(
            "requests_open_max", "The most that were searched at a time."
        )

    def _add_worker_metrics(self) -> None:
        self._lost = self._make_counter(
            "workers_lost",
            "Workers that were replaced: they ended, hung, or took too much memory.",
            "reason",
        )
        self._ready = self._make_gauge("workers_ready", "Workers that answer.", "lane")
        self._queued = self._make_gauge("lane_open", "Requests that wait or are searched.", "lane")
        self._degraded = self._make_gauge("degraded", "1 while workers are missing, else 0.")

    def count_answered_request(self, route: str, status: int, seconds: float) -> None:
        """Count a request that was answered, however it was."""
        self._answered.labels(route, status).inc()
        self._seconds.labels(route).observe(seconds)

    def count_shared_request(self) -> None:
        """Count a request that is answered by a search under way."""
        self._shared.inc()

    def count_dropped_request(self) -> None:
        """Count a request for whose answer nobody waits any more."""
        self._dropped.inc()

    def set_open_requests(self, n: int) -> None:
        """Note how many requests are being searched now."""
        self._most = max(self._most, n)
        self._open.set(n)
        self._most_open.set(self._most)

    def count_lost_worker(self, reason: str) -> None:
        """Count a worker that was replaced."""
        self._lost.labels(reason).inc()

    def set_workers(self, lane: str, ready: int, n_open: int) -> None:
        """Note how many workers of a lane answer, and how many requests are there."""
        self._ready.labels(lane).set(ready)
        self._queued.labels(lane).set(n_open)

    def set_degraded(self, degraded: bool) -> None:
        """Note whether workers are missing."""
        self._degraded.set(int(degraded))

    def set_connections(self, n: int) -> None:
        """Note how many connections are open."""
        self._connections.set(n)

    def count_closed_connection(self, reason: str) -> None:
        """Count a connection that the service has ended."""
        self._closed.labels(reason).inc()

    def prometheus_text(self) -> bytes:
        """Everything in Prometheus' text format."""
        return generate_latest(self._registry)

    def _make_counter(self, name: str, text: str, *labels: str) -> Counter:
        return Counter(f"localface_{name}", text, labels, registry=self._registry)

    def _make_gauge(self, name: str, text: str, *labels: str) -> Gauge:
        return Gauge(f"localface_{name}", text, labels, registry=self._registry)
