"""Entry: the rows above the floor by which someone below it may enter."""

from __future__ import annotations

import numpy as np

from localface.density.protocol import FLOOR_TOLERANCE
from localface.geometry.segments import norms
from localface.search.graph import LocalGraph
from localface.search.questions import Questions, ask_density_along, ask_row_densities
from localface.search.trails import Trail
from localface.search.vertex_densities import STATES_AT_ONCE
from localface.types import Mask

_ALIKE = 1e-3  # nats by which entry steps must differ: most are lowest at the factual itself
_NEAREST = 8  # rows looked at first for one to enter by


def find_entries(graph: LocalGraph, n_neighbors: int) -> Questions[tuple[Trail, bool]]:
    """Find rows above the floor near someone below it; tell whether all of them are sorted.

    Looks further out until there is such a row, or no row is left. The best comes first. A
    step cannot be denser than its start, so the nearest row whose step is as dense as the
    start is taken at once, and the others stay unsorted.
    """
    rows = yield from _rows_above_floor(graph, n_neighbors)
    if rows and graph.person.rule == "lowest":
        log_density = yield from graph.factual_log_density()
        edges = [(0, row) for row in rows[:_NEAREST]]
        found = yield from graph.densities_along(edges, log_density - _ALIKE, "lowest")
        if found.passes.any():
            best = rows.pop(int(np.flatnonzero(found.passes)[0]))
            return (best, *rows), False
    return (yield from rank_entries(graph, tuple(rows))), True


def rank_entries(graph: LocalGraph, entries: Trail) -> Questions[Trail]:
    """Rows to enter by, the densest step first; of steps that are alike, the shortest."""
    if not entries:
        return ()
    rows = list(entries)
    edges = [(0, row) for row in rows]
    found = yield from graph.densities_along(edges, None, graph.person.rule)
    alike = np.floor(found.log_densities / _ALIKE)
    distances = norms(graph.points[rows] - graph.points[0])
    return tuple(rows[i] for i in np.lexsort((graph.ids[rows], distances, -alike)))


def _rows_above_floor(graph: LocalGraph, k: int) -> Questions[list[int]]:
    """The nearest rows above the floor, nearest first; looks twice as far until there is one.

    Of those that were looked at before none would do.
    """
    known: set[int] = set()
    while True:
        around = yield from graph.reveal_rows_around(0, k)
        fresh = [row for row in around if row not in known]
        known.update(fresh)
        dense = yield from _are_above_floor(graph, fresh)
        rows = [
            row
            for row, above in zip(fresh, dense, strict=True)
            if above and graph.is_permitted((0, row))
        ]
        if rows or len(around) < k or graph.cut:
            return rows
        k *= 2


def _are_above_floor(graph: LocalGraph, vertices: list[int]) -> Questions[Mask]:
    """Tell which vertices are above the floor: states are only held against it."""
    person = graph.person
    above = np.zeros(len(vertices), dtype=bool)
    ids = graph.ids[vertices]
    points = graph.points[vertices]
    rows = np.flatnonzero(ids >= 0)
    states = np.flatnonzero(ids < 0)
    if len(rows):
        densities = yield from ask_row_densities(ids[rows], points[rows])
        above[rows] = densities >= person.log_floor - FLOOR_TOLERANCE
    for first in range(0, len(states), STATES_AT_ONCE):
        some = points[states[first : first + STATES_AT_ONCE]]
        judged = yield from ask_density_along(some, some, person.log_floor, person.rule)
        above[states[first : first + STATES_AT_ONCE]] = judged.passes
    return above
