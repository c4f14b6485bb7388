"""The passes over a table that write it into a store, with little of it in memory."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from localface.data.schema import Schema
from localface.data.space import Space
from localface.data.value_scales import absences_as_plain, absences_in, merge_absences
from localface.errors import DataError
from localface.sources.calibration import calibrate_n_probe
from localface.sources.cell_rows import with_half_squares
from localface.sources.partition import (
    Hashes,
    Partition,
    nearest_centroids,
    row_hashes,
    smallest_hashes,
    stored_order,
    suitable_n_cells,
    train_centroids,
)
from localface.sources.store_checks import block_sums
from localface.sources.store_files import (
    FILE_DTYPES,
    map_file,
    store_shapes,
    write_parts,
    write_store_facts,
)
from localface.types import Array, Floats, Ids

Blocks = Callable[[], Iterable[Array]]
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True, eq=False)
class StoreWriter:
    """Writes one table into one folder, block by block."""

    folder: Path
    blocks: Blocks
    schema: Schema
    progress: Progress

    def write(self, size: int) -> None:
        """Sample, part, place, sort, calibrate; what the store holds is written last."""
        hashes, sample, n_rows, absences = self._sample_rows(size)
        space = Space.fit(self.schema, sample, absences=absences)
        points = space.points(sample)
        centroids = train_centroids(points, suitable_n_cells(hashes, size))
        starts = self._assign_cells(space, centroids, n_rows)
        self._write_rows_into_cells(starts, n_rows)
        partition = self._sort_cells(space, centroids, starts)
        n_distinct = int(partition.starts[-1])
        self._truncate_files(n_distinct, space.width)
        calibration = calibrate_n_probe(
            partition, map_file(self.folder, "near", (n_distinct, space.width + 1)), points
        )
        self._write_parts(partition, sample)
        counts = {"n_rows": n_rows, "n_distinct": n_distinct}
        found = {"n_probe": calibration.n_probe, "recall": calibration.recall}
        gaps = {"absences": absences_as_plain(absences)} if absences else {}
        facts = {**counts, **found, **gaps, "schema": self.schema.to_dict()}
        write_store_facts(self.folder, facts)

    def _sample_rows(self, size: int) -> tuple[Hashes, Array, int, tuple[tuple[float, ...], ...]]:
        """Keep the distinct rows with the smallest hashes, count all rows, note what is absent."""
        absences: tuple[tuple[float, ...], ...] = ()
        hashes = np.zeros(0, dtype=np.uint64)
        sample = np.zeros((0, len(self.schema)))
        n_rows = 0
        for block in self._blocks_of_one_pass("sampling", 0):
            n_rows += len(block)
            absences = merge_absences(absences, absences_in(self.schema, block))
            fresh = row_hashes(block)
            small = np.ones(len(block), dtype=bool)
            if len(hashes) == size:
                small = fresh < hashes[-1]
            hashes = np.append(hashes, fresh[small])
            sample = np.concatenate([sample, block[small]])
            kept = smallest_hashes(hashes, size)
            hashes = hashes[kept]
            sample = sample[kept]
        if len(sample) < 2:
            raise DataError(
                f"the table has {n_rows:,} rows and no two that differ: at least 2 different "
                "people are needed to say what is common"
            )
        return hashes, sample, n_rows, absences

    def _assign_cells(self, space: Space, centroids: Floats, n_rows: int) -> Ids:
        """Note the cell of each row; return the row each cell begins with, repeats counted."""
        noted = map_file(self.folder, "cell", (n_rows,), "w+")
        counts = np.zeros(len(centroids), dtype=np.int64)
        first = 0
        for block in self._blocks_of_one_pass("parting", n_rows):
            space.check_magnitudes(block, "the data")
            self.schema.check_relations(block, "the data")
            cells = nearest_centroids(space.points(block), centroids)
            noted[first : first + len(block)] = cells
            counts += np.bincount(cells, minlength=len(counts))
            first += len(block)
        return np.append(0, np.cumsum(counts))

    def _write_rows_into_cells(self, starts: Ids, n_rows: int) -> None:
        """Write records and row numbers into their cells."""
        noted = map_file(self.folder, "cell", (n_rows,))
        records = map_file(self.folder, "records", (n_rows, len(self.schema)), "w+")
        rows = map_file(self.folder, "rows", (n_rows,), "w+")
        nexts = starts[:-1].copy()
        first = 0
        for block in self._blocks_of_one_pass("placing", n_rows):
            cells = np.asarray(noted[first : first + len(block)], dtype=np.int64)
            order = np.argsort(cells, kind="stable")
            counts = np.bincount(cells, minlength=len(nexts))
            shifts = np.repeat(nexts - (np.cumsum(counts) - counts), counts)
            targets = np.arange(len(block)) + shifts
            records[targets] = block[order]
            rows[targets] = order + first
            nexts += counts
            first += len(block)
        (self.folder / "cell").unlink()

    def _sort_cells(self, space: Space, centroids: Floats, starts: Ids) -> Partition:
        """Sort each cell, close the gaps that repeated rows leave, and write the points."""
        n_rows = int(starts[-1])
        records = map_file(self.folder, "records", (n_rows, len(self.schema)), "r+")
        rows = map_file(self.folder, "rows", (n_rows,), "r+")
        near = map_file(self.folder, "near", (n_rows, space.width + 1), "w+")
        boxes = []
        begins = [0]
        filled = np.flatnonzero(np.diff(starts))
        for cell in filled:
            mine = slice(int(starts[cell]), int(starts[cell + 1]))
            own = np.array(records[mine])
            numbers = np.array(rows[mine])
            order = stored_order(np.zeros(len(own), dtype=np.int64), row_hashes(own), own, numbers)
            own = own[order]
            points = space.points(own)
            kept = slice(begins[-1], begins[-1] + len(own))
            records[kept] = own
            rows[kept] = numbers[order]
            near[kept] = with_half_squares(points, np.arange(len(own)))
            boxes.append((points.min(axis=0), points.max(axis=0)))
            begins.append(kept.stop)
            self.progress("sorting", mine.stop, n_rows)
        lower, upper = np.array(boxes).transpose(1, 2, 0).copy()
        return Partition(centroids[filled].T.copy(), np.array(begins), lower, upper)

    def _write_parts(self, partition: Partition, sample: Array) -> None:
        """Write the cells, the sample, and the checksums of the rows."""
        n_distinct = int(partition.starts[-1])
        shapes = store_shapes(n_distinct, partition.width, len(self.schema))
        sums = {
            f"sums_{name}": block_sums(map_file(self.folder, name, shape))
            for name, shape in shapes.items()
        }
        cells = {
            "centroids": partition.centroids,
            "starts": partition.starts,
            "lower": partition.lower,
            "upper": partition.upper,
        }
        write_parts(self.folder, {"sample": sample, **cells, **sums})

    def _truncate_files(self, n_distinct: int, width: int) -> None:
        """Cut the files off where their rows end."""
        for name, shape in store_shapes(n_distinct, width, len(self.schema)).items():
            os.truncate(self.folder / name, math.prod(shape) * FILE_DTYPES[name].itemsize)

    def _blocks_of_one_pass(self, what: str, n_rows: int) -> Iterator[Array]:
        """Yield the blocks of one pass, which must see as many rows as the first; 0 if it is."""
        done = 0
        for block in self.blocks():
            done += len(block)
            if n_rows and done > n_rows:
                break
            yield np.asarray(block, dtype=np.float64) + 0.0
            self.progress(what, done, n_rows)
        if n_rows and done != n_rows:
            raise DataError(
                f"the table had {n_rows:,} rows when it was read first and has others now: give a "
                "function that returns the same blocks each time it is called, not one iterator"
            )
