"""Times calls, in the unit of one brute-force neighbour query."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple, TypeVar

import numpy as np
from threadpoolctl import threadpool_info

from localface.types import Array

K = 50  # neighbours of a query
T = TypeVar("T")
STARTED = time.perf_counter()


class Spent(NamedTuple):
    """Seconds by the clock and of the processor."""

    wall: float
    cpu: float

    @property
    def worked(self) -> float:
        """What ratios are made of."""
        return self.cpu if single_threaded() else self.wall


def timed(call: Callable[..., T], *arguments: Any, **options: Any) -> tuple[T, Spent]:
    """What a call returns, and what it took."""
    wall = time.perf_counter()
    cpu = time.process_time()
    result = call(*arguments, **options)
    return result, Spent(time.perf_counter() - wall, time.process_time() - cpu)


@cache
def single_threaded() -> bool:
    """Whether BLAS uses one thread, so that processor time is what an idle machine would take."""
    return all(one["num_threads"] == 1 for one in threadpool_info() if one["user_api"] == "blas")


class Unit:
    """One brute-force neighbour query, timed over and over while the rest is measured."""

    def __init__(self, points: Array) -> None:
        self._points = points
        self._squares = (points**2).sum(axis=1)
        self._spent: list[Spent] = []

    def again(self, times: int = 3) -> None:
        """Take it some more times."""
        self._spent += [timed(self._query)[1] for _ in range(times)]

    def taken(self) -> Spent:
        """The medians since this was last asked."""
        spent = self._spent
        self._spent = []
        return Spent(*np.median(spent, axis=0).tolist())

    def _query(self) -> Any:
        return np.argpartition(self._squares - 2 * (self._points @ self._points[0]), K)[:K]


def say(what: str) -> None:
    """Tell how far it has come."""
    print(f"[{time.perf_counter() - STARTED:5.0f} s] {what} ...", file=sys.stderr, flush=True)
