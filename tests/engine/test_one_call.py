"""Another score or floor for one call: the answer of an explainer made so."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from localface import LocalFACE, Recourse, Search
from localface.engine.targets import MAX_TARGET_SCORES
from localface.errors import InputError
from localface.models.scorer import signed
from worlds import WORLDS, World, make_explainer

pytestmark = pytest.mark.slow

WANTED = [(0.7, None), (None, 0.2), (0.55, 0.0), (0.8, 0.01)]


def made(world: World, **options: Any) -> LocalFACE:
    given = {"n_neighbors": world.n_neighbors, "min_score": world.min_score, **options}
    return make_explainer(world.model, world.data, schema=world.schema, **given)


def some(world: World, n: int) -> list[Any]:
    people = world.people
    return (
        [people.iloc[i] for i in range(n)] if isinstance(people, pd.DataFrame) else list(people[:n])
    )


def told(answer: Recourse) -> dict[str, Any]:
    """All that an answer says, but for what it took: scores that are known already need no call."""
    document = json.loads(answer.to_json())
    seen = document.pop("disclosure")
    return {**document, "rows_seen": seen["rows"], "questions": seen["questions"]}


def asked(min_score: float | None, min_density: float | None) -> dict[str, float]:
    given = {"min_score": min_score, "min_density": min_density}
    return {name: value for name, value in given.items() if value is not None}


@pytest.mark.parametrize("name", ["blobs", "mixed", "ward"])
@pytest.mark.parametrize("relax", [False, True])
def test_an_answer_is_bit_for_bit_that_of_an_explainer_made_so(name: str, relax: bool) -> None:
    world = WORLDS[name]()
    shared = made(world)
    for wanted in WANTED:
        own = made(world, **asked(*wanted))
        for person in some(world, 2):
            answer = shared.explain(person, where=world.where, relax=relax, **asked(*wanted))
            assert told(answer) == told(own.explain(person, where=world.where, relax=relax))


@pytest.mark.parametrize(
    "options",
    [
        {"edges": "average"},
        {"edges": "cover"},
        {"edges": "cover", "radius": 0.4},
        {"momentum_steps": 2},
        {"density": "knn"},
        {"strategy": "paper"},
        {"cost": "safest"},
    ],
    ids=str,
)
def test_so_it_is_whatever_the_explainers_options(options: dict[str, Any]) -> None:
    world = WORLDS["blobs"]()
    shared = made(world, **options)
    own = made(world, min_score=0.7, min_density=0.1, **options)
    for person in some(world, 2):
        assert told(shared.explain(person, min_score=0.7, min_density=0.1)) == told(
            own.explain(person)
        )


def test_a_value_to_come_down_to_may_be_another_for_one_call() -> None:
    data = pd.DataFrame(np.random.default_rng(0).normal(size=(300, 2)), columns=["a", "b"])
    cost = signed(lambda frame: 12_345.6789 * frame["a"].to_numpy() - 7 * frame["b"].to_numpy())
    shared, own = (
        LocalFACE(cost, data, target="at most", min_score=score, search=Search(n_neighbors=20))
        for score in (-3_000, -9_000)
    )
    person = {"a": 1.0, "b": 0.3}
    assert told(shared.explain(person, min_score=-9_000)) == told(own.explain(person))


def test_a_score_a_hair_below_the_threshold_of_one_call_does_not_reach_it() -> None:
    world = WORLDS["blobs"]()
    shared = made(world)
    end = shared.explain(world.people[0]).scores[-1]
    hair = np.nextafter(end, 1.0)
    answer = shared.explain(world.people[0], min_score=float(hair))
    last = answer.records[-1:] if answer.found else world.people[:1]
    assert not answer.found or world.model.predict_proba(last)[0, 1] >= hair


def test_everyone_is_asked_and_a_wish_is_checked_under_the_same_terms() -> None:
    world = WORLDS["mixed"]()
    shared, own = made(world), made(world, min_score=0.7, min_density=0.1)
    people = world.people[:12]
    many = shared.explain_many(people, min_score=0.7, min_density=0.1, progress=False)
    assert [one.status for one in many] == [
        one.status for one in own.explain_many(people, progress=False)
    ]
    wish = {"debt": 1000.0}
    checks = [
        shared.check(people.iloc[0], wish, min_score=0.7, min_density=0.1),
        own.check(people.iloc[0], wish),
    ]
    assert str(checks[0]).splitlines()[1:] == str(checks[1]).splitlines()[1:]
    assert checks[0].target.min_score == 0.7


def test_its_robustness_is_measured_against_the_score_it_was_asked_for() -> None:
    world = WORLDS["blobs"]()
    shared, own = made(world), made(world, min_score=0.7)
    answer = shared.explain(world.people[0], min_score=0.7)
    assert shared.robustness(answer, min_score=0.7) == own.robustness(answer)
    with pytest.raises(InputError, match="ask the explainer that gave it"):
        shared.robustness(answer)


def test_people_with_different_targets_and_floors_advance_together() -> None:
    world = WORLDS["mixed"]()
    calls = []

    def counted(frame: pd.DataFrame) -> Any:
        calls.append(len(frame))
        return world.model.predict_proba(frame)[:, 1]

    explainer = made(replace(world, model=counted)).prescore()
    engine, asks = explainer.engine, []
    for i, person in enumerate(some(world, 12)):
        at = engine.with_thresholds(**asked(*WANTED[i % len(WANTED)]))
        record = np.array([engine.schema[name].code(person[name]) for name in engine.schema.names])
        asks.append((at, at.make_request(record, engine.form, world.where), at.plan))
    calls.clear()
    together = dict(engine.answer_together(asks))
    rounds = len(calls)
    calls.clear()
    alone = [next(one[0].answer_or_error([one[1]], one[2]))[1] for one in asks]
    assert rounds < len(calls) / 2
    for i, answer in enumerate(alone):
        found = together[i]
        assert isinstance(found, Recourse)
        assert isinstance(answer, Recourse)
        assert found.status is answer.status
        assert np.array_equal(found.records, answer.records)
        assert found.scores == answer.scores
        assert found.target == answer.target


def test_scores_are_asked_once_whatever_they_are_held_against() -> None:
    world = WORLDS["mixed"]()
    rows = []

    def counted(frame: pd.DataFrame) -> Any:
        rows.append(len(frame))
        return world.model.predict_proba(frame)[:, 1]

    # states of a person are nobody's rows, and have to be scored
    explainer = made(replace(world, model=counted), through="rows").prescore()
    rows.clear()
    for score in np.linspace(0.2, 0.9, MAX_TARGET_SCORES + 5):  # more targets than are remembered
        explainer.explain(world.people.iloc[0], min_score=float(score), actions=False)
    assert max(rows) < 10


@pytest.mark.parametrize(
    ("given", "words"), [({"min_score": "high"}, "min_score='high'"), ({"min_density": 1.5}, "1.5")]
)
def test_what_is_no_score_or_share_is_refused(given: dict[str, Any], words: str) -> None:
    world = WORLDS["blobs"]()
    with pytest.raises(InputError, match=words):
        made(world).explain(world.people[0], **given)
