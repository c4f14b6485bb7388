"""What no action changes by its name: a past, a family, or only one way."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from localface.data.own_names import guess_own
from localface.data.schema import Schema

KEPT = """
year_built YearBuilt yr_built built_year construction_year birth_year year_of_birth Baujahr
    marital_status MaritalStatus married Partner relationship relationship_status NumberOfDependents
    dependents n_children CNT_CHILDREN CNT_FAM_MEMBERS household_size family_status Pregnancies
    height height_cm Height blood_type MaxDelqEver NumTrades60Ever2DerogPubRec
    exams_failed FailedInspections
    NumberOfTimes90DaysLate NumberOfTime30-59DaysPastDueNotWorse delinq_2yrs pub_rec_bankruptcies
    credit_history cb_person_default_on_file num_late_payments priors_count previous_stroke
    ever_smoked family_history Hx_stroke family_hx_cad pub_rec ICD_code Ht_cm
    admission_type admission_location outcome died_icu Churn split decision
    callout_outcome discharge_location source dbsource fnlwgt sample_weight
    first_careunit curr_careunit ward icu_type prevalentStroke prevalent_hyp comorbidities
"""
GOES_ON = """
    tenure tenure_months YearsAtCompany years_of_experience MSinceOldestTradeOpen account_age
    days_since_admission mths_since_last_delinq months_since_first_purchase
    Months_on_book los days_employed
"""
ASKED = """
    days_since_last_login MSinceMostRecentTradeOpen months_since_last_purchase
"""
MAYBE_KEPT = """
    hrs_before_end hrs_to_icu_out days_until_visit language preferred_language
"""
FREE = """
financial_year built_up_area production_per_year income_last_year
    income household_income family_plan child_support relationship_manager
    Total_Relationship_Count days_past_due amount_overdue late_fee default_payment_method
    avg_tenure mean_years_employed
    weight bmi loan_tenure tenure_of_loan_emi building_height ceiling_height wave_height
    credit_amount savings hours_per_week partner_store_visits previous_balance last_month_usage
    purchase_history_count acc_now_delinq NumInqLast6M target_weight target_heart_rate
    diagnosis_code_review_hours public_transport_use records_kept HT_medication
    smoking exercise_minutes diet children_menu_orders employment school_fees
    programming_language language_score
    income_source weight_of_sample_box care_hours unit_price ward_visits discharge_rate to_pay
    decision_hours stroke_volume diabetes cancer_screening_visits
"""


def moves_of(name: str) -> str | None:
    own = guess_own({"name": name, "kind": "integer"})
    return "unknown" if own is None else own.moves


@pytest.mark.parametrize("name", KEPT.split())
def test_what_nobody_is_told_to_change_is_kept(name):
    assert moves_of(name) == "never"


@pytest.mark.parametrize("name", GOES_ON.split())
def test_a_time_that_only_goes_on_moves_up(name):
    assert moves_of(name) == "up"


@pytest.mark.parametrize("name", MAYBE_KEPT.split())
def test_what_may_be_nobodys_to_change_is_left_free_and_asked_about(name):
    own = guess_own({"name": name, "kind": "integer"})

    assert own is not None
    assert own.moves is None
    assert f"schema.with_({name!r}, moves='never')" in own.note


@pytest.mark.parametrize("name", ASKED.split())
def test_a_time_that_an_action_may_set_back_is_asked_about(name):
    own = guess_own({"name": name, "kind": "integer"})

    assert own is not None
    assert own.moves is None
    assert f"schema.with_({name!r}, moves='up')" in own.note


@pytest.mark.parametrize(
    "name", ["months_unemployed", "WeeksInactive", "days_sick", "years vacant"]
)
def test_a_time_in_a_state_that_may_end_is_left_free_and_asked_about(name):
    own = guess_own({"name": name, "kind": "integer"})

    assert own is not None
    assert own.moves is None
    assert own.note.endswith(f"if time alone changes it, schema.with_({name!r}, moves='grows')")


@pytest.mark.parametrize("name", ["region", "city_name", "HomeCounty", "district"])
def test_a_place_is_left_free_and_asked_about(name):
    own = guess_own({"name": name, "kind": "categorical"})

    assert own is not None
    assert own.moves is None
    assert own.note.endswith(f"if no action changes it, schema.with_({name!r}, moves='never')")
    assert guess_own({"name": name, "kind": "integer"}) is None


@pytest.mark.parametrize(
    "name",
    ["job_within_6_months", "readmitted within 30 days", "DefaultWithin12Months", "paid_within_2y"],
)
def test_what_came_about_within_a_time_is_kept_as_an_outcome_is(name):
    own = guess_own({"name": name, "kind": "binary"})

    assert own is not None
    assert own.moves == "never"
    assert "as outcomes do: it is kept as it is" in own.note
    assert guess_own({"name": name, "kind": "numeric"}) is None


@pytest.mark.parametrize(
    "name", ["within_budget", "payments_within_limit", "within_30_km", "city_trips"]
)
def test_other_words_within_and_of_places_say_nothing(name):
    assert guess_own({"name": name, "kind": "binary"}) is None


@pytest.mark.parametrize("name", ["diabetes", "has_stroke", "known_heart_disease_cad", "COPD"])
def test_an_illness_that_lasts_is_kept_where_it_is_there_or_not(name):
    own = guess_own({"name": name, "kind": "binary"})

    assert own is not None
    assert own.moves == "never"
    assert "an illness that no action takes away" in own.note


@pytest.mark.parametrize("name", ["stroke_rehab", "cancer_screening", "hypertension", "BPMeds"])
def test_what_can_be_done_about_an_illness_is_free(name):
    assert guess_own({"name": name, "kind": "binary"}) is None


@pytest.mark.parametrize("name", FREE.split())
def test_what_somebody_could_change_is_left_to_them(name):
    assert moves_of(name) == "unknown"


def test_a_guess_is_said_with_its_reason_and_can_be_undone():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "marital": rng.choice(["single", "married", "widowed"], 300),
            "times_late": rng.integers(0, 9, 300),
            "education_years": rng.integers(4, 20, 300),
            "0": rng.integers(0, 90, 300),
        }
    )

    schema = Schema.infer(pd.get_dummies(table))

    assert {one.name: one.moves for one in schema} == {
        "times_late": "never",
        "education_years": "up",
        "0": "freely",
        "marital": "never",
    }
    assert "nobody can undo" in schema.notes[0]
    assert "it only rises" in schema.notes[2]
    assert "a circumstance of somebody's life" in schema.notes[-1]
    assert schema.with_("marital", moves="freely")["marital"].moves == "freely"


@pytest.mark.parametrize("name", ["male", "is_female", "Male", "sex_male"])
def test_a_column_named_after_one_sex_is_protected(name):
    schema = Schema.infer(pd.DataFrame({name: [0, 1] * 60, "income": np.arange(120)}))

    assert schema[name].protected
    assert schema[name].own
