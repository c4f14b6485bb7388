"""Notes in the words of the file."""

from __future__ import annotations

import re
import tomllib

import numpy as np
import pandas as pd
import pytest

from localface.data.notes_in_toml import note_in_toml
from localface.data.schema import Schema
from localface.data.schema_guide import guided_toml


@pytest.mark.parametrize(
    ("call", "written"),
    [
        ("schema.with_('x', codes={-1: \"...\"})", 'write codes = { -1 = "..." } in its block'),
        ("schema.with_('x', moves='freely')", 'write moves = "freely" in its block'),
        ("schema.with_('x', codes=None)", "leave out codes in its block"),
        (
            "schema.with_('x', kind='categorical', categories=[...])",
            'write kind = "categorical" and categories = ["..."] in its block',
        ),
        ("schema.link('a (b)', 'c')", 'write links = [["a (b)", "c"]] before the blocks'),
        (
            "schema.relate('t', \"=\", {'a': 1, 'b': 1})",
            'write rules = [["t", "=", { a = 1, b = 1 }]] before the blocks',
        ),
        (
            "schema.split('x')",
            'put a block with kind = "binary" for each of its columns in its place',
        ),
        ("drop 'protected' and say how", "drop 'protected' and say how"),
        ("(give it as groups=)", "(give it as --groups)"),
    ],
)
def test_a_call_becomes_what_the_file_holds(call, written):
    assert note_in_toml(f"if so, {call}; or not") == f"if so, {written}; or not"


def test_a_file_speaks_toml_alone_and_what_it_says_can_be_read():
    rng = np.random.default_rng(0)
    n = 300
    own, other = rng.integers(0, 60, n), rng.integers(0, 40, n)
    table = pd.DataFrame(
        {
            "late": np.where(rng.random(n) < 0.2, -9, own),
            "own": own,
            "other": other,
            "debt": own + other,
            "region": rng.integers(1, 9, n),
            "tenure": rng.integers(0, 90, n),
            "job": rng.choice(["cook", "?", "clerk"], n),
        }
    )
    schema = Schema.infer(pd.get_dummies(table))

    text = guided_toml(schema, pd.get_dummies(table))

    assert any("schema." in note for note in schema.notes)
    assert "schema." not in text
    assert Schema.from_toml(text) == schema
    for line in re.findall(r"write (\w+ = .+?) (?:in its block|before)", text):
        assert tomllib.loads(line.replace(" and categories", "\ncategories"))
