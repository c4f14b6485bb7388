"""The command line: what it prints where, how it ends, and that a user's mistake is one line."""

from __future__ import annotations

import argparse
import json
import os
import pickle
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.linear_model import LinearRegression, LogisticRegression

from localface import Feature, Recourse, Schema, __version__
from localface.analyses.alternatives import Alternatives
from localface.apps import cli, files
from localface.apps.cli import inputs
from localface.apps.cli.arguments import make_parser
from localface.apps.cli.ask_options import _parse_limits as _where
from localface.errors import install_command
from localface.geometry.compiled.library import load_library
from onnxfile import write_classifier

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
RNG = np.random.default_rng(0)
PLANE = pd.DataFrame(RNG.normal(size=(150, 2)), columns=["east", "north"])
IS_EAST = PLANE["east"] > 0.3
ROWS = PLANE.assign(outcome=IS_EAST.astype(int))
WESTERNER = int((PLANE["east"] + 0.5).abs().argmin())
THERE = int(PLANE["east"].argmax())


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str


Run = Callable[..., Ran]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs the command line in a folder with a table, a model and a person."""
    monkeypatch.chdir(tmp_path)
    ROWS.to_csv("rows.csv", index=False)
    skops.io.dump(
        LogisticRegression().fit(PLANE, np.where(IS_EAST, "ready", "not yet")), "model.skops"
    )
    Path("person.json").write_text('{"east": -0.5, "north": 0.0}')

    def ran(*argv: str) -> Ran:
        code = cli.main(argv)
        return Ran(code, *capsys.readouterr())

    return ran


EXPLAIN = ("explain", "--data", "rows.csv", "--model", "model.skops", "--target", "ready")
FROM_ROW = (*EXPLAIN, "--row", str(WESTERNER))
FROM_PERSON = (*EXPLAIN, "--person", "person.json")


def refused(ran: Ran, message: str) -> None:
    """A mistake is told in our own words, on stderr only, and ends with 1."""
    assert ran.code == 1
    assert ran.out == ""
    assert re.search(message, ran.err), ran.err
    assert ran.err.splitlines()[-1].startswith(("localface: ", "(localface"))
    assert "Traceback" not in ran.err


class TestExplain:
    def test_a_row_is_explained(self, run: Run) -> None:
        ran = run(*FROM_ROW)
        assert ran.code == 0
        assert ran.out.startswith("<Recourse: found")
        assert "east" in ran.out

    def test_columns_that_the_model_does_not_know_are_left_out_with_a_note(self, run: Run) -> None:
        note = (
            "localface: note: the model does not know these columns, "
            "and they are not used: outcome\n"
        )
        assert run(*FROM_ROW).err == note
        assert run(*FROM_ROW, "--drop", "outcome").err == ""

    def test_other_models_have_to_agree(self, run: Run) -> None:
        further = np.where(PLANE["east"] > 0.9, "ready", "not yet")
        skops.io.dump(LogisticRegression().fit(PLANE, further), "other.skops")
        alone = Recourse.from_json(run(*FROM_PERSON, "--json").out)
        held = Recourse.from_json(run(*FROM_PERSON, "--json", "--others", "other.skops").out)
        assert held.end["east"] > alone.end["east"]
        assert held.robustness is not None
        assert held.robustness.n_valid == 1
        refused(
            run(*FROM_PERSON, "--agree", "0.5"),
            "--agree 0.5 .*: give them as --others",
        )

    def test_an_outcome_lets_answers_tell_how_long_they_last(self, run: Run) -> None:
        ROWS.assign(outcome=np.where(IS_EAST, "ready", "not yet")).to_csv("rows.csv", index=False)
        told = run(*FROM_PERSON, "--outcome", "outcome", "--lasting", "0.9")
        assert told.code == 0
        assert "holds under a retrained model with probability" in told.out
        assert "not used" not in told.err
        refused(run(*FROM_PERSON, "--lasting", "0.9"), "--lasting 0.9 needs to know")

    def test_a_wish_that_cannot_be_kept_is_no_recourse_unless_by_best_effort(
        self, run: Run
    ) -> None:
        ROWS.assign(outcome=np.where(IS_EAST, "ready", "not yet")).to_csv("rows.csv", index=False)
        asked = (*FROM_PERSON, "--outcome", "outcome", "--lasting", "0.9999")

        told = run(*asked)
        assert told.code == 3
        assert "the most lasting plan found holds under a retrained model" in told.out
        told = run(*asked, "--best-effort")
        assert told.code == 0
        assert told.out.startswith("caution: no answer was found that a retrained model agrees")

    def test_a_column_says_whose_rows_they_are_and_is_no_feature(self, run: Run) -> None:
        ROWS.assign(who=np.arange(len(ROWS)) // 2).to_csv("rows.csv", index=False)
        ran = run(*FROM_ROW, "--drop", "outcome", "--groups", "who", "--json")
        assert ran.err == ""
        assert Recourse.from_json(ran.out).schema.names == ("east", "north")

    def test_a_column_that_names_nobody_is_one_line(self, run: Run) -> None:
        refused(run(*FROM_ROW, "--groups", "outcme"), "did you mean 'outcome'")

    @pytest.mark.filterwarnings("default")
    def test_near_copies_are_said_in_one_line(self, run: Run) -> None:
        near = [ROWS.assign(north=ROWS["north"] + 1e-4 * n) for n in range(3)]
        pd.concat(near).to_csv("rows.csv", index=False)
        ran = run(*FROM_ROW, "--drop", "outcome")
        assert ran.code == 0
        assert ran.err.startswith("localface: warning: many rows have a near-copy")
        assert len(ran.err.splitlines()) == 1

    def test_a_person_is_explained(self, run: Run) -> None:
        ran = run(*FROM_PERSON, "--json")
        answer = Recourse.from_json(ran.out)
        assert answer.found
        assert answer.records[0].tolist() == [-0.5, 0.0]

    def test_a_person_is_named_by_what_a_column_holds(self, run: Run) -> None:
        ROWS.assign(client=[f"C{i:03}" for i in range(len(ROWS))]).to_csv("rows.csv", index=False)
        named = run(*EXPLAIN, "--row", f"client=C{WESTERNER:03}", "--json")
        assert named.code == 0
        assert Recourse.from_json(named.out).records[0].tolist() == PLANE.iloc[WESTERNER].tolist()
        refused(run(*EXPLAIN, "--row", "C007"), "did you mean --row client=C007")

    @pytest.mark.parametrize("row", ["1", "client=C1"])
    def test_a_person_out_of_another_table_is_no_row_of_the_data(self, run: Run, row: str) -> None:
        held = pd.DataFrame({"client": ["C0", "C1"], "east": [0.1, -0.5], "north": [0.0, 0.0]})
        held.to_csv("held.csv", index=False)
        ran = run(*EXPLAIN, "--person", "held.csv", "--row", row, "--json")
        answer = Recourse.from_json(ran.out)
        assert answer.records[0].tolist() == [-0.5, 0.0]
        assert answer.disclosure.of == len(ROWS)
        refused(run(*EXPLAIN, "--person", "held.csv"), "'held.csv' has 2 rows: say which one")

    def test_a_page_says_who_was_named_and_what_was_asked(self, run: Run) -> None:
        asked = ("--html", "out.html", "--where", "east=never")
        for named, said in (
            (FROM_ROW, f"row {WESTERNER} of rows.csv"),
            ((*EXPLAIN, "--row", f"north={PLANE['north'][3]}"), f"north {PLANE['north'][3]}"),
            (FROM_PERSON, "person.json"),
        ):
            assert run(*named, *asked).code in (0, 3)
            page = Path("out.html").read_text()
            assert f"<h1>{said}</h1>" in page
            assert "<td>never moves</td>" in page

    def test_people_in_csv_are_explained_and_how_to_read_it_is_said(self, run: Run) -> None:
        PLANE[:3].assign(client=["C0", "C1", "C2"]).to_csv("held.csv", index=False)
        asked = (*EXPLAIN, "--people", "held.csv", "--id", "client", "--out", "answers")
        ran = run(*asked, "--no-actions")
        assert ran.code == 0
        assert re.search(r"^3 people, \d found: 1 block in answers$", ran.out, re.MULTILINE)
        assert "to read it: pandas.read_parquet('answers') has one line a person" in ran.out
        assert pd.read_parquet("answers")["id"].tolist() == ["C0", "C1", "C2"]

    def test_a_doubtful_value_is_said_first(self, run: Run) -> None:
        Path("person.json").write_text('{"east": 15.0, "north": 0.0}')
        ran = run(*FROM_PERSON)
        assert ran.code == 0
        assert ran.out.startswith("caution: east 15 is higher than anybody's in the data (highest")
        assert "<Recourse: already there, 1 caution" in ran.out
        (caution,) = json.loads(run(*FROM_PERSON, "--json").out)["cautions"]
        assert caution.endswith("is it 1.5?")

    def test_a_value_that_cannot_be_is_refused(self, run: Run) -> None:
        schema = Schema([Feature("east", bounds=(-5, 5)), Feature("north")])
        Path("schema.toml").write_text(schema.to_toml())
        Path("person.json").write_text('{"east": 15.0, "north": 0.0}')
        ran = run(*FROM_PERSON, "--schema", "schema.toml", "--drop", "outcome")
        refused(ran, r"'east' is 15 \(is it 1.5\?\), and the schema's bounds are -5 to 5")

    def test_a_person_may_bring_the_outcome_along(self, run: Run) -> None:
        Path("person.json").write_text('{"east": -0.5, "north": 0.0, "outcome": 0}')
        assert run(*FROM_PERSON).code == 0

    def test_json_is_all_there_is_on_stdout_whatever_the_model_prints(self, run: Run) -> None:
        Path("chatty.py").write_text(
            "print('loaded')\ndef score(frame):\n    print('hi')\n    return frame['east'] > 0\n"
        )
        argv = (
            "explain",
            "--data",
            "rows.csv",
            "--model",
            "chatty:score",
            "--row",
            str(WESTERNER),
            "--drop",
            "outcome",
        )
        ran = run(*argv, "--json")
        assert ran.code == 0
        assert json.loads(ran.out)["status"] == "FOUND"
        assert "loaded" in ran.err

    def test_the_options_reach_the_search(self, run: Run) -> None:
        options = (
            "--min-score",
            "0.6",
            "--min-density",
            "0.02",
            "--edges",
            "average",
            "--n-neighbors",
            "20",
        )
        ran = run(*FROM_ROW, *options, "--max-step", "1.5", "--max-rows", "140", "--json")
        answer = Recourse.from_json(ran.out)
        wanted = {
            "min_score": 0.6,
            "min_density": 0.02,
            "edges": "average",
            "n_neighbors": 20,
            "max_step": 1.5,
        }
        assert dict(answer.settings).items() >= {**wanted, "max_rows": 140}.items()

    def test_few_rows_need_no_word_on_neighbours(self, run: Run) -> None:
        ROWS.head(30).to_csv("rows.csv", index=False)
        assert run(*FROM_PERSON, "--min-density", "0").code in (0, 3)
        refused(run(*FROM_PERSON, "--n-neighbors", "31"), "--n-neighbors 31.*only 30 rows")

    def test_someone_already_there_is_no_failure(self, run: Run) -> None:
        ran = run(*EXPLAIN, "--row", str(THERE))
        assert ran.code == 0
        assert "already there" in ran.out

    def test_no_recourse_is_an_answer_with_a_code_of_its_own(self, run: Run) -> None:
        ran = run(*FROM_ROW, "--where", "east=never")
        assert ran.code == 3
        assert "none reaches it" in ran.out
        assert "a way opens if east may change" in ran.out

    def test_several_ways_are_asked_for_and_may_differ_by_their_values(self, run: Run) -> None:
        model = LogisticRegression().fit(PLANE, PLANE.sum(axis=1) > 0.3)
        skops.io.dump(model, "model.skops")
        person = ("--person", "person.json")
        asked = ("explain", "--data", "rows.csv", "--model", "model.skops", *person)
        asked = (*asked, "--alternatives", "4", "--differ", "values")
        ran = run(*asked)
        assert ran.code == 0
        assert "way 2" in ran.out
        ways = Alternatives.from_json(run(*asked, "--json").out)
        assert len(ways) > 1
        assert run(*asked, "--html", "ways.html").code == 0
        assert "<table>" in Path("ways.html").read_text()
        both = ("--where", "east=never", "--where", "north=never")
        assert run(*asked, *both).code == 3
        refused(run(*asked, "--plot", "out.png"), "--plot draws one way")

    def test_the_floor_is_lowered_on_request(self, run: Run) -> None:
        left = RNG.normal(size=(80, 2)) * 0.3
        pd.DataFrame(
            np.concatenate([left, left + np.array([6, 0])]), columns=["east", "north"]
        ).to_csv("rows.csv", index=False)
        argv = (*EXPLAIN, "--row", "0", "--min-score", "0.9")
        assert run(*argv).code == 3
        ran = run(*argv, "--relax")
        assert ran.code == 0
        assert ran.out.startswith("relaxed: ")

    def test_a_schema_is_kept(self, run: Run) -> None:
        asked = (*FROM_PERSON, "--schema", "schema.toml")
        Schema([Feature("east", moves="never"), Feature("north")]).save("schema.toml")
        assert run(*asked).code == 3
        Schema([Feature("east", resolution=0.1), Feature("north", moves="never")]).save(
            "schema.toml"
        )
        answer = Recourse.from_json(run(*asked, "--json").out).require()
        assert set(answer.records[:, 1]) == {0.0}
        assert [set(action.changes) for action in answer.actions] == [{"east"}]
        Schema([Feature("east", unit="km", resolution=0.1), Feature("north", within=2)]).save(
            "schema.toml"
        )
        ran = run(*asked)
        assert ran.code == 0
        assert " km" in ran.out

    def test_a_schema_that_was_guessed_with_the_outcome_in_it_still_serves(self, run: Run) -> None:
        assert run("schema", "rows.csv").code == 0
        assert run(*FROM_PERSON, "--schema", "schema.toml").code == 0

    def test_what_is_kept_by_its_name_is_told_where_no_schema_is_given(self, run: Run) -> None:
        PLANE.rename(columns={"north": "age"}).to_csv("people.csv", index=False)
        plane = PLANE.rename(columns={"north": "age"})
        skops.io.dump(LogisticRegression().fit(plane, IS_EAST.astype(int)), "model.skops")
        there = ("explain", "--data", "people.csv", "--model", "model.skops", "--row", str(THERE))
        assert "note: 'age' looks protected by its name" in run(*there).err
        Schema.infer(plane).with_("age", moves="freely").save("schema.toml")
        assert run(*there, "--schema", "schema.toml").err == ""

    def test_notes_speak_of_the_file_and_dates_are_counted_in_days(self, run: Run) -> None:
        opened = pd.Timestamp("2020-03-01") + pd.to_timedelta(np.arange(len(PLANE)), unit="D")
        late = np.where(np.arange(len(PLANE)) % 9 == 0, -9, np.arange(len(PLANE)))
        table = PLANE.assign(opened=opened, late=late, who=np.arange(len(PLANE)) // 2)
        table.to_csv("loans.csv", index=False)
        ran = run("schema", "loans.csv", "--groups", "who")
        assert ran.code == 0
        text = Path("schema.toml").read_text()
        for said in (ran.out, text):
            assert "'opened' holds dates: they are counted in days since 2020-03-01" in said
            assert "if that is wrong, leave out codes in its block" in said
            assert "schema.with_" not in said
        schema = Schema.load("schema.toml")
        assert schema["opened"].since == "2020-03-01"
        assert "who" not in schema.names

    def test_identifiers_in_text_are_left_out_and_said_where_no_schema_is_given(
        self, run: Run
    ) -> None:
        named = ROWS.assign(house_id=[f"H{i:05}" for i in range(len(ROWS))])
        named.to_csv("houses.csv", index=False)
        ran = run("schema", "houses.csv")
        assert ran.code == 0
        assert "note: 'house_id' looks like an identifier" in ran.err
        assert "--groups house_id" in ran.err
        assert Schema.load("schema.toml").names == ("east", "north", "outcome")
        asked = ("explain", "--data", "houses.csv", *EXPLAIN[3:], "--row", str(THERE))
        assert run(*asked, "--schema", "schema.toml").code == 0
        quiet = run("schema", "houses.csv", "--drop", "house_id", "--out", "again.toml")
        assert "identifier" not in quiet.err
        whose = run("schema", "houses.csv", "--groups", "house_id", "--out", "whose.toml")
        assert (whose.code, whose.err) == (0, "")

    def test_the_answer_is_drawn_and_written_as_a_page(self, run: Run) -> None:
        pytest.importorskip("matplotlib")
        ran = run(*FROM_ROW, "--plot", "out.png", "--html", "out.html")
        assert ran.code == 0
        assert Path("out.png").read_bytes().startswith(b"\x89PNG")
        assert "<!DOCTYPE html>" in Path("out.html").read_text()
        assert "wrote out.png" in ran.err

    def test_a_plot_without_matplotlib_is_refused_before_any_work(
        self, run: Run, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(sys.modules, "matplotlib", None)
        refused(
            run(*FROM_ROW, "--plot", "out.png"),
            f"needs matplotlib.*{re.escape(install_command('plots'))}",
        )

    @pytest.mark.parametrize(
        ("given", "extra"), [([], "demo"), (["--data", "rows.csv", "--model", "m.skops"], "web")]
    )
    def test_a_page_that_cannot_be_served_names_all_that_is_missing_at_once(
        self, given: list[str], extra: str, run: Run, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(sys.modules, "fastapi", None)

        refused(run("serve", *given), f"needs fastapi.*{re.escape(install_command(extra))}")


class TestTargets:
    def test_a_number_is_found_by_its_text(self, run: Run) -> None:
        for classes in (IS_EAST.astype(int), IS_EAST.astype(float)):
            skops.io.dump(LogisticRegression().fit(PLANE, classes), "model.skops")
            for target in (["--target", "1"], []):
                ran = run(
                    "explain",
                    "--data",
                    "rows.csv",
                    "--model",
                    "model.skops",
                    "--person",
                    "person.json",
                    *target,
                )
                assert ran.code == 0, ran.err

    def test_the_other_class_and_truth_values_are_found_by_their_text(self, run: Run) -> None:
        skops.io.dump(LogisticRegression().fit(PLANE, IS_EAST), "model.skops")
        argv = (
            "explain",
            "--data",
            "rows.csv",
            "--model",
            "model.skops",
            "--row",
            str(THERE),
            "--target",
            "False",
        )
        ran = run(*argv, "--min-density", "0", "--json")
        assert json.loads(ran.out)["target"]["label"] == "class False"

    def test_a_class_that_does_not_exist_is_refused_with_the_near_miss(self, run: Run) -> None:
        ran = run(*FROM_ROW, "--target", "raedy")
        refused(ran, r"'raedy' is not a class of the model \(did you mean 'ready'\?\)")

    def test_a_value_is_asked_to_rise_or_fall(self, run: Run) -> None:
        skops.io.dump(LinearRegression().fit(PLANE, 10 * PLANE["east"]), "model.skops")
        argv = (
            "explain",
            "--data",
            "rows.csv",
            "--model",
            "model.skops",
            "--person",
            "person.json",
            "--json",
        )
        rises = Recourse.from_json(run(*argv, "--target", "at least", "--min-score", "5").out)
        assert rises.scores[-1] >= 5
        falls = Recourse.from_json(run(*argv, "--target", "at most", "--min-score=-9").out)
        assert falls.scores[-1] <= -9


class TestWhere:
    SCHEMA = Schema(
        [
            Feature("age", kind="integer"),
            Feature("fio2"),
            Feature("ward", kind="categorical", categories=("a", "b", "c,d")),
            Feature("stage", kind="ordinal", categories=("low", "mid", "high")),
            Feature("grade", kind="binary", categories=(1, 2)),
            Feature("sex=male", kind="binary"),
            Feature("lift", kind="categorical", categories=("up", "down", "none")),
        ]
    )

    @pytest.mark.parametrize(
        ("text", "wish"),
        [
            ("age=5", {"age": {"within": 5}}),
            ("fio2=0.05", {"fio2": {"within": 0.05}}),
            ("age=never", {"age": {"moves": "never"}}),
            ("fio2=0.21:0.4", {"fio2": {"bounds": (0.21, 0.4)}}),
            ("fio2=:0.4", {"fio2": {"bounds": (None, 0.4)}}),
            ("fio2=-1:", {"fio2": {"bounds": (-1, None)}}),
            ("ward=a,b", {"ward": {"categories": ["a", "b"]}}),
            ("ward=c,d", {"ward": {"categories": ["c,d"]}}),
            ("stage=low:mid", {"stage": {"bounds": ("low", "mid")}}),
            ("stage=1", {"stage": {"within": 1}}),
            ("stage=mid,high", {"stage": {"categories": ["mid", "high"]}}),
            ("grade=2", {"grade": {"categories": [2]}}),
            ("sex=male=never", {"sex=male": {"moves": "never"}}),
            ("lift=up", {"lift": {"categories": ["up"]}}),
        ],
    )
    def test_a_limit_is_told_by_its_shape(self, text: str, wish: object) -> None:
        assert _where([text], self.SCHEMA) == wish

    def test_one_feature_may_have_several(self) -> None:
        wish = {"age": {"within": 5, "moves": "up"}}
        assert _where(["age=5", "age=up"], self.SCHEMA) == wish

    def test_the_limits_are_kept(self, run: Run) -> None:
        ran = run(
            *FROM_PERSON,
            "--where",
            "north=-0.2:0.2",
            "--where",
            "east=up",
            "--json",
            "--min-density",
            "0",
        )
        records = Recourse.from_json(ran.out).records
        assert np.all(np.abs(records[:, 1]) <= 0.2)
        assert np.all(np.diff(records[:, 0]) >= 0)

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("east", r"--where east cannot be read: write FEATURE=LIMIT"),
            ("esat=5", r"'esat', which is no feature \(did you mean 'east'\?\)"),
            ("east=nevr", r"'east' cannot move 'nevr' \(did you mean 'never'\?\)"),
            ("east=2:1", "the wrong way round"),
            ("east=a:b", "a bound of 'east' is 'a': give a number"),
            ("east=-3", "cannot stay within -3"),
            ("east=nan", "cannot stay within nan"),
        ],
    )
    def test_mistakes_name_the_feature(self, text: str, message: str, run: Run) -> None:
        refused(run(*FROM_PERSON, "--where", text), message)

    def test_a_box_without_anybody_in_it_is_an_answer(self, run: Run) -> None:
        assert run(*FROM_PERSON, "--where", "east=7:9").code == 3

    def test_saying_it_twice_is_refused(self, run: Run) -> None:
        refused(
            run(*FROM_PERSON, "--where", "east=5", "--where", "east=4"),
            "says twice how 'east' may change",
        )


class TestModels:
    def test_a_model_is_imported_from_the_current_folder(self, run: Run) -> None:
        Path("mine.py").write_text("def score(frame):\n    return 1.0 * (frame['east'] > 0)\n")
        argv = (
            "explain",
            "--data",
            "rows.csv",
            "--model",
            "mine:score",
            "--drop",
            "outcome",
            "--person",
            "person.json",
        )
        assert run(*argv).code == 0

    def test_an_onnx_file_is_a_model(self, run: Run) -> None:
        write_classifier(Path("model.onnx"), [2.0, 0.0], zipmap=True)
        argv = ("--model", "model.onnx", "--drop", "outcome")
        assert run(*FROM_PERSON, *argv).code == 0
        refused(
            run(*FROM_PERSON, *argv[:2]),
            "the model takes 2 columns, it does not say which, and 3 came",
        )

    def test_a_pickle_needs_a_word_and_gets_a_warning(self, run: Run) -> None:
        Path("model.pkl").write_bytes(pickle.dumps(LogisticRegression().fit(PLANE, IS_EAST)))
        argv = (
            "explain",
            "--data",
            "rows.csv",
            "--model",
            "model.pkl",
            "--person",
            "person.json",
            "--target",
            "True",
        )
        refused(run(*argv), "--allow-pickle")
        ran = run(*argv, "--allow-pickle")
        assert ran.code == 0
        assert (
            "localface: warning: model.pkl is a pickle: loading it runs whatever code is in it"
            in ran.err
        )

    def test_a_model_that_fails_is_told_without_a_traceback(self, run: Run) -> None:
        Path("broken.py").write_text("def score(frame):\n    return frame['esat']\n")
        argv = (
            "explain",
            "--data",
            "rows.csv",
            "--model",
            "broken:score",
            "--drop",
            "outcome",
            "--person",
            "person.json",
        )
        refused(run(*argv), "the model failed on .* record.*KeyError: 'esat'")


class TestSchema:
    def test_the_guesses_are_printed_and_written(self, run: Run) -> None:
        ran = run("schema", "rows.csv")
        assert ran.code == 0
        assert "<Schema: 3 features>" in ran.out
        assert "wrote schema.toml" in ran.out
        assert Schema.load("schema.toml") == Schema.infer(ROWS)

    def test_what_looks_protected_by_its_name_is_told(self, run: Run) -> None:
        PLANE.assign(sex=np.arange(150) % 2).to_csv("people.csv", index=False)
        ran = run("schema", "people.csv")
        told = "'sex' looks protected by its name: it is kept as it is"
        assert told in ran.out
        assert f"\n# {told}" in Path("schema.toml").read_text()
        assert Schema.load("schema.toml")["sex"].protected

    def test_a_file_that_is_there_is_kept(self, run: Run) -> None:
        Path("mine.toml").write_text("mended")
        refused(run("schema", "rows.csv", "--out", "mine.toml"), "already.*--force")
        assert run("schema", "rows.csv", "--out", "mine.toml", "--force").code == 0
        assert Schema.load("mine.toml").names == ("east", "north", "outcome")

    def test_it_can_be_printed_instead_and_columns_left_out(self, run: Run) -> None:
        ran = run("schema", "rows.csv", "--out", "-", "--drop", "outcome")
        assert Schema.from_toml(ran.out) == Schema.infer(PLANE)
        assert not Path("schema.toml").exists()


class TestDemo:
    def test_it_prints_draws_and_says_where(self, run: Run) -> None:
        pytest.importorskip("matplotlib")
        ran = run("demo", "--out", "pictures/here")
        assert ran.code == 0
        assert ran.out.startswith("<Recourse: found")
        assert Path("pictures/here/two-moons.png").read_bytes().startswith(b"\x89PNG")
        assert 'src="two-moons.png"' in Path("pictures/here/two-moons.html").read_text()
        assert f"figure: {Path('pictures/here/two-moons.png')}" in ran.out
        assert f"page:   {Path('pictures/here/two-moons.html')}" in ran.out

    def test_without_matplotlib_it_does_the_rest(
        self, run: Run, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name in [
            one for one in sys.modules if one.startswith(("matplotlib", "localface.apps.plots"))
        ]:
            monkeypatch.delitem(sys.modules, name)
        monkeypatch.setitem(sys.modules, "matplotlib", None)
        ran = run("demo")
        assert ran.code == 0
        assert install_command("plots") in ran.err
        assert "figure" not in ran.out
        assert "<img" not in Path("localface-demo/two-moons.html").read_text()


class TestMisuse:
    @pytest.mark.parametrize(
        ("argv", "message"),
        [
            ((), "the following arguments are required: COMMAND"),
            (("explian",), r"invalid choice: 'explian' .*\(did you mean 'explain'\?\)\nusage"),
            (("explain",), "required: --data, --model"),
            ((*EXPLAIN,), "say who is to be explained, with --row, --person or --people$"),
            ((*FROM_PERSON, "--people", "rows.csv"), "not allowed with argument"),
            ((*FROM_ROW, "--people", "rows.csv", "--out", "o"), "--row is for one person"),
            (
                (*FROM_ROW, "--min-scor", "1"),
                r"--min-scor 1 \(did you mean '--min-score'\?\)\nusage: localface explain",
            ),
            (
                (*EXPLAIN[:-2], "--row", "0"),
                r"Say --target, one of 'not yet', 'ready', or 'other'",
            ),
            (
                (*FROM_ROW, "--lasting", "0.8"),
                r"--lasting 0.8 needs.*: name the column .* with --outcome$",
            ),
            ((*FROM_ROW, "--avoid", "esat"), r"--avoid names 'esat'.*did you mean 'east'"),
            (
                (*EXPLAIN, "--row", "one"),
                "--row one names no row: say which one with --row: its num",
            ),
            ((*EXPLAIN, "--row", "outcome=0"), r"--row outcome=0: \d+ rows have it \(0, "),
            ((*EXPLAIN, "--row", "150"), "no row 150: the table has 150 rows, counted from 0"),
            ((*FROM_ROW, "--min-density", "5"), "--min-density 5.0: a share from 0 to below 1"),
            ((*FROM_ROW, "--edges", "srict"), r"--edges srict:.*did you mean 'strict'"),
            ((*FROM_ROW, "--data", "row.csv"), r"no file 'row.csv' \(did you mean 'rows.csv'\?\)"),
            (
                (*FROM_ROW, "--model", "modle.skops"),
                r"no file 'modle.skops' \(did you mean 'model.skops'\?\)",
            ),
            ((*FROM_ROW, "--schema", "schema.toml"), "no file 'schema.toml'"),
            (
                (*FROM_ROW, "--drop", "outcom"),
                r"no column 'outcom' to drop \(did you mean 'outcome'\?\)",
            ),
            ((*FROM_ROW, "--drop", "east"), "'east'"),
            ((*FROM_ROW, "--html", "nowhere/out.html"), "no folder 'nowhere'"),
            (("schema", "rows.txt"), "no file 'rows.txt'"),
            (("demo", "--out", "rows.csv"), "rows.csv: File exists"),
        ],
    )
    def test_every_mistake_is_told_and_ends_with_1(
        self, argv: tuple[str, ...], message: str, run: Run
    ) -> None:
        refused(run(*argv), message)

    def test_a_table_with_holes_is_for_models_that_read_them(self, run: Run) -> None:
        ROWS.assign(east=ROWS["east"].where(ROWS.index > 2)).to_csv("rows.csv", index=False)
        refused(run(*FROM_PERSON), "cannot read missing values, and 'east' has some")

    def test_a_person_with_a_misspelt_feature_is_told_the_near_miss(self, run: Run) -> None:
        Path("person.json").write_text('{"esat": -0.5, "north": 0.0}')
        refused(run(*FROM_PERSON), r"the person has 'esat', .*did you mean 'east'\?\): it has")

    def test_an_interrupt_is_quiet(self, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        def interrupted(*_: object, **__: object) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr(files, "read_table", interrupted)
        ran = run(*FROM_ROW)
        assert (ran.code, ran.out, ran.err) == (130, "", "")

    def test_a_mistake_of_ours_is_not_hidden(
        self, run: Run, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def broken(*_: object, **__: object) -> None:
            raise ZeroDivisionError

        monkeypatch.setattr(files, "read_table", broken)
        with pytest.raises(ZeroDivisionError):
            run(*FROM_ROW)

    def test_a_warning_is_one_line(self, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        Path("warns.py").write_text(
            "import warnings\n"
            "warnings.simplefilter('always')\n"
            "warnings.warn('getting old')\n"
            "score = lambda frame: 1.0 * (frame['east'] > 0)\n"
        )
        argv = (
            "explain",
            "--data",
            "rows.csv",
            "--model",
            "warns:score",
            "--drop",
            "outcome",
            "--person",
            "person.json",
        )
        assert run(*argv).err == "localface: warning: getting old\n"

    def test_a_terminal_is_told_what_is_going_on(
        self, run: Run, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
        ran = run(*FROM_PERSON, "--drop", "outcome")
        assert "localface: looking for a path ..." in ran.err
        assert ran.err.endswith("\r\x1b[K")


class TestProcess:
    """The same from outside, where only a process of its own will tell."""

    def ran(self, *argv: str, **options: object) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "localface", *argv]
        return subprocess.run(command, capture_output=True, text=True, check=False, **options)  # type: ignore[call-overload,no-any-return]

    def test_the_version_with_whether_the_compiled_part_is_in_use(self) -> None:
        compiled = "NumPy only" if load_library() is None else "with its compiled part"
        ran = self.ran("--version")
        assert (ran.returncode, ran.stderr) == (0, "")
        assert ran.stdout == f"localface {__version__} ({compiled})\n"
        without = self.ran("--version", env={**os.environ, "LOCALFACE_COMPILED": "0"})
        assert without.stdout == f"localface {__version__} (NumPy only)\n"

    def test_a_mistake_is_one_line_and_ends_with_1(self) -> None:
        ran = self.ran("schema", "nowhere.csv")
        assert (ran.returncode, ran.stdout) == (1, "")
        assert ran.stderr == "localface: there is no file 'nowhere.csv'\n"

    def test_a_person_comes_in_through_the_standard_input(self, run: Run) -> None:
        ran = self.ran(*EXPLAIN, "--person", "-", "--json", input='{"east": -0.5, "north": 0.0}')
        assert ran.returncode == 0
        assert Recourse.from_json(ran.stdout).found

    def test_a_reader_who_has_seen_enough_is_no_error(self, run: Run) -> None:
        command = [sys.executable, "-m", "localface", "schema", "rows.csv", "--out", "-"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            process.stdout.close()
            assert process.stderr.read() == b""
        assert process.returncode == 141


class TestReference:
    def test_the_docs_say_what_help_says(self) -> None:
        code = "from localface.apps.cli import cli_reference; print(cli_reference(), end='')"
        again = f'python -c "{code}" > docs/cli.md'
        assert (ROOT / "docs" / "cli.md").read_text(encoding="utf-8") == cli.cli_reference(), (
            f"write it again: {again}"
        )

    def test_every_command_and_option_is_in_the_docs(self) -> None:
        text = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
        (commands,) = (
            one for one in make_parser()._actions if isinstance(one, argparse._SubParsersAction)
        )
        for name, parser in commands.choices.items():
            assert f"`localface {name}`" in text
            assert "docs/" not in parser.format_help()  # who installed the wheel has none
            for action in parser._actions:
                assert all(option in text for option in action.option_strings)
                assert action.help


@pytest.mark.parametrize(
    ("text", "target"),
    [(None, None), ("4:8", (4, 8)), (":0.3", (None, 0.3)), ("other", "other"), ("a:b", "a:b")],
)
def test_a_target_may_be_written_as_a_range(text: str | None, target: object) -> None:
    assert inputs._find_target_class(text, len) == target
