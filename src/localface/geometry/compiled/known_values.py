"""Keeps records to what is known to the last bit: values, and the limits of a box; compiled."""

from __future__ import annotations

import numpy as np

from localface.geometry.compiled.library import address, load_library
from localface.types import Array, Ids


def take_over_values(
    records: Array, points: Array, sources: Array, source_points: Array, firsts: Ids
) -> Array | None:
    """Return records with the values of the last source whose columns a point has; None: NumPy.

    ``firsts`` are the first columns of the features.
    """
    library = load_library()
    if library is None:
        return None
    found = np.array(records, order="C")
    n_features = records.shape[1]
    places, known, values = (np.ascontiguousarray(one) for one in (points, source_points, sources))
    columns = np.ascontiguousarray(firsts)
    library.take_over_values(
        *(len(places), places.shape[1], n_features),
        *(address(columns), address(places)),
        *(len(values), address(known), address(values), address(found)),
    )
    return found


def keep_within_limits(
    records: Array, points: Array, firsts: Ids, limits: tuple[Array, Array, Array, Array]
) -> Array | None:
    """Return records that are within limits wherever their points lie at their edge; None: NumPy.

    ``limits`` are the edges of points, the lower and the upper one of each feature, and the same
    of records. Records are changed in place where that can be done.
    """
    library = load_library()
    if library is None:
        return None
    found = np.ascontiguousarray(records)
    places = np.ascontiguousarray(points)
    columns = np.ascontiguousarray(firsts)
    edges = [np.ascontiguousarray(one, dtype=np.float64) for one in limits]
    library.keep_within_limits(
        *(len(places), places.shape[1], records.shape[1], address(columns), address(places)),
        *map(address, edges),
        address(found),
    )
    return found
