"""A person's number that looks like a code beside codes that were declared."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from localface import LocalFACE, Schema
from localface.errors import DataError

RNG = np.random.default_rng(0)
N = 400
LATE = np.where(RNG.random(N) < 0.1, -9, RNG.integers(0, 60, N))
TABLE = pd.DataFrame({"late": LATE, "debt": RNG.normal(30, 8, N).round(1)})


def score(rows: pd.DataFrame) -> np.ndarray:
    return 1 / (1 + np.exp((rows["debt"] + rows["late"] / 4 - 35).to_numpy() / 5))


@pytest.mark.parametrize("code", [-8, -99, -7])
def test_a_code_that_nobody_declared_is_refused_with_the_line_that_declares_it(code):
    explainer = LocalFACE(score, TABLE)

    with pytest.raises(DataError) as refusal:
        explainer.explain({"late": code, "debt": 45.0})

    assert refusal.value.feature == "late"
    message = str(refusal.value)
    assert f"'late' {code}, less than anybody's in the data (lowest: 0)" in message
    assert f"schema.with_('late', codes={{-9: 'code -9', {code}: '...'}})" in message


def test_a_code_far_above_is_one_only_beside_such_codes():
    high = TABLE.assign(late=TABLE["late"].replace(-9, 999))
    declared = Schema.infer(high).with_("late", codes={999: "unknown"})

    with pytest.raises(DataError, match="looks like a code as 999 is one"):
        LocalFACE(score, high, schema=declared).explain({"late": 998, "debt": 45.0})
    assert LocalFACE(score, TABLE).explain({"late": 99, "debt": 45.0}).doubts


def test_codes_and_numbers_of_the_data_pass():
    explainer = LocalFACE(score, TABLE)

    assert explainer.explain({"late": -9, "debt": 45.0}).missing == ("late",)
    assert explainer.explain({"late": 59, "debt": 45.0}).found
    as_numbers = LocalFACE(score, TABLE, schema=Schema.infer(TABLE).with_("late", codes=None))
    assert as_numbers.explain({"late": -8, "debt": 45.0}).missing == ()


def test_without_codes_it_is_doubted():
    explainer = LocalFACE(score, TABLE[TABLE["late"] >= 0])

    (doubt,) = explainer.explain({"late": -9, "debt": 45.0}).doubts

    assert doubt.sentence.endswith("is it a code that stands for no value?")


def test_a_code_that_is_declared_and_that_nobody_has_is_refused_truly():
    schema = Schema.infer(TABLE).with_("late", codes={-9: "no record", -8: "not asked"})

    with pytest.raises(DataError, match=r"late \(not asked\), and nobody in the data lacks one so"):
        LocalFACE(score, TABLE, schema=schema).explain({"late": -8, "debt": 45.0})
