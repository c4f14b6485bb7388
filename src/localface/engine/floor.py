"""The floor that options ask for, as a log-density."""

from __future__ import annotations

import numpy as np

from localface.data.space import Space
from localface.density.protocol import Density
from localface.options import Options


def log_floor_from_options(density: Density, space: Space, options: Options) -> float:
    """The log-density that no step may fall below; that of no floor is below all."""
    if options.edges == "cover" and options.radius is not None:
        return -space.width * float(np.log(options.radius))
    if options.min_density == 0:
        return -np.inf
    return density.scale.quantile(options.min_density)
