"""Robustness: what noise and retrained models do to an answer, and answers that stand it."""

from __future__ import annotations

import json
from dataclasses import FrozenInstanceError, replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression

from judge import Judge
from localface import Feature, LocalFACE, NoRecourse, Recourse, Schema, Search
from localface.analyses.end_record import end_record
from localface.analyses.robustness import NoiseSampler
from localface.answers.intervals import wilson_interval
from localface.errors import InputError, ModelError
from worlds import make_explainer, mixed

pytestmark = pytest.mark.slow

RNG = np.random.default_rng(0)
TABLE = pd.DataFrame({"dose": RNG.uniform(0, 10, 400).round(1), "visits": RNG.integers(0, 12, 400)})
TABLE["site"] = np.where(RNG.random(400) < 0.5, "a", "b")
SCHEMA = Schema(
    [
        Feature("dose", resolution=0.1, unit="mg"),
        Feature("visits", kind="integer"),
        Feature("site", kind="binary", categories=("a", "b")),
    ]
)
PERSON = {"dose": 2.0, "visits": 3, "site": "a"}


def steep(frame: pd.DataFrame) -> Any:
    """Valid from a dose of 5 on."""
    return 1 / (1 + np.exp(-8 * (frame["dose"].to_numpy() - 5)))


def made(model: Any = steep, **options: Any) -> LocalFACE:
    return make_explainer(model, TABLE, **{"schema": SCHEMA, "n_neighbors": 20, **options})


def narrowly(explainer: LocalFACE) -> Recourse:
    """An answer that only just reaches the target."""
    return explainer.explain(PERSON, counterfactual={**PERSON, "dose": 5.0}).require()


def refused(world: Any, n: int) -> list[pd.DataFrame]:
    return [world.people.iloc[[i]] for i in range(n)]


# noise


def test_what_is_missing_cannot_be_missed() -> None:
    start = np.array([2.0, np.nan, 0.0])
    end = np.array([5.0, np.nan, 0.0])

    noise = NoiseSampler(SCHEMA, [1.0, 1.0, 1.0]).noise_per_feature(start, end)

    assert [one.feature.name for one in noise] == ["dose"]


def test_numbers_with_a_resolution_land_on_values_that_can_be_recorded() -> None:
    """One tenth less fails, and nothing between that and the end does."""
    area = Feature("area", resolution=5, kind="integer")
    schema = Schema([Feature("power", resolution=0.1), area])
    start, end = np.array([0.0, 40.0]), np.array([1.6, 80.0])

    landed = NoiseSampler(schema, [1.0, 10.0], n=400)(start, end)

    assert set(np.unique(landed[:, 0].round(9))) == {1.5, 1.6, 1.7}
    assert set(np.unique(landed[:, 1])) == {75.0, 80.0, 85.0}
    assert 60 < (landed[:, 0] < 1.55).sum() < 140
    free = NoiseSampler(Schema([Feature("power")]), [1.0], n=400)(start[:1], end[:1])
    assert len(np.unique(free)) == 400


def test_the_share_of_successes_is_what_following_by_hand_gives() -> None:
    world = mixed()
    explainer = LocalFACE(
        world.model, world.data, schema=world.schema, min_score=0.6, search=Search(n_neighbors=30)
    )
    shares = set()
    for person in refused(world, 30):
        answer = explainer.explain(person, where=world.where)
        found = explainer.robustness(answer, n=150, seed=3)

        end, start = answer.end, person
        draws = np.random.default_rng(3).uniform(-1, 1, (150, len(explainer.schema)))
        followed = pd.concat([end] * 150, ignore_index=True)
        for j, feature in enumerate(explainer.schema):
            if (
                feature.kind in ("numeric", "integer")
                and end[feature.name].iloc[0] != start[feature.name].iloc[0]
            ):
                landed = end[feature.name].iloc[0] + np.rint(draws[:, j]) * feature.resolution
                followed[feature.name] = (
                    np.rint(landed).astype(int) if feature.kind == "integer" else landed
                )
        followed["school"] = _schooled(explainer, start, end, draws)
        expected = (
            world.model.predict_proba(followed[list(explainer.schema.names)])[:, 1] >= 0.6
        ).mean()

        assert found.success == pytest.approx(expected, abs=0)
        shares.add(found.success)
    assert len(shares) > 1


def _schooled(explainer: LocalFACE, start: Any, end: Any, draws: Any) -> Any:
    """Where people end up on the ordered feature, if it changed."""
    feature = explainer.schema["school"]
    categories = feature.categories or ()
    place = categories.index(end["school"].iloc[0])
    codes = np.full(len(draws), place)
    if end["school"].iloc[0] != start["school"].iloc[0]:
        moved = (
            np.rint(place + draws[:, explainer.schema.index("school")])
            if feature.kind == "ordinal"
            else codes
        )
        codes = np.clip(moved, 0, len(categories) - 1).astype(int)
    return pd.Categorical(
        [categories[code] for code in codes], categories=["basic", "middle", "high"], ordered=True
    )


def test_noise_is_one_resolution_whole_where_numbers_are_and_never_between_categories() -> None:
    start, end = np.array([2.0, 3.0, 0.0]), np.array([5.0, 6.0, 1.0])

    landed = NoiseSampler(SCHEMA, (3.0, 3.0, 1.0), n=500)(start, end)

    assert np.abs(landed[:, 0] - 5).max() <= 0.1
    assert np.ptp(landed[:, 0]) > 0.15
    assert set(landed[:, 1]) == {5.0, 6.0, 7.0}
    assert (landed[:, 2] == 1).all()


def test_what_does_not_change_is_not_missed() -> None:
    start = np.array([2.0, 3.0, 0.0])
    landed = NoiseSampler(SCHEMA, (3.0, 3.0, 1.0))(start, np.array([2.0, 6.0, 0.0]))
    assert (landed[:, [0, 2]] == start[[0, 2]]).all()


def test_without_a_resolution_it_is_one_per_cent_of_an_ordinary_difference_and_says_so() -> None:
    explainer = made(schema=SCHEMA.with_("dose", resolution=None, scale=2.0))
    found = explainer.robustness(narrowly(explainer))

    (noise,) = found.noise
    assert (noise.amount, noise.declared) == (0.02, False)
    assert "1 % of a standard deviation, as no resolution is declared: dose ± 0.02 mg" in str(found)
    declared = made()
    assert "one resolution: dose ± 0.1 mg" in str(declared.robustness(narrowly(declared)))


def test_nobody_lands_beyond_the_bounds_or_in_a_state_that_cannot_be() -> None:
    schema = Schema(
        [Feature("low", resolution=1, bounds=(0, None)), Feature("high", resolution=1)],
        relations=[("low", "<=", "high")],
    )
    landed = NoiseSampler(schema, (5.0, 5.0), n=300)(np.array([3.0, 9.0]), np.array([0.2, 0.6]))
    assert landed[:, 0].min() == 0
    assert not schema.breaks_relation(landed).any()
    assert len(landed) == 300


def test_all_draws_take_one_call_of_the_model() -> None:
    calls: list[int] = []

    def counting(frame: pd.DataFrame) -> Any:
        calls.append(len(frame))
        return steep(frame)

    explainer = made(counting)
    answer = narrowly(explainer)
    calls.clear()
    explainer.robustness(answer, n=321)
    assert calls == [322]


def test_the_interval_is_wilsons() -> None:
    for share in (0.0, 0.1, 0.5, 0.94, 1.0):
        expected = binomtest(round(200 * share), 200).proportion_ci(method="wilson")
        assert wilson_interval(share, 200) == pytest.approx((expected.low, expected.high), abs=1e-6)


def test_someone_there_already_follows_nothing_and_without_a_way_nothing_is_measured() -> None:
    explainer = made()
    there = explainer.robustness(explainer.explain({**PERSON, "dose": 8.0}))
    assert (there.success, there.interval, there.noise) == (1.0, (1.0, 1.0), ())
    with pytest.raises(NoRecourse):
        explainer.robustness(explainer.explain(PERSON, where={"dose": 1}))


def test_the_same_seed_draws_the_same() -> None:
    explainer = made()
    answer = narrowly(explainer)
    assert explainer.robustness(answer) == explainer.robustness(answer)
    assert explainer.robustness(answer, seed=1) != explainer.robustness(answer)


def test_it_is_frozen_and_answers_the_first_question_in_one_line() -> None:
    explainer = made()
    found = explainer.robustness(narrowly(explainer), models=[steep])
    assert 0.6 < found.success < 0.9  # one step too low, and it fails
    assert "\n" not in repr(found)
    assert "of 200 small deviations still reach the target (95 % interval: " in repr(found)
    assert "valid under 1 of 1 other model>" in repr(found)
    with pytest.raises(FrozenInstanceError):
        found.success = 1.0  # type: ignore[misc]


# retrained models


def test_each_model_is_asked_for_the_same_target_and_score() -> None:
    world = mixed()
    explainer = LocalFACE(
        world.model, world.data, schema=world.schema, min_score=0.6, search=Search(n_neighbors=30)
    )
    answer = explainer.explain(refused(world, 1)[0], where=world.where)
    other = lambda frame: world.model.predict_proba(frame)[:, 1] - 0.2 * (frame["income"] > 0)  # noqa: E731

    found = explainer.robustness(
        answer, models={"same": world.model, "harsh": lambda f: np.maximum(other(f), 0)}
    )

    end = answer.end[list(explainer.schema.names)]
    expected = world.model.predict_proba(end)[0, 1]
    assert found.models[0] == ("same", pytest.approx(expected), True)
    assert found.models[1].score == pytest.approx(expected - 0.2)
    assert found.models[1].valid == (expected - 0.2 >= 0.6)
    assert found.survives == np.mean([one.valid for one in found.models])


def test_models_in_a_list_are_numbered_and_none_survive_where_none_are_given() -> None:
    labels = TABLE["dose"] > 5
    numbers = TABLE[["dose", "visits"]]
    forests = [RandomForestClassifier(5, random_state=i).fit(numbers, labels) for i in range(3)]
    explainer = LocalFACE(forests[0], numbers, target=True, search=Search(n_neighbors=20))
    answer = explainer.explain({"dose": 2.0, "visits": 3})

    assert [one.name for one in explainer.robustness(answer, models=forests).models] == [1, 2, 3]
    assert explainer.robustness(answer).survives is None


def test_for_at_most_lower_is_valid() -> None:
    stay = LinearRegression().fit(TABLE[["dose", "visits"]], 10 - TABLE["dose"])
    explainer = LocalFACE(
        stay,
        TABLE[["dose", "visits"]],
        target="at most",
        min_score=4,
        search=Search(n_neighbors=20),
    )
    answer = explainer.explain({"dose": 2.0, "visits": 3}, min_robustness=0.95)
    longer = LinearRegression().fit(TABLE[["dose", "visits"]], 30 - TABLE["dose"])

    found = explainer.robustness(answer, models=[stay, longer])

    assert answer.robustness is not None
    assert answer.robustness.success >= 0.95
    assert [one.valid for one in found.models] == [True, False]
    assert found.models[0].score <= 4


# what is refused


def test_what_cannot_be_measured_is_refused_with_what_to_do() -> None:
    explainer = made()
    answer = narrowly(explainer)
    margin = LogisticRegression().fit(TABLE[["dose", "visits"]], TABLE["dose"] > 5)
    for wrong, said in (({"n": 0}, "n=0: a whole number of at least 1"), ({"seed": -1}, "seed=-1")):
        with pytest.raises(InputError, match=said):
            explainer.robustness(answer, **wrong)
    with pytest.raises(InputError, match="give a list, or a dict from name to model"):
        explainer.robustness(answer, models=margin)
    with pytest.raises(ModelError, match="model b: the model was not fitted with"):
        explainer.robustness(answer, models={"b": margin})
    with pytest.raises(ModelError, match="gives a value and the explainer's own a probability"):
        explainer.robustness(answer, models=[LinearRegression().fit(np.zeros((3, 3)), np.zeros(3))])
    with pytest.raises(InputError, match="ask the explainer that gave it"):
        made(min_score=0.7).robustness(answer)
    for share in (0, 1.5, True, "much"):
        with pytest.raises(InputError, match="min_robustness="):
            explainer.explain(PERSON, min_robustness=share)  # type: ignore[call-overload]


# answers that are robust


def test_min_robustness_pushes_the_end_past_the_threshold() -> None:
    world = mixed()
    explainer = LocalFACE(
        world.model, world.data, schema=world.schema, min_score=0.6, search=Search(n_neighbors=30)
    )
    pushed = 0
    for person in refused(world, 50):
        before = explainer.explain(person, where=world.where)
        after = explainer.explain(person, where=world.where, min_robustness=0.9)
        if not before.found:
            assert after.robustness is None
            continue
        own = explainer.robustness(before).success
        assert after.robustness.success == explainer.robustness(after).success
        assert after.robustness.success >= own
        assert (after.robustness.success >= 0.9) == (after.reason == "")
        assert after.target == before.target
        assert world.model.predict_proba(after.end)[0, 1] >= 0.6
        if own >= 0.9:
            assert (after.records == before.records).all()
            assert after.actions == before.actions
        pushed += own < 0.9 <= after.robustness.success
    assert pushed >= 3


def test_a_pushed_answer_keeps_to_the_same_ground() -> None:
    world = mixed()
    explainer = LocalFACE(
        world.model,
        world.data,
        schema=world.schema,
        min_score=0.6,
        min_density=0.3,
        search=Search(n_neighbors=30),
    )
    judge = None
    for person in refused(world, 25):
        answer = explainer.explain(person, where=world.where, min_robustness=1.0)
        judge = judge or Judge.of(explainer, world.data, answer)
        points = judge.points(answer.path)
        for start, end, one in zip(points[:-1], points[1:], answer.certificates, strict=True):
            assert one.entry or judge.lowest(start, end) >= judge.floor - 1e-6


def test_a_robust_answer_says_so_wherever_it_is_shown() -> None:
    explainer = made()
    answer = explainer.explain(PERSON, min_robustness=0.9)

    assert answer.robustness is not None
    share = f"{100 * answer.robustness.success:.0f} %"
    said = f"robust to noise: {share} of 200 small deviations from it still reach the target"
    assert said in str(answer)
    assert said in answer._repr_html_()
    assert Recourse.from_json(answer.to_json()).robustness == answer.robustness
    assert json.loads(answer.to_json())["target"]["min_score"] == 0.5
    assert "robust" not in str(explainer.explain(PERSON))


def test_where_nothing_is_robust_the_best_is_given_and_that_is_said() -> None:
    def island(frame: pd.DataFrame) -> Any:
        """Valid only within half a resolution of a dose of 5."""
        return np.where(np.abs(frame["dose"].to_numpy() - 5) < 0.05, 0.9, 0.1)

    answer = made(island).explain(PERSON, min_robustness=0.9)

    assert answer.found
    assert answer.robustness is not None
    assert answer.robustness.success < 0.9
    assert answer.reason.startswith(
        "no answer was found in which 90 % of small deviations still reach the target"
    )
    assert answer.reason in str(answer)


def test_the_row_budget_holds_for_the_whole_of_it() -> None:
    frugal = made(max_rows=60)
    first, answer = frugal.explain(PERSON), frugal.explain(PERSON, min_robustness=1.0)
    assert first.disclosure.rows <= answer.disclosure.rows <= 60
    assert answer.disclosure.model_calls > first.disclosure.model_calls


def test_a_floor_that_was_lowered_is_not_lowered_further_for_robustness() -> None:
    def far(frame: pd.DataFrame) -> Any:
        return 1 / (1 + np.exp(-8 * (frame["dose"].to_numpy() - 8)))

    gap = TABLE[(TABLE["dose"] < 2.5) | (TABLE["dose"] >= 8.0)].reset_index(drop=True)
    bridge = pd.DataFrame({"dose": np.linspace(2.5, 8, 5).round(1), "visits": 3, "site": "a"})
    loners = pd.DataFrame({"dose": [1, 2, 9, 9.5], "visits": [40, 60, 50, 70], "site": "b"})
    explainer = LocalFACE(
        far,
        pd.concat([gap, bridge, loners]),  # the bridge is less common than most, not than all
        schema=SCHEMA.with_("dose", resolution=2.0),
        min_density=0.2,
        search=Search(n_neighbors=20),
    )
    first = explainer.explain(PERSON, relax=True)
    answer = explainer.explain(PERSON, relax=True, min_robustness=1.0)
    assert first.relaxed_to is not None
    assert 0 < first.relaxed_to < 0.2
    assert explainer.robustness(first).success < 1
    assert answer.relaxed_to == first.relaxed_to
    assert all(one.holds or one.entry for one in answer.certificates)


def test_the_end_of_the_actions_is_what_is_followed() -> None:
    explainer = made()
    answer = explainer.explain(PERSON)
    end = end_record(answer)
    assert SCHEMA.values(end) == answer.end
    assert (end_record(replace(answer, actions=())) == answer.records[-1]).all()
