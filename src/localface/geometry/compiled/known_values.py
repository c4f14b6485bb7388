"""Takes over known values to the last bit, compiled."""

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
