"""Two moons: two crescents of people, with a small model that separates them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from localface.types import Array

_CENTRES = 24  # bumps of the model on each moon


@dataclass(frozen=True, slots=True, eq=False)
class Moons:
    """People in the plane, which moon each belongs to, a model, and someone to explain."""

    data: Array
    labels: Array
    model: MoonModel
    person: Array


@dataclass(frozen=True, slots=True, eq=False)
class MoonModel:
    """A smooth score from 0 (upper moon) to 1 (lower moon): which crescent is nearer."""

    upper: Array
    lower: Array
    width: float

    def __call__(self, points: Array) -> Array:
        """Score points in the plane."""
        points = np.asarray(points, dtype=float)
        upper, lower = (
            ((points[:, None, :] - arc) ** 2).sum(axis=2).min(axis=1)
            for arc in (self.upper, self.lower)
        )
        return np.asarray(1 / (1 + np.exp((lower - upper) / self.width)))


def two_moons(n: int = 1000, *, noise: float = 0.15, seed: int = 0) -> Moons:
    """Make two interleaving crescents of ``n`` people with Gaussian noise.

    Example
    -------
    >>> two_moons(200).data.shape
    (200, 2)
    """
    rng = np.random.default_rng(seed)
    upper = points_on_crescent(n - n // 2)
    lower = points_on_crescent(n // 2, lower=True)
    data = np.concatenate([upper, lower]) + rng.normal(scale=noise, size=(n, 2))
    labels = np.repeat([0.0, 1.0], [len(upper), len(lower)])
    model = MoonModel(
        points_on_crescent(_CENTRES), points_on_crescent(_CENTRES, lower=True), width=0.15
    )
    return Moons(data, labels, model, np.array([-0.95, 0.35]))


def points_on_crescent(n: int, *, lower: bool = False) -> Array:
    """Points evenly spread on one of the two half circles."""
    angle = np.linspace(0, np.pi, n)
    upper = np.column_stack([np.cos(angle), np.sin(angle)])
    return np.array([1.0, 0.5]) - upper if lower else upper
