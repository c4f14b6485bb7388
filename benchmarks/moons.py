"""Two moons: the guided strategy beside the paper's own, and both beside the optimum over all rows.

    python benchmarks/moons.py [how many people]

The optimum is found by brute force and by none of the library's code: every step
between any two of the 1,000 rows is checked on a grid, then Dijkstra. A person who
stands on uncommon ground has no strict step at all, and so no optimum; the library
serves them by an entry step, and they are counted on a line of their own. All plans search
the same space by the same density, the paper's (linear scales, round kernels): what differs
is the search alone.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.interpolate import RectBivariateSpline
from scipy.sparse.csgraph import dijkstra
from sklearn.datasets import make_moons
from sklearn.neural_network import MLPClassifier

from localface import LocalFACE, Recourse, Schema, Search

N = 1000
NOISE = 0.12
NEIGHBORS = 15
MIN_DENSITY = 0.05
MIN_SCORE = 0.5
IQR_OF_NORMAL = 1.349  # in standard deviations
SAMPLES = 81  # places checked on every step
HAIR = 1e-5  # nats that a grid may be off by
Array = np.ndarray
PLANS: dict[str, dict[str, Any]] = {
    'strategy="guided"': {},
    'strategy="guided", slack=1': {"slack": 1.0},
    'strategy="guided", slack=1e6': {"slack": 1e6},
    'strategy="paper"': {"strategy": "paper"},
    'strategy="paper", momentum_steps=3': {"strategy": "paper", "momentum_steps": 3},
}
HEAD = """\
| | found, where a strict path exists | found by entry, where none does | mean length \
| optimum, same people | longer | worst | rows seen |
|---|---|---|---|---|---|---|---|"""


@dataclass(frozen=True)
class Oracle:
    """All rows as points, the density on them, and the best way from each row to any target."""

    rows: Array
    density: Callable[[Array], Array]
    h: float
    floor: float
    to_target: Array

    @classmethod
    def of(cls, rows: Array, targets: Array, h: float) -> Oracle:
        density = planar_density(rows, h)
        loo = np.array(
            [kernels(row[None, :], np.delete(rows, i, axis=0), h)[0] for i, row in enumerate(rows)]
        )
        floor = float(np.quantile(np.log(loo), MIN_DENSITY))
        first, second = np.triu_indices(len(rows), 1)
        lengths = np.sqrt(((rows[first] - rows[second]) ** 2).sum(axis=1))
        fine = lowest(density, rows[first], rows[second], h, own=2) >= floor - HAIR
        steps = np.zeros((len(rows), len(rows)))
        steps[first[fine], second[fine]] = lengths[fine]
        to_target = dijkstra(steps, directed=False, indices=np.flatnonzero(targets), min_only=True)
        return cls(rows, density, h, floor, to_target)

    def best(self, person: Array) -> float:
        """The length of the shortest strict path from a person to any target, or infinity."""
        here = np.broadcast_to(person, self.rows.shape)
        fine = lowest(self.density, self.rows, here, self.h, own=1) >= self.floor - HAIR
        lengths = np.sqrt(((self.rows - person) ** 2).sum(axis=1))
        return float(np.where(fine, lengths + self.to_target, np.inf).min())


def kernels(places: Array, rows: Array, h: float) -> Array:
    return np.exp(-((places[:, None, :] - rows[None, :, :]) ** 2).sum(axis=2) / (2 * h * h)).sum(
        axis=1
    )


def planar_density(rows: Array, h: float) -> Callable[[Array], Array]:
    """The kernel sum of all rows, from a spline through its exact values on a fine grid."""
    low = rows.min(axis=0) - 4 * h
    high = rows.max(axis=0) + 4 * h
    axes = [np.arange(a, b + h / 12, h / 12) for a, b in zip(low, high, strict=True)]
    across = [
        np.exp(-((axis[:, None] - rows[:, i]) ** 2) / (2 * h * h)) for i, axis in enumerate(axes)
    ]
    spline = RectBivariateSpline(axes[0], axes[1], across[0] @ across[1].T)
    return lambda places: spline.ev(places[:, 0], places[:, 1])


def lowest(
    density: Callable[[Array], Array], starts: Array, ends: Array, h: float, *, own: int
) -> Array:
    """The lowest log kernel sum along steps, without the kernels at own=1 or own=2 of the ends."""
    lengths = np.sqrt(((ends - starts) ** 2).sum(axis=1))
    least = np.full(len(starts), np.inf)
    for t in np.linspace(0, 1, SAMPLES):
        mine = np.exp(-((t * lengths) ** 2) / (2 * h * h))
        if own == 2:
            mine += np.exp(-(((1 - t) * lengths) ** 2) / (2 * h * h))
        least = np.minimum(least, density(starts + t * (ends - starts)) - mine)
    return np.asarray(np.log(np.maximum(least, 1e-300)))


def line(name: str, answers: list[Recourse], bests: Array) -> str:
    """One line of the table."""
    found = np.array([answer.found for answer in answers])
    entered = np.array([answer.entry for answer in answers])
    possible = np.isfinite(bests)
    served = found & possible & ~entered
    ours = np.array([answer.cost for answer in answers])[served]
    seen = np.mean([answer.disclosure.fraction for answer in answers])
    cells = [
        name,
        f"{int((found & possible).sum())} of {int(possible.sum())}",
        f"{int((found & ~possible).sum())} of {int((~possible).sum())}",
        f"{ours.mean():.3f}",
        f"{bests[served].mean():.3f}",
        f"{ours.mean() / bests[served].mean() - 1:+.2%}",
        f"{(ours / bests[served]).max() - 1:+.2%}",
        f"{seen:.1%}",
    ]
    return "| " + " | ".join(cells) + " |"


def agreement(answers: list[Recourse], bests: Array) -> str:
    """Whether a path is found exactly where brute force finds one."""
    pairs = [
        (one.found, bool(np.isfinite(best)))
        for one, best in zip(answers, bests, strict=True)
        if not one.entry
    ]
    return f"{sum(ours == theirs for ours, theirs in pairs)} of {len(pairs)}"


def world(most: int) -> tuple[Array, MLPClassifier, Array]:
    """The rows, the model, and people of the other class who are not among the rows."""
    data, labels = make_moons(N, noise=NOISE, random_state=0)
    fresh, _ = make_moons(N, noise=NOISE, random_state=1)
    model = MLPClassifier((32, 32), random_state=0, max_iter=2000).fit(data, labels)
    return data, model, fresh[model.predict_proba(fresh)[:, 1] < MIN_SCORE][:most]


def main(most: int) -> None:
    data, model, people = world(most)
    scales = np.subtract(*np.quantile(data, [0.75, 0.25], axis=0)) / IQR_OF_NORMAL
    schema = Schema.infer(data)
    for name, scale in zip(schema.names, scales, strict=True):
        schema = schema.with_(name, scale=float(scale))
    common: dict[str, Any] = {
        "schema": schema,
        "density": "isotropic",
        "min_density": MIN_DENSITY,
        "min_score": MIN_SCORE,
    }
    explainer = LocalFACE(model, data, search=Search(n_neighbors=NEIGHBORS), **common)
    targets = model.predict_proba(data)[:, 1] >= MIN_SCORE
    oracle = Oracle.of(data / scales, targets, explainer.density.bandwidth)
    bests = np.array([oracle.best(person / scales) for person in people])
    print(
        f"{len(people)} people of the other class; {np.isfinite(bests).sum()} have a strict path "
        "over all rows\n"
    )
    print(HEAD)
    for name, options in PLANS.items():
        search = Search(n_neighbors=NEIGHBORS, **options)
        explainer = LocalFACE(model, data, search=search, **common)
        answers = list(explainer.explain_many(people, actions=False, progress=False))
        print(line(name, answers, bests), flush=True)
        if not options:
            agreed = agreement(answers, bests)
    print(
        "\nguided, people who need no entry step: found exactly when brute force finds a path, "
        f"{agreed}"
    )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 150)
