"""Packages by other authors: answers are read exactly, limits handed over, noise kept away."""

from __future__ import annotations

import logging
import random
import sys
import warnings
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier

from localface import Feature, Schema
from localface.errors import ModelError, install_command
from localface.evaluation.baselines import Proposal, Task
from localface.evaluation.baselines.peers import (
    PACKAGES,
    PEERS,
    DiCE,
    FATForensics,
    MLxtend,
    TreeCF,
    available,
)
from localface.evaluation.baselines.peers.adapter import CountedModel, PeerAnswer, ask_peer
from localface.evaluation.baselines.peers.allowed_values import AllowedValues

pytestmark = pytest.mark.slow

WANTED = 0.7
ORDERED = [name for name in PEERS if PEERS[name].package in ("dice-ml", "treecf", "fat-forensics")]
MIXED = [name for name in PEERS if PEERS[name].package in ("dice-ml", "fat-forensics", "cfnow")]


def made(name: str, task: Task, *, seed: int = 0) -> Any:
    package = PEERS[name].package
    if available()[package] is None:
        pytest.skip(f"{package} is not installed")
    setting = PEERS[name]
    if package == "cfnow":  # it searches for minutes otherwise
        short = {"it_max": 50, "ft_it_max": 20, "limit_seconds": 1 if setting.tuned else 120}
        setting = replace(setting, options={**setting.options, **short})
    return setting(task, seed=seed)


def installed(package: str) -> None:
    if available()[package] is None:
        pytest.skip(f"{package} is not installed")


# worlds


@cache
def forest() -> tuple[Task, pd.DataFrame]:
    """Numbers only, and a forest: what every one of them can read."""
    rng = np.random.default_rng(0)
    data = pd.DataFrame(
        {
            "age": rng.integers(20, 70, 300),
            "income": rng.normal(30, 10, 300).round(1),
            "hours": rng.integers(5, 60, 300),
        }
    )
    good = data["income"] + 0.5 * data["hours"] + rng.normal(0, 3, 300) > 48
    model = RandomForestClassifier(25, max_depth=5, random_state=0).fit(data, good)
    schema = Schema(
        [
            Feature("age", kind="integer", moves="never"),
            Feature("income", moves="up", within=25, resolution=0.1),
            Feature("hours", kind="integer", bounds=(5, 50)),
        ]
    )
    refused = data[model.predict_proba(data)[:, 1] < 0.3].drop_duplicates()
    return Task.of(model, data, schema=schema, target=True, min_score=WANTED), refused.iloc[:2]


def approval(table: pd.DataFrame) -> np.ndarray[Any, Any]:
    """Income, work and a car, by a formula that anyone can check."""
    job = table["job"].map({"none": 0.0, "part": 1.0, "full": 2.5}).to_numpy(dtype=float)
    car = (table["car"] == "yes").to_numpy(dtype=float)
    sum_ = (table["income"].to_numpy(dtype=float) - 40) / 10 + job + 0.5 * car
    return np.asarray(1 / (1 + np.exp(-sum_)))


@cache
def mixed() -> tuple[Task, dict[str, Any]]:
    """Numbers, text and a choice of two, and a model that is a function."""
    rng = np.random.default_rng(1)
    data = pd.DataFrame(
        {
            "job": rng.choice(["none", "part", "full"], 200),
            "income": rng.normal(35, 8, 200).round(1),
            "car": rng.choice(["no", "yes"], 200),
            "age": rng.integers(20, 70, 200),
        }
    )
    schema = Schema(
        [
            Feature("job", kind="categorical", categories=("none", "part", "full")),
            Feature("income", resolution=0.1),
            Feature("car", kind="binary", categories=("no", "yes")),
            Feature("age", kind="integer", moves="never"),
        ]
    )
    person = {"job": "none", "income": 33.3, "car": "no", "age": 44}
    return Task.of(approval, data, schema=schema, min_score=WANTED), person


def judged(model: RandomForestClassifier, answer: Proposal) -> float:
    """The score of an answer by the user's own model, in the user's own table."""
    return float(model.predict_proba(answer.counterfactual)[0, 1])


# answers


@pytest.mark.parametrize("name", PEERS)
def test_an_answer_reaches_the_target_by_the_users_own_model_and_anything_else_has_a_reason(
    name: str,
) -> None:
    task, people = forest()
    peer = made(name, task)

    answers = [peer.explain(people.iloc[[i]]) for i in range(len(people))]

    for answer in answers:
        if answer.found:
            assert len(answer.states) == 2
            assert judged(task.model, answer) >= WANTED
        else:
            assert answer.reason
            assert answer.counterfactual is None
    if name.startswith(("dice-random", "dice-genetic", "treecf")):
        assert all(answer.found for answer in answers)


@pytest.mark.parametrize("name", ORDERED)
def test_whoever_takes_constraints_keeps_to_them(name: str) -> None:
    task, people = forest()
    peer = made(name, task)
    person = people.iloc[0]

    answer = peer.explain(people.iloc[[0]], where={"hours": 30})

    assert answer.found or answer.reason
    age, income, hours = answer.states[-1]
    assert age == person["age"]
    assert person["income"] <= income <= person["income"] + 25
    assert abs(hours - person["hours"]) <= 30
    assert 5 <= hours <= 50
    assert hours == round(hours)


@pytest.mark.parametrize("name", PEERS)
def test_someone_already_there_takes_no_steps(name: str) -> None:
    task, _ = forest()
    peer = made(name, task)
    there = {"age": 40, "income": 60.0, "hours": 50}

    answer = peer.explain(there)

    assert answer.found
    assert len(answer.states) == 1
    assert answer.counterfactual == there


@pytest.mark.parametrize("name", MIXED)
def test_categories_come_back_as_the_text_that_they_are(name: str) -> None:
    task, person = mixed()
    peer = made(name, task)

    answer = peer.explain(person)

    assert answer.found, answer.reason
    found = answer.counterfactual
    assert found["job"] in ("none", "part", "full")
    assert found["car"] in ("no", "yes")
    assert approval(pd.DataFrame([found]))[0] >= WANTED


@pytest.mark.parametrize("name", ["dice-random", "dice-genetic", "fat-forensics"])
def test_a_category_may_be_all_that_changes(name: str) -> None:
    task, person = mixed()
    peer = made(name, task)
    near = {**person, "income": 38.0}

    answer = peer.explain(near, where={"income": "never", "car": ["no"]})

    assert answer.found, answer.reason
    assert answer.counterfactual == {**near, "job": "full"}


def test_dice_is_only_offered_the_categories_that_a_person_may_have() -> None:
    installed("dice-ml")
    task, person = mixed()

    answer = DiCE(task).explain(
        person, where={"income": "never", "car": "never", "job": ["none", "part"]}
    )

    assert not answer.found
    assert answer.reason.startswith("No counterfactuals found")


@pytest.mark.parametrize("name", ["dice-random", "fat-forensics"])
def test_nothing_to_change_is_said_and_not_taken_for_everything(name: str) -> None:
    task, person = mixed()
    peer = made(name, task)

    answer = peer.explain(person, where=dict.fromkeys(("job", "income", "car"), "never"))

    assert not answer.found
    assert answer.reason == "there is nothing that this person may change"


def test_treecf_keeps_an_order_between_features_and_reads_class_0_and_boosted_trees() -> None:
    installed("treecf")
    rng = np.random.default_rng(2)
    low = rng.normal(5, 2, 300)
    data = pd.DataFrame({"low": low, "high": low + rng.exponential(2, 300)})
    schema = Schema([Feature("low"), Feature("high")], relations=[("low", "<=", "high")])
    boosted = GradientBoostingClassifier(n_estimators=20, random_state=0).fit(
        data, data["low"] <= 6
    )
    task = Task.of(boosted, data, schema=schema, target=False, min_score=WANTED)
    person = {"low": 3.0, "high": 4.0}

    answer = TreeCF(task).explain(person)

    assert answer.found
    found = answer.counterfactual
    assert found["low"] <= found["high"]
    assert boosted.predict_proba(pd.DataFrame([found]))[0, 0] >= WANTED


def test_treecf_says_when_a_table_is_not_numbers() -> None:
    installed("treecf")
    task, _ = mixed()

    with pytest.raises(ModelError, match="plain numbers"):
        TreeCF(task)


def test_a_grid_that_would_not_fit_is_refused_before_it_is_made() -> None:
    installed("fat-forensics")
    task, people = forest()

    answer = FATForensics(task, max_candidates=100).explain(people.iloc[[0]])

    assert not answer.found
    assert "more than max_candidates=100" in answer.reason


def test_where_mlxtend_ends_below_the_target_it_has_no_answer() -> None:
    installed("mlxtend")
    task, people = forest()

    answer = MLxtend(task, desired=0.0, lammbda=1e6).explain(people.iloc[[0]])

    assert not answer.found
    assert "0.7 was wanted" in answer.reason


def test_dice_gives_up_after_so_many_calls_of_the_model() -> None:
    installed("dice-ml")
    task, people = forest()

    answer = DiCE(task, max_calls=1).explain(people.iloc[[0]])

    assert not answer.found
    assert answer.reason == "still searching after 1 calls of the model"


def test_what_is_no_answer_but_a_failure_is_not_hidden() -> None:
    installed("dice-ml")
    task, person = mixed()
    peer = DiCE(task, sample_size=-1)

    with pytest.raises(ValueError, match="negative"):
        peer.explain(person)


# reading


@pytest.mark.parametrize(
    ("codes", "reason"),
    [
        ([3.0, 40.0, 0.0, 44.0], "it proposes the place 3 for 'job', whose places are 0 to 2"),
        ([0.0, np.nan, 0.0, 44.0], "it proposes nan for 'income', which is no number"),
    ],
)
def test_a_value_that_does_not_exist_is_a_reason_and_no_crash(
    codes: list[float], reason: str
) -> None:
    task, person = mixed()

    answer = ask_peer(task, person, None, lambda query: PeerAnswer(np.array(codes)))

    assert not answer.found
    assert answer.reason == reason


def test_a_whole_number_is_read_as_the_nearest_one_as_the_model_was_asked() -> None:
    task, person = mixed()

    answer = ask_peer(
        task, person, None, lambda query: PeerAnswer(np.array([1.6, 40.25, 1.0, 43.7]), 2.5)
    )

    assert answer.counterfactual == {"job": "full", "income": 40.25, "car": "yes", "age": 44}
    assert answer.cost == 2.5


def test_the_limits_are_the_box_within_the_data_and_leave_out_what_may_not_change() -> None:
    task, _ = forest()
    query = task.read_query({"age": 40, "income": 20.05, "hours": 10}, {"hours": (7.5, 20)})

    allowed = AllowedValues.of(task, query)

    assert allowed.features_to_vary == [1, 2]
    assert allowed.ranges[1] == (20.05, 45.05)
    assert allowed.ranges[2] == (8.0, 20.0)


# the model as it is called


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20), st.floats(0.05, 0.95))
def test_the_remapped_class_is_exactly_whether_the_target_is_reached(
    scores: list[float], wanted: float
) -> None:
    near = [wanted, float(np.nextafter(wanted, 0)), float(np.nextafter(wanted, 1))]
    given_ = np.array([*scores, *near])
    task = Task.of(
        lambda table: table[:, 0],
        np.column_stack([given_, np.arange(len(given_))]),
        min_score=wanted,
    )
    records = np.column_stack([np.sort(given_), np.zeros(len(given_))])

    model = CountedModel(task)
    likely = model.predict_proba(records)[:, 1]

    reaches_target = task.scorer(records) >= wanted
    assert ((likely > 0.5) == reaches_target).all()
    assert (model.predict_proba(records).argmax(axis=1) == reaches_target).all()
    assert (model.predict(records) == reaches_target).all()
    assert (np.diff(likely) >= 0).all()
    assert likely.min() >= 0
    assert likely.max() <= 1
    assert model.target_threshold == 0.5


def test_without_the_remap_the_probability_is_the_models_own() -> None:
    task, people = forest()

    model = CountedModel(task, remap=False)

    own = task.model.predict_proba(people)
    np.testing.assert_allclose(model.predict_proba(people), own, atol=1e-9)
    assert model.target_threshold == WANTED


def test_scores_that_are_no_probabilities_need_the_remap() -> None:
    data = np.linspace(-3, 3, 20)[:, None]
    task = Task.of(lambda table: 2 + table[:, 0] ** 2, data, min_score=4.0)

    assert CountedModel(task).predict_proba(np.array([[3.0]]))[0, 1] > 0.5
    with pytest.raises(ModelError, match="no probabilities"):
        CountedModel(task, remap=False)


def test_tables_and_arrays_and_text_are_read_alike_and_counted() -> None:
    task, _ = mixed()
    model = CountedModel(task)
    codes = np.array([[2.0, 41.5, 1.0, 50.0], [0.0, 30.0, 0.0, 20.0]])
    table = pd.DataFrame(
        {"age": [50, 20], "car": ["1", "0"], "income": [41.5, 30.0], "job": ["2", "0"]}
    )
    calls = task.calls.calls
    records = task.calls.records

    by_array = model.predict(codes)
    by_table = model.predict(table)
    one = model.predict(codes[0])

    assert by_array.tolist() == by_table.tolist() == [1, 0]
    assert one.tolist() == [1]
    assert (task.calls.calls - calls, task.calls.records - records) == (3, 5)


def test_treecf_reads_the_trees_and_calls_the_model_only_to_see_who_is_there() -> None:
    installed("treecf")
    task, people = forest()
    peer = TreeCF(task)
    before = task.calls.calls

    peer.explain(people.iloc[[0]])

    assert task.calls.calls - before == 1


# manners


@pytest.mark.parametrize("name", [name for name in PEERS if not PEERS[name].tuned])
def test_a_peer_leaves_the_world_as_it_was_and_says_the_same_again(
    name: str, capfd: pytest.CaptureFixture[str]
) -> None:
    task, people = forest()
    np.random.seed(5)  # noqa: NPY002  # whoever relies on the global generator must not notice
    random.seed(5)
    state = np.random.get_state()[1].tolist()  # noqa: NPY002
    own = random.getstate()
    filters = list(warnings.filters)
    handlers = list(logging.getLogger().handlers)

    peer = made(name, task, seed=3)
    first, again = (peer.explain(people.iloc[[1]]) for _ in range(2))

    assert np.random.get_state()[1].tolist() == state  # noqa: NPY002
    assert random.getstate() == own
    assert list(warnings.filters) == filters
    assert logging.getLogger().handlers == handlers
    assert capfd.readouterr() == ("", "")
    np.testing.assert_array_equal(first.states, again.states)


# the list of them


@pytest.mark.parametrize("name", PEERS)
def test_a_missing_package_says_what_to_install(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    task, _ = forest()
    package = PEERS[name].package
    module = PACKAGES[PEERS[name].package]
    for loaded in [one for one in sys.modules if one.partition(".")[0] == module]:
        monkeypatch.delitem(sys.modules, loaded)
    monkeypatch.setitem(sys.modules, module, None)

    with pytest.raises(ModuleNotFoundError, match=package) as caught:
        PEERS[name](task)

    assert install_command("peers") in str(caught.value)
    assert available()[package] is None


def test_every_package_has_a_default_and_a_tuned_setting() -> None:
    assert set(available()) == set(PACKAGES)
    for package in PACKAGES:
        tuned = [setting.tuned for setting in PEERS.values() if setting.package == package]
        assert set(tuned) == {False, True}
    assert all(name.endswith("-tuned") == setting.tuned for name, setting in PEERS.items())
