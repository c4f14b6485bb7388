"""``localface promise`` and ``localface recheck``: what they print, how they end, what they say."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("skops", reason="models are saved with skops")
import skops.io
from sklearn.linear_model import LogisticRegression

from localface import Promises
from localface.apps import cli

pytestmark = pytest.mark.slow

RNG = np.random.default_rng(0)
PLANE = pd.DataFrame(RNG.normal(size=(150, 2)), columns=["east", "north"])
WESTERNER = str(int((PLANE["east"] + 0.5).abs().argmin()))
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs the command line in a folder with a table, a model, and the model of later."""
    monkeypatch.chdir(tmp_path)
    PLANE.to_csv("rows.csv", index=False)
    for name, border in (("old", 0.3), ("new", 0.6)):
        ready = np.where(PLANE["east"] > border, "ready", "not yet")
        skops.io.dump(LogisticRegression(C=100).fit(PLANE, ready), f"{name}.skops")

    def ran(*argv: str) -> tuple[int, str, str]:
        code = cli.main(argv)
        return code, *capsys.readouterr()

    return ran


ASK = ("--data", "rows.csv", "--model", "old.skops", "--target", "ready", "--row", WESTERNER)


def test_an_answer_is_promised_and_still_holds(run: Run) -> None:
    code, out, _ = run("promise", "kept", *ASK, "--reference", "a", "--avoid", "north")
    assert code == 0
    (promise,) = Promises.open("kept")
    assert promise.id in out
    assert Promises.open("kept").head in out
    assert promise.person == "a"
    assert list(promise.ask.avoid) == ["north"]
    assert promise.fingerprint.model_file is not None

    code, out, _ = run("recheck", "kept", "--model", "old.skops")
    assert code == 0
    assert out.startswith("<Recheck of 1 promise: 1 holds>")


def test_a_promise_may_be_asked_to_last(run: Run) -> None:
    table = PLANE.assign(became=np.where(PLANE["east"] > 0.3, "ready", "not yet"))
    table.to_csv("outcomes.csv", index=False)

    code, _, _ = run(
        *("promise", "kept", "--data", "outcomes.csv", "--outcome", "became", "--lasting", "0.8"),
        *("--model", "old.skops", "--target", "ready", "--row", WESTERNER),
    )

    assert code == 0
    (promise,) = Promises.open("kept")
    assert promise.asked["lasting"] == 0.8
    assert promise.recourse.robustness is not None
    assert promise.recourse.robustness.lasting is not None


def test_the_same_command_again_promises_nothing_new(run: Run) -> None:
    run("promise", "kept", *ASK, "--reference", "a")
    run("promise", "kept", *ASK, "--reference", "a")

    assert len(Promises.open("kept")) == 1


def test_a_printed_answer_is_promised(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    _, answer, _ = run("explain", *ASK, "--json")
    Path("answer.json").write_text(answer)

    code, _, _ = run("promise", "kept", "--answer", "answer.json", "--model", "old.skops")
    assert code == 0
    monkeypatch.setattr("sys.stdin", io.StringIO(answer))
    code, _, _ = run("promise", "kept", "--answer", "-", "--reference", "b")
    assert code == 0
    code, out, err = run(
        "recheck", "kept", "--model", "old.skops", "--data", "rows.csv", "--target", "ready"
    )
    assert (code, err) == (0, "")
    assert "2 hold" in out


def test_a_later_model_breaks_it_and_a_new_plan_is_written_down(run: Run) -> None:
    run("promise", "kept", *ASK, "--reference", "7")
    pd.DataFrame({"who": [7], "east": [-0.2]}).to_csv("people.csv", index=False)

    code, out, err = run(
        *("recheck", "kept", "--model", "new.skops", "--progress", "people.csv", "--id", "who"),
        *("--json", "out.json"),
    )

    assert code == 3
    assert "the model has changed since it was given" in out
    assert "breaks 100 % of 1 open promise (1)" in out
    assert "wrote out.json" in err
    plain = json.loads(Path("out.json").read_text())
    (one,) = plain["promises"]
    assert one["status"] == "BROKEN"
    assert one["repair"]["format"] == "localface/recourse"
    assert one["progress"][0]["now"] == -0.2
    code, out, _ = run("recheck", "kept", "--model", "new.skops", "--json", "-")
    assert json.loads(out)["counts"]["BROKEN"] == 1


def test_promises_are_listed_and_closed(run: Run) -> None:
    run("promise", "kept", *ASK)
    (promise,) = Promises.open("kept")

    code, out, _ = run("promise", "kept")
    assert (code, promise.id in out) == (0, True)
    code, out, _ = run("promise", "kept", "--close", promise.id, "--why", "kept")
    assert code == 0
    code, out, err = run("recheck", "kept", "--model", "old.skops")
    assert code == 1
    assert "there are no open promises in 'kept'" in err


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (("promise", "kept", "--row", "1"), "need --data and --model"),
        (("promise", "kept", "--row", "1", "--answer", "a"), "--answer is an answer already"),
        (("promise", "nothing"), "there are no promises in"),
        (("promise", "kept", "--answer", "lost.json"), "there is no file 'lost.json'"),
        (("recheck", "nothing", "--model", "old.skops"), "there are no promises in"),
        (("recheck", "kept", "--model", "old.skops", "--head", "12"), "kept as its head"),
        (("recheck", "kept", "--model", "old.skops", "--json", "no/out"), "there is no folder"),
    ],
)
def test_mistakes_are_one_line(run: Run, argv: tuple[str, ...], said: str) -> None:
    if argv[1] == "kept" and argv[0] == "recheck":
        run("promise", "kept", *ASK)

    code, out, err = run(*argv)

    assert (code, out) == (1, "")
    assert re.search(said, err), err
    assert err.count("\n") == 1


def test_data_that_is_not_what_it_was_is_asked_for(run: Run) -> None:
    run("promise", "kept", *ASK)
    PLANE.iloc[:-1].to_csv("rows.csv", index=False)

    code, _, err = run("recheck", "kept", "--model", "old.skops")

    assert code == 1
    assert "'rows.csv', which the promises were worked out from, is not there or not" in err
