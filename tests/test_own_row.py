"""Nobody vouches for themselves: one's own row in the table makes no state more common."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest

from judge import Judge
from localface import LocalFACE, Search
from localface.data.read import read_records

BILLS = 400


def payments(n: int = BILLS) -> pd.DataFrame:
    """Everybody has paid about the months times the fee; hardly anybody is new and pays much."""
    chance = np.random.default_rng(4)
    months = chance.integers(6, 60, n)
    fee = chance.normal(50, 8, n).round(2)
    total = (months * fee * chance.normal(1, 0.03, n)).round(2)
    return pd.DataFrame({"months": months, "fee": fee, "total": total})


NEWCOMER = pd.DataFrame({"months": [1], "fee": [22.0], "total": [23.0]})
"""Far from everybody: what is near is near to this row alone."""


def loyal(people: pd.DataFrame) -> np.ndarray:
    return 1 / (1 + np.exp(-(np.asarray(people["total"], dtype=float) - 400) / 200))


@pytest.fixture(scope="module")
def tables() -> tuple[pd.DataFrame, pd.DataFrame]:
    without = payments()
    return without, pd.concat([NEWCOMER, without], ignore_index=True)


@pytest.mark.parametrize("how", [{}, {"density": "isotropic"}, {"density": "knn"}])
def test_a_state_near_to_the_asker_alone_is_as_rare_as_without_their_row(tables, how):
    """A step of a cent leads off the own row: it must not turn that row into evidence."""
    without, within = (LocalFACE(loyal, table, **how) for table in tables)
    person = NEWCOMER.iloc[0]
    wish = {"fee": 22.01, "total": 23.05}

    shares = [one.check(person, wish).density for one in (without, within)]

    assert max(shares) <= 0.01
    fitted = within.engine
    near = fitted.space.points(read_records(NEWCOMER.assign(**wish), fitted.schema))
    own = fitted.space.points(read_records(NEWCOMER, fitted.schema))
    vouched = fitted.density.lowest_along(near, near, None).log_densities[0]
    alone = fitted.density.lowest_along(near, near, None, askers=own).log_densities[0]
    assert alone < vouched - 0.01, "their own row would vouch for it"


def test_a_plan_of_somebody_in_the_table_keeps_the_floor_without_their_own_row(tables):
    """Every state of plans of people of the table, by a judge of its own."""
    _, table = tables
    explainer = LocalFACE(loyal, table, min_score=0.6)
    refused = table[loyal(table) < 0.5].iloc[:12]

    answers = explainer.explain_many(refused, progress=False)

    assert sum(one.found for one in answers) >= 6
    for answer in answers:
        if not answer.found:
            continue
        judge = Judge.of(explainer, table, answer)
        points = judge.points(answer.with_actions_as_path().path)
        own = judge.lowest(points[0], points[0])
        for start, end in itertools.pairwise(points):
            assert judge.lowest(start, end) >= min(judge.floor, own) - 1e-5
        assert judge.lowest(points[-1], points[-1]) >= judge.floor - 1e-5


def test_the_same_is_told_one_at_a_time_and_in_lock_step(tables):
    _, table = tables
    explainer = LocalFACE(loyal, table, min_score=0.6)
    refused = table[loyal(table) < 0.5].iloc[:8]

    together = explainer.explain_many(refused, progress=False)

    for one, (_, person) in zip(together, refused.iterrows(), strict=True):
        alone = explainer.explain(person)
        assert alone.records.tolist() == one.records.tolist()
        assert alone.densities == pytest.approx(one.densities, abs=1e-9)


def test_mean_edges_leave_out_the_own_row_too(tables):
    without, within = (LocalFACE(loyal, one, search=Search(edges="average")) for one in tables)
    person = NEWCOMER.iloc[0]

    shares = [one.check(person, {"fee": 22.01}).density for one in (without, within)]

    assert max(shares) <= 0.01
