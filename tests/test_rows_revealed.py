"""What an answer says that it revealed is what its searches were handed, and within the budget.

Everything that a call does counts: the search, and what follows it. ``LOCALFACE_METERED`` says how
many calls; 260 unless told otherwise.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from localface import LocalFACE
from localface.analyses.trace import trace_search
from localface.data.read import read_records
from localface.engine.asking import check_ask
from localface.errors import InputError
from localface.options import Ask
from localface.sources.store import write_store
from random_tables import Case, make_case, make_wish
from watched_rows import EVERYBODY, Watch, watched_rows

CALLS = int(os.environ.get("LOCALFACE_METERED", "260"))
FIRST = int(os.environ.get("LOCALFACE_METERED_FROM", "0"))
BLOCKS = 10

Told = dict[int | None, int]
"""By person how many rows an answer says that it revealed; None where one is asked for alone."""


def explained(**options: Any) -> Callable[..., Told]:
    def call(made: LocalFACE, case: Case, seed: int) -> Told:
        answer = made.explain(case.person, where=case.where, **options)
        assert sum(row is not None for row in answer.rows) <= answer.disclosure.rows
        return {None: answer.disclosure.rows}

    return call


def ruled_out(made: LocalFACE, case: Case, seed: int) -> Told:
    """So narrow that nobody is left: limits are widened, freed and counted."""
    spread = {name: case.data[name].std() for name in ("income", "debt")}
    free = {name for name in spread if case.features[name].moves == "freely"}
    where = {name: max(0.1, round(0.05 * spread[name], 1)) for name in sorted(free)}
    return explained(relax=seed % 4 > 0)(made, replace(case, where=where), seed)


def known_end(made: LocalFACE, case: Case, seed: int) -> Told:
    row = case.data.iloc[seed % len(case.data)].to_dict()
    goal = {
        name: case.person[name] if one.own or one.protected else row[name]
        for name, one in case.features.items()
    }
    return explained(counterfactual=goal, relax=seed % 2 == 0)(made, case, seed)


def checked(made: LocalFACE, case: Case, seed: int) -> Told:
    found = made.check(case.person, make_wish(case, seed), where=case.where)
    return {None: found.disclosure.rows}


def alternatives(differ: str) -> Callable[..., Told]:
    def call(made: LocalFACE, case: Case, seed: int) -> Told:
        ways = made.alternatives(
            case.person, n=3, differ=differ, where=case.where, relax=seed % 2 == 0
        )
        assert all(one.disclosure.rows <= ways.disclosure.rows for one in ways)
        return {None: ways.disclosure.rows}

    return call


def followed_up(made: LocalFACE, case: Case, seed: int) -> Told:
    answer = made.explain(case.person, where=case.where)
    told = {None: answer.disclosure.rows}
    if answer.found:
        followed = made.robustness(answer, n=20)
        assert followed.disclosure is not None
        assert followed.disclosure.rows == 0
    return told


def traced(made: LocalFACE, case: Case, seed: int) -> Told:
    asked = check_ask(made.engine, Ask(where=case.where))
    found = trace_search(asked.engine, asked.make_request(case.person), asked.plan)
    return {None: found.recourse.disclosure.rows}


def many(**options: Any) -> Callable[..., Told]:
    def call(made: LocalFACE, case: Case, seed: int) -> Told:
        rows = np.random.default_rng(seed).choice(len(case.data), 3, replace=False)
        people = [case.person, *case.data.iloc[rows].to_dict("records")]
        where = [case.where, None, {"income": 0.1}, case.where]
        found = made.explain_many(people, where=where, progress=False, on_error="record", **options)
        return {
            number: one.disclosure.rows for number, one in zip(found.numbers, found, strict=True)
        }

    return call


def audited(made: LocalFACE, case: Case, seed: int) -> Told:
    """An audit tells together what it revealed for everybody."""
    rows = np.random.default_rng(seed).choice(len(case.data), 4, replace=False)
    others = case.data.iloc[rows].to_dict("records")
    kept = {name for name, one in case.features.items() if one.own or one.protected}
    ends = [{**one, **{name: case.person[name] for name in kept}} for one in others]
    found = made.audit([case.person] * len(ends), ends, progress=False)
    assert found.disclosure is not None
    return {EVERYBODY: found.disclosure.rows}


MODES: dict[str, Callable[..., Told]] = {
    "explain": explained(),
    "relax": explained(relax=True),
    "ruled out": ruled_out,
    "as far as possible": explained(best_effort=True),
    "as far as possible, relaxed": explained(best_effort=True, relax=True, min_score=0.97),
    "robust": explained(min_robustness=0.9),
    "path alone": explained(actions=False, relax=True),
    "few features": explained(max_features=1, max_changes=2),
    "out of reach": explained(min_score=0.97),
    "known end": known_end,
    "check": checked,
    "other features": alternatives("features"),
    "other values": alternatives("values"),
    "follow-up": followed_up,
    "trace": traced,
    "audit": audited,
    "short of time": explained(max_seconds=0.004, relax=True),
    "many": many(),
    "many, relaxed": many(relax=True),
    "many, out of reach": many(min_score=0.97),
}
"""Calls by what they do."""
SEARCHES: tuple[dict[str, Any], ...] = (
    {},
    {"cost": "safest"},
    {"through": "rows"},
    {"edges": "cover"},
    {"momentum_steps": 2},
    {"strategy": "paper"},
)


def make_explainer(seed: int, case: Case, budget: int | None, folder: Path) -> LocalFACE:
    """An explainer of the case, by a table or by a store, with one of the ways to search."""
    change = SEARCHES[seed // 2 % len(SEARCHES)]
    search = replace(case.search, **change)
    if "strategy" in change:
        search = replace(search, edges="strict", max_step=None)
    if seed % 5 != 3:
        return case.explainer(max_rows=budget, search=search)
    records = read_records(case.data, case.schema)
    store = write_store(folder / "rows", lambda: [records], case.schema)
    return LocalFACE(
        case.score,
        store,
        min_score=case.min_score,
        min_density=case.min_density,
        max_rows=budget,
        search=search,
    )


def make_call(seed: int, folder: Path) -> tuple[str, Told, Watch, int | None]:
    """Make the call of a seed: its mode, what it told, what was handed out, and the budget."""
    rng = np.random.default_rng([seed, 7])
    case = make_case(seed)
    name = list(MODES)[seed % len(MODES)]
    budget = [None, *rng.integers(1, 90, 4).tolist()][int(rng.integers(5))]
    made = make_explainer(seed, case, budget, folder)
    with watched_rows() as watch:
        told = MODES[name](made, case, seed)
    return name, told, watch, budget


@pytest.mark.parametrize("block", range(BLOCKS))
def test_told_is_what_was_revealed_and_never_above_the_budget(block: int) -> None:
    asked = 0
    for seed in range(FIRST + block, FIRST + CALLS, BLOCKS):
        with tempfile.TemporaryDirectory() as folder:
            try:
                name, told, watch, budget = make_call(seed, Path(folder))
            except InputError:  # a person outside the limits, or alternatives of the paper's search
                continue
        asked += 1
        assert watch.searches, (seed, name)
        for person, rows in told.items():
            assert rows == watch.of(person), (seed, name, budget)
        assert budget is None or watch.most() <= budget, (seed, name)
    assert asked > 0.6 * CALLS / BLOCKS
