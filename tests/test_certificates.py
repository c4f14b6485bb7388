"""No certificate is wrong: thousands of steps on tables of every kind, before the judge.

``LOCALFACE_STEPS`` says how many steps in all; 2,000 unless told otherwise.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest

from judge import Judge
from made_crowds import Crowd, make_crowd, make_steps

pytestmark = pytest.mark.slow

Array = np.ndarray[Any, Any]

STEPS = int(os.environ.get("LOCALFACE_STEPS", "2000"))
TABLES = [
    # seed, features, rows, own ones, several rows a person; the share of gaps, where there are any
    (0, 2, 200, 0, False),
    (1, 2, 60, 1, False),
    (2, 3, 150, 0, True),
    (3, 4, 300, 1, False),
    (4, 5, 90, 2, False),
    (5, 6, 400, 0, False),
    (6, 8, 250, 2, False),
    (7, 8, 250, 0, True),
    (8, 10, 500, 3, False),
    (9, 12, 80, 0, False),
    (10, 13, 300, 1, True),
    (11, 16, 350, 0, False),
    (12, 20, 400, 4, False),
    (13, 22, 2300, 2, False),
    (14, 25, 120, 1, False),
    (15, 30, 300, 0, False),
    (16, 35, 40, 3, False),
    (17, 40, 350, 2, False),
    (18, 50, 250, 0, False),
    (19, 60, 300, 4, False),
    (20, 2, 200, 0, False, 0.2),
    (21, 6, 400, 1, False, 0.3),
    (22, 12, 300, 0, True, 0.1),
    (23, 25, 500, 3, False, 0.5),
]
every_table = pytest.mark.parametrize(
    "table", TABLES, ids=lambda one: f"{one[1]}x{one[2]}{' with gaps' * (len(one) > 5)}"
)


@dataclass(frozen=True)
class Judged:
    """Steps on one table: what the density says in full, and what the judge says."""

    crowd: Crowd
    judge: Judge
    starts: Array
    ends: Array
    full: Array
    lowest: Array

    @property
    def rounding(self) -> Array:
        """How far apart two ways to work out the same may be: far off, numbers are large."""
        return 1e-6 + 1e-9 * np.abs(self.lowest)


@cache
def judged(table: tuple[Any, ...]) -> Judged:
    seed, width, n, own, people, *gaps = table
    crowd = make_crowd(seed, width, n, own=own, people=people, gaps=sum(gaps))
    judge = Judge.of_codes(crowd.engine, crowd.codes, 0.05)
    starts, ends = make_steps(crowd, -(-STEPS // len(TABLES)), seed)
    lowest = [
        judge.lowest(a, b, 201)
        for a, b in zip(judge.space.points(starts), judge.space.points(ends), strict=True)
    ]
    starts = crowd.density.space.points(starts)
    ends = crowd.density.space.points(ends)
    full = crowd.density.lowest_along(starts, ends, None).log_densities
    return Judged(crowd, judge, starts, ends, full, np.array(lowest))


@every_table
def test_no_step_falls_below_what_is_certified(table):
    one = judged(table)

    assert not np.isnan(one.full).any()
    assert (one.full <= one.lowest + one.rounding).all()


@every_table
def test_what_is_certified_is_no_lower_than_need_be(table):
    """The judge looks at 200 places and more closely at the lowest: it may miss a valley."""
    one = judged(table)

    assert np.mean(one.lowest - one.full < 1e-3 + one.rounding) >= 0.9


@every_table
def test_the_scale_and_the_floor_are_those_of_the_judge(table):
    one = judged(table)
    scale = one.crowd.density.scale

    assert one.judge.levels == pytest.approx(scale.log_densities, abs=1e-5, rel=1e-7)
    for share in (0.01, 0.05, 0.3):
        floor = float(np.quantile(one.judge.levels, share))
        assert floor == pytest.approx(scale.quantile(share), abs=1e-5, rel=1e-7)


@every_table
def test_a_verdict_under_any_floor_is_what_the_full_value_and_the_judge_say(table):
    one = judged(table)
    density = one.crowd.density

    for share in (0.0, 0.01, 0.05, 0.3):
        floor = density.scale.quantile(share)
        found = density.lowest_along(one.starts, one.ends, floor)
        clear = np.abs(one.full - floor) > one.rounding
        assert (found.passes == (one.full >= floor))[clear].all()
        assert (one.lowest >= floor - one.rounding)[found.passes].all()
        assert (found.log_densities >= floor - 1e-8)[found.passes].all()
        assert (found.log_densities < floor)[~found.passes].all()
        assert (found.log_densities <= one.full + one.rounding)[found.passes].all()


@every_table
def test_a_floor_at_a_steps_own_value_is_kept_and_one_just_above_is_not(table):
    one = judged(table)
    density = one.crowd.density
    some = np.isfinite(one.full) & (np.abs(one.full) < 1e3)

    kept = density.lowest_along(one.starts[some], one.ends[some], one.full[some] - 1e-6)
    refused = density.lowest_along(one.starts[some], one.ends[some], one.full[some] + 1e-5)

    assert kept.passes.all()
    assert not refused.passes.any()


@every_table
def test_verdicts_are_the_same_in_any_batch(table):
    one = judged(table)
    density = one.crowd.density
    floor = density.scale.quantile(0.05)
    together = density.lowest_along(one.starts, one.ends, floor).passes
    order = np.random.default_rng(0).permutation(len(one.starts))

    shuffled = density.lowest_along(one.starts[order], one.ends[order], floor).passes
    parts = [
        density.lowest_along(one.starts[i : i + 7], one.ends[i : i + 7], floor).passes
        for i in range(0, len(order), 7)
    ]
    alone = [
        density.lowest_along(one.starts[[i]], one.ends[[i]], floor).passes[0] for i in order[:40]
    ]

    assert (shuffled == together[order]).all()
    assert (np.concatenate(parts) == together).all()
    assert (np.array(alone) == together[order[:40]]).all()


@every_table
def test_what_a_hole_rules_out_does_not_pass(table):
    """A hole that one step runs into rules out others, for the same person and floor."""
    one = judged(table)
    density = one.crowd.density
    floor = density.scale.quantile(0.05)
    found = density.lowest_along(one.starts, one.ends, floor)
    straight = ~(density.space.discrete & (one.starts != one.ends)).any(axis=1)
    own = density.given_own.columns if density.given_own else np.zeros(one.starts.shape[1], bool)

    for number, hole in found.holes[:50]:
        same_person = (one.starts[:, own] == one.starts[number, own]).all(axis=1)
        some = np.flatnonzero(straight & same_person)
        touched = hole.is_touched(one.starts[some], one.ends[some]).diagonal()
        assert not found.passes[some[touched]].any()
