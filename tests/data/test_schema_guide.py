"""The schema file that teaches what may be written in it."""

from __future__ import annotations

import re
import tomllib
from dataclasses import fields

import numpy as np
import pandas as pd
import pytest

from localface.apps.cli import main
from localface.data.feature import Feature
from localface.data.schema import Schema
from localface.data.schema_guide import GUIDE, guided_toml


def table() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    found = pd.DataFrame({"k": rng.normal(4, 1, 200), "tube": rng.integers(0, 2, 200)})
    found.loc[:77, "k"] = np.nan
    found["pain"] = np.nan
    return found


def test_the_guide_tells_every_setting_and_each_example_is_valid():
    examples = re.findall(r"^  (\w+) = (.+?)(?:  .*| *)$", GUIDE, flags=re.MULTILINE)

    assert {key for key, _ in examples} == (
        {one.name for one in fields(Feature)} - {"name", "kind"}
        | {"each_row", "links", "relations", "rules"}
    )
    for key, value in examples:
        assert key in tomllib.loads(f"{key} = {value}")


def test_the_file_says_what_each_column_lacks_and_is_read_back():
    schema = Schema.infer(table())

    text = guided_toml(schema, table())

    assert Schema.from_toml(text) == schema
    assert "# no value in 39 % of the rows" in text
    assert "# no value in all of the rows" in text
    assert text.count("no value in") == 3  # and the note on pain


def test_the_command_writes_it(tmp_path, capsys):
    rows = tmp_path / "rows.csv"
    table().to_csv(rows, index=False)

    assert main(["schema", str(rows), "--out", "-"]) == 0

    printed = capsys.readouterr().out
    assert printed.startswith("# A schema: one [[features]] block a feature.")
    assert "# no value in 39 % of the rows" in printed
    assert Schema.from_toml(printed).names == ("k", "tube", "pain")


@pytest.mark.parametrize(("n", "text"), [(1, "0.5 %"), (19, "9.5 %"), (20, "10 %")])
def test_small_shares_have_a_decimal(n, text):
    frame = pd.DataFrame({"k": [np.nan] * n + list(np.arange(200.0 - n) / 3)})

    assert f"no value in {text}" in guided_toml(Schema.infer(frame), frame)
