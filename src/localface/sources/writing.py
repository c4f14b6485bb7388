"""The passes over a table that write it into a folder, with little of it in memory at any time."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from localface.data.schema import Schema
from localface.data.space import Space
from localface.errors import DataError
from localface.sources.calibration import calibrated
from localface.sources.folder import KINDS, PARTS, mapped, write_about
from localface.sources.partition import (
    Floats,
    Hashes,
    Partition,
    assigned,
    canonical,
    cells_for,
    hashed,
    sampled,
    trained,
)
from localface.sources.stored import with_halves
from localface.types import Array, Ids

Blocks = Callable[[], Iterable[Array]]
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True, eq=False)
class Writing:
    """One table on its way into one folder."""

    folder: Path
    blocks: Blocks
    schema: Schema
    progress: Progress

    def write(self, size: int) -> None:
        """Sample, part, place, sort, calibrate; what the folder is about is written last."""
        hashes, sample, n_rows = self._sample(size)
        space = Space.fit(self.schema, sample)
        points = space.points(sample)
        centroids = trained(points, cells_for(hashes, size))
        starts = self._assign(space, centroids, n_rows)
        self._place(starts, n_rows)
        partition = self._sort(space, centroids, starts)
        n_distinct = int(partition.starts[-1])
        self._cut(n_distinct, space.width)
        calibration = calibrated(
            partition, mapped(self.folder, "near", (n_distinct, space.width + 1)), points
        )
        np.savez(
            self.folder / PARTS,
            sample=sample,
            centroids=partition.centroids,
            starts=partition.starts,
            lower=partition.lower,
            upper=partition.upper,
        )
        counts = {"n_rows": n_rows, "n_distinct": n_distinct}
        found = {"n_probe": calibration.n_probe, "recall": calibration.recall}
        write_about(self.folder, {**counts, **found, "schema": self.schema.to_dict()})

    def _sample(self, size: int) -> tuple[Hashes, Array, int]:
        """Keep the distinct rows with the smallest hashes, and count all rows."""
        hashes, sample = np.zeros(0, dtype=np.uint64), np.zeros((0, len(self.schema)))
        n_rows = 0
        for block in self._read("sampling", 0):
            n_rows += len(block)
            mixed = hashed(block)
            small = mixed < hashes[-1] if len(hashes) == size else np.ones(len(block), dtype=bool)
            hashes, sample = np.append(hashes, mixed[small]), np.concatenate([sample, block[small]])
            kept = sampled(hashes, size)
            hashes, sample = hashes[kept], sample[kept]
        if len(sample) < 2:
            raise DataError(
                f"the table has {n_rows:,} rows and no two that differ: at least 2 different people are needed "
                "to say what is common"
            )
        return hashes, sample, n_rows

    def _assign(self, space: Space, centroids: Floats, n_rows: int) -> Ids:
        """Note the cell of each row, and return where each cell begins, repeated rows counted."""
        noted = mapped(self.folder, "cell", (n_rows,), "w+")
        counts, first = np.zeros(len(centroids), dtype=np.int64), 0
        for block in self._read("parting", n_rows):
            space.check(block, "the data")
            self.schema.check_relations(block, "the data")
            cells = assigned(space.points(block), centroids)
            noted[first : first + len(block)] = cells
            counts += np.bincount(cells, minlength=len(counts))
            first += len(block)
        return np.append(0, np.cumsum(counts))

    def _place(self, starts: Ids, n_rows: int) -> None:
        """Write records and row numbers to where their cells are."""
        noted = mapped(self.folder, "cell", (n_rows,))
        records = mapped(self.folder, "records", (n_rows, len(self.schema)), "w+")
        rows = mapped(self.folder, "rows", (n_rows,), "w+")
        nexts, first = starts[:-1].copy(), 0
        for block in self._read("placing", n_rows):
            cells = np.asarray(noted[first : first + len(block)], dtype=np.int64)
            order = np.argsort(cells, kind="stable")
            counts = np.bincount(cells, minlength=len(nexts))
            places = np.arange(len(block)) + np.repeat(nexts - (np.cumsum(counts) - counts), counts)
            records[places], rows[places] = block[order], order + first
            nexts += counts
            first += len(block)
        (self.folder / "cell").unlink()

    def _sort(self, space: Space, centroids: Floats, starts: Ids) -> Partition:
        """Bring each cell into its order, close the gaps that repeated rows leave, and write the points."""
        n_rows = int(starts[-1])
        records = mapped(self.folder, "records", (n_rows, len(self.schema)), "r+")
        rows = mapped(self.folder, "rows", (n_rows,), "r+")
        near = mapped(self.folder, "near", (n_rows, space.width + 1), "w+")
        boxes, begins = [], [0]
        filled = np.flatnonzero(np.diff(starts))
        for cell in filled:
            mine = slice(int(starts[cell]), int(starts[cell + 1]))
            own, numbers = np.array(records[mine]), np.array(rows[mine])
            order = canonical(np.zeros(len(own), dtype=np.int64), hashed(own), own, numbers)
            own, points = own[order], space.points(own[order])
            kept = slice(begins[-1], begins[-1] + len(own))
            records[kept], rows[kept] = own, numbers[order]
            near[kept] = with_halves(points, np.arange(len(own)))
            boxes.append((points.min(axis=0), points.max(axis=0)))
            begins.append(kept.stop)
            self.progress("sorting", mine.stop, n_rows)
        lower, upper = np.array(boxes).transpose(1, 2, 0).copy()
        return Partition(centroids[filled].T.copy(), np.array(begins), lower, upper)

    def _cut(self, n_distinct: int, width: int) -> None:
        """Cut the files off where their rows end."""
        for name, columns in (("near", width + 1), ("records", len(self.schema)), ("rows", 1)):
            os.truncate(self.folder / name, n_distinct * columns * KINDS[name].itemsize)

    def _read(self, what: str, n_rows: int) -> Iterator[Array]:
        """Go through the blocks, tell how far it is, and refuse a pass that sees more or fewer rows than the first."""
        done = 0
        for block in self.blocks():
            done += len(block)
            if n_rows and done > n_rows:
                break
            yield np.asarray(block, dtype=np.float64) + 0.0
            self.progress(what, done, n_rows)
        if n_rows and done != n_rows:
            raise DataError(
                f"the table had {n_rows:,} rows when it was read first and has others now: give a function that "
                "returns the same blocks each time it is called, not one iterator"
            )
