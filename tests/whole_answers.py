"""Answers of every kind on every world, as plain values; run by itself it prints them."""

from __future__ import annotations

import json
import sys
import warnings
from typing import Any

from localface import LocalFACE, Recourse
from localface.analyses.whynot import Check
from random_tables import make_case, make_wish
from worlds import WORLDS, World, make_explainer

PEOPLE = 6
SEEDS = (0, 1, 2, 3, 5, 8)  # of random tables


def answers_of_worlds() -> dict[str, Any]:
    """Answer for some people of each world: one at a time, together, otherwise, and as wished."""
    found: dict[str, Any] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # models and tables here are not what is tested
        for name, make in WORLDS.items():
            found |= {f"{name}, {kind}": one for kind, one in _answers_of_world(make()).items()}
        for seed in SEEDS:
            case = make_case(seed)
            explainer = case.explainer()
            wish = make_wish(case, seed)
            found[f"case {seed}"] = _plain(explainer.explain(case.person, where=case.where))
            check = explainer.check(case.person, wish=wish, where=case.where)
            found[f"case {seed}, check"] = _plain(check)
    return found


def _answers_of_world(world: World) -> dict[str, Any]:
    explainer = make_explainer(
        world.model,
        world.data,
        schema=world.schema,
        min_score=world.min_score,
        n_neighbors=world.n_neighbors,
    )
    people = world.people[:PEOPLE]
    person = people.iloc[0] if hasattr(people, "iloc") else people[0]
    many = explainer.explain_many(people, where=world.where)
    other = explainer.alternatives(person, where=world.where)
    return {
        "one": _plain(explainer.explain(person, where=world.where)),
        "many": [_plain(one) for one in many],
        "alternatives": [_plain(one) for one in other],
        "check": _plain(_check_of(explainer, person, many[1].records[-1], world)),
    }


def _check_of(explainer: LocalFACE, person: Any, like: Any, world: World) -> Any:
    """Check a wish for what somebody else comes to, in the first features."""
    names = list(explainer.schema.names)[:2]
    wish = {name: like[i] for i, name in enumerate(names)}
    return explainer.check(person, wish=wish, where=world.where)


def _plain(answer: Recourse | Check) -> Any:
    if isinstance(answer, Check):
        return [repr(answer), str(answer)]
    found = json.loads(answer.to_json())
    _leave_out_times(found)
    return found


def _leave_out_times(value: Any) -> None:
    if isinstance(value, dict):
        value.pop("seconds", None)
        for one in value.values():
            _leave_out_times(one)
    elif isinstance(value, list):
        for one in value:
            _leave_out_times(one)


if __name__ == "__main__":
    json.dump(answers_of_worlds(), sys.stdout)
