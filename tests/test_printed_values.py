"""What is printed of a plan is the plan, and its numbers end where the resolution has them."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier

from localface import Feature, LocalFACE, Recourse, Schema

COARSE = {"savings": 25.0, "rate": 0.5, "debt": 4.0, "months": 6.0}
"""Resolutions of which hardly any value in the data is a multiple."""


@cache
def explainer(seed: int) -> LocalFACE:
    """People whose values have more decimals than their resolution, and a forest."""
    rng = np.random.default_rng(seed)
    wealth = rng.normal(size=400)
    data = pd.DataFrame(
        {
            "savings": np.round(200 + 60 * wealth + 25 * rng.normal(size=400), 1),
            "rate": np.round(5 - wealth + rng.normal(size=400), 2),
            "debt": np.round(np.abs(30 - 9 * wealth + 6 * rng.normal(size=400)), 1),
            "months": rng.integers(3, 60, 400),
            "home": rng.choice(["own", "rent"], 400),
        }
    )
    good = (data["savings"] / 60 - data["rate"] - data["debt"] / 15 + rng.normal(size=400)) > -3
    numbers = list(COARSE)
    model = RandomForestClassifier(30, min_samples_leaf=5, random_state=seed)
    model.fit(data[numbers].to_numpy(), good)
    kinds = {"months": "integer"}
    features = [
        Feature(name, kind=kinds.get(name, "numeric"), resolution=size)
        for name, size in COARSE.items()
    ]
    home = Feature("home", kind="binary", categories=("own", "rent"))
    schema = Schema([*features, home]).with_("savings", bounds=(-100, None))

    def score(frame: Any) -> Any:
        return model.predict_proba(frame[numbers].to_numpy(dtype=float))[:, 1]

    return LocalFACE(score, data, schema=schema)


@cache
def plans(seed: int, **asked: Any) -> list[tuple[Any, Recourse]]:
    """Those among some people who have a plan, with it."""
    made = explainer(seed)
    people = made.engine.source.records(np.arange(0, 400, 9))
    table = pd.DataFrame(
        [
            {f.name: f.value(code) for f, code in zip(made.schema, row, strict=True)}
            for row in people
        ]
    )
    answers = made.explain_many(table, progress=False, **asked)
    return [
        (person, answer)
        for (_, person), answer in zip(table.iterrows(), answers, strict=True)
        if answer.actions
    ]


def is_unseen(seed: int, wish: dict[str, Any]) -> bool:
    """Whether some value lies beyond everybody's."""
    made = explainer(seed)
    rows = made.engine.source.records(np.arange(400))
    ends = {
        name: (rows[:, made.schema.index(name)].min(), rows[:, made.schema.index(name)].max())
        for name in COARSE
    }
    return any(
        not ends[name][0] <= value <= ends[name][1] for name, value in wish.items() if name in ends
    )


ASKED: list[dict[str, Any]] = [{}, {"prefer": "effort"}, {"max_features": 1}]


@pytest.mark.parametrize("asked", ASKED, ids=str)
@pytest.mark.parametrize("seed", [0, 1])
def test_what_is_printed_of_a_plan_is_what_it_holds(seed: int, asked: dict[str, Any]) -> None:
    assert len(plans(seed, **asked)) >= 10
    for person, answer in plans(seed, **asked):
        printed = re.findall(r"(savings|rate|debt|months) +([-\d.]+) -> ([-\d.]+)", str(answer))
        held = [
            (name, float(action.before[name]), float(action.changes[name]))
            for action in answer.actions
            for name in action.changes
            if name in COARSE
        ]
        assert [(name, float(old), float(new)) for name, old, new in printed] == held
        now = dict(person)
        for name, old, new in held:
            assert now[name] == old
            now[name] = new


@pytest.mark.parametrize("asked", ASKED, ids=str)
@pytest.mark.parametrize("seed", [0, 1])
def test_a_number_ends_at_a_multiple_unless_the_next_one_is_no_sound_end(
    seed: int, asked: dict[str, Any]
) -> None:
    n_numbers = n_multiples = 0
    for person, answer in plans(seed, **asked):
        end = answer.end.iloc[0].to_dict()
        next_one = dict(end)
        for change in answer.changes:
            if change.name in COARSE:
                steps = end[change.name] / COARSE[change.name]
                up = end[change.name] > person[change.name]
                next_one[change.name] = COARSE[change.name] * (np.ceil if up else np.floor)(steps)
                n_numbers += 1
                n_multiples += next_one[change.name] == end[change.name]
        if next_one != end:
            wish = {name: value for name, value in next_one.items() if value != person[name]}
            check = explainer(seed).check(person, wish)
            assert not (check.valid and check.reachable) or is_unseen(seed, wish), (wish, end)
    assert n_multiples >= 0.9 * n_numbers > 0


@pytest.mark.parametrize("asked", ASKED, ids=str)
@pytest.mark.parametrize("seed", [0, 1])
def test_the_steps_between_printed_values_keep_the_floor(seed: int, asked: dict[str, Any]) -> None:
    made = explainer(seed)
    density = made.engine.density
    for person, answer in plans(seed, **asked):
        if answer.entry or any(step.certificate.lowest < 0.05 for step in answer.actions):
            continue  # who starts below the floor
        states = [dict(person)]
        for action in answer.actions:
            states.append(states[-1] | dict(action.changes))
        records = np.array(
            [[f.code(state[f.name]) for f in made.schema] for state in states], dtype=float
        )
        points = made.engine.space.points(records)
        lowest = density.lowest_along(points[:-1], points[1:], None).log_densities
        assert (lowest >= made.log_floor - 1e-6).all(), str(answer)
