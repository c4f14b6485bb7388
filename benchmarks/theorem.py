"""The deviation theorem in 2, 3, 8 and 22 dimensions, checked by dense sampling.

    python benchmarks/theorem.py [trials per dimension]

Two rows x1, x2 at a distance d <= 2 eps, and a place x_t within eps of x2, all drawn at
random. The truth is whether all of the segment x1 -> x_t is within eps of x1 or x2, by
4,001 samples; the few trials that so many cannot decide are left out. Beside it: the
corrected theorem, the cover sweep, and the bound as printed, which asks for a cosine of
at least (1 + d / eps) / 2.
"""

from __future__ import annotations

import sys

import numpy as np

from localface.geometry.deviation import segment_stays_near
from localface.geometry.segments import fewest_rows_within

DIMENSIONS = (2, 3, 8, 22)
PLACES = np.linspace(0, 1, 4001)[:, None]
EPS = 1.0
HAIR = 1e-9  # what rounding may hide
Array = np.ndarray
HEAD = """\
| dimensions | decided trials | covered | corrected: mismatches | sweep: mismatches \
| printed: admits what is not covered | printed: refuses what is |
|---|---|---|---|---|---|---|"""


def trial(width: int, rng: np.random.Generator) -> tuple[Array, Array, Array]:
    """x1, x2, x_t: any distance up to 2 eps, any point of the ball around x2, any direction."""
    x1 = rng.normal(size=width)
    x2 = x1 + direction(width, rng) * rng.uniform(0.01, 2.0) * EPS
    return x1, x2, x2 + direction(width, rng) * EPS * rng.uniform() ** (1 / width)


def direction(width: int, rng: np.random.Generator) -> Array:
    step = rng.normal(size=width)
    return step / np.linalg.norm(step)


def covered(x1: Array, x2: Array, end: Array) -> bool | None:
    """Whether the segment is covered, by sampling; None where samples are too far apart.

    Between two samples the distance to the nearer row grows by no more than half their spacing.
    """
    places = x1 + PLACES * (end - x1)
    apart = np.minimum(
        np.linalg.norm(places - x1, axis=1), np.linalg.norm(places - x2, axis=1)
    ).max()
    if apart > EPS + HAIR:
        return False
    return True if apart + np.linalg.norm(end - x1) / (2 * (len(PLACES) - 1)) < EPS - HAIR else None


def as_printed(x1: Array, x2: Array, end: Array) -> bool:
    step = end - x1
    across = x2 - x1
    cosine = step @ across / (np.linalg.norm(step) * np.linalg.norm(across))
    return bool(cosine >= (1 + np.linalg.norm(across) / EPS) / 2)


def row(width: int, trials: int) -> str:
    rng = np.random.default_rng(width)
    admissible = refused = wrong = swept = unsound = decided = 0
    for _ in range(trials):
        x1, x2, end = trial(width, rng)
        truth = covered(x1, x2, end)
        printed = as_printed(x1, x2, end)
        if truth is None:
            continue
        decided += 1
        wrong += segment_stays_near(x1, x2, end, EPS) != truth
        swept += (fewest_rows_within(x1, end, np.stack([x1, x2]), EPS) >= 1) != truth
        unsound += printed and not truth
        admissible += truth
        refused += truth and not printed
    figures = f"{decided:,} | {admissible:,} | {wrong} | {swept} | {unsound}"
    return f"| {width} | {figures} | {refused / admissible:.1%} |"


def main(trials: int) -> None:
    print(HEAD)
    for width in DIMENSIONS:
        print(row(width, trials), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 15_000)
