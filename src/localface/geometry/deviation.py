"""The deviation theorem, corrected: how far a step may turn away from its chosen row."""

from __future__ import annotations

import numpy as np

from localface.geometry.segments import norms
from localface.types import Array


def segment_stays_near(first: Array, second: Array, end: Array, eps: float) -> bool:
    """Tell whether the segment first -> end stays within ``eps`` of ``first`` or ``second``.

    The paper's deviation theorem, corrected: for 0 < d = |second - first| <= 2 eps and
    |end - second| <= eps, the segment is covered exactly when d <= sqrt(2) eps or the
    cosine of the angle at ``first`` is at least d / (2 eps). See "Reading the paper".
    """
    step = end - first
    across = second - first
    length = float(norms(step))
    d = float(norms(across))
    if d <= np.sqrt(2) * eps or length == 0.0:
        return True
    return float((step * across).sum()) / (length * d) >= d / (2 * eps)


def turn_until_segment_stays_near(first: Array, second: Array, end: Array, eps: float) -> Array:
    """Turn the segment first -> end towards ``second`` until ``segment_stays_near``."""
    if segment_stays_near(first, second, end, eps):
        return end
    across = second - first
    step = end - first
    d = float(norms(across))
    length = float(norms(step))
    along = across / d
    sideways = step - (step * along).sum() * along
    if not sideways.any():
        return np.asarray(first + length * along)
    cosine = min(1.0, d / (2 * eps))
    turned = cosine * along + np.sqrt(1 - cosine * cosine) * sideways / norms(sideways)
    return np.asarray(first + length * turned)
