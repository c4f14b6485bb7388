"""The command that reports on the floor, from a file to a page."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from localface import Schema
from localface.apps import cli

RNG = np.random.default_rng(0)
N = 200
ROWS = pd.DataFrame({"months": RNG.integers(1, 70, N), "price": RNG.normal(50, 9, N).round(1)})
ROWS["total"] = (ROWS["months"] * ROWS["price"]).round(1)
ROWS["customer"] = [f"c{i // 2}" for i in range(N)]
ROWS["outcome"] = RNG.integers(0, 2, N)


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Runs the command line in a folder with a table."""
    monkeypatch.chdir(tmp_path)
    ROWS.to_csv("rows.csv", index=False)

    def ran(*argv):
        code = cli.main(["ground", "rows.csv", *argv])
        return code, *capsys.readouterr()

    return ran


PLAIN = ("--drop", "outcome", "--drop", "customer")


def test_a_table_is_reported_on_without_a_model(run):
    code, out, _ = run(*PLAIN)
    assert code == 0
    assert out.startswith("<FloorReport: ")
    assert "months and total" in out


def test_json_a_picture_and_a_page_are_written(run, tmp_path):
    code, out, err = run(*PLAIN, "--json", "--plot", "out.png", "--html", "out.html")
    assert code == 0
    assert json.loads(out)["n_rows"] == N
    assert (tmp_path / "out.png").stat().st_size > 1000
    page = (tmp_path / "out.html").read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert "composed records" in page
    assert err.count("wrote") == 2


def test_people_are_named_by_a_column_that_is_no_feature(run):
    code, out, _ = run("--drop", "outcome", "--groups", "customer", "--json")
    assert code == 0
    assert json.loads(out)["n_people"] == N // 2


def test_a_schema_and_a_floor_are_heeded(run, tmp_path):
    schema = Schema.infer(ROWS[["months", "price", "total"]]).with_("months", moves="never")
    schema.save(tmp_path / "schema.toml")
    code, out, _ = run("--schema", "schema.toml", "--min-density", "0.1", "--json")
    found = json.loads(out)
    assert code == 0
    assert found["own"] == ["months"]
    assert found["min_density"] == 0.1


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (("--groups", "custmer"), "did you mean 'customer'?"),
        (("--min-density", "7"), "--min-density 7.0: a share"),
        (("--drop", "nothing"), "there is no column 'nothing' to drop"),
    ],
)
def test_a_mistake_is_one_line(run, argv, words):
    code, out, err = run(*argv)
    assert (code, out) == (1, "")
    assert words in err
    assert "Traceback" not in err
