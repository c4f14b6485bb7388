"""Limits that leave no target: what relax=True widens, by how much, what it leaves alone."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from localface import Feature, LocalFACE, Recourse, Schema, Status
from worlds import make_explainer


def world() -> tuple[pd.DataFrame, Schema]:
    rng = np.random.default_rng(0)
    east, north = rng.uniform(0, 10, 600).round(2), rng.uniform(0, 10, 600).round(2)
    data = pd.DataFrame({"east": east, "north": north, "town": rng.integers(0, 2, 600)})
    features = [
        Feature("east", unit="km", within=2.0),
        Feature("north", unit="km", within=4.0, bounds=(0, 10)),
        Feature("town", kind="binary", categories=(0, 1), moves="never"),
    ]
    return data, Schema(features)


def in_the_east(people: pd.DataFrame) -> np.ndarray:
    return np.clip(np.asarray(people["east"], dtype=float) / 10, 0, 1)


PERSON = {"east": 3.0, "north": 5.0, "town": 1}


def explainer(**options: object) -> LocalFACE:
    data, schema = world()
    return make_explainer(
        in_the_east, data, schema=schema, min_score=0.7, n_neighbors=20, **options
    )


def test_without_relaxing_nobody_is_within_reach():
    answer = explainer().explain(PERSON)
    assert answer.status is Status.NO_TARGET
    assert dict(answer.widened) == {}
    assert ("east",) in answer.opens


def test_relaxing_widens_by_the_least_factor_and_says_how_far_it_goes():
    data, _ = world()
    answer = explainer().explain(PERSON, relax=True)
    targets = data[(data["east"] >= 7) & (data["town"] == 1)]
    factor = np.maximum(abs(targets["east"] - 3.0) / 2.0, abs(targets["north"] - 5.0) / 4.0).min()
    assert answer.found
    assert answer.relaxed_to is None
    assert set(answer.widened) == {"east"}
    assert 4.0 <= answer.widened["east"] <= 2.0 * factor * (1 + 1e-6)
    moved = np.abs(answer.records - answer.records[0]).max(axis=0)
    assert moved[1] <= 4.0 * factor * (1 + 1e-6)
    assert answer.proven_within is None  # no further rows were looked at to prove it the shortest


def test_the_widening_is_on_top_of_every_rendering_and_survives_json():
    answer = explainer().explain(PERSON, relax=True)
    line = str(answer).splitlines()[0]
    assert line.startswith("relaxed: east moves by 4")
    assert "km, further than was allowed" in line
    assert "further than was allowed" in answer._repr_html_()
    assert "east widened" in repr(answer)
    assert dict(Recourse.from_json(answer.to_json()).widened) == dict(answer.widened)


@pytest.mark.parametrize("where", [{"east": (0, 6)}, {"east": "never"}, {"east": "down"}], ids=str)
def test_bounds_directions_and_what_never_moves_do_not_give_way(where: dict[str, object]):
    answer = explainer().explain(PERSON, where=where, relax=True)
    assert answer.status is Status.NO_TARGET
    assert dict(answer.widened) == {}


def test_whoever_has_someone_to_become_is_not_widened():
    answer = explainer().explain({**PERSON, "east": 6.0}, relax=True)
    assert answer.found
    assert dict(answer.widened) == {}


def test_alone_and_in_company_the_same_is_widened():
    people = pd.DataFrame([PERSON, {**PERSON, "east": 6.0}, {**PERSON, "east": 1.0}])
    together = explainer().explain_many(people, relax=True, progress=False)
    alone = [explainer().explain(person, relax=True) for person in people.to_dict("records")]
    for one, other in zip(together, alone, strict=True):
        assert one.records.tobytes() == other.records.tobytes()
        assert dict(one.widened) == dict(other.widened)


def test_a_code_of_others_is_no_distance():
    rng = np.random.default_rng(0)
    data = pd.DataFrame(
        {"east": rng.uniform(0, 10, 600).round(2), "north": rng.uniform(0, 10, 600)}
    )
    data.loc[rng.random(600) < 0.3, "east"] = -9.0

    def score(people):
        east = np.asarray(people["east"], dtype=float)
        return np.where(east < 0, 0.9, np.clip(east / 10, 0, 1))

    schema = Schema([Feature("east", within=1.0, codes={-9: "no record"}), Feature("north")])
    ready = make_explainer(score, data, schema=schema, min_score=0.8, n_neighbors=20)

    answer = ready.explain({"east": 3.0, "north": 5.0}, relax=True)

    nearest = data.loc[data["east"] >= 8, "east"].min() - 3.0
    assert answer.widened["east"] == pytest.approx(nearest, rel=1e-6)
