"""The audit: what proposals from elsewhere are worth, checked by hand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import FrozenInstanceError
from functools import cache
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from judge import Judge, Plane, codes_of
from judged_density import PlainSpace
from localface import Feature, LocalFACE, Schema, Search
from localface.analyses.audit import Audit
from localface.apps.plots import plot_audit
from localface.errors import ConstraintError, DataError
from worlds import World, mixed

pytestmark = pytest.mark.slow

Array = np.ndarray[Any, Any]


@cache
def island() -> tuple[Any, Array, Array]:
    """A crowd, a bridge to a second crowd, and a third crowd that nothing leads to."""
    rng = np.random.default_rng(0)
    left, right = rng.normal([0, 0], 0.7, (90, 2)), rng.normal([4, 0], 0.7, (70, 2))
    bridge = np.column_stack([rng.uniform(0.5, 3.5, 40), rng.normal(0, 0.25, 40)])
    alone = rng.normal([4, 9], 0.5, (25, 2))
    data = np.concatenate([left, bridge, right, alone])

    def score(points: Array) -> Array:
        return np.asarray(1 / (1 + np.exp(-3 * (points[:, 0] - 2.5))))

    return score, data, rng.normal([0, 0], 0.6, (12, 2))


def explainer_of(world: World) -> LocalFACE:
    return LocalFACE(
        world.model,
        world.data,
        schema=world.schema,
        min_score=world.min_score,
        search=Search(n_neighbors=world.n_neighbors),
    )


def nearest_unlike(explainer: LocalFACE, world: World, people: pd.DataFrame) -> pd.DataFrame:
    """The plain baseline: the nearest row that the model agrees with, whatever may change."""
    good = world.data[world.model.predict_proba(world.data)[:, 1] >= world.min_score]
    space = PlainSpace.of(explainer.engine.space)
    rows, own = (space.points(codes_of(table, explainer.schema)) for table in (good, people))
    near = ((own[:, None, :] - rows[None, :, :]) ** 2).sum(axis=2).argmin(axis=1)
    return good.iloc[near].reset_index(drop=True)


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def people() -> pd.DataFrame:
    return mixed().people.iloc[:24].reset_index(drop=True)


@pytest.fixture(scope="module")
def proposals(people: pd.DataFrame) -> pd.DataFrame:
    """Twelve nearest unlike neighbours and twelve random jumps."""
    world = mixed()
    near = nearest_unlike(explainer_of(world), world, people.iloc[:12])
    jumps = world.data.iloc[np.random.default_rng(5).integers(0, len(world.data), 12)]
    return pd.concat([near, jumps]).reset_index(drop=True)


@pytest.fixture(scope="module")
def audit(people: pd.DataFrame, proposals: pd.DataFrame) -> Audit:
    world = mixed()
    return explainer_of(world).audit(people, proposals, where=world.where, progress=False)


# agreement with working it out again


def test_valid_is_what_the_model_says(
    audit: Audit, people: pd.DataFrame, proposals: pd.DataFrame
) -> None:
    model = mixed().model
    before, after = model.predict_proba(people)[:, 1], model.predict_proba(proposals)[:, 1]
    assert [one.score_before for one in audit] == pytest.approx(before.tolist())
    assert [one.score for one in audit] == pytest.approx(after.tolist())
    assert [one.valid for one in audit] == (after >= 0.6).tolist()
    assert 0 < sum(one.valid for one in audit) < len(audit)


def test_in_the_box_is_what_the_constraints_say(
    audit: Audit, people: pd.DataFrame, proposals: pd.DataFrame
) -> None:
    up = proposals["years_employed"] >= people["years_employed"]
    within = (proposals["age"] - people["age"]).abs() <= 10
    same = proposals["married"] == people["married"]
    assert [one.in_box for one in audit] == (up & within & same).tolist()
    for one, fine, near in zip(audit, up, within, strict=True):
        assert any("years_employed only moves up" in why for why in one.broken) == (not fine)
        assert any("age within 10 of" in why for why in one.broken) == (not near)


def test_the_ground_is_what_the_full_density_says(
    audit: Audit, people: pd.DataFrame, proposals: pd.DataFrame
) -> None:
    world = mixed()
    explainer = explainer_of(world)
    judge = Judge.of(explainer, world.data, explainer.explain(people.iloc[[0]], where=world.where))
    starts, ends = judge.points(people), judge.points(proposals)
    for one, start, end in zip(audit, starts, ends, strict=True):
        level = judge.lowest(end, end, 1)
        assert one.density == pytest.approx(judge.share(level), abs=2 / len(judge.levels))
        assert one.on_ground == (level >= judge.floor - 1e-9)
        assert one.jump is not None
        assert one.jump.length == pytest.approx(np.sqrt(((end - start) ** 2).sum()))
        assert one.jump.holds == (judge.lowest(start, end) >= judge.floor - 1e-6)


def test_reachable_is_what_brute_force_over_all_rows_finds() -> None:
    score, data, people_ = island()
    explainer = LocalFACE(score, data, search=Search(n_neighbors=40))
    right = np.flatnonzero(score(data) >= 0.5)
    wanted = data[
        [right[20], right[60], right[-1]] * 2
    ]  # two that the bridge leads to, and one that nothing does
    people_ = people_[:6]

    audit = explainer.audit(people_, wanted, progress=False)

    judge = Judge.of(explainer, data, explainer.explain(people_[0]))
    brute = {
        tuple(goal): Plane(judge, (judge.rows == goal).all(axis=1))
        for goal in judge.points(wanted[:3])
    }
    seen = set()
    for one, start, goal in zip(audit, judge.points(people_), judge.points(wanted), strict=True):
        shortest = brute[tuple(goal)].optimum(start)
        stands = (
            judge.lowest(start, start, 1) >= judge.floor
        )  # someone below the floor needs an entry, marked as such
        if one.recourse is None or not one.recourse.entry:
            assert one.reachable == bool(np.isfinite(shortest) and stands), one
        seen.add(one.reachable)
    assert seen == {True, False}


def test_the_way_to_a_proposal_is_the_one_that_explain_gives() -> None:
    score, data, people_ = island()
    explainer = LocalFACE(score, data, search=Search(n_neighbors=40))
    wanted = data[np.flatnonzero(score(data) >= 0.5)[::6]][: len(people_)]

    for one, person, goal in zip(
        explainer.audit(people_, wanted, progress=False), people_, wanted, strict=True
    ):
        answer = explainer.explain(person, counterfactual=goal, relax=True)
        assert one.reachable == (answer.relaxed_to is None and answer.found)
        if one.recourse is not None:
            assert (one.recourse.records == answer.records).all()
            assert [dict(act.changes) for act in one.recourse.actions] == [
                dict(act.changes) for act in answer.actions
            ]
            assert [act.score for act in one.recourse.actions] == [
                act.score for act in answer.actions
            ]
            assert [act.density for act in one.recourse.actions] == pytest.approx(
                [act.density for act in answer.actions], abs=1e-9
            )
            assert (one.recourse.records[-1] == goal).all()
        else:
            assert one.relaxed_to == pytest.approx(answer.relaxed_to, abs=1e-9)
            assert "the floor of 5 % would have to be lowered to" in one.between


def test_a_proposal_off_the_ground_is_out_of_reach_by_as_much_as_relaxing_says() -> None:
    score, data, people_ = island()
    explainer = LocalFACE(score, data, min_density=0.3, search=Search(n_neighbors=40))
    rows = data[110:200:3][score(data[110:200:3]) >= 0.5]
    audit = explainer.audit(people_[:1].repeat(len(rows), axis=0), rows, progress=False)
    lonely = [one for one in audit if one.density is not None and 0.01 < one.density < 0.3]

    assert len(lonely) >= 3
    for one in lonely[:3]:
        answer = explainer.explain(people_[0], counterfactual=rows[one.number], relax=True)
        assert (one.valid, one.in_box, one.on_ground, one.reachable) == (True, True, False, False)
        assert one.relaxed_to == pytest.approx(
            answer.relaxed_to, abs=1e-7
        )  # ways within 1e-7 nats are alike
        assert one.relaxed_to <= (one.density or 0.0) + 1e-9
    assert any("it is itself a state more unusual than" in one.between for one in lonely)


# what is proposed


def test_what_is_not_valid_is_not_asked_and_what_breaks_a_constraint_is_out_of_reach(
    audit: Audit,
) -> None:
    for one in audit:
        if not one.valid:
            assert (one.reachable, one.recourse) == (None, None)
            assert one.between.startswith("the model does not agree")
        elif one.broken:
            assert (one.reachable, one.recourse) == (False, None)
            assert one.broken[0] in one.between


def test_nothing_proposed_is_none_in_a_list_or_a_row_of_nan() -> None:
    score, data, people_ = island()
    explainer = LocalFACE(score, data, search=Search(n_neighbors=40))
    goal = data[score(data) >= 0.5][0]
    table = np.array([[np.nan, np.nan], goal])
    for given in (
        table,
        [None, goal],
        [np.array([np.nan, np.nan]), goal],
        [None, {"x0": goal[0], "x1": goal[1]}],
    ):
        nothing, something = explainer.audit(people_[:2], given, progress=False)
        assert {nothing.proposed, nothing.valid, nothing.in_box, nothing.on_ground} == {False}
        assert (nothing.score, nothing.density, nothing.jump, nothing.reachable) == (
            None,
            None,
            None,
            None,
        )
        assert repr(nothing) == "<Finding 0: nothing proposed>"
        assert something.valid


def test_nothing_proposed_to_anyone_is_still_an_audit() -> None:
    score, data, people_ = island()
    audit = LocalFACE(score, data, search=Search(n_neighbors=40)).audit(
        people_, [None] * len(people_)
    )
    assert {part.n for part in audit.summary().values()} == {0}
    audit.plot()


def test_fractions_where_only_whole_numbers_are_break_a_constraint(people: pd.DataFrame) -> None:
    world = mixed()
    wish = {**people.iloc[0].to_dict(), "income": 60_000.0, "debt": 0.0}
    wish["years_employed"] += 0.4
    (one,) = explainer_of(world).audit(people.iloc[[0]], [wish], progress=False)
    assert not one.in_box
    assert any("years_employed is whole, and" in why and "(taken as" in why for why in one.broken)


def test_a_value_that_went_through_another_format_is_the_persons_own() -> None:
    data = pd.DataFrame(
        {"age": np.random.default_rng(0).normal(50, 9, 300), "dose": np.linspace(0, 1, 300)}
    )
    schema = Schema([Feature("age", moves="never"), Feature("dose")])
    explainer = LocalFACE(
        lambda frame: frame["dose"].to_numpy(), data, schema=schema, search=Search(n_neighbors=20)
    )
    proposal = data.iloc[[10]].assign(dose=0.7).astype("float32")
    (one,) = explainer.audit(data.iloc[[10]], proposal, progress=False)
    assert one.in_box
    assert one.changed == ("dose",)


def test_someone_who_is_there_already_needs_no_proposal() -> None:
    score, data, _ = island()
    there = data[score(data) > 0.9][:1]
    (one,) = LocalFACE(score, data, search=Search(n_neighbors=40)).audit(
        there, there + 0.01, progress=False
    )
    assert (one.verdict, one.reachable) == ("already there", None)
    assert "nothing needs to change" in one.between


def test_what_cannot_be_read_is_refused_with_what_to_do(
    people: pd.DataFrame, proposals: pd.DataFrame
) -> None:
    explainer = explainer_of(mixed())
    with pytest.raises(
        DataError, match="24 factuals and 3 counterfactuals came: give one a person"
    ):
        explainer.audit(people, proposals[:3])
    with pytest.raises(DataError, match="counterfactual 0 has no value of income"):
        explainer.audit(people, proposals.assign(income=np.nan))
    with pytest.raises(DataError, match=r"counterfactual 1: .*lacks 'debt'"):
        explainer.audit(people[:2], [None, proposals.iloc[0].drop("debt")])
    with pytest.raises(ConstraintError, match="no feature"):
        explainer.audit(people, proposals, where={"incme": "never"})


# how it is told


def test_failures_are_in_the_denominator(
    people: pd.DataFrame, proposals: pd.DataFrame, audit: Audit
) -> None:
    world = mixed()
    holed = [None if i % 2 else proposals.iloc[i] for i in range(len(proposals))]
    halved = explainer_of(world).audit(people, holed, where=world.where, progress=False).summary()

    for name, (n, share) in halved.items():
        assert n <= audit.summary()[name].n
        assert share == n / len(people)
    assert halved["proposed"] == (12, 0.5)


def test_the_table_has_a_line_a_pair_in_the_kind_that_came(
    people: pd.DataFrame, proposals: pd.DataFrame
) -> None:
    score, data, people_ = island()
    names = ["x0", "x1"]
    kinds: dict[Any, Any] = {
        pd.DataFrame: lambda table: pd.DataFrame(table, columns=names),
        pl.DataFrame: lambda table: pl.DataFrame(table, schema=names),
        pa.Table: lambda table: pa.table({name: table[:, j] for j, name in enumerate(names)}),
    }
    by_name = lambda frame: score(np.column_stack([np.asarray(frame[name]) for name in names]))  # noqa: E731
    wanted = np.array([[np.nan, np.nan], data[score(data) > 0.6][0], data[score(data) > 0.6][1]])
    for kind, convert in kinds.items():
        explainer = LocalFACE(by_name, convert(data), search=Search(n_neighbors=40))
        table = explainer.audit(convert(people_[:3]), convert(wanted), progress=False).to_frame()
        assert isinstance(table, kind)
        assert len(table) == 3
        assert str(next(iter(table["verdict"]))) == "nothing proposed"
    assert isinstance(
        LocalFACE(score, data, search=Search(n_neighbors=40)).audit(people_[:3], wanted).to_frame(),
        pd.DataFrame,
    )


def test_an_audit_is_a_sequence_that_nobody_can_change(audit: Audit) -> None:
    assert len(audit[:5]) == 5
    assert isinstance(audit[:5], Audit)
    assert audit[3] is audit[:5][3]
    with pytest.raises(TypeError):
        audit[0] = audit[1]  # type: ignore[index]
    with pytest.raises(AttributeError):
        audit.min_density = 0.5  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        audit[0].valid = True


def test_text_and_html_say_the_same(audit: Audit) -> None:
    text, html = str(audit), audit._repr_html_()
    assert text.startswith(repr(audit))
    assert "\n" not in repr(audit)
    for line in text.splitlines()[1:]:
        n, share = line[38:].split(maxsplit=1)
        assert f"<td>{n}</td><td>{share}</td>" in html


def test_a_finding_tells_in_units_what_changes_and_what_lies_between(
    audit: Audit, people: pd.DataFrame
) -> None:
    for one in audit:
        shown = str(one)
        assert shown.startswith(f"<Finding {one.number}: {one.verdict}, score ")
        for change in one.changes:
            assert str(change) in shown
        if one.between:
            assert one.between in shown
        if one.recourse is not None:
            assert "reachable   yes: by" in shown
    assert [one.number for one in audit] == list(range(len(people)))


def test_every_proposal_is_drawn_under_what_came_out(audit: Audit) -> None:
    figure = audit.plot()
    bars, places = figure.axes

    drawn = {text.get_text() for text in places.get_legend().get_texts()}
    verdicts = [one.verdict for one in audit]
    assert drawn == {f"{word} ({verdicts.count(word)})" for word in set(verdicts)}
    assert sum(len(dots.get_offsets()) for dots in places.collections) == len(audit)
    told = {text.get_text() for text in bars.texts}
    assert {f"{part.n} of {len(audit)}" for part in audit.summary().values()} <= {
        one.split(":")[0] for one in told
    }
    assert plot_audit(audit, figure=plt.figure()) is not figure
