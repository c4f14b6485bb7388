"""The harness of benchmarks/bench.py: every shape can be made, what is said of peers is so."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

import bench
import bench_peers
import shape_tables
from bench_bars import bars_report
from bench_history import record
from bench_ours import KINDS
from bench_ours_tables import ours_figures
from bench_peers import Peer, measure_peers
from bench_peers_tables import fastest_sound, peers_reports
from localface.search import questions
from shape_tables import Table, balanced, mixed
from shapes import SHAPES, split
from timing import Spent, timed


def tiny() -> Table:
    """A small table of mixed kinds."""
    frame, labels = mixed(260, numbers=3, words=1, seed=0)
    return Table(frame, labels, balanced, 60)


def took(seconds: float) -> list[Spent]:
    return [Spent(seconds, seconds)] * 3


def test_a_small_shape_is_measured_printed_and_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(SHAPES, "tiny", tiny)
    monkeypatch.setattr(bench, "use_one_thread", lambda: None)
    few = ["--people", "4", "--peer-people", "2", "--seconds", "0.4"]
    kept = ["--out", str(tmp_path), "--history", str(tmp_path / "history.md"), "--record", "now"]
    monkeypatch.setattr(
        bench_peers, "PEERS", {name: bench_peers.PEERS[name] for name in ("NICE", "straight line")}
    )

    bench.main(["--only", "ours", "peers", "--shapes", "tiny", *few, *kept])

    printed = capsys.readouterr().out
    for title in ("One at a time", "In lock-step", "Beside the peers", "Bars"):
        assert title in printed
    figures = json.loads((tmp_path / "bench.json").read_text(encoding="utf-8"))["figures"]
    for way in ("path only", "with actions"):
        assert figures[f"tiny, {way}, alone: found"] == 1
        assert figures[f"tiny, {way}, alone: median ms"] > 0
        assert figures[f"tiny, {way}, lock-step: people a second"] > 0
    assert figures["tiny, ours, path only: sound"] == 1
    assert "NO" not in printed.partition("In lock-step")[2].partition("By the form")[0]
    assert (tmp_path / "history.md").read_text(encoding="utf-8").count("| now |") == 1


def test_people_are_held_out_of_the_table_and_refused() -> None:
    table = tiny()
    at = split("tiny", table, 20)
    assert len(at.data) == 200
    assert (at.model.predict_proba(at.people)[:, 1] < at.min_score).all()
    known = set(map(tuple, at.data.to_numpy().tolist()))
    assert not known & set(map(tuple, at.people.to_numpy().tolist()))


def test_without_a_data_folder_tables_of_the_same_form_are_generated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shape_tables, "FOLDER", tmp_path)
    german = shape_tables.small()
    assert german.made
    assert german.frame.shape == (1_000, 20)
    assert shape_tables.adult().made
    assert shape_tables.gaps().frame.isna().any(axis=None)


def test_the_table_of_codes_has_a_feature_of_340_categories() -> None:
    assert shape_tables.codes().frame["code"].nunique() == 340


def test_a_peer_that_never_ends_is_stopped_and_the_next_is_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def endless(task: Any) -> bench_peers.Answer:
        def answer(person: Any) -> Any:
            while True:
                try:
                    sum(range(1000))
                except Exception:
                    continue

        return answer

    def failing(task: Any) -> bench_peers.Answer:
        raise ValueError("no such model")

    nice = bench_peers.PEERS["NICE"]
    monkeypatch.setattr(
        bench_peers, "PEERS", {"endless": endless, "failing": failing, "NICE": nice}
    )
    found = {one.name: one for one in measure_peers(split("tiny", tiny(), 4), 2, 0.3)}
    assert found["endless"].note == "OutOfPatience at person 1"
    assert found["failing"].note == "cannot be set up: ValueError"
    assert np.isnan(found["failing"].median)
    assert found["NICE"].spent


def test_a_limit_does_not_make_the_clock_coarse() -> None:
    with bench_peers.limited(60):
        spent = [timed(sum, range(2_000))[1].cpu for _ in range(200)]
    assert min(spent) > 0
    assert np.median(spent) < 1e-3


def test_the_fastest_peer_that_counts_has_a_sound_answer() -> None:
    ours = Peer("ours, path only", took(0.001), 3, 3)
    unsound = Peer("unsound", took(0.002), 3, 0)
    slow = Peer("slow", took(0.5), 3, 1)
    slower = Peer("slower", took(0.9), 3, 3)
    assert fastest_sound([ours, unsound, slower, slow]) is slow
    assert fastest_sound([ours, unsound]) is None


def test_peers_that_gave_nothing_or_were_not_judged_have_their_lines() -> None:
    silent = Peer("dice-random", [], 0, 0, "cannot be set up: ValueError")
    unjudged = Peer("NICE", took(0.1), 3, None)
    ours = [Peer(name, took(0.1), 3, None) for name in bench_peers.OURS]
    beside, everyone = peers_reports({"gaps": "gaps"}, {"gaps": [*ours, silent, unjudged]})
    assert "none" in beside.rows[0]
    lines = "\n".join(everyone.lines(markdown=True))
    assert "cannot be set up: ValueError" in lines
    assert "not judged" in lines


def test_bars_say_what_was_reached_and_leave_out_what_was_not_measured() -> None:
    figures = {
        "wide, path only, alone: median queries": 12.5,
        "wide, with actions, alone: median queries": 39.0,
        "wide: dice-random over ours": 9.0,
        "import s": 0.1,
    }
    rows = {row[0]: row[3] for row in bars_report(figures, ["wide"], ["wide"]).rows}
    assert rows == {
        "wide, one at a time, path only, queries": "no",
        "wide, one at a time, with actions, queries": "yes",
        "wide, dice-random over ours": "no",
        "import localface, s beyond NumPy and SciPy": "yes",
    }


def test_the_history_keeps_its_lines_and_has_one_heading(tmp_path: Path) -> None:
    path = tmp_path / "history.md"
    figures = {
        "planes, path only, alone: median queries": 3.0,
        "planes, with actions, alone: median queries": 5.0,
        "planes, path only, alone: p99 / median": 2.0,
        "planes, path only, lock-step: people a second": 1234.0,
    }
    record("0.1", figures, path)
    record("0.2", figures, path)
    lines = path.read_text(encoding="utf-8").splitlines()
    assert sum(line.startswith("| version") for line in lines) == 1
    assert [line.split(" | ")[0] for line in lines[-2:]] == ["| 0.1", "| 0.2"]
    assert "3.00 / 5.00 / 2.00 / 1,234" in lines[-1]
    widths = {line.count("|") for line in lines if line.startswith("|")}
    assert len(widths) == 1


def test_every_kind_of_question_has_a_place_in_the_account_of_time() -> None:
    asked = {kind.__name__ for kind in questions.Question.__args__}
    assert asked <= set(KINDS)


def test_nothing_measured_gives_no_figures() -> None:
    assert ours_figures({}) == {}
