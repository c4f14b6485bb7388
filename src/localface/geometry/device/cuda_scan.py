"""All rows held against questions on a GPU, by CuPy and the kernels in scan.cu."""

from __future__ import annotations

from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np

from localface.geometry.device.cuda import Placed, cupy, put_on_device
from localface.geometry.device.numpy_scan import SLACK
from localface.geometry.device.scan import KernelSamples, NearQuestions
from localface.types import Array, Ids, Mask

_SUMS = ("kernel_sums", "ball_sums", "row_counts")  # by the mode of samples
_THREADS = 256
_TILE = 8  # as in scan.cu
_CHUNK = 4096  # rows that one block goes through; sums depend on it, and on nothing else
_SAMPLES = 2**17  # at a time
_QUESTIONS = 2**14
_PROBES = 2**14  # rows that tell how far the nearest are
_ROOM = 4  # times as many rows as expected fit before they have to be collected again
_MOST_ROOM = 2**29  # rows collected at a time


@cache
def _functions(width: int) -> dict[str, Any]:
    """Compile the kernels for rows of so many columns."""
    source = Path(__file__).with_name("scan.cu").read_text()
    module = cupy().RawModule(code=source, options=(f"-DWIDTH={width}", "--std=c++14"))
    names = (*_SUMS, "add_chunks", "probe", "select_rank", "collect", "pack")
    return {name: module.get_function(name) for name in names}


class CudaScan:
    """Rows in the memory of a GPU; see ``RowScan``."""

    def __init__(self, rows: Array, groups: Ids | None = None) -> None:
        self._rows = rows
        self._row_groups = groups
        self._n = len(rows)
        self._n_chunks = -(-self._n // _CHUNK)

    def __getstate__(self) -> dict[str, Any]:
        there = ("_columns", "_groups", "_functions")  # nothing of a device goes elsewhere
        return {name: value for name, value in vars(self).items() if name not in there}

    @cached_property
    def _columns(self) -> Any:
        """The rows, brought to the device when they are first asked for."""
        return put_on_device(self._rows.T, np.float64)

    @cached_property
    def _groups(self) -> Any:
        return None if self._row_groups is None else put_on_device(self._row_groups, np.int32)

    @cached_property
    def _functions(self) -> dict[str, Any]:
        return _functions(self._rows.shape[1])

    def kernel_sums(self, samples: KernelSamples, bandwidth: float) -> tuple[Array, Array]:
        """Sum many samples at once; see ``RowScan``."""
        n = len(samples.legs)
        both = np.empty((2, n))
        arrays = [
            samples.legs.astype(np.int32),
            samples.offsets.astype(np.float64),
            samples.starts.astype(np.float64),
            samples.directions.astype(np.float64),
            samples.own.astype(np.int32),
        ]
        groups: Any = np.uint64(0)
        if samples.groups is not None and self._groups is not None:
            groups = self._groups
            arrays.append(samples.groups.astype(np.int32))
        placed = Placed(*arrays)
        legs, offsets, *lying = placed.addresses
        lying = [*lying[:3], groups, *(lying[3:] or [groups])]
        numbers = (np.float64(samples.nearest), np.float64(-0.5 / bandwidth**2))
        for first in range(0, n, _SAMPLES):
            last = min(first + _SAMPLES, n)
            some = (legs + np.uint64(4 * first), offsets + np.uint64(8 * first))
            arguments = (np.int32(last - first), *some, *lying, *numbers)
            both[:, first:last] = self._sum_some(last - first, arguments, _SUMS[samples.mode])
        return both[0], both[1]

    def _sum_some(self, n: int, arguments: tuple[Any, ...], name: str) -> Array:
        """Sum over chunks of rows, then over the chunks."""
        xp = cupy()
        parts = xp.empty((2, self._n_chunks, n))
        sums = xp.empty((2, n))
        both = (parts, np.uint64(parts.data.ptr + parts.nbytes // 2))
        head = (self._columns, np.int64(self._n), np.int64(_CHUNK))
        grid = (-(-n // _TILE), self._n_chunks)
        self._functions[name](grid, (_THREADS,), (*head, *arguments, *both))
        added = (parts, np.int32(self._n_chunks), np.int32(n), sums)
        self._functions["add_chunks"]((-(-n // _THREADS), 2), (_THREADS,), added)
        return np.asarray(sums.get())

    def near_rows(self, asked: NearQuestions) -> tuple[Ids, Ids]:
        """Collect what is within a guessed distance, further where that is too little."""
        found = [np.zeros(0, dtype=np.int64)] * len(asked)
        pending = np.arange(len(asked))
        widening = 1
        while len(pending):
            left = []
            for first in range(0, len(pending), _QUESTIONS):
                some = pending[first : first + _QUESTIONS]
                left.append(some[~self._collect(asked.subset(some), some, found, widening)])
            pending = np.concatenate(left)
            widening *= 8
        rows = np.concatenate([np.zeros(0, dtype=np.int64), *found])
        return rows, np.array([len(one) for one in found], dtype=np.int64)

    def _collect(self, asked: NearQuestions, numbers: Ids, found: list[Ids], widening: int) -> Mask:
        """Collect the rows of some questions; tells which of them are done."""
        xp = cupy()
        held = self._hold(asked)
        n = len(asked)
        ranks, edges = self._guess_edges(asked, held, widening)
        expected = np.minimum(ranks * (self._n / min(self._n, _PROBES)) * _ROOM + 1024, self._n)
        rooms = expected.astype(np.int64)
        if n > 1 and int(rooms.sum()) > _MOST_ROOM:
            halves = np.array_split(np.arange(n), 2)
            parts = [self._collect(asked.subset(h), numbers[h], found, widening) for h in halves]
            return np.concatenate(parts)
        counts, rows, distances, firsts = self._collect_within(n, held, edges, rooms)
        if (counts > rooms).any():
            rooms = np.maximum(rooms, counts)
            counts, rows, distances, firsts = self._collect_within(n, held, edges, rooms)
        wanted = np.maximum(asked.counts, 1)
        tight = xp.empty(n, dtype=np.float32)
        held_counts = put_on_device(counts, np.int32)
        arguments = (distances, firsts, held_counts, put_on_device(wanted, np.int32), tight)
        self._functions["select_rank"]((n,), (_THREADS,), arguments)
        reach = tight.get() * np.float32(1 + SLACK)
        done = (reach <= edges) | (edges >= _outer_edges(asked))
        limit = np.minimum(reach, edges)
        taken = self._pack(rows, distances, firsts, held_counts, limit)
        lasts = np.cumsum(taken[1])
        for i, last in enumerate(lasts.tolist()):
            if done[i]:
                found[int(numbers[i])] = taken[0][last - int(taken[1][i]) : last]
        return np.asarray(done)

    def _hold(self, asked: NearQuestions) -> Any:
        """Bring questions to the device; returns where they lie, and what must be kept alive."""
        kept = np.where(asked.group >= 0, (asked.kept - asked.points) ** 2, 0.0)
        flags = asked.limits_rows + 2 * asked.cuts
        floats = (asked.points, asked.allowed_lower, asked.allowed_upper, asked.lower, asked.upper)
        placed = Placed(
            *(one.astype(np.float64) for one in (*floats, kept)),
            *(one.astype(np.int32) for one in (flags, asked.group, asked.decides)),
        )
        return cupy().asarray(np.array(placed.addresses, dtype=np.uint64)), placed

    def _guess_edges(self, asked: NearQuestions, held: Any, widening: int) -> tuple[Ids, Any]:
        """Guess squared distances within which there are enough rows, by some of them."""
        xp = cupy()
        n = len(asked)
        stride = max(1, self._n // _PROBES)
        n_probes = -(-self._n // stride)
        expected = asked.counts * (n_probes / self._n)
        ranks = (2 + np.ceil(1.2 * expected + 3 * np.sqrt(expected))).astype(np.int64) * widening
        probed = xp.empty((n, n_probes), dtype=np.float32)
        grid = (-(-n_probes // _THREADS), -(-n // _TILE))
        numbers = (np.int64(self._n), np.int64(stride), np.int32(n_probes), np.int32(n))
        self._functions["probe"](grid, (_THREADS,), (self._columns, *numbers, held[0], probed))
        edges = xp.empty(n, dtype=np.float32)
        lines = xp.arange(n, dtype=np.int64) * n_probes
        counts = xp.full(n, n_probes, dtype=np.int32)
        arguments = (
            probed,
            lines,
            counts,
            put_on_device(np.minimum(ranks, n_probes + 1), np.int32),
            edges,
        )
        self._functions["select_rank"]((n,), (_THREADS,), arguments)
        found = np.minimum(edges.get(), _outer_edges(asked))
        return np.minimum(ranks, n_probes), found

    def _collect_within(self, n: int, held: Any, edges: Any, rooms: Ids) -> tuple[Any, ...]:
        """Collect all rows within the edges, as far as there is room."""
        xp = cupy()
        firsts = np.cumsum(rooms) - rooms
        total = int(rooms.sum())
        rows = xp.empty(total, dtype=np.int32)
        distances = xp.empty(total, dtype=np.float32)
        counts = xp.zeros(n, dtype=np.int32)
        grid = (-(-n // _TILE), self._n_chunks)
        numbers = (np.int64(self._n), np.int64(_CHUNK), np.int32(n))
        placed = put_on_device(firsts, np.int64)
        room = (put_on_device(edges, np.float32), placed, put_on_device(rooms, np.int32))
        arguments = (self._columns, *numbers, held[0], *room, counts, rows, distances)
        self._functions["collect"](grid, (_THREADS,), arguments)
        return counts.get().astype(np.int64), rows, distances, placed

    def _pack(
        self, rows: Any, distances: Any, firsts: Any, counts: Any, limit: Any
    ) -> tuple[Ids, Ids]:
        """Return the rows within the limits, question by question, and how many of each."""
        xp = cupy()
        n = len(limit)
        edges = put_on_device(limit, np.float32)
        pack = self._functions["pack"]
        taken = xp.zeros(n, dtype=np.int32)
        head = (rows, distances, firsts, counts, edges)
        pack((n,), (_THREADS,), (*head, np.uint64(0), taken, np.uint64(0)))
        sizes = taken.get().astype(np.int64)
        packed = xp.empty(max(1, int(sizes.sum())), dtype=np.int32)
        places = put_on_device(np.cumsum(sizes) - sizes, np.int64)
        again = xp.zeros(n, dtype=np.int32)
        pack((n,), (_THREADS,), (*head, places, again, packed))
        return packed.get()[: int(sizes.sum())].astype(np.int64), sizes


def _outer_edges(asked: NearQuestions) -> Any:
    """The squared radius of each question, and a little more, in single precision."""
    with np.errstate(over="ignore"):
        return (asked.radii**2 * (1 + SLACK)).astype(np.float32) * np.float32(1 + SLACK)
