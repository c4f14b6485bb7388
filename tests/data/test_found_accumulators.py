"""Columns that add up over time are found, and nothing else is taken for one."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from localface import LocalFACE, Schema
from localface.data.found_accumulators import Accumulator, find_accumulators
from localface.data.own_names import is_running_time, may_add_up_by_name

N = 600
RNG = np.random.default_rng(0)
TENURE = RNG.integers(0, 73, N).astype(float)
MONTHLY = RNG.uniform(18, 118, N).round(2)


def churn(**more):
    """A table as telephone companies have it; a month ago the rate was a little different."""
    total = (TENURE * MONTHLY * RNG.normal(1, 0.04, N)).round(2)
    total[TENURE == 0] = np.nan
    columns = {"tenure": TENURE, "MonthlyCharges": MONTHLY, "TotalCharges": total, **more}
    return pd.DataFrame(columns)


def numbers_of(table):
    return {name: table[name].to_numpy(float) for name in table}


def test_what_is_about_a_tenure_times_a_rate_only_rises():
    schema = Schema.infer(churn())
    (note,) = [one for one in schema.notes if one.startswith("'TotalCharges' ")]

    assert schema["TotalCharges"].moves == "up"
    assert schema["MonthlyCharges"].moves == "freely"
    assert note.startswith("'TotalCharges' is about 'tenure' times 'MonthlyCharges'")
    assert "schema.link('tenure', 'TotalCharges')" in note
    assert schema.with_("TotalCharges", moves="freely")["TotalCharges"].moves == "freely"


def test_the_rate_that_fits_best_is_named():
    found = list(find_accumulators(numbers_of(churn(aside=MONTHLY * RNG.normal(1, 0.2, N)))))

    assert found == [Accumulator("TotalCharges", "tenure", "MonthlyCharges")]


@pytest.mark.parametrize(
    ("time", "is_found"), [("tenure", True), ("months_as_customer", True), ("width", False)]
)
def test_a_product_counts_only_where_one_factor_is_a_time_by_its_name(time, is_found):
    table = churn().rename(columns={"tenure": time})

    assert bool(list(find_accumulators(numbers_of(table)))) is is_found


@pytest.mark.parametrize(
    "total",
    [
        TENURE * RNG.gamma(2, 30, N),  # each with a rate of their own that no column tells
        MONTHLY * RNG.uniform(2, 40, N),  # nothing to do with the time
        TENURE * 10 + RNG.normal(0, 40, N),  # by the time alone: no column is its rate
        np.where(RNG.random(N) < 0.3, 5.0, TENURE * MONTHLY),  # not so for three in ten
        -TENURE * MONTHLY,
    ],
)
def test_what_is_not_about_a_product_is_left_alone(total):
    table = churn().assign(TotalCharges=np.abs(total) if total.min() > -200 else total)
    table = table.rename(columns={"TotalCharges": "amount"})

    assert list(find_accumulators(numbers_of(table))) == []
    assert Schema.infer(table)["amount"].moves == "freely"


def test_a_time_that_hardly_differs_tells_nothing():
    time = RNG.uniform(50, 60, N)
    table = churn().assign(tenure=time, TotalCharges=time * MONTHLY)

    assert list(find_accumulators(numbers_of(table))) == []


def test_a_total_by_its_name_that_rises_with_a_tenure_is_asked_about_and_left_free():
    table = churn(total_orders=RNG.poisson(TENURE * 1.2)).drop(columns="TotalCharges")
    schema = Schema.infer(table)
    notes = [one for one in schema.notes if one.startswith("'total_orders' ")]

    assert schema["total_orders"].moves == "freely"
    assert any("schema.with_('total_orders', moves='up')" in one for one in notes)


@pytest.mark.parametrize("name", ["lifetime_spend", "cumulative_dose", "CumulativeVisits"])
def test_what_is_called_cumulative_only_rises(name):
    schema = Schema.infer(pd.DataFrame({name: RNG.gamma(2, 50, N).round(1)}))

    assert schema[name].moves == "up"
    assert "what has added up so far: it moves up" in "".join(schema.notes)


@pytest.mark.parametrize(
    "name",
    [
        *("cumulative_gpa", "lifetime_value", "total_income", "total_assets", "Total day minutes"),
        *("total_rooms", "TotalBsmtSF", "total_bilirubin", "average_total_spend", "total_due"),
        *("total_payments_last_year", "total_hours_per_week", "cumulative_rate"),
    ],
)
def test_other_totals_are_no_accumulators_by_their_names(name):
    assert not may_add_up_by_name(name)
    assert Schema.infer(pd.DataFrame({name: RNG.gamma(2, 50, N)}))[name].moves == "freely"


@pytest.mark.parametrize(
    ("name", "runs"),
    [
        ("tenure", True),
        ("months_as_customer", True),
        ("TotalWorkingYears", True),
        ("YearsAtCompany", True),
        ("customer_wait_days_next", False),
        ("customer_support_hours", False),
        ("loan_tenure", False),
        ("days", False),
    ],
)
def test_a_time_that_only_goes_on_is_known_by_its_name(name, runs):
    assert is_running_time(name) is runs


def test_how_long_ago_something_was_is_left_free_and_asked_about():
    schema = Schema.infer(pd.DataFrame({"months_since_purchase": RNG.integers(0, 40, N)}))

    assert schema["months_since_purchase"].moves == "freely"
    assert "moves='up'" in "".join(schema.notes)


def test_nobody_is_told_to_have_paid_less():
    table = churn().dropna().reset_index(drop=True)
    stays = 1 / (1 + np.exp(table["MonthlyCharges"] / 20 - table["tenure"] / 10 - 1)) > 0.5
    model = LogisticRegression(max_iter=2000).fit(table, stays)
    leaving = table[~model.predict(table)].iloc[:40]

    for answer in LocalFACE(model, table).explain_many(leaving):
        for action in answer.actions:
            for name in {"TotalCharges", "tenure"} & set(action.changes):
                assert action.changes[name] > action.before[name]
