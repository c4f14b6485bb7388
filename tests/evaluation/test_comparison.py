"""The harness of benchmarks/comparison: methods are apart, and its oracle is right."""

from __future__ import annotations

import json
import os
import re
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse.csgraph import dijkstra

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks" / "comparison"))

import methods
import pictures
import report
import retraining
import running
import verdicts as judging
from bars import bars
from cell_files import Cell, Rules, complete, lines
from lasting_bars import beside, calibration
from localface import Feature, Schema
from localface.data.space import Space
from localface.density.common_states import fit_common_states
from localface.evaluation.metrics import ReferenceRows, TraversalRule
from localface.geometry.bounds import Bounds
from localface.geometry.point_set import PointSet
from oracle import optimum
from scheduling import run_all, run_split

pytestmark = pytest.mark.slow

TROUBLES = ("raises", "dies", "hangs")


class Trouble:
    """A method that does something unkind."""

    def __init__(self, what: str) -> None:
        self.what = what

    def explain(self, person: Any, **_: Any) -> Any:
        if self.what == "raises":
            raise ValueError("no such luck")
        if self.what == "dies":
            os._exit(3)
        while True:  # hangs, and hides from Exception
            try:
                time.sleep(0)
            except Exception:
                continue


def entry(what: str) -> methods.Entry:
    return methods.Entry(lambda at: Trouble(what), everyone=True)


@pytest.fixture
def rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Rules:
    monkeypatch.setattr(running, "_SPLITS", {})
    return Rules(people=4, limit=0.3, out=tmp_path)


def test_whatever_one_method_does_the_others_are_asked_and_it_is_written_down(
    rules: Rules, monkeypatch: pytest.MonkeyPatch
) -> None:
    for what in TROUBLES:
        monkeypatch.setitem(methods.METHODS, what, entry(what))
    run_split("moons", 0, [*TROUBLES, "nearest-unlike"], rules)
    said = {
        name: lines(Cell("moons", 0, name).file(rules.out))
        for name in (*TROUBLES, "nearest-unlike")
    }
    assert [line.get("error") for line in said["raises"][:-1]] == ["ValueError: no such luck"] * 4
    assert said["dies"][-1]["crashed"] == "the process ended with 3"
    assert [line["error"] for line in said["hangs"][:-1]][:3] == ["time limit"] * 3
    assert said["hangs"][3]["error"].startswith("not tried")
    assert all(line["found"] for line in said["nearest-unlike"][:-1])
    assert all(complete(Cell("moons", 0, name), rules) for name in said)


def test_a_cell_that_was_cut_short_goes_on_where_it_stopped(rules: Rules) -> None:
    cell = Cell("moons", 0, "nearest-unlike")
    run_split("moons", 0, [cell.method], rules)
    whole = cell.file(rules.out).read_text(encoding="utf-8").splitlines()
    marked = json.dumps({**json.loads(whole[0]), "reason": "from before"})
    cell.file(rules.out).write_text("\n".join([marked, whole[1], whole[2][:20]]), encoding="utf-8")
    run_split("moons", 0, [cell.method], rules)
    again = lines(cell.file(rules.out))
    assert again[0]["reason"] == "from before"
    assert [line["states"] for line in again[:4]] == [
        json.loads(line)["states"] for line in whole[:4]
    ]
    assert again[-1]["done"] is True


def test_a_method_whose_package_is_missing_is_named_as_missing(
    rules: Rules, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = replace(methods.METHODS["nearest-unlike"], package="treecf")
    monkeypatch.setitem(methods.METHODS, "gone", gone)
    monkeypatch.setattr(methods, "available", lambda: {"treecf": None})
    assert "pip install" in str(methods.missing("gone"))
    run_all([Cell("moons", 0, "gone")], rules, jobs=1)
    assert (
        "treecf is not installed" in lines(Cell("moons", 0, "gone").file(rules.out))[-1]["missing"]
    )


def test_the_report_is_one_page_that_asks_nothing_of_anybody(
    rules: Rules, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retraining, "REFITS", 1)
    monkeypatch.setattr(judging, "other_families", lambda at: [lambda table: np.ones(len(table))])
    names = ["localface-path", "nearest-unlike"]
    patient = replace(rules, limit=20.0)
    run_split("moons", 0, names, patient)
    rows = judging.judged("moons", 0, names, patient)
    assert {row["method"] for row in rows} == set(names)
    ours = [row for row in rows if row["method"] == "localface-path"]
    assert all(row["valid"] and not row["violations"] for row in ours if row["found"])
    page, text, plain, _ = report.write_report(
        rows, [Cell("moons", 0, name) for name in names], patient
    )
    assert not re.search(r"(src|href)=\"(?!data:)", page.read_text(encoding="utf-8"))
    assert "every answer valid by a fresh call" in text.read_text(encoding="utf-8")
    assert json.loads(plain.read_text(encoding="utf-8"), parse_constant=pytest.fail)["tables"][
        "moons"
    ]
    assert bars(rows)[0].met


def row(method: str, person: int, *, sound: bool, **more: Any) -> dict[str, Any]:
    """What the judge says of one person, as far as bars and tables read it."""
    numbers = ("retrained", "l0", "l1", "l2", "ynn", "lowest_density", "over_optimum")
    plain = dict.fromkeys((*numbers, "likeness", "traversable_heldout", "heldout_start"), 0.5)
    who = {
        "world": "here",
        "seed": 0,
        "method": method,
        "person": person,
        "status": "FOUND",
        "groups": {},
    }
    said = {
        "found": 1.0,
        "valid": 1.0,
        "violations": 0.0,
        "steps": 1.0,
        "traversable": float(sound),
    }
    return {
        **plain,
        **who,
        **said,
        "sound": float(sound),
        "seconds": 1.0,
        "density_start": 0.5,
        **more,
    }


def bar(rows: list[dict[str, Any]], words: str) -> Any:
    return next(one for one in bars(rows) if words in one.wanted)


def test_a_peer_that_was_asked_about_few_is_compared_on_those_few() -> None:
    mine = [row("localface", i, sound=i < 2) for i in range(10)]
    peer = [row("dear", i, sound=True) for i in range(2)]
    assert bar([*mine, *peer], "sound success").met
    behind = bar([*mine, *peer, row("dear", 5, sound=True)], "sound success")
    assert behind.met is False
    assert "100% beside 67%" in behind.where


def test_speed_is_compared_on_the_people_whom_the_peer_was_tried_on() -> None:
    mine = [row("localface-path", i, sound=True, seconds=0.1 if i < 2 else 9.0) for i in range(10)]
    peer = [row("dice-random", i, sound=True, seconds=2.0 if i < 2 else None) for i in range(10)]
    assert "least 20.0 times" in bar([*mine, *peer], "10 times").measured


def test_agreement_is_compared_on_the_people_whom_both_answer() -> None:
    mine = [row("localface", i, sound=True, retrained=0.9 if i < 4 else 0.1) for i in range(8)]
    peer = [
        row("bold", i, sound=True, found=float(i < 4), retrained=0.8 if i < 4 else None)
        for i in range(8)
    ]
    assert bar([*mine, *peer], "refits agree").met
    peer = [row("bold", i, sound=True, retrained=0.8) for i in range(8)]
    assert bar([*mine, *peer], "refits agree").met is False


@pytest.mark.parametrize(
    ("effort", "ours"), [(0.9, 0.0), (1.0, 0.4), (2.0, 0.6), (3.0, 0.8), (9.0, 0.8)]
)
def test_at_equal_effort_a_peer_stands_beside_the_line_between_our_settings(
    effort: float, ours: float
) -> None:
    cheap = [row("localface", i, sound=True, retrained=0.4, l1=1.0) for i in range(8)]
    dear = [row("localface-lasting-90", i, sound=True, retrained=0.8, l1=3.0) for i in range(4)]
    peer = [row("bold", i, sound=True, retrained=0.7, l1=effort) for i in range(8)]
    held = beside([*cheap, *dear, *peer], "bold")
    assert held is not None
    assert held.ours == pytest.approx(ours)
    assert held.people == 4  # those whom all our settings were asked about


def test_what_is_stated_is_held_against_what_refits_show_bin_by_bin() -> None:
    told = [
        row("localface-lasting-90", i, sound=True, stated=0.5 + i / 100, retrained=0.52 + i / 100)
        for i in range(50)
    ]
    assert bar(told, "what answers state").met
    assert [n for _, _, n in calibration(told)] == [10] * 5
    boasting = [{**one, "retrained": 0.3} if one["person"] >= 40 else one for one in told]
    assert "94% stated, 30% seen of 10" in bar(boasting, "what answers state").where


def test_a_group_is_compared_with_everybody_else_of_its_table() -> None:
    told = [
        row("localface", i, sound=i >= 10, found=float(i >= 10), groups={"sex": "fm"[i % 2]})
        for i in range(60)
    ]
    assert bar(told, "every group").met
    women_last = [{**one, "groups": {"sex": "f" if one["person"] < 20 else "m"}} for one in told]
    assert "sex f, 50% of 20 beside 100% of 40" in bar(women_last, "every group").where


def test_features_are_compared_with_a_peers_sound_answers_only() -> None:
    mine = [row("localface", i, sound=True, l0=2.0) for i in range(12)]
    bold = [row("nice-sparse", i, sound=i >= 6, l0=1.0 if i < 6 else 3.0) for i in range(12)]
    assert bar([*mine, *bold], "features changed, mean").met
    fair = [row("nice-sparse", i, sound=True, l0=1.0) for i in range(12)]
    assert "1.00 beside 2.00 of 12" in bar([*mine, *fair], "features changed, mean").where


def test_a_cell_that_is_not_through_is_not_judged(rules: Rules) -> None:
    cell = Cell("moons", 0, "nearest-unlike")
    run_split("moons", 0, [cell.method], rules)
    done = cell.file(rules.out).read_text(encoding="utf-8").splitlines()
    cell.file(rules.out).write_text("\n".join(done[:2]), encoding="utf-8")
    assert judging.judged("moons", 0, [cell.method], rules) == []


@pytest.mark.parametrize(
    ("most", "marks"), [(0.0, 1.0), (0.09, 0.1), (1.0, 1.0), (7.3, 8.0), (100.0, 100.0)]
)
def test_axes_end_at_a_round_number(most: float, marks: float) -> None:
    assert pictures.rounded(most)[-1] == pytest.approx(marks)
    assert 2 <= len(pictures.rounded(most)) <= 6


def kernels_and_pairs(points: np.ndarray[Any, Any]) -> TraversalRule:
    """The rule that LocalFACE searches by, on rows whose points are their values."""
    schema = Schema([Feature("x0", scale=1.0), Feature("x1", scale=1.0)])
    space = Space(schema, np.zeros(2), np.ones(2))
    rows = np.unique(points, axis=0)
    density = fit_common_states(PointSet(rows), space)
    return TraversalRule.of_density(density, ReferenceRows(rows), min_density=0.3)


@pytest.mark.parametrize("common", [False, True], ids=["round kernels", "kernels and pairs"])
@pytest.mark.parametrize("seed", range(4))
def test_the_oracle_finds_the_shortest_of_all_ways(seed: int, common: bool) -> None:
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(60, 2)) * [2.0, 0.6]
    rule = TraversalRule.fit(points, np.zeros(2, dtype=bool), bandwidth=0.35, min_density=0.3)
    if common:
        rule = kernels_and_pairs(points)
    rows = rule.rows.points
    start = rule.rows.points[np.argmin(rule.rows.points[:, 0])] + 0.02
    reaches_target = rows[:, 0] > 1.5
    low = np.array([-np.inf, -0.8])
    high = np.full(2, np.inf)
    bounds = Bounds(low, high, np.array([True, False]), np.zeros(2, dtype=bool))
    places = np.vstack([start, rows[bounds.contain(rows)]])
    steps = np.zeros((len(places), len(places)))
    for i in range(len(places)):
        fine = rule.traversable(np.repeat(places[[i]], len(places), axis=0), places)
        fine &= bounds.respects_one_way(places[i], places)
        steps[i] = np.where(fine, np.linalg.norm(places - places[i], axis=1), 0.0)
    best = dijkstra(steps, indices=0)[1:][reaches_target[bounds.contain(rows)]].min(initial=np.inf)
    found = optimum(rule, start, bounds, reaches_target, within=50.0, looks=100_000)
    assert found.settled
    assert found.length == pytest.approx(min(best, 50.0))
    early = optimum(rule, start, bounds, reaches_target, within=50.0, looks=2)
    assert early.length <= found.length + 1e-9
