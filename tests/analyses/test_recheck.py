"""Promises under another model: verdicts are those of fresh calls, and repairs never cost more."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from localface import Ask, Feature, LocalFACE, Promises, Schema, Search
from localface.analyses.promises.measuring import PromisedGround, _is_on_ground
from localface.analyses.promises.report import Recheck
from localface.analyses.promises.standing import FeatureProgress, _states_left, stand_of
from localface.analyses.promises.verdict import PromiseStatus, WayOn
from localface.errors import DataError, InputError
from worlds import WORLDS, make_explainer, mixed_table

pytestmark = pytest.mark.slow

PEOPLE = 14


class Stricter:
    """The model, with scores that are so many log-odds lower; a tenth of that higher for some."""

    def __init__(self, model: Any, by: float) -> None:
        self.model = model
        self.by = by
        self.classes_ = model.classes_

    def predict_proba(self, frame: Any) -> Any:
        odds = np.log(self.model.predict_proba(frame).clip(1e-9, 1 - 1e-9))
        lower = np.where(frame["married"].to_numpy(dtype=bool), self.by, -self.by / 10)
        good = 1 / (1 + np.exp(odds[:, 0] - odds[:, 1] + lower))
        return np.stack([1 - good, good], axis=1)


@cache
def explainer(by: float = 0.0, rows: int | None = None) -> LocalFACE:
    world = WORLDS["mixed"]()
    model = Stricter(world.model, by)
    data = world.data if rows is None else mixed_table(rows, seed=9)
    return make_explainer(model, data, schema=world.schema, n_neighbors=15)


@cache
def people() -> pd.DataFrame:
    found = WORLDS["mixed"]().people.iloc[:30].reset_index(drop=True)
    answers = explainer().explain_many(found, progress=False)
    return found[np.array(answers.found)].iloc[:PEOPLE].reset_index(drop=True)


@pytest.fixture(scope="module")
def promises(tmp_path_factory: pytest.TempPathFactory) -> Promises:
    kept = Promises.open(tmp_path_factory.mktemp("kept"))
    for number, answer in enumerate(explainer().explain_many(people(), progress=False)):
        explainer().promise(answer, to=kept, person=f"p{number}")
    return kept


def rechecked(promises: Any, by: float = 0.0, progress: Any = None, **options: Any) -> Recheck:
    return explainer(by).recheck(promises, progress, show_progress=False, **options)


def part_of_the_way(promises: Promises, share: float) -> dict[str, dict[str, Any]]:
    """Everybody has come a share of their way in the first feature of their plan."""
    found = {}
    for one in promises:
        standing = stand_of(one, one.recourse.schema)
        first = standing.progress[0]
        code = first.promised
        if not first.feature.discrete:
            code = first.before + share * (first.promised - first.before)
        found[str(one.person)] = {first.feature.name: first.feature.value(code)}
    return found


def test_under_the_same_model_and_data_every_promise_holds(promises: Promises) -> None:
    found = rechecked(promises)

    assert {one.status for one in found} == {PromiseStatus.HOLDS}
    assert all(one.changed == {"model": False, "data": False, "schema": False} for one in found)
    assert found.summary() == [f"the model of today breaks none of {PEOPLE} open promises"]
    for one in found:
        assert one.measured is not None
        assert one.measured.cost == pytest.approx(one.promise.recourse.effort, rel=1e-9)
        assert one.measured.score == one.promise.recourse.actions[-1].score
        assert one.way is WayOn.FINISH


def test_verdicts_are_those_of_fresh_calls(promises: Promises) -> None:
    found = rechecked(promises, 0.2)

    assert {PromiseStatus.HOLDS, PromiseStatus.BROKEN} <= {one.status for one in found}
    for one in found:
        assert one.measured is not None
        score = explainer(0.2).score(one.promise.recourse.end)
        assert one.measured.score == one.measured.score_promised == score
        assert one.valid == (score >= 0.5)
        check = explainer(0.2).check(people().iloc[int(one.promise.person[1:])], one_wish(one))
        assert one.measured.density == check.densities[1]


def one_wish(one: Any) -> dict[str, Any]:
    schema = one.promise.recourse.schema
    followed = one.promise.recourse.with_actions_as_path().records[-1]
    return schema.values(followed)


def test_the_repair_is_the_answer_of_today(promises: Promises) -> None:
    found = rechecked(promises, 0.2)

    for one in found.broken[:4]:
        number = int(str(one.promise.person)[1:])
        fresh = explainer(0.2).explain(people().iloc[number])
        assert one.fresh is not None
        assert one.fresh.records.tobytes() == fresh.records.tobytes()
        assert [dict(a.changes) for a in one.fresh.actions] == [
            dict(a.changes) for a in fresh.actions
        ]
    assert all(one.fresh is None for one in found if one.status is PromiseStatus.HOLDS)


@pytest.mark.parametrize("by", [0.0, 0.2, 1.0])
@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_a_repair_never_costs_more_than_starting_again_or_finishing(
    promises: Promises, by: float, share: float
) -> None:
    found = rechecked(promises, by, part_of_the_way(promises, share), repairs="all")

    for one in found:
        if one.status is PromiseStatus.ARRIVED:
            assert one.cost == 0
            continue
        assert one.fresh is not None
        assert one.measured is not None
        if one.fresh.found:
            assert one.cost is not None
            assert one.cost <= one.fresh.effort
        if one.status is PromiseStatus.HOLDS:
            assert one.cost is not None
            assert one.cost <= one.measured.cost
            assert one.measured.cost <= one.promise.recourse.effort + 1e-9


def test_the_threshold_that_would_keep_all_keeps_all_and_no_less(promises: Promises) -> None:
    found = rechecked(promises, 0.4)
    (keeping,) = found.thresholds

    lowest = keeping.keeping()

    scores = [explainer(0.4).score(one.promise.recourse.end) for one in found.broken]
    assert len(scores) == len(keeping.scores)
    assert all(score >= lowest for score in scores)
    assert min(scores) - lowest <= 0.05 * min(scores)
    assert keeping.kept_by(keeping.keeping(0.5)) >= len(scores) / 2
    assert f"from 0.5 to {lowest:g} would keep all {len(scores)}" in str(found)


def test_what_is_done_is_told_and_only_the_rest_is_left(promises: Promises) -> None:
    half = rechecked(promises, 0.0, part_of_the_way(promises, 0.5))

    for one in half:
        first = one.progress[0]
        assert first.share == pytest.approx(1.0 if first.feature.discrete else 0.5)
        if one.status is PromiseStatus.HOLDS:
            assert {change.name for change in one.left} <= {p.feature.name for p in one.progress}
            assert first.feature.discrete == (
                first.feature.name not in {change.name for change in one.left}
            )


def test_who_has_done_everything_has_arrived(promises: Promises) -> None:
    ends = {str(one.person): one_wish_of(one) for one in promises}

    found = rechecked(promises, 0.0, ends)

    assert {one.status for one in found} == {PromiseStatus.ARRIVED}
    assert all(one.done == 1.0 and one.way is WayOn.NOTHING for one in found)
    assert f"{PEOPLE} people have arrived: the model accepts them as they are now" in str(found)


def one_wish_of(promise: Any) -> dict[str, Any]:
    recourse = promise.recourse
    return recourse.schema.values(recourse.with_actions_as_path().records[-1])


def test_a_change_beside_the_plan_that_breaks_it_is_told_apart(promises: Promises) -> None:
    news = {str(one.person): {"income": 9_000.0} for one in promises}

    found = rechecked(promises, 0.0, news)

    drifted = [one for one in found.broken if one.valid_as_promised]
    assert drifted
    assert f"{len(drifted)} of these would hold as they were promised" in str(found)


def test_a_table_of_progress_may_have_any_of_the_features(promises: Promises) -> None:
    table = people()[["debt"]].assign(who=[f"p{n}" for n in range(PEOPLE)])
    table.loc[3, "debt"] = np.nan  # nothing new of them
    table.loc[len(table)] = {"debt": 1.0, "who": "nobody"}

    found = rechecked(promises, 0.0, table, id_column="who")

    assert {one.status for one in found} == {PromiseStatus.HOLDS}
    assert all(one.has_progress for one in found)
    assert found.strangers == 1
    assert "1 row of the progress: nobody with a promise" in str(found)


@pytest.mark.parametrize(
    ("progress", "said"),
    [
        (pd.DataFrame({"persn": ["p1"], "debt": [1.0]}), r"no column 'person' \(did you mean"),
        (pd.DataFrame({"person": ["q"], "debt": [1.0]}), "none of the 1 people of the progress"),
        ({"p1": np.zeros(7)}, "the progress of 'p1' is a ndarray: give a dict or a Series"),
        (pd.DataFrame({"person": ["p1", "p1"], "debt": [1.0, 2.0]}), "several rows of 'p1'"),
    ],
)
def test_progress_that_cannot_be_used_is_refused(
    promises: Promises, progress: Any, said: str
) -> None:
    with pytest.raises(DataError, match=said):
        rechecked(promises, 0.0, progress)


def test_one_record_that_cannot_be_read_does_not_keep_the_others(promises: Promises) -> None:
    found = rechecked(promises, 0.0, {"p2": {"home": "boat"}, "p3": {}})

    assert found[2].status is PromiseStatus.NOT_RECHECKED
    assert "boat" in found[2].reason
    assert "1 could not be rechecked, the first because" in str(found)
    assert sum(one.status is PromiseStatus.HOLDS for one in found) == PEOPLE - 1


def test_the_ground_is_that_of_the_new_data(promises: Promises) -> None:
    world = WORLDS["mixed"]()
    rich = world.data[world.data["income"] > world.data["income"].quantile(0.6)]
    other = make_explainer(world.model, rich, schema=world.schema, n_neighbors=15)

    found = other.recheck(promises, show_progress=False)

    off = [one for one in found if one.status is PromiseStatus.OFF_GROUND]
    assert off
    assert all(one.valid and not one.on_ground and one.fresh is not None for one in off)
    assert all(one.changed["data"] for one in found)
    assert f"{len(off)} still end at the target" in str(found)


def test_a_promise_whose_target_nobody_said_is_rechecked_for_the_explainers_own(
    promises: Promises, tmp_path: Path
) -> None:
    world = WORLDS["mixed"]()
    options = {"schema": world.schema, "n_neighbors": 15}
    other = make_explainer(Stricter(world.model, 0.0), world.data, target=0, **options)
    unsaid = Promises.open(tmp_path).add(promises[0].recourse)

    said, refused = other.recheck([promises[0], unsaid], show_progress=False)

    assert said.status is PromiseStatus.HOLDS
    assert refused.status is PromiseStatus.NOT_RECHECKED
    assert refused.reason.startswith("it is for class 1, score at least 0.5, and the explainer for")


def test_a_promise_for_another_target_of_the_call_is_rechecked_for_it(tmp_path: Path) -> None:
    world = WORLDS["mixed"]()
    accepted = world.data[world.model.predict_proba(world.data)[:, 1] > 0.6].iloc[:3]
    for n, answer in enumerate(explainer().explain_many(accepted, target=0, progress=False)):
        explainer().promise(answer, to=tmp_path, person=n, target=0)

    found = rechecked(tmp_path)

    assert [one.status for one in found] == [PromiseStatus.HOLDS] * 3
    assert [one.promise.target for one in found] == [0] * 3


def test_promises_at_other_scores_and_floors_are_held_to_their_own(tmp_path: Path) -> None:
    for min_score, min_density in ((0.6, 0.05), (0.5, 0.2), (0.9, 0.001)):
        answers = explainer().explain_many(
            people().iloc[:8], min_score=min_score, min_density=min_density, progress=False
        )
        for n, answer in enumerate(answers):
            if answer.found:
                explainer().promise(answer, to=tmp_path, person=f"{n} at {min_score}")

    found = rechecked(tmp_path)

    assert len(found) > 8
    assert {one.status for one in found} == {PromiseStatus.HOLDS}
    assert {one.promise.recourse.target.min_score for one in found} == {0.5, 0.6, 0.9}
    assert any(one.measured is not None and one.measured.lowest < 0.05 for one in found)


def test_a_lowered_floor_is_the_floor_of_the_promise(tmp_path: Path) -> None:
    given = 0
    for n in range(6):
        answer = explainer().explain(
            people().iloc[n], relax=True, min_density=0.9, where={"income": "never"}
        )
        if answer.found and answer.relaxed_to is not None:
            ask = Ask(relax=True, where={"income": "never"})
            explainer().promise(answer, to=tmp_path, person=n, ask=ask)
            given += 1

    found = rechecked(tmp_path)

    assert given > 2
    assert {one.status for one in found} == {PromiseStatus.HOLDS}


def test_a_repair_keeps_to_what_was_asked(tmp_path: Path) -> None:
    ask = Ask(avoid=["debt"])
    for n, answer in enumerate(
        explainer().explain_many(people().iloc[:12], avoid=["debt"], progress=False)
    ):
        if answer.found:
            explainer().promise(answer, to=tmp_path, person=n, ask=ask)

    found = rechecked(tmp_path, 0.5)

    repaired = [one.repair for one in found if one.repair is not None]
    assert repaired
    assert all("debt" not in action.changes for one in repaired for action in one.actions)


def test_a_robust_promise_is_repaired_robustly(tmp_path: Path) -> None:
    ask = Ask(min_robustness=0.95)
    married = people()[people()["married"]].iloc[0]
    answer = explainer().explain(married, min_robustness=0.95)
    explainer().promise(answer, to=tmp_path, ask=ask)

    (found,) = rechecked(tmp_path, 1.5)

    assert found.status is PromiseStatus.BROKEN
    assert found.repair is not None
    assert found.repair.robustness is not None


def test_categories_in_another_order_mean_the_same(promises: Promises) -> None:
    world = WORLDS["mixed"]()
    schema = explainer().schema
    home = schema["home"]
    assert home.categories is not None
    turned = schema.with_("home", categories=tuple(reversed(home.categories)))
    other = make_explainer(Stricter(world.model, 0.0), world.data, schema=turned, n_neighbors=15)

    found = other.recheck(promises, show_progress=False)

    assert all(one.valid for one in found)
    assert all(one.changed["schema"] for one in found)


def test_a_schema_without_a_feature_of_the_promise_says_so(promises: Promises) -> None:
    world = WORLDS["mixed"]()
    other = LocalFACE(
        lambda frame: np.full(len(frame), 0.3),
        world.data[["income", "debt"]],
        search=Search(n_neighbors=15),
    )

    found = other.recheck(promises, show_progress=False)

    assert {one.status for one in found} == {PromiseStatus.NOT_RECHECKED}
    assert "which is no feature" in found[0].reason


def test_ctrl_c_keeps_the_verdicts_and_says_what_is_not_done(
    promises: Promises, monkeypatch: pytest.MonkeyPatch
) -> None:
    from localface.engine import sharing

    def stopped(*_: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(sharing.SharedWork, "answer", stopped)
    with pytest.warns(UserWarning, match="stopped after 0 of"):
        found = rechecked(promises, 0.4)

    assert found.unfinished == len(found.broken) > 0
    assert f"stopped: for {found.unfinished} no new plan was looked for yet" in str(found)
    assert {one.way for one in found.broken} == {WayOn.NOT_SOUGHT}


def test_all_ends_are_scored_in_one_model_call(promises: Promises) -> None:
    world = WORLDS["mixed"]()
    calls: list[int] = []

    class Counted(Stricter):
        def predict_proba(self, frame: Any) -> Any:
            calls.append(len(frame))
            return super().predict_proba(frame)

    counted = make_explainer(
        Counted(world.model, 0.3), world.data, schema=world.schema, n_neighbors=15
    )
    assert counted.fingerprint.model
    calls.clear()

    counted.recheck(promises, repairs="none", show_progress=False)

    assert len(calls) == 1


def test_it_becomes_a_table_and_json_without_a_word_of_advice(promises: Promises) -> None:
    found = rechecked(promises, 0.4, part_of_the_way(promises, 0.5))

    frame = found.to_frame()
    plain = json.loads(found.to_json())

    assert list(frame["status"]) == [one.status.name for one in found]
    assert frame["person"][3] == "p3"
    assert plain["format"] == "localface/recheck"
    assert plain["counts"]["BROKEN"] == len(found.broken)
    assert plain["promises"][0]["sentence"] == found[0].status.value
    assert [one["valid"] for one in plain["promises"]] == [one.valid for one in found]
    assert "should" not in found.to_json()
    assert "you" not in " ".join(found.summary()).split()
    assert "Recheck of 14 promises" in found._repr_html_()
    assert all(one.status.value in str(one) for one in found)


def test_mistaken_options_are_refused(promises: Promises) -> None:
    with pytest.raises(InputError, match="repairs='every'"):
        rechecked(promises, repairs="every")
    with pytest.raises(InputError, match="max_seconds"):
        rechecked(promises, max_seconds=-1)


# one person, step by step


def plan_of_two(folder: Path) -> tuple[Any, Schema]:
    """Somebody who has to earn more, and then to move."""
    rng = np.random.default_rng(0)
    data = pd.DataFrame(
        {"earns": rng.normal(10, 3, 400).round(1), "home": rng.choice(["rent", "own"], 400)}
    )

    def score(frame: pd.DataFrame) -> Any:
        own = (frame["home"] == "own").to_numpy() * 2.0
        return 1 / (1 + np.exp(15 - frame["earns"].to_numpy() - own))

    explainer = LocalFACE(score, data, search=Search(n_neighbors=15))
    answer = explainer.explain({"earns": 8.0, "home": "rent"}, where={"earns": (None, 13.5)})
    assert {name for action in answer.actions for name in action.changes} == {"earns", "home"}
    return explainer.promise(answer, to=folder, person="a"), explainer.schema


def test_who_goes_further_than_promised_has_done_it(tmp_path: Path) -> None:
    promise, schema = plan_of_two(tmp_path)

    standing = stand_of(promise, schema, {"earns": 18.0})

    (earns,) = [one for one in standing.progress if one.feature.name == "earns"]
    assert earns.is_done
    assert standing.finish[schema.index("earns")] == 18.0
    assert schema["home"].value(standing.finish[schema.index("home")]) == "own"
    assert len(standing.left) == 2


def test_who_goes_the_wrong_way_has_all_of_it_left(tmp_path: Path) -> None:
    promise, schema = plan_of_two(tmp_path)

    standing = stand_of(promise, schema, {"earns": 6.0})

    (earns,) = [one for one in standing.progress if one.feature.name == "earns"]
    assert earns.share == 0.0
    assert standing.current[schema.index("earns")] == 6.0
    assert standing.finish[schema.index("earns")] == earns.promised


def test_who_is_past_a_stop_on_the_way_is_not_sent_back_to_it() -> None:
    stops = np.array([[8.0, 0.0], [10.0, 0.0], [13.0, 0.0]])

    left = _states_left(stops, np.array([11.0, 2.0]), [0], moved=True)

    assert left.tolist() == [[11.0, 2.0], [13.0, 2.0]]


def test_progress_says_in_words_how_far_it_is() -> None:
    debt = Feature("debt", label="what is owed")

    assert str(FeatureProgress(debt, 100.0, 50.0, 75.0)) == (
        "what is owed 100 -> 50: 50 % done, now 75"
    )
    assert str(FeatureProgress(debt, 100.0, 50.0, 40.0)) == (
        "what is owed 100 -> 50: done (now 40)"
    )


# the ground


@pytest.mark.parametrize("name", ["moons", "blobs", "ward"])
def test_in_every_world_what_was_just_promised_holds(name: str, tmp_path: Path) -> None:
    world = WORLDS[name]()
    own = make_explainer(
        world.model,
        world.data,
        schema=world.schema,
        n_neighbors=world.n_neighbors,
        min_score=world.min_score,
    )
    answers = own.explain_many(world.people[:12], where=world.where, progress=False)
    for number, answer in enumerate(answers):
        if answer.found:
            own.promise(answer, to=tmp_path, person=number, ask=Ask(where=world.where))

    found = own.recheck(tmp_path, show_progress=False)

    assert len(found) > 3
    assert {one.status for one in found} == {PromiseStatus.HOLDS}


def on_ground(at: list[float], along: list[float], lowest: float = 1.0) -> bool:
    """Whether states and steps, in nats above the floor, are on common ground."""
    engine = explainer().engine
    floor = engine.log_floor
    ground = PromisedGround(lowest, None)
    return _is_on_ground(engine, np.array(at) + floor, np.array(along) + floor, ground)


def test_who_is_below_the_floor_may_come_above_it_in_several_steps() -> None:
    assert on_ground([-1.0, -0.5, 1.0], [-1.0, -0.5])
    assert not on_ground([-1.0, -0.5, -0.1], [-1.0, -0.5])  # never above
    assert not on_ground([-1.0, -0.5, 1.0], [-2.0, -0.5])  # less common than they are themselves
    assert on_ground([-1.0, -0.5, 1.0], [-2.0, -0.5], lowest=0.0)  # as was promised
    assert not on_ground([-1.0, 0.5, 1.0], [-1.0, -0.5], lowest=0.0)  # below again


def test_who_is_above_the_floor_stays_there() -> None:
    assert on_ground([1.0, 2.0], [0.0])
    assert on_ground([1.0], [])
    assert not on_ground([1.0, 2.0], [-0.1])
    assert not on_ground([1.0, -0.1], [-0.1])
