"""Observed moves: who is counted, checked by hand and by a slow count written apart."""

from __future__ import annotations

import json
import math
import pickle
from dataclasses import FrozenInstanceError, replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.stats import binomtest
from sklearn.ensemble import RandomForestClassifier

from localface import Feature, LocalFACE, Recourse, Schema, Status
from localface.analyses.observed_moves import (
    Comparable,
    MoveCounter,
    MoveEvidence,
    Trajectories,
    evidence_for,
    read_trajectories,
)
from localface.answers.action import Action
from localface.answers.certificate import Certificate
from localface.answers.disclosure import Disclosure
from localface.answers.intervals import wilson_interval
from localface.answers.move_evidence import CAUTION
from localface.answers.target import Target
from localface.data.table_format import TableFormat
from localface.errors import DataError, InputError, SchemaError

SCHEMA = Schema(
    [
        Feature("fio2", resolution=0.01),
        Feature("gcs", kind="integer"),
        Feature("tube", kind="binary", categories=("no", "yes")),
        Feature("ward", kind="categorical", categories=("a", "b", "c")),
    ]
)
SCALES = (0.1, 2.0, 1.0, 1.0)
NOW = {"fio2": 0.6, "gcs": 10, "tube": "yes", "ward": "a"}
CLOSE = Comparable(within=24, radius=1.0)


def answer_of(
    *moves: dict[str, Any], now: dict[str, Any] = NOW, schema: Schema = SCHEMA
) -> Recourse:
    """An answer whose actions are these moves, one after the other."""
    states, actions = [dict(now)], []
    for move in moves:
        before = {name: states[-1][name] for name in move}
        actions.append(Action(move, before, 0.7, 0.3, Certificate("strict", 1.0, 0.3, 0.05)))
        states.append({**states[-1], **move})
    ends = [states[0], states[-1]]
    records = np.array(
        [[feature.code(state[feature.name]) for feature in schema] for state in ends]
    )
    scales = tuple(
        dict(zip(SCHEMA.names, SCALES, strict=True)).get(name, 1.0) for name in schema.names
    )
    return Recourse(
        status=Status.FOUND,
        records=records,
        form=TableFormat.of(pd.DataFrame(ends), schema),
        schema=schema,
        scores=(0.2, 0.7),
        densities=(0.4, 0.3),
        certificates=(Certificate("strict", 1.0, 0.3, 0.05),),
        rows=(None, 3),
        target=Target("ready", 0.5),
        min_density=0.05,
        scales=scales,
        disclosure=Disclosure(5, 100),
        actions=tuple(actions),
    )


def stay(person: object, *rows: dict[str, Any], alive: object = 1) -> list[dict[str, Any]]:
    """One person over time: each row says what differs from the usual state, and when."""
    return [{"stay": person, "alive": alive, **NOW, **row} for row in rows]


def counted(
    rows: list[dict[str, Any]], *moves: dict[str, Any], **options: Any
) -> tuple[int, int, int, int]:
    """Count the first move: similar, moved, with outcome, fared well."""
    rows = [*rows, *stay("far", {"hour": 0, "fio2": 9.0}), *stay("off", {"hour": 0, "fio2": 8.0})]
    given = {"comparable": CLOSE, "outcome": "alive", **options}
    told = Trajectories(pd.DataFrame(rows), person="stay", time="hour", **given)
    one = evidence_for(told, answer_of(*(moves or ({"fio2": 0.4},))))[0]
    return one.similar, one.moved, one.with_outcome, one.fared_well


# who is counted


def test_the_same_feature_must_go_the_same_way_and_far_enough() -> None:
    rows = [
        *stay("all the way", {"hour": 0}, {"hour": 4, "fio2": 0.4}),
        *stay("half of it", {"hour": 0}, {"hour": 4, "fio2": 0.5}),
        *stay("a little", {"hour": 0}, {"hour": 4, "fio2": 0.51}),
        *stay("the other way", {"hour": 0}, {"hour": 4, "fio2": 0.8}),
        *stay("something else", {"hour": 0}, {"hour": 4, "gcs": 12}),
    ]
    assert counted(rows) == (5, 2, 2, 2)


def test_how_much_of_the_move_is_enough_can_be_said() -> None:
    rows = stay("half of it", {"hour": 0}, {"hour": 4, "fio2": 0.5})
    assert counted(rows, comparable=replace(CLOSE, size=0.51)) == (1, 0, 0, 0)
    assert counted(rows, comparable=replace(CLOSE, size=0.5)) == (1, 1, 1, 1)


def test_a_move_counts_up_to_exactly_the_time_allowed_and_no_later() -> None:
    rows = [
        *stay("in time", {"hour": 3}, {"hour": 27, "fio2": 0.4}),
        *stay("late", {"hour": 3}, {"hour": 26}, {"hour": 27.01, "fio2": 0.4}),
        *stay("before", {"hour": 3, "fio2": 0.4}, {"hour": 4}, {"hour": 5}),
    ]
    assert counted(rows) == (3, 1, 1, 1)
    assert counted(rows, comparable=replace(CLOSE, within=25)) == (3, 2, 2, 2)


@pytest.mark.parametrize(
    ("hours", "allowed"),
    [
        ([0, 4, 8, 12], 24.0),
        ([0, 4, 4, 8, 12], 24.0),  # the same time twice is no spacing
        ([0, 1, 2, 40], 6.0),  # one long gap is not the usual one
        ([0, 0.331], 1.99),  # rounded up, so that the sixth row is in time
        ([2000, 2001, 2002], 6.0),
        ([5], 1.0),  # nobody is seen twice
    ],
)
def test_the_time_allowed_comes_from_the_tables_own_spacing(
    hours: list[float], allowed: float
) -> None:
    rows = [row for who in "ab" for row in stay(who, *({"hour": hour} for hour in hours))]
    numbers = Trajectories(pd.DataFrame(rows), person="stay", time="hour")
    assert numbers.usual_time_limit == allowed

    days = pd.to_datetime("2020-01-01") + pd.to_timedelta([24 * r["hour"] for r in rows], unit="h")
    dated = Trajectories(pd.DataFrame(rows).assign(hour=days), person="stay", time="hour")
    if len(hours) > 1:
        assert dated.usual_time_limit == pytest.approx(24 * allowed, rel=0.01)


def test_the_sentence_says_the_time_that_was_allowed() -> None:
    years = [{"hour": 2000}, {"hour": 2002, "fio2": 0.4}, {"hour": 2004}]
    rows = [*stay("a", *years), *stay("b", *years), *stay("far", {"hour": 0, "fio2": 9.0})]
    told = Trajectories(
        pd.DataFrame(rows),
        person="stay",
        time="hour",
        unit="years",
        comparable=replace(CLOSE, within=None),
    )
    (one,) = evidence_for(told, answer_of({"fio2": 0.4}))
    assert one.sentence == "2 of 2 similar people did this within 12 years"


def test_someone_who_is_not_seen_again_in_time_can_neither_have_moved_nor_not() -> None:
    rows = [
        *stay("once", {"hour": 0}),
        *stay("much later", {"hour": 0}, {"hour": 40, "fio2": 0.4}),
        *stay("seen", {"hour": 0}, {"hour": 1}),
    ]
    assert counted(rows) == (1, 0, 0, 0)


def test_nobody_counts_twice_however_often_they_were_similar_or_moved() -> None:
    rows = stay("often", *({"hour": hour, "fio2": 0.6 - 0.2 * (hour % 2)} for hour in range(10)))
    assert counted(rows) == (1, 1, 1, 1)


def test_a_persons_most_similar_time_is_their_start_and_the_earliest_of_equals() -> None:
    nearer = stay(
        "nearer", {"hour": 0, "fio2": 0.61}, {"hour": 4, "fio2": 0.4}, {"hour": 40}, {"hour": 44}
    )
    assert counted(nearer) == (1, 0, 0, 0)
    equal = stay("equal", {"hour": 0}, {"hour": 4, "fio2": 0.4}, {"hour": 40}, {"hour": 44})
    assert counted(equal) == (1, 1, 1, 1)


def test_only_people_who_were_in_a_similar_state_count() -> None:
    rows = [
        *stay("on the edge", {"hour": 0, "fio2": 0.7}, {"hour": 4, "fio2": 0.4}),
        *stay("beyond", {"hour": 0, "fio2": 0.71}, {"hour": 4, "fio2": 0.65}),
        *stay(
            "elsewhere",
            {"hour": 0, "ward": "b", "gcs": 11},
            {"hour": 4, "fio2": 0.4, "ward": "b", "gcs": 15},
        ),
    ]
    assert counted(rows) == (1, 1, 1, 1)


def test_a_category_must_change_from_the_same_one_to_the_same_one() -> None:
    rows = [
        *stay("out", {"hour": 0}, {"hour": 4, "tube": "no"}),
        *stay("kept", {"hour": 0}, {"hour": 4}),
        *stay("never had one", {"hour": 0, "tube": "no"}, {"hour": 4, "tube": "no"}),
    ]
    assert counted(rows, {"tube": "no"}) == (2, 1, 1, 1)
    wards = [
        *stay("to b", {"hour": 0}, {"hour": 4, "ward": "b"}),
        *stay("to c", {"hour": 0}, {"hour": 4, "ward": "c"}),
    ]
    assert counted(wards, {"ward": "b"}) == (2, 1, 1, 1)


def test_what_changes_together_must_have_changed_at_the_same_time() -> None:
    rows = [
        *stay("both", {"hour": 0}, {"hour": 4, "fio2": 0.4, "gcs": 14}),
        *stay("one after the other", {"hour": 0}, {"hour": 4, "fio2": 0.4}, {"hour": 8, "gcs": 14}),
        *stay("one", {"hour": 0}, {"hour": 4, "fio2": 0.4}),
    ]
    assert counted(rows, {"fio2": 0.4, "gcs": 14}) == (3, 1, 1, 1)


def test_the_second_action_is_looked_up_where_the_first_one_leads() -> None:
    rows = [
        *stay("first", {"hour": 0}, {"hour": 4, "fio2": 0.4}),
        *stay("second", {"hour": 0, "fio2": 0.3}, {"hour": 4, "fio2": 0.3, "gcs": 14}),
    ]
    told = Trajectories(pd.DataFrame(rows), person="stay", time="hour", comparable=CLOSE)
    first, second = evidence_for(told, answer_of({"fio2": 0.3}, {"gcs": 14}))
    assert (first.similar, first.moved) == (1, 1)
    assert (second.similar, second.moved) == (1, 1)


def test_rows_without_a_value_that_is_needed_do_not_count() -> None:
    rows = [
        *stay("no start", {"hour": 0, "gcs": None}, {"hour": 4, "fio2": 0.4}),
        *stay("no end", {"hour": 0}, {"hour": 4, "fio2": math.nan}),
        *stay(
            "end without the rest", {"hour": 0}, {"hour": 4, "fio2": 0.4, "gcs": None, "ward": None}
        ),
    ]
    assert counted(rows, comparable=replace(CLOSE, filled=0.5)) == (1, 1, 1, 1)


def test_what_is_absent_or_mostly_unknown_is_ignored_and_said() -> None:
    rows = [
        *stay("a", {"hour": 0, "gcs": None}, {"hour": 4, "fio2": 0.4}),
        *stay("b", {"hour": 0}, {"hour": 4}),
    ]
    table = pd.DataFrame(rows).drop(columns="ward")
    table.loc[0, "gcs"] = None
    told = Trajectories(table, person="stay", time="hour", comparable=replace(CLOSE, filled=0.8))
    fio2, gcs = evidence_for(told, answer_of({"fio2": 0.4}, {"gcs": 14}))
    assert (fio2.features, fio2.ignored) == (("fio2", "tube"), ("gcs", "ward"))
    assert (fio2.similar, fio2.moved) == (2, 1)
    assert (gcs.features, gcs.ignored) == (("fio2", "gcs", "tube"), ("ward",)), (
        "what changes is always compared"
    )


def test_a_move_of_which_the_table_knows_nothing_is_said_to_be_unknown() -> None:
    rows = pd.DataFrame(
        [*stay("a", {"hour": 0}, {"hour": 4}), *stay("b", {"hour": 0}, {"hour": 4})]
    )
    for table in (rows.drop(columns="gcs"), rows.assign(gcs=np.nan)):
        told = Trajectories(table, person="stay", time="hour", comparable=CLOSE)
        (one,) = evidence_for(told, answer_of({"gcs": 14}))
        assert one.untold == ("gcs",)
        assert (
            one.sentence
            == "the longitudinal data knows nothing of 'gcs': nobody can be seen to do this"
        )


def test_the_features_to_compare_by_can_be_named() -> None:
    rows = stay("elsewhere", {"hour": 0, "ward": "b", "gcs": 15}, {"hour": 4, "fio2": 0.4})
    assert counted(rows) == (0, 0, 0, 0)
    assert counted(rows, comparable=replace(CLOSE, features=("tube",))) == (1, 1, 1, 1)


def test_an_outcome_may_be_unknown_or_recorded_once() -> None:
    rows = [
        *stay("well", {"hour": 0}, {"hour": 4, "fio2": 0.4}),
        *stay("ill", {"hour": 0}, {"hour": 4, "fio2": 0.4}, alive=0),
        *stay("unknown", {"hour": 0}, {"hour": 4, "fio2": 0.4}, alive=None),
        *stay("once", {"hour": 0, "alive": None}, {"hour": 4, "fio2": 0.4}),
        *stay("stayed", {"hour": 0}, {"hour": 4}),
    ]
    assert counted(rows) == (5, 4, 3, 2)
    assert counted(rows, good=0) == (5, 4, 3, 1)
    assert counted(rows, outcome=None) == (5, 4, 0, 0)


def test_a_person_can_be_left_out() -> None:
    rows = [*stay("a", {"hour": 0}, {"hour": 4, "fio2": 0.4}), *stay("b", {"hour": 0}, {"hour": 4})]
    told = Trajectories(pd.DataFrame(rows), person="stay", time="hour", comparable=CLOSE)
    (one,) = evidence_for(told, answer_of({"fio2": 0.4}), without=["a", "nobody we know"])
    assert (one.similar, one.moved) == (1, 0)


def test_an_answer_without_actions_has_no_evidence() -> None:
    told = Trajectories(
        pd.DataFrame([*stay("a", {"hour": 0}), *stay("b", {"hour": 0})]), person="stay", time="hour"
    )
    assert evidence_for(told, replace(answer_of({"gcs": 12}), actions=())) == ()


# a slow count, written apart


def slow(
    table: pd.DataFrame, action: Action, start: dict[str, Any], radius: float, **rule: Any
) -> dict[str, int]:
    """Count row by row, as a person would."""
    scales = dict(zip(SCHEMA.names, SCALES, strict=True))
    counts = dict.fromkeys(("similar", "moved", "with_outcome", "fared_well"), 0)
    for _, own in table.groupby("stay"):
        rows = own.sort_values("hour", kind="stable").to_dict("records")
        best = None
        for row in rows:
            later = [
                one
                for one in rows
                if row["hour"] < one["hour"] <= row["hour"] + rule["within"] + 1e-9
            ]
            later = [one for one in later if not any(pd.isna(one[name]) for name in action.changes)]
            if any(pd.isna(row[name]) for name in rule["features"]) or not later:
                continue
            if any(row[name] != start[name] for name in action.changes if SCHEMA[name].discrete):
                continue
            away = math.sqrt(
                sum(apart(name, row[name], start[name], scales[name]) for name in rule["features"])
            )
            if away <= radius * (1 + 1e-9) and (best is None or away < best[0] - 1e-12):
                best = (away, row, later)
        if best is None:
            continue
        counts["similar"] += 1
        if any(
            all(far(name, best[1], one, action, rule["size"]) for name in action.changes)
            for one in best[2]
        ):
            counts["moved"] += 1
            known = own["alive"].dropna()
            counts["with_outcome"] += len(known) > 0
            counts["fared_well"] += bool(len(known) and known.iloc[0] == 1)
    return counts


def apart(name: str, one: Any, other: Any, scale: float) -> float:
    """A squared difference: two categories are one unit apart."""
    return float(one != other) if SCHEMA[name].discrete else ((one - other) / scale) ** 2


def far(
    name: str, first: dict[str, Any], then: dict[str, Any], action: Action, size: float
) -> bool:
    """Whether one feature went the same way, and far enough."""
    if SCHEMA[name].discrete:
        return bool(then[name] == action.changes[name])
    wanted = action.changes[name] - action.before[name]  # type: ignore[operator]
    gone = then[name] - first[name]
    return bool(gone * wanted > 0 and abs(gone) >= size * abs(wanted) - 1e-9)


def wandering(seed: int, n: int = 60) -> pd.DataFrame:
    """People who wander, with gaps in what is known of them, in no order."""
    rng = np.random.default_rng(seed)
    rows = []
    for person in range(n):
        alive = rng.choice([0, 1, None], p=[0.3, 0.5, 0.2])
        hours = np.sort(rng.choice(np.arange(0, 80, 4), rng.integers(1, 12)))
        fio2, gcs = rng.normal(0.55, 0.1), rng.integers(7, 13)
        for hour in hours:
            fio2, gcs = fio2 + rng.normal(0, 0.08), np.clip(gcs + rng.integers(-2, 3), 3, 15)
            rows.append(
                {
                    "stay": person,
                    "hour": float(hour),
                    "fio2": round(fio2, 2) if rng.random() < 0.95 else None,
                    "gcs": int(gcs) if rng.random() < 0.95 else None,
                    "tube": rng.choice(["no", "yes"], p=[0.4, 0.6]),
                    "ward": rng.choice(["a", "b", "c"], p=[0.7, 0.2, 0.1]),
                    "alive": alive,
                }
            )
    return pd.DataFrame(rows).sample(frac=1, random_state=seed).reset_index(drop=True)


MOVES: list[dict[str, Any]] = [
    {"fio2": 0.4},
    {"gcs": 13},
    {"tube": "no"},
    {"fio2": 0.7, "gcs": 8},
    {"ward": "b"},
]


@pytest.mark.parametrize("seed", range(6))
def test_the_counts_are_those_of_a_slow_count_written_apart(seed: int) -> None:
    table, rng = wandering(seed), np.random.default_rng(seed)
    within, size = float(rng.choice([4, 12, 24, 48])), float(rng.choice([0.3, 0.5, 1.0]))
    told = Trajectories(table, person="stay", time="hour", outcome="alive")
    seen = 0
    for move in MOVES:
        answer = answer_of(move)
        (one,) = evidence_for(told, answer, within=within, size=size, nearest=0.2)
        assert one.radius is not None
        expected = slow(
            table,
            answer.actions[0],
            NOW,
            one.radius,
            within=within,
            size=size,
            features=list(one.features),
        )
        assert {name: getattr(one, name) for name in expected} == expected
        seen += one.moved
    assert seen > 0


@pytest.mark.parametrize("seed", range(3))
def test_a_similar_state_is_as_far_as_an_ordinary_persons_nearest_people(seed: int) -> None:
    table = wandering(seed, n=15).dropna(subset=["fio2", "gcs"])
    told = Trajectories(table, person="stay", time="hour")
    (one,) = evidence_for(told, answer_of({"fio2": 0.4}), nearest=0.25)
    rows = table.to_dict("records")
    scales = dict(zip(SCHEMA.names, SCALES, strict=True))
    people = {row["stay"] for row in rows}
    k, each = math.ceil(0.25 * (len(people) - 1)), []
    for row in rows:
        away = dict.fromkeys(people - {row["stay"]}, math.inf)
        for other in rows:
            if other["stay"] != row["stay"]:
                distance = math.sqrt(
                    sum(apart(name, row[name], other[name], scales[name]) for name in SCHEMA.names)
                )
                away[other["stay"]] = min(away[other["stay"]], distance)
        each.append(sorted(away.values())[k - 1])
    assert len(rows) < 200, "all of them are sampled"
    assert one.radius == pytest.approx(math.sqrt(np.median(np.square(each))))


def test_neither_the_order_of_rows_nor_a_row_that_comes_twice_changes_a_count() -> None:
    table = wandering(7)
    answer = answer_of({"fio2": 0.4})
    first = evidence_for(Trajectories(table, person="stay", time="hour", outcome="alive"), answer)
    for other in (table[::-1], table.sort_values(["hour", "stay"])):
        assert (
            evidence_for(Trajectories(other, person="stay", time="hour", outcome="alive"), answer)
            == first
        )
    twice = Trajectories(pd.concat([table, table]), person="stay", time="hour", outcome="alive")
    again = evidence_for(twice, answer, radius=first[0].radius)
    assert again == first


def test_witnesses_made_once_say_the_same_again_and_again() -> None:
    told = Trajectories(wandering(3), person="stay", time="hour", outcome="alive")
    answers = [answer_of(move) for move in MOVES]
    move_counter = MoveCounter.of(told, SCHEMA, SCALES)
    for answer in (*answers, *answers):
        assert move_counter.evidence(answer) == evidence_for(told, answer)
    assert pickle.loads(pickle.dumps(move_counter)).evidence(answers[0]) == move_counter.evidence(
        answers[0]
    )


# tables of any kind


def test_pandas_polars_pyarrow_and_any_kind_of_time_give_the_same() -> None:
    table = wandering(1)
    answer = answer_of({"fio2": 0.4})
    first = evidence_for(Trajectories(table, person="stay", time="hour", outcome="alive"), answer)
    assert first[0].moved
    start = datetime(2020, 1, 1)
    when = [start + timedelta(hours=hour) for hour in table["hour"]]
    kinds: list[Any] = [
        pl.from_pandas(table),
        pa.Table.from_pandas(table),
        table.assign(hour=when),
        pl.from_pandas(table).with_columns(hour=pl.Series(when)),
        pa.Table.from_pandas(table.assign(hour=when)),
        table.assign(hour=[one.replace(tzinfo=UTC) for one in when]),
        table.assign(hour=pd.to_timedelta(table["hour"], unit="h")),
    ]
    for kind in kinds:
        found = evidence_for(
            Trajectories(kind, person="stay", time="hour", outcome="alive", unit="(hour)"), answer
        )
        assert found == first
    assert Trajectories(kinds[2], person="stay", time="hour").unit == "h"
    days = Trajectories(
        kinds[2],
        person="stay",
        time="hour",
        within=timedelta(days=3),
        outcome="alive",
        unit="(hour)",
    )
    numbers = Trajectories(table, person="stay", time="hour", within=72, outcome="alive")
    assert evidence_for(days, answer) == evidence_for(numbers, answer) != first


def test_dates_and_arrays_will_do() -> None:
    rows = pd.DataFrame(
        [*stay("a", {"hour": 0}, {"hour": 1, "gcs": 14}), *stay("b", {"hour": 0}, {"hour": 1})]
    )
    dated = rows.assign(hour=[date(2020, 1, 1 + hour) for hour in rows["hour"]])
    (one,) = evidence_for(
        Trajectories(dated, person="stay", time="hour", comparable=CLOSE), answer_of({"gcs": 14})
    )
    assert (one.similar, one.moved, one.within, one.unit) == (2, 1, 24.0, "h")
    schema = Schema([Feature("x2"), Feature("x3")])
    answer = answer_of({"x2": 1.0}, now={"x2": 0.0, "x3": 0.0}, schema=schema)
    array = np.array([[1, 0, 0, 0], [1, 1, 1, 0], [2, 0, 0, 0], [2, 1, 0, 0]], dtype=float)
    (one,) = evidence_for(Trajectories(array, person="x0", time="x1", comparable=CLOSE), answer)
    assert (one.similar, one.moved) == (2, 1)


GOOD = pd.DataFrame(
    [*stay("a", {"hour": 0}, {"hour": 4}), *stay("b", {"hour": 0}, {"hour": 4}, alive=0)]
)


def made(table: Any = GOOD, **options: Any) -> MoveCounter:
    told = Trajectories(table, **{"person": "stay", "time": "hour", **options})
    return MoveCounter.of(told, SCHEMA, SCALES)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            {"person": "sty"},
            (
                "person='sty': the longitudinal table has no such column (did you mean 'stay'?); "
                "it has"
            ),
        ),
        (
            {"time": "hours"},
            "time='hours': the longitudinal table has no such column (did you mean 'hour'?)",
        ),
        (
            {"outcome": "alve"},
            "outcome='alve': the longitudinal table has no such column (did you mean 'alive'?)",
        ),
        ({"time": "stay"}, "person='stay', time='stay': give each its own column"),
        (
            {"time": "ward"},
            "time='ward' holds str values such as 'a': turn them into numbers, or into datetimes",
        ),
        ({"table": GOOD[:0]}, "the longitudinal table has no rows"),
        ({"table": GOOD[:2]}, "person='stay' holds one person only"),
        (
            {"table": GOOD.assign(hour=[0, None, 1, 2])},
            "time='hour' is missing in 1 of 4 rows: drop these rows",
        ),
        (
            {"table": GOOD.assign(stay=["a", None, "b", "b"])},
            "person='stay' is missing in 1 of 4 rows",
        ),
        ({"table": GOOD.assign(stay=["a", 1, "b", "b"])}, "person='stay' mixes kinds of values"),
        (
            {"outcome": "gcs", "good": 14, "table": GOOD.assign(gcs=[10, 12, 9, 9])},
            "good=14: the outcome 'gcs' is",
        ),
        ({"outcome": "ward", "good": "A"}, "good='A': the outcome 'ward' is never that, but 'a'"),
        (
            {"outcome": "alive", "table": GOOD.assign(alive=[0, 1, 1, 1])},
            "'alive' changes over time for 1 of 2 people",
        ),
        (
            {"table": GOOD.assign(ward="d")},
            "the longitudinal table: 'ward' has the unseen category 'd'",
        ),
        (
            {"table": GOOD.assign(gcs=9.5)},
            "the longitudinal table: 'gcs' is integer, but 4 rows hold fractions",
        ),
        (
            {"table": GOOD.assign(fio2="high")},
            "the longitudinal table: 'fio2' is numeric and holds text such as 'high'",
        ),
        (
            {"table": GOOD[["stay", "hour"]].assign(fio_2=1)},
            "has no feature of the schema: it lacks 'fio2' (did you mean 'fio_2'?), 'gcs'",
        ),
        ({"comparable": Comparable(), "within": 4}, "within= and comparable= both came"),
        (
            {"comparable": Comparable(features=("ward",)), "table": GOOD.drop(columns="ward")},
            "no such column",
        ),
    ],
)
def test_a_table_that_cannot_be_used_is_refused_in_words(
    options: dict[str, Any], words: str
) -> None:
    with pytest.raises(DataError) as caught:
        made(**options)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"within": 0}, "within=0: a positive number, or a timedelta, is wanted"),
        ({"within": timedelta(0)}, "is wanted"),
        ({"within": "24h"}, "within='24h': a positive number"),
        ({"size": 0}, "size=0: a share above 0, and at most 1, is wanted"),
        ({"nearest": 1.5}, "nearest=1.5"),
        ({"filled": True}, "filled=True"),
        ({"radius": -1}, "radius=-1: a number of ordinary differences is wanted"),
        ({"features": "fio2"}, "a list of names is wanted, as in ('fio2',)"),
        ({"features": ()}, "names are wanted"),
    ],
)
def test_a_rule_that_makes_no_sense_is_refused_in_words(
    options: dict[str, Any], words: str
) -> None:
    with pytest.raises(InputError) as caught:
        Comparable(**options)
    assert words in str(caught.value)


def test_a_length_of_time_needs_dates_and_features_need_a_schema() -> None:
    with pytest.raises(InputError, match="times are numbers: give it in their units"):
        made(within=timedelta(days=1))
    with pytest.raises(SchemaError, match="did you mean 'ward'"):
        made(comparable=Comparable(features=("wards",)))
    with pytest.raises(
        InputError, match=r"evidence_for has no 'withn' \(did you mean 'within'\?\)"
    ):
        evidence_for(made().trajectories, answer_of({"gcs": 12}), withn=4)


def test_a_dict_with_a_table_and_names_is_trajectories_too() -> None:
    told = read_trajectories(
        {
            "table": GOOD,
            "person": "stay",
            "time": "hour",
            "outcome": "alive",
            "within": 12,
            "size": 1,
        }
    )
    assert repr(told) == "<Trajectories: 2 people, 4 rows, 2 with an outcome>"
    assert told.comparable == Comparable(within=12, size=1)
    assert read_trajectories(told) is told
    for wrong, words in [
        (GOOD, "evidence= is a DataFrame: give Trajectories"),
        ({"table": GOOD, "person": "stay"}, "evidence= lacks 'time'"),
        (
            {"table": GOOD, "person": "stay", "tme": "hour"},
            "evidence= has no 'tme' (did you mean 'time'?)",
        ),
    ]:
        with pytest.raises(InputError) as caught:
            read_trajectories(wrong)
        assert words in str(caught.value)


# words


def told_of(**counts: Any) -> str:
    return MoveEvidence(
        **{"within": 24.0, "unit": "h", "people": "patients", "well": "leave alive", **counts}
    ).sentence


@pytest.mark.parametrize(
    ("counts", "sentence"),
    [
        (
            {"similar": 212, "moved": 14, "with_outcome": 14, "fared_well": 11},
            (
                "14 of 212 similar patients did this within 24 h; "
                "11 of the 14 went on to leave alive (79 %, 52 to 92 %)"
            ),
        ),
        (
            {
                "similar": 1212,
                "moved": 14,
                "with_outcome": 12,
                "fared_well": 0,
                "others_with_outcome": 1100,
                "others_fared_well": 990,
            },
            (
                "14 of 1,212 similar patients did this within 24 h; "
                "none of the 12 whose outcome is known went on to leave alive (0 %, 0 to 24 %); "
                "among the 1,100 others it was 990 (90 %, 88 to 92 %)"
            ),
        ),
        (
            {
                "similar": 7,
                "moved": 4,
                "with_outcome": 4,
                "fared_well": 3,
                "others_with_outcome": 3,
            },
            (
                "4 of 7 similar patients did this within 24 h; 3 of the 4 went on to leave alive; "
                "among the 3 others it was none"
            ),
        ),
        (
            {
                "similar": 3,
                "moved": 1,
                "with_outcome": 1,
                "others_with_outcome": 1,
                "others_fared_well": 1,
            },
            (
                "1 of 3 similar patients did this within 24 h; "
                "that one did not go on to leave alive; "
                "the one other went on to leave alive"
            ),
        ),
        (
            {"similar": 9, "moved": 2},
            "2 of 9 similar patients did this within 24 h; how they fared is not known",
        ),
        (
            {
                "similar": 4000,
                "moved": 2500,
                "with_outcome": 2500,
                "fared_well": 1250,
                "unit": "(hour)",
            },
            (
                "2,500 of 4,000 similar patients did this within 24 (hour); "
                "1,250 of the 2,500 went on to leave alive (50 %, 48 to 52 %)"
            ),
        ),
        ({"similar": 9, "moved": 0}, "none of 9 similar patients did this within 24 h"),
        ({"similar": 9, "moved": 6, "well": ""}, "6 of 9 similar patients did this within 24 h"),
        ({"similar": 0, "moved": 0}, "nobody in the longitudinal data was in a similar state"),
    ],
)
def test_the_sentence_says_how_few_there_are(counts: dict[str, Any], sentence: str) -> None:
    assert told_of(**counts) == sentence


def test_there_is_no_percentage_below_five_people() -> None:
    four = told_of(
        similar=9, moved=4, with_outcome=4, fared_well=2, others_with_outcome=4, others_fared_well=4
    )
    five = told_of(similar=9, moved=5, with_outcome=5, fared_well=2)
    assert "%" not in four
    assert "2 of the 5 went on to leave alive (40 %, 12 to 77 %)" in five


def test_no_sentence_promises_an_effect() -> None:
    for well in range(6):
        sentence = told_of(similar=9, moved=5, with_outcome=5, fared_well=well)
        assert "did" in sentence
        assert not any(
            word in sentence for word in ("work", "effect", "cause", "help", "lead", "chance")
        )
    assert "no cause" in CAUTION


@pytest.mark.parametrize(("good", "n"), [(0, 1), (1, 1), (11, 14), (3, 40), (40, 40), (999, 1000)])
def test_the_interval_is_wilsons(good: int, n: int) -> None:
    one = MoveEvidence(similar=n, moved=n, with_outcome=n, fared_well=good, within=24)
    expected = binomtest(good, n).proportion_ci(0.95, method="wilson")
    assert one.interval() == pytest.approx((expected.low, expected.high), abs=1e-12)
    assert one.share == good / n


def test_the_interval_by_hand() -> None:
    # 11 of 14, z = 1.96: centre (0.785714 + 3.8416 / 28) / (1 + 3.8416 / 14), half width 0.200
    assert wilson_interval(11 / 14, 14) == pytest.approx((0.5241, 0.9243), abs=1e-4)
    assert wilson_interval(1.0, 5) == pytest.approx((5 / (5 + 1.959963984540054**2), 1.0))
    assert MoveEvidence(similar=3, moved=2, within=24).interval() is None
    assert MoveEvidence(similar=3, moved=2, within=24).share is None


@pytest.mark.parametrize(
    "counts",
    [
        {"similar": 2, "moved": 3},
        {"similar": 3, "moved": 2, "with_outcome": 3},
        {"similar": 3, "moved": 2, "with_outcome": 1, "fared_well": 2},
        {"similar": 3, "moved": 2, "others_with_outcome": 2},
        {"similar": -1, "moved": 0},
        {"similar": 1.5, "moved": 0},
    ],
)
def test_counts_that_cannot_be_are_refused(counts: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="of the evidence of a move is"):
        MoveEvidence(within=24, **counts)


# on the answer


def witnessed() -> Recourse:
    rows = [
        *stay("a", {"hour": 0}, {"hour": 4, "fio2": 0.4}),
        *stay("b", {"hour": 0}, {"hour": 4}, alive=0),
    ]
    table = pd.DataFrame(rows).drop(columns="ward")
    told = Trajectories(
        table, person="stay", time="hour", outcome="alive", unit="h", comparable=CLOSE
    )
    return MoveCounter.of(told, SCHEMA, SCALES).attach_evidence(
        answer_of({"fio2": 0.4}, {"ward": "b"})
    )


SENTENCES = (
    (
        "1 of 2 similar people did this within 24 h; that one went on to have alive 1; "
        "the one other did not go on to have alive 1"
    ),
    "the longitudinal data knows nothing of 'ward': nobody can be seen to do this",
)


def test_every_action_carries_its_evidence_and_prints_it() -> None:
    answer = witnessed()
    assert (
        tuple(action.evidence.sentence for action in answer.actions if action.evidence) == SENTENCES
    )
    lines = str(answer).splitlines()
    for sentence in SENTENCES:
        assert f"     {sentence}" in lines
    assert lines[-2:] == ["  similar: close in 3 of 4 features; not compared: ward", f"  {CAUTION}"]
    page = answer._repr_html_()
    assert "did this within 24 h" in page
    assert CAUTION in page


def test_an_answer_without_evidence_looks_as_it_always_did() -> None:
    plain, told = answer_of({"fio2": 0.4}, {"ward": "b"}), witnessed()
    extra = {*(f"     {sentence}" for sentence in SENTENCES), *str(told).splitlines()[-2:]}
    assert str(plain).splitlines() == [line for line in str(told).splitlines() if line not in extra]
    assert "evidence" not in plain.to_json()
    assert "similar" not in plain._repr_html_()


def test_evidence_comes_back_from_json_and_pickle() -> None:
    answer = witnessed()
    again = Recourse.from_json(answer.to_json())
    assert again.actions == answer.actions
    assert str(again) == str(answer)
    assert pickle.loads(pickle.dumps(answer)).actions == answer.actions
    one = answer.actions[0].evidence
    assert one is not None
    assert MoveEvidence.from_dict(json.loads(json.dumps(one.to_dict()))) == one
    with pytest.raises(FrozenInstanceError):
        one.moved = 5  # type: ignore[misc]


@pytest.mark.parametrize(
    "damage", [{"moved": 9}, {"similar": "2"}, {"people": 3}, {"within": "day"}, {"ignored": 4}]
)
def test_a_document_with_impossible_evidence_is_refused(damage: dict[str, Any]) -> None:
    document = json.loads(witnessed().to_json())
    document["actions"][0]["evidence"] |= damage
    with pytest.raises(InputError):
        Recourse.from_json(json.dumps(document))
    del document["actions"][0]["evidence"]["moved"]
    with pytest.raises(InputError):
        Recourse.from_json(json.dumps(document))


def test_the_figure_says_it_step_by_step() -> None:
    figure, plain = witnessed().plot(), answer_of({"fio2": 0.4}, {"ward": "b"}).plot()
    caption = " ".join(figure.get_supxlabel().split())
    assert f"step 1: {SENTENCES[0]}" in caption
    assert f"step 2: {SENTENCES[1]}" in caption
    assert CAUTION in caption
    assert "step 1" not in plain.get_supxlabel()
    assert figure.get_supxlabel().startswith(plain.get_supxlabel())
    plt.close("all")


# real stays

SIGNS = [
    "airway",
    "hco3",
    "bp_min",
    "hr_min",
    "hr_max",
    "gcs_min",
    "temp_min",
    "temp_max",
    "haemoglobin",
    "k",
    "na",
    "creatinine",
    "bun",
    "fio2",
    "age",
    "sex",
]


def test_real_stays_hold_evidence_for_real_answers(data_folder: Path) -> None:
    cohort = pd.read_csv(data_folder / "physionet2012" / "cohort.csv.gz").assign(
        airway=lambda one: one.airway_smooth
    )
    stays = pd.read_parquet(data_folder / "physionet2012" / "longitudinal_4h.parquet")
    stays = stays.assign(airway=stays["airway_smooth"], hour=4 * stays["win"])
    data = cohort[SIGNS].fillna(cohort[SIGNS].median()).round(3)
    schema = Schema.infer(data).with_("age", moves="freely", within=5)
    forest = RandomForestClassifier(30, min_samples_leaf=5, class_weight="balanced", random_state=0)
    forest.fit(data, cohort["outcome"])
    explainer = LocalFACE(forest, data, schema=schema)
    refused = data[forest.predict_proba(data)[:, 1] < 0.5][:25]
    answers = [one for one in explainer.explain_many(refused, progress=False) if one.found]
    told = Trajectories(
        stays, person="RecordID", time="hour", outcome="outcome", unit="h", well="leave alive"
    )
    move_counter = MoveCounter.of(told, explainer.schema, answers[0].scales)
    found = [one for answer in answers for one in move_counter.evidence(answer)]
    assert len(found) == sum(len(answer.actions) for answer in answers) > 25
    assert sum(one.moved > 0 for one in found) > len(found) / 2
    assert all(one.similar <= told.n_people == 4000 for one in found)
    assert all(one.with_outcome == one.moved for one in found), "the outcome of every stay is known"
    assert any(one.moved >= 5 and one.fared_well < one.with_outcome for one in found)
