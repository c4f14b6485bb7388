"""Many people at once get the answers that each gets alone; failures stay with their person."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import worlds
from localface import Feature, LocalFACE, Schema, Search
from localface.cases.readiness import synthetic
from localface.engine.driver import Driver
from localface.engine.score_cache import ScoreCache
from localface.errors import ConstraintError, DataError, InputError, ModelError
from same import assert_same
from worlds import World, make_explainer

pytestmark = pytest.mark.slow

Array = np.ndarray[Any, Any]
# worlds with few people in each, among them some on uncommon ground and some far off


@cache
def readiness() -> World:
    cohort = synthetic(seed=0, sizes={"mimic": 1500, "gicu": 60})
    data = cohort.frame()
    model = RandomForestClassifier(30, max_depth=8, random_state=0).fit(data, cohort.ready)
    refused = data[(model.predict_proba(data)[:, 1] < 0.6) & (cohort.source == "gicu")].reset_index(
        drop=True
    )
    where = {"sex": "never", "fio2": 0.5}
    return World(
        "readiness", data, model, refused, cohort.schema, where, n_neighbors=50, min_score=0.6
    )


@cache
def moons() -> World:
    """One row in four, so that a search is short."""
    return replace(worlds.moons(), data=worlds.moons().data[::6])


WORLDS: dict[str, Callable[[], World]] = {**worlds.WORLDS, "moons": moons, "readiness": readiness}
SETTINGS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "strict": ({}, {}),
    "relaxed": ({"min_density": 0.25, "n_neighbors": 8}, {"relax": True}),
    "average": ({"edges": "average"}, {}),
    "cover": ({"edges": "cover"}, {}),
    "momentum": ({"momentum_steps": 3}, {"max_changes": 2}),
    "safest": ({"cost": "safest", "n_neighbors": 4}, {"actions": False}),
    "budget": ({"max_rows": 60}, {}),
}


def made(world: World, **options: Any) -> LocalFACE:
    usual = {"n_neighbors": world.n_neighbors, "min_score": world.min_score}
    return make_explainer(world.model, world.data, schema=world.schema, **{**usual, **options})


def some_of(world: World, n: int = 9) -> list[Any]:
    """Some people of a world, and one or two of them moved to where hardly anyone is."""
    if isinstance(world.people, np.ndarray):
        far = world.people[:2] + np.array([[0.0, 1.5], [-40.0, 0.0]])[:, : world.people.shape[1]]
        return [*world.people[:n], *far]
    people = [row for _, row in world.people.head(n).iterrows()]
    name = next(f.name for f in Schema.infer(world.data) if f.kind == "numeric")
    spread = float(world.data[name].std())
    return [*people, _moved(people[0], name, 4 * spread)]


def _moved(person: Any, name: str, by: float) -> Any:
    moved = person.copy()
    moved[name] = float(moved[name]) + by
    return moved


def whole(explainer: LocalFACE, people: Sequence[Any], world: World, **wishes: Any) -> Any:
    return explainer.explain_many(list(people), where=world.where, progress=False, **wishes)


# the same answers


CASES = [(name, "strict") for name in WORLDS]
CASES += [
    (name, setting)
    for name in ("circles", "mixed")
    for setting in ("average", "cover", "momentum", "budget")
]
CASES += [("mixed", "relaxed"), ("blobs", "safest")]


@pytest.mark.parametrize(("name", "setting"), CASES)
def test_alone_or_together_in_any_order_and_any_width_the_answer_is_the_same(
    name: str, setting: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    world, (options, wishes) = WORLDS[name](), SETTINGS[setting]
    people = some_of(
        world,
        {"average": 5, "cover": 5, "safest": 2, "relaxed": 3}.get(
            setting, 4 if name == "moons" else 9
        ),
    )
    explainer = made(world, **options)
    together = whole(explainer, people, world, **wishes)
    assert any(answer.found for answer in together)
    for width in (1, 3, 64):
        monkeypatch.setattr("localface.engine.driver._WIDTH", width)
        order = np.random.default_rng(width).permutation(len(people))
        for place, answer in zip(
            order, whole(explainer, [people[i] for i in order], world, **wishes), strict=True
        ):
            assert_same(answer, together[int(place)])
    for person, answer in list(zip(people, together, strict=True))[-4:]:
        alone = made(world, **options) if name == "circles" else explainer
        assert_same(alone.explain(person, where=world.where, **wishes), answer)


@pytest.mark.parametrize("name", WORLDS)
def test_prescored_or_not_the_path_and_the_actions_are_the_same(name: str) -> None:
    world = WORLDS[name]()
    people = some_of(world)
    lazy = whole(made(world), people, world)
    scored = whole(made(world).prescore(), people, world)
    for one, other in zip(lazy, scored, strict=True):
        assert_same(one, other, rows=False)
        assert other.disclosure.rows <= one.disclosure.rows


def test_someone_far_off_gets_the_same_answer_alone_and_among_others() -> None:
    world = WORLDS["circles"]()
    explainer = made(world)
    far = [np.array([scale, -scale / 3]) for scale in (30.0, 1e3, 1e4, 1e6)]
    people = [*world.people[:6], *far, *world.people[6:12]]
    for wishes in ({}, {"relax": True}):
        together = whole(explainer, people, world, **wishes)
        for place in range(6, 10):
            assert_same(explainer.explain(people[place], **wishes), together[place])


def test_a_person_who_is_a_row_and_one_who_comes_twice_are_answered_alike() -> None:
    world = WORLDS["blobs"]()
    explainer = made(world)
    refused = world.data[world.model.predict_proba(world.data)[:, 1] < 0.5][:5]
    together = whole(explainer, [*refused, *refused], world)
    for one, other in zip(together[:5], together[5:], strict=True):
        assert_same(one, other)
    assert_same(explainer.explain(refused[2]), together[2])


# model calls


class Counting:
    """A model that counts its calls."""

    def __init__(self, model: Any) -> None:
        self.model, self.calls, self.records = model, 0, 0

    def __call__(self, table: Any) -> Any:
        self.calls += 1
        self.records += len(table)
        return self.model.predict_proba(table)[:, 1]


def counted(world: World) -> tuple[LocalFACE, Counting]:
    model = Counting(world.model)
    usual = {"n_neighbors": world.n_neighbors, "min_score": world.min_score}
    return make_explainer(model, world.data, schema=world.schema, **usual), model


@pytest.mark.parametrize(
    ("name", "where"), [("circles", None), ("blobs", {"x1": 0.05}), ("ward", {"v2": 0.2})]
)
def test_a_round_calls_the_model_at_most_once(
    name: str, where: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = WORLDS[name]()
    explainer, model = counted(world)
    rounds = list[int]()
    answers = Driver._answer_round

    def watched(driver: Driver, asked: Any, *, apart: bool) -> Any:
        before = model.calls
        found = answers(driver, asked, apart=apart)
        rounds.append(model.calls - before)
        return found

    monkeypatch.setattr(Driver, "_answer_round", watched)
    explainer.explain_many(world.people[:25], where=where, progress=False)
    assert sum(rounds) == model.calls > 2
    assert max(rounds) == 1


def test_a_row_is_scored_once_however_many_people_look_at_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = WORLDS["circles"]()
    explainer, _ = counted(world)
    scored, learn = list[int](), ScoreCache.score_rows_and_states

    def watched(scores: ScoreCache, rows: Any, states: Any = ()) -> Any:
        scored.extend(rows.tolist())
        return learn(scores, rows, states)

    monkeypatch.setattr(ScoreCache, "score_rows_and_states", watched)
    answers = explainer.explain_many(world.people[:60], progress=False)
    assert len(scored) == len(set(scored)) > 100
    assert sum(answer.disclosure.rows for answer in answers) > 2 * len(scored)


def test_with_rows_prescored_a_path_takes_one_call_for_everyone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = WORLDS["circles"]()
    explainer, model = counted(world)
    explainer.prescore()
    assert (model.calls, model.records) == (1, len(np.unique(world.data, axis=0)))
    explainer.explain_many(world.people[:60], actions=False, progress=False)
    assert (model.calls, model.records) == (2, len(np.unique(world.data, axis=0)) + 60)


# failures


def blob_model(table: Any) -> Any:
    return WORLDS["blobs"]().model.predict_proba(np.asarray(table))[:, 1]


def failing(how: str, limit: float) -> Callable[[Any], Any]:
    """A model that fails on people with x1 beyond a limit: it raises, or gives NaN for them."""

    def model(table: Any) -> Any:
        bad = np.asarray(table)[:, 1] < limit
        if how == "raises" and bad.any():
            raise RuntimeError("a value it was not fitted on")
        return np.where(bad, np.nan, blob_model(table))

    return model


@pytest.mark.parametrize("how", ["raises", "gives NaN"])
@pytest.mark.parametrize("width", [1, 3, 64])
def test_whoever_the_model_fails_on_is_named_and_the_others_get_their_own_answers(
    how: str, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = WORLDS["blobs"]()
    monkeypatch.setattr("localface.engine.driver._WIDTH", width)
    people = np.array(world.people[:12])
    people[[0, 4, 11], 1] = -8.0  # nobody in the data is there
    explainer = LocalFACE(failing(how, -6.0), world.data, search=Search(n_neighbors=15))
    answers = explainer.explain_many(people, progress=False, on_error="record")
    assert sorted(answers.errors) == [0, 4, 11]
    assert all(isinstance(error, ModelError) for error in answers.errors.values())
    assert answers.numbers == (1, 2, 3, 5, 6, 7, 8, 9, 10)
    assert answers.unfinished == 0
    assert "3 could not be answered" in repr(answers)
    alone = LocalFACE(blob_model, world.data, search=Search(n_neighbors=15))
    for one, other in zip(
        answers, alone.explain_many(people[list(answers.numbers)], progress=False), strict=True
    ):
        assert_same(one, other)


def test_unreadable_records_contradictions_and_failures_are_recorded_by_number() -> None:
    schema = Schema([Feature("a"), Feature("b", moves="up")])
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.normal(size=(300, 2)).round(3), columns=["a", "b"])

    def model(table: Any) -> Any:
        if (table["b"] == 0.125).any():
            raise ValueError("no")
        return 1 / (1 + np.exp(-2 * table["a"].to_numpy()))

    explainer = LocalFACE(model, data, schema=schema, search=Search(n_neighbors=15))
    fine = [{"a": -0.5, "b": 0.0}, {"a": -0.6, "b": -0.5}]
    people = [
        {"a": np.nan, "b": 0.0},
        fine[0],
        {"a": -0.3},
        {"a": -0.5, "b": 0.125},
        {"a": 1e12, "b": 0.0},
        fine[1],
        "nobody",
    ]
    answers = explainer.explain_many(
        people, progress=False, on_error="record", where={"b": (-1.0, 3.0)}
    )
    assert answers.numbers == (1, 5)
    assert {n: type(e) for n, e in sorted(answers.errors.items())} == {
        0: DataError,
        2: DataError,
        3: ModelError,
        4: DataError,
        6: DataError,
    }
    assert not any("person 0" in str(error) for error in answers.errors.values())
    for one, other in zip(
        answers, explainer.explain_many(fine, progress=False, where={"b": (-1.0, 3.0)}), strict=True
    ):
        assert_same(one, other)
    frame = answers.to_frame()
    assert frame["person"].tolist() == list(range(7))
    assert [n for n, error in enumerate(frame["error"]) if not error] == [1, 5]


@pytest.mark.parametrize(
    ("bad", "error"),
    [
        ({"a": np.nan, "b": 0.0}, DataError),
        ({"a": 1e12, "b": 0.0}, DataError),
        ({"a": 0.0, "b": 50.0}, ConstraintError),
    ],
    ids=["missing", "far off", "contradiction"],
)
def test_what_is_raised_says_whose_it_is(bad: dict[str, float], error: type[InputError]) -> None:
    schema = Schema([Feature("a"), Feature("b", moves="up")])
    data = pd.DataFrame(np.random.default_rng(0).normal(size=(200, 2)), columns=["a", "b"])
    explainer = LocalFACE(
        lambda table: np.asarray(table["a"] > 0) * 1.0,
        data,
        schema=schema,
        search=Search(n_neighbors=15),
    )
    with pytest.raises(error, match="person 2"):
        explainer.explain_many(
            [{"a": -1.0, "b": 0.0}] * 2 + [bad], where={"b": (-3.0, 3.0)}, progress=False
        )


def test_a_model_that_fails_on_everyone_raises_however_errors_are_met() -> None:
    world = WORLDS["blobs"]()
    explainer = LocalFACE(failing("raises", 1e9), world.data, search=Search(n_neighbors=15))
    for on_error in ("raise", "record"):
        with pytest.raises(ModelError, match="not fitted on"):
            explainer.explain_many(world.people[:5], progress=False, on_error=on_error)
    one = explainer.explain_many(world.people[:1], progress=False, on_error="record")
    assert (len(one), list(one.errors)) == (0, [0])
    assert "1 could not be answered" in repr(one)
    assert one.to_frame()["status"].tolist() == ["ERROR"]


def test_a_misspelt_way_of_meeting_errors_is_refused() -> None:
    world = WORLDS["blobs"]()
    with pytest.raises(InputError, match="did you mean 'record'"):
        made(world).explain_many(world.people[:2], on_error="recrod", progress=False)


def shut_world() -> tuple[pd.DataFrame, list[dict[str, float]], dict[str, Any]]:
    """People who have no one to become, as long as a must not move."""
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"a": rng.normal(size=400).round(3), "b": rng.normal(size=400).round(3)})
    people = [
        {"a": -1.0, "b": 0.0},
        {"a": -0.8, "b": 0.1},
        {"a": -0.5, "b": 0.2},
        {"a": 0.5, "b": 0.0},
    ]
    return data, people, {"a": 0.0001}


def rising(table: Any) -> Any:
    return 1 / (1 + np.exp(-2 * table["a"].to_numpy()))


def test_a_failure_while_looking_for_what_would_open_a_way_costs_no_answer() -> None:
    data, people, where = shut_world()
    rows = set(data["a"])

    def model(table: Any) -> Any:
        if any(value not in rows and -0.45 < value < 0.4 for value in table["a"]):
            raise ValueError(
                "not a row"
            )  # met by the searches without the constraint alone, which blend
        return rising(table)

    explainer = LocalFACE(model, data, search=Search(n_neighbors=15, momentum_steps=2))
    answers = explainer.explain_many(people, where=where, progress=False, on_error="record")
    assert [answer.status.name for answer in answers] == ["NO_TARGET"] * 3 + ["ALREADY_THERE"]


# Ctrl-C


class Interrupted:
    """A model during whose n-th call someone presses Ctrl-C."""

    def __init__(self, model: Callable[[Any], Any], at: float = np.inf) -> None:
        self.model, self.at, self.calls = model, at, 0

    def __call__(self, table: Any) -> Any:
        self.calls += 1
        if self.calls >= self.at:
            raise KeyboardInterrupt
        return self.model(table)


def test_ctrl_c_keeps_what_is_done_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    world = WORLDS["blobs"]()
    monkeypatch.setattr("localface.engine.driver._WIDTH", 3)
    people = np.array(world.people[:20])
    people[5, 1] = np.nan
    usual = LocalFACE(blob_model, world.data, search=Search(n_neighbors=15)).explain_many(
        people, progress=False, on_error="record", actions=False
    )
    model = Interrupted(blob_model)
    explainer = LocalFACE(model, world.data, search=Search(n_neighbors=15))
    model.at = 10
    with pytest.warns(UserWarning, match=r"stopped after \d+ of 20 people"):
        stopped = explainer.explain_many(people, progress=False, on_error="record", actions=False)
    assert 0 < len(stopped) < 19
    assert stopped.unfinished == 20 - len(stopped) - 1
    assert f"{stopped.unfinished} unfinished" in repr(stopped)
    assert list(stopped.errors) == [5]
    assert len(stopped.numbers) == len(stopped) == len(stopped.to_frame()) - 1
    expected = dict(zip(usual.numbers, usual, strict=True))
    for number, answer in zip(stopped.numbers, stopped, strict=True):
        assert_same(answer, expected[number])
    model.at = np.inf  # and the explainer is none the worse for it
    for one, other in zip(
        explainer.explain_many(people[:5], progress=False, actions=False), usual[:5], strict=True
    ):
        assert_same(one, other)


def test_ctrl_c_before_anyone_is_done_gives_an_empty_list() -> None:
    world = WORLDS["blobs"]()
    explainer = LocalFACE(Interrupted(blob_model, at=1), world.data, search=Search(n_neighbors=15))
    with pytest.warns(UserWarning, match="stopped after 0 of 4 people"):
        stopped = explainer.explain_many(world.people[:4], progress=False)
    assert (len(stopped), stopped.unfinished, stopped.numbers) == (0, 4, ())
    assert len(stopped.to_frame()) == 0


def test_ctrl_c_before_the_reasons_are_worked_out_is_not_taken_for_done() -> None:
    data, people, where = shut_world()
    model = Interrupted(rising)
    answers = LocalFACE(model, data, search=Search(n_neighbors=15)).explain_many(
        people, where=where, progress=False
    )
    assert [answer.opens for answer in answers] == [(("a",),)] * 3 + [()]
    explainer = LocalFACE(
        Interrupted(rising, at=model.calls), data, search=Search(n_neighbors=15)
    )  # during the very last call
    with pytest.warns(UserWarning, match="stopped"):
        stopped = explainer.explain_many(people, where=where, progress=False)
    assert stopped.unfinished == 3
    assert stopped.numbers == (3,)


def test_a_table_of_some_answers_says_whose_they_are_even_if_it_is_the_last_ones_that_lack() -> (
    None
):
    world = WORLDS["blobs"]()
    people = np.array(world.people[:4])
    people[3, 0] = np.inf
    answers = made(world).explain_many(people, progress=False, on_error="record")
    assert answers.numbers == (0, 1, 2)
    frame = answers.to_frame()
    assert frame["person"].tolist() == [0, 1, 2, 3]
    assert frame["status"].tolist()[-1] == "ERROR"


# forests, which are read through their trees


def scores_of(explainer: LocalFACE, records: Array) -> Array:
    return explainer.engine.score(records)


def is_read(explainer: LocalFACE) -> bool:
    return explainer.model_reading.startswith("read directly")


def ward(n_jobs: int | None = None) -> tuple[pd.DataFrame, Any, Array]:
    world = WORLDS["ward"]()
    data = world.data.head(800)
    model = RandomForestClassifier(25, random_state=0, n_jobs=n_jobs).fit(
        data, data["v2"] > data["v3"]
    )
    return (
        data,
        model,
        np.random.default_rng(0).normal(size=(300, 22)).round(2) * (np.arange(22) < 21),
    )


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_a_forest_gives_the_scores_of_its_own_call_to_the_last_bit(n_jobs: int | None) -> None:
    data, model, places = ward(n_jobs)
    schema = WORLDS["ward"]().schema
    explainer = LocalFACE(model, data, schema=schema)
    called = LocalFACE(lambda table: model.predict_proba(table)[:, 1], data, schema=schema)
    assert is_read(explainer)
    assert not is_read(called)
    for size in (1, 2, 199, 300):
        np.testing.assert_array_equal(
            scores_of(explainer, places[:size]), scores_of(called, places[:size])
        )
    people = WORLDS["ward"]().people.head(6)
    for one, other in zip(
        *(each.explain_many(people, progress=False) for each in (explainer, called)), strict=True
    ):
        assert_same(one, other)


@pytest.mark.parametrize("kind", ["numpy", "numpy single", "whole numbers", "polars"])
def test_tables_of_plain_numbers_of_any_kind_are_read_and_give_the_same(kind: str) -> None:
    data, _, _ = ward()
    numbers = data.to_numpy(dtype=float)
    table: Any = {
        "numpy": numbers,
        "numpy single": numbers.astype(np.float32),
        "whole numbers": (10 * data).round().astype(int).assign(tube=data["tube"]),
        "polars": pytest.importorskip("polars").from_pandas(data),
    }[kind]
    model = RandomForestClassifier(10, random_state=0).fit(
        np.asarray(table), numbers[:, 2] > numbers[:, 3]
    )
    explainer = LocalFACE(model, table)
    called = LocalFACE(lambda rows: model.predict_proba(np.asarray(rows))[:, 1], table)
    assert is_read(explainer)
    records = np.asarray(table, dtype=float)[:50]
    np.testing.assert_array_equal(scores_of(explainer, records), scores_of(called, records))


def test_a_regressor_that_is_to_come_down_is_read_too() -> None:
    data, _, places = ward()
    model = RandomForestRegressor(20, random_state=0).fit(data, 1e3 * data["v2"])
    schema = WORLDS["ward"]().schema
    explainer = LocalFACE(model, data, schema=schema, target="at most", min_score=-200.0)
    assert is_read(explainer)
    np.testing.assert_allclose(
        -scores_of(explainer, places), model.predict(_framed(places, data)), atol=1e-6, rtol=0
    )


def _framed(places: Array, data: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame(places, columns=data.columns).astype({"tube": int})


class Averse(RandomForestClassifier):
    """A forest that answers in another way than by its trees."""

    def predict_proba(self, X: Any) -> Any:
        return super().predict_proba(X) ** 2


def test_what_answers_in_another_way_is_called_and_not_read() -> None:
    data, forest, places = ward()
    outcome = data["v2"] > data["v3"]
    own = Averse(10, random_state=0).fit(data, outcome)
    near = make_pipeline(StandardScaler(), KNeighborsClassifier()).fit(data, outcome)
    for model in (own, near):
        explainer = LocalFACE(model, data, schema=WORLDS["ward"]().schema)
        assert not is_read(explainer)
        expected = model.predict_proba(_framed(places, data))[:, 1]
        np.testing.assert_allclose(scores_of(explainer, places), expected, atol=1e-9, rtol=0)
    assert forest.n_features_in_ == 22


def test_a_forest_beside_words_is_called_and_not_read() -> None:
    mixed = WORLDS["mixed"]()
    data = mixed.data[["income", "school", "age"]].assign(
        school=mixed.data["school"].cat.codes.map(str)
    )
    model = RandomForestClassifier(10, random_state=0).fit(
        data, mixed.data["debt"] < 5000
    )  # digits pass for numbers
    assert not is_read(LocalFACE(model, data))
