"""All rows held against many questions: NumPy is right, and a GPU says the same."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from devices import needs_gpu
from localface.geometry.device.numpy_scan import NumpyScan
from localface.geometry.device.scan import BALLS, COUNTS, KERNELS, KernelSamples, NearQuestions
from localface.types import Array, Ids


def make_rows(n: int, width: int, seed: int = 0) -> Array:
    rows = np.random.default_rng(seed).normal(size=(n, width))
    rows[:, -2:] = np.round(rows[:, -2:])
    return rows


def make_questions(rows: Array, n: int, seed: int = 0) -> NearQuestions:
    """With radii, limits on rows, values cut short, and columns that are taken over together."""
    rng = np.random.default_rng(seed)
    shape = (n, rows.shape[1])
    points = rows[rng.integers(len(rows), size=n)] + 0.3 * rng.normal(size=shape)

    def limits(share: float, reach: float) -> tuple[Array, Array]:
        low = np.where(rng.random(shape) < share, points - reach, -np.inf)
        return low, np.where(rng.random(shape) < share, points + reach, np.inf)

    group = np.full(shape, -1, dtype=np.int32)
    group[:, 0] = 0
    group[:, -2:] = 1
    allowed = limits(0.1, 0.7)
    cut = limits(0.3, 0.3)
    return NearQuestions(
        rng.integers(1, 60, size=n),
        np.where(rng.random(n) < 0.4, 1.5, np.inf),
        points,
        *allowed,
        rng.random(n) < 0.5,
        *cut,
        points + 0.1,
        group,
        (group >= 0).astype(np.int32),
    )


def state_taken_over(asked: NearQuestions, i: int, row: Array) -> Array:
    """What is taken over from a row, one column after another."""
    if not asked.cuts[i]:
        return row
    taken = np.minimum(np.maximum(row, asked.lower[i]), asked.upper[i])
    for group in (0, 1):
        columns = asked.group[i] == group
        if (taken != row)[columns & (asked.decides[i] > 0)].any():
            taken[columns] = asked.kept[i][columns]
    return taken


def nearest_by_hand(rows: Array, asked: NearQuestions, i: int) -> Ids:
    """The rows that are wanted, with those as far as the last of them."""
    inside = (rows >= asked.allowed_lower[i]) & (rows <= asked.allowed_upper[i])
    states = np.array([state_taken_over(asked, i, row.copy()) for row in rows])
    apart = np.sqrt(((states - asked.points[i]) ** 2).sum(axis=1))
    fine = np.flatnonzero(inside.all(axis=1) & (apart <= asked.radii[i]))
    order = fine[np.argsort(apart[fine], kind="stable")]
    if len(order) > asked.counts[i]:
        order = order[apart[order] <= apart[order[asked.counts[i] - 1]]]
    return order


def rows_of_each(found: tuple[Ids, Ids]) -> list[Ids]:
    return np.split(found[0], np.cumsum(found[1])[:-1])


def make_samples(rows: Array, *, mode: int, seed: int = 0) -> KernelSamples:
    rng = np.random.default_rng(seed)
    directions = rng.normal(size=(12, rows.shape[1]))
    directions /= np.sqrt((directions**2).sum(axis=1))[:, None]
    directions[0] = 0.0
    return KernelSamples(
        np.sort(rng.integers(12, size=50)),
        2 * rng.random(50),
        rows[rng.integers(len(rows), size=12)] + 0.1,
        directions,
        rng.integers(-1, len(rows), size=(12, 2)),
        mode=mode,
    )


def test_no_row_is_missed_that_is_among_the_nearest() -> None:
    rows = make_rows(400, 5)
    asked = make_questions(rows, 40)

    found = rows_of_each(NumpyScan(rows).near_rows(asked))

    wanted = [nearest_by_hand(rows, asked, i) for i in range(len(asked))]
    assert sum(map(len, wanted)) > 200
    assert [set(one) <= set(two) for one, two in zip(wanted, found, strict=True)] == [True] * 40
    assert [len(one) for one in found] == [len(one) for one in wanted]  # nor is one too many


def test_a_row_at_the_very_point_is_its_nearest() -> None:
    rows = make_rows(20, 3)
    asked = NearQuestions.for_points(rows[[4, 9]], np.array([1, 1]))

    found, counts = NumpyScan(rows).near_rows(asked)
    nobody = NumpyScan(rows).near_rows(
        replace(asked, points=rows[[4, 9]] + 1e-3, radii=np.zeros(2))
    )

    assert (found.tolist(), counts.tolist()) == ([4, 9], [1, 1])
    assert nobody[1].tolist() == [0, 0]


def test_which_questions_leave_out_rows_is_told_by_either_limit() -> None:
    anywhere = NearQuestions.for_points(np.zeros((3, 2)), np.array([4, 5, 6]))
    low = np.array([[-np.inf, -np.inf], [-np.inf, 0.0], [-np.inf, -np.inf]])
    high = np.array([[np.inf, np.inf], [np.inf, np.inf], [1.0, np.inf]])
    asked = replace(anywhere, allowed_lower=low, allowed_upper=high)

    assert asked.limits_rows.tolist() == [False, True, True]
    assert asked.subset(np.array([2, 0])).limits_rows.tolist() == [True, False]
    assert asked.subset(np.array([2, 0])).counts.tolist() == [6, 4]


def test_rows_at_a_limit_are_within_it() -> None:
    rows = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [3.0, 0.0]])
    anywhere = NearQuestions.for_points(np.zeros((1, 2)), np.array([4]))
    limits = {"allowed_lower": np.array([[1.0, -1.0]]), "allowed_upper": np.array([[2.0, 0.0]])}

    (found,) = rows_of_each(NumpyScan(rows).near_rows(replace(anywhere, **limits)))

    assert sorted(found.tolist()) == [1, 2]


def test_questions_that_are_put_together_are_answered_as_each_alone() -> None:
    rows = make_rows(300, 4)
    scan = NumpyScan(rows)
    some, others = make_questions(rows, 7), make_questions(rows, 9, seed=1)

    together = rows_of_each(scan.near_rows(NearQuestions.join([some, others])))

    alone = rows_of_each(scan.near_rows(some)) + rows_of_each(scan.near_rows(others))
    assert [one.tolist() for one in together] == [one.tolist() for one in alone]


def test_samples_that_are_put_together_are_summed_as_each_alone() -> None:
    rows = make_rows(300, 4)
    scan = NumpyScan(rows)
    some, others = make_samples(rows, mode=KERNELS), make_samples(rows, mode=KERNELS, seed=1)

    together = scan.kernel_sums(KernelSamples.join([some, others]), 0.7)

    alone = [scan.kernel_sums(one, 0.7) for one in (some, others)]
    for i in (0, 1):
        np.testing.assert_array_equal(together[i], np.concatenate([one[i] for one in alone]))


@needs_gpu
@pytest.mark.parametrize(("n", "width"), [(50, 3), (30_000, 22), (100_000, 7)])
def test_a_gpu_misses_no_row_either(n: int, width: int) -> None:
    from localface.geometry.device.cuda_scan import CudaScan

    rows = make_rows(n, width)
    asked = make_questions(rows, 30)

    found = rows_of_each(CudaScan(rows).near_rows(asked))

    wanted = rows_of_each(NumpyScan(rows).near_rows(asked))
    for one, two in zip(wanted, found, strict=True):
        assert len(set(two)) == len(two)
        assert len(set(one) ^ set(two)) <= 2  # single precision may take one more, or one less


@needs_gpu
@pytest.mark.parametrize("mode", [KERNELS, BALLS, COUNTS])
def test_a_gpu_sums_as_numpy_does_whatever_the_batch(mode: int) -> None:
    from localface.geometry.device.cuda_scan import CudaScan

    rows = make_rows(20_000, 22)
    samples = make_samples(rows, mode=mode)
    scan = CudaScan(rows)

    found = scan.kernel_sums(samples, 0.7)

    for one, two in zip(found, NumpyScan(rows).kernel_sums(samples, 0.7), strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-11)
    if mode == KERNELS:
        both = scan.kernel_sums(KernelSamples.join([samples, samples]), 0.7)
        np.testing.assert_array_equal(both[0], np.tile(found[0], 2))


def test_within_a_ball_no_kernel_is_larger_than_at_its_point_nearest_to_the_row() -> None:
    """Rows within the ball count in full, others by how far they are from its edge."""
    rows = make_rows(30, 3)
    samples = make_samples(rows, mode=BALLS)

    totals, _ = NumpyScan(rows).kernel_sums(samples, 0.7)

    for i, (leg, radius) in enumerate(zip(samples.legs, samples.offsets, strict=True)):
        apart = np.linalg.norm(rows - samples.starts[leg], axis=1)
        others = ~np.isin(np.arange(30), samples.own[leg]) & (apart**2 >= samples.nearest)
        outside = np.clip(apart[others] - radius, 0.0, None)
        assert totals[i] == pytest.approx(np.exp(-0.5 * (outside / 0.7) ** 2).sum())


@pytest.mark.parametrize("mode", [KERNELS, COUNTS])
def test_sums_are_those_of_every_row_that_counts_one_after_another(mode: int) -> None:
    rows = make_rows(60, 3)
    people = np.arange(60) // 2
    samples = replace(
        make_samples(rows, mode=mode),
        groups=np.arange(12) + 3,
        nearest=0.3,
        own=np.full((12, 2), 9),
    )

    totals, tilted = NumpyScan(rows, people).kernel_sums(samples, 0.7)

    assert not samples.can_be_joined
    for i, (leg, offset) in enumerate(zip(samples.legs, samples.offsets, strict=True)):
        if leg == 0:  # it has no direction
            continue
        sums = [0.0, 0.0]
        for number, row in enumerate(rows):
            away = row - samples.starts[leg]
            if number == 9 or people[number] == leg + 3 or away @ away < 0.3:
                continue
            apart = np.linalg.norm(away - offset * samples.directions[leg])
            weight = np.exp(-0.5 * (apart / 0.7) ** 2)
            if mode == COUNTS:
                weight = float(np.linalg.norm(away) <= offset)
            sums[0] += weight
            sums[1] += weight * (away @ samples.directions[leg])
        assert [totals[i], tilted[i]] == pytest.approx(sums)


def test_only_plain_kernels_are_joined() -> None:
    points = make_rows(4, 2)
    assert KernelSamples.at_points(points).can_be_joined
    assert not KernelSamples.at_points(points, mode=BALLS).can_be_joined
    assert not replace(KernelSamples.at_points(points), groups=np.arange(4)).can_be_joined
    assert not replace(KernelSamples.at_points(points), nearest=0.1).can_be_joined


def test_a_row_as_far_as_the_offset_counts_and_one_as_near_as_the_nearest_too() -> None:
    rows = np.array([[0.0], [1.0], [2.0], [3.0]])
    samples = KernelSamples.at_points(np.zeros((1, 1)), offsets=np.array([2.0]), mode=COUNTS)
    scan = NumpyScan(rows)
    assert scan.kernel_sums(samples, 1.0)[0].tolist() == [3.0]
    assert scan.kernel_sums(replace(samples, nearest=1.0), 1.0)[0].tolist() == [2.0]
    left_out = replace(samples, own=np.array([[2, 0]]))
    assert scan.kernel_sums(left_out, 1.0)[0].tolist() == [1.0]
