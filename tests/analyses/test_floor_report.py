"""The report on the floor: figures by independent code, sentences that are true of the data."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from localface import Feature, LocalFACE, Schema, Search
from localface.analyses.floor_report.trial import Trial, area_under_curve
from localface.density.common_states.composing import compose_records, swap_one_value
from localface.errors import DataError, NearCopiesWarning

pytestmark = pytest.mark.slow


def customers(n=800, seed=0):
    """Months with a company, price, total so far, a plan, and a rare flag with odd numbers."""
    chance = np.random.default_rng(seed)
    months = chance.integers(1, 73, n)
    flag = chance.random(n) < 0.12
    price = np.round(chance.choice([20, 45, 70], n) + chance.normal(0, 2, n), 1)
    total = np.round(months * price * chance.normal(1, 0.03, n), 1)
    score = np.round(chance.normal(0, 1, n) * np.where(flag, 6, 1), 2)
    return pd.DataFrame(
        {
            "months": months,
            "price": price,
            "total": total,
            "score": score,
            "special": np.where(flag, "yes", "no"),
        }
    )


TABLE = customers()


def explainer(table=TABLE, schema=None, **options):
    return LocalFACE(
        lambda frame: np.full(len(frame), 0.6),
        table,
        schema=schema,
        search=Search(**{"n_neighbors": 20, **options.pop("search", {})}),
        **options,
    )


@pytest.fixture(scope="module")
def report():
    schema = Schema.infer(TABLE).with_("special", moves="never").with_("months", moves="never")
    return explainer(schema=schema).ground_report(progress=False)


@pytest.fixture(scope="module")
def unlike():
    """The report of a floor that compares everybody with everybody, whether alike or not."""
    return explainer().ground_report(progress=False)


def test_held_out_rows_clear_the_floor_and_composed_ones_less_so(report):
    for judge in report.judges:
        assert 0.9 <= judge.held_out <= 1
        assert judge.composed < judge.held_out
        assert judge.auc > 0.5
        assert judge.one_column_auc > 0.5


def test_kernels_and_pairs_let_fewer_composed_records_pass_than_a_round_kernel(report):
    assert report.compared.name == "one round kernel (isotropic)"
    assert report.in_use.composed < report.compared.composed
    assert report.in_use.auc > report.compared.auc


def test_the_classifier_is_there_only_where_scikit_learn_is(report, monkeypatch):
    assert report.classifier is not None
    monkeypatch.setattr("localface.analyses.floor_report.judges.find_spec", lambda name: None)
    without = explainer().ground_report(progress=False)
    assert without.classifier is None
    assert len(without.judges) == 2


def test_an_example_of_a_pair_is_true_of_the_data(report):
    pair = next(one for one in report.pairs if one.features == ("months", "total"))
    found = re.match(
        r"nobody with months (?:up to (\d+)|of (\d+) or more) has "
        r"total (?:up to ([\d.]+)|of ([\d.]+) or more)",
        pair.example,
    )
    assert found
    months = TABLE["months"] <= float(found[1] or "inf")
    if found[2]:
        months = TABLE["months"] >= float(found[2])
    total = TABLE["total"] <= float(found[3] or "inf")
    if found[4]:
        total = TABLE["total"] >= float(found[4])
    assert months.any()
    assert total.any()
    assert (months & total).sum() <= 3  # rows that were held out may be among them
    assert 0 < pair.n_refused <= report.n_refused


def test_a_group_below_the_floor_is_named_with_its_counts(unlike):
    (group,) = (one for one in unlike.groups if one.label == "special yes")
    assert 50 <= group.n <= 100
    assert group.share > 2 * group.others
    assert f"{group.n_below:,} of {group.n:,}" in str(unlike)


def test_a_group_that_is_compared_with_its_like_is_not_below_the_floor(report, unlike):
    assert "special yes" in {one.label for one in unlike.groups}
    assert "special" in report.circumstances.own
    assert "special yes" not in {one.label for one in report.groups}


def test_it_prints_as_text_as_html_and_as_json(report):
    text = str(report)
    assert text.startswith("<FloorReport: ")
    assert "the floor in use (kde)" in text
    assert report.compared.name in text
    html = report._repr_html_()
    assert html.count("<tr>") == 1 + len(report.judges)
    assert "<script" not in html
    plain = json.loads(report.to_json())
    assert plain == json.loads(json.dumps(report.to_dict()))
    assert plain["judges"][0]["name"] == "the floor in use (kde)"
    assert plain["own"] == ["months", "special"]


def test_words_of_the_data_are_escaped_and_kept_on_one_line():
    table = TABLE.rename(columns={"special": "<b>odd\nname"})
    found = explainer(table).ground_report(progress=False)
    assert "<b>odd" not in found._repr_html_()
    assert "odd\nname" not in str(found)


def test_it_plots_the_judges_and_below_them_the_groups_there_are(unlike):
    pytest.importorskip("matplotlib")
    judges, groups = unlike.plot().axes
    assert len(judges.get_yticks()) == len(unlike.judges)
    labels = [one.get_text() for one in groups.get_yticklabels()]
    assert labels == [one.label for one in unlike.groups]
    assert len(replace(unlike, groups=()).plot().axes) == 1


def test_the_same_seed_gives_the_same_report_and_another_one_another():
    one = explainer()
    first = one.ground_report(seed=1, progress=False)
    assert first.to_dict() == one.ground_report(seed=1, progress=False).to_dict()
    assert first.to_dict() != one.ground_report(seed=2, progress=False).to_dict()


@pytest.mark.parametrize(
    ("options", "name", "compared"),
    [
        ({"density": "knn"}, "knn", "kde"),
        ({"search": {"edges": "cover"}}, "cover", "kde"),
        ({"search": {"edges": "average"}}, "kde", "isotropic"),
    ],
)
def test_it_is_the_floor_in_use_that_is_judged(options, name, compared):
    found = explainer(**options).ground_report(progress=False)
    assert found.in_use.name == f"the floor in use ({name})"
    assert f"({compared})" in found.compared.name
    assert 0.85 <= found.in_use.held_out <= 1


def test_a_density_of_ones_own_is_said_not_to_be_fitted_again():
    def density(frame):
        return np.exp(-0.5 * frame["score"].to_numpy() ** 2)

    found = explainer(density=density).ground_report(progress=False)
    assert not found.circumstances.refitted
    assert "not fitted again" in str(found)


def test_another_floor_is_judged_as_such():
    found = explainer(min_density=0.2).ground_report(progress=False)
    assert 0.65 <= found.in_use.held_out <= 0.95
    assert "20 % floor" in repr(found)


def test_people_with_several_rows_are_held_out_as_a_whole():
    table = pd.concat([customers(250, seed=1)] * 2, ignore_index=True)
    table.loc[250:, "months"] += 1
    table.loc[250:, "total"] += table.loc[250:, "price"]
    names = [f"person {i % 250}" for i in range(500)]

    with pytest.warns(NearCopiesWarning, match="groups="):
        nobody_said = explainer(table)
    found = nobody_said.ground_report(groups=names, progress=False)

    assert found.circumstances.n_people == 250
    assert "250 people" in str(found)


def test_no_person_is_on_both_sides_of_a_trial():
    records = np.arange(400.0)[:, None] * np.ones(3)
    groups = np.arange(400) // 7
    trial = Trial.of(records, groups, seed=0)
    held = set((trial.held_out[:, 0] // 7).tolist())
    assert held
    assert held.isdisjoint(trial.groups.tolist())
    assert len(trial.known) + len(trial.held_out) == 400


def test_groups_of_the_wrong_length_are_refused():
    with pytest.raises(DataError, match="give one name a row"):
        explainer().ground_report(groups=["a", "b"], progress=False)
    with pytest.raises(DataError, match="one person only"):
        explainer().ground_report(groups=["a"] * len(TABLE), progress=False)


def test_too_few_rows_are_refused():
    with pytest.raises(DataError, match="at least 20"):
        explainer(TABLE[:19], search={"n_neighbors": 5}).ground_report(progress=False)


def test_a_few_rows_are_enough():
    table = TABLE[["months", "price"]][:30]
    found = explainer(table).ground_report(progress=False)
    assert found.circumstances.n_held_out == 7


def test_progress_goes_to_stderr_only_on_a_terminal(capsys):
    explainer(TABLE[:100]).ground_report()
    assert capsys.readouterr().out == ""


def test_the_area_under_the_curve_is_that_of_counting_pairs():
    chance = np.random.default_rng(0)
    real = chance.integers(0, 6, 40).astype(float)
    other = chance.integers(-1, 5, 30).astype(float)
    pairs = [(a > b) + 0.5 * (a == b) for a in real for b in other]
    assert area_under_curve(real, other) == pytest.approx(np.mean(pairs))


def test_composed_records_keep_every_column_and_no_row():
    records = np.arange(300.0).reshape(100, 3)
    found = compose_records(records, np.random.default_rng(0))
    assert (np.sort(found, axis=0) == records).all()
    assert not (np.diff(found, axis=1) == 1).all(axis=1).any()


def test_one_swapped_value_is_somebody_elses():
    records = np.arange(300.0).reshape(100, 3)
    found = swap_one_value(records, np.random.default_rng(0))
    changed = found != records
    assert (changed.sum(axis=1) == 1).all()
    assert np.isin(found, records).all()
    constant = swap_one_value(np.ones((5, 1)), np.random.default_rng(0))
    assert (constant == 1).all()


@pytest.mark.slow
def test_a_wide_mixed_table_is_reported_on():
    chance = np.random.default_rng(0)
    table = pd.DataFrame(chance.normal(size=(3000, 12))).add_prefix("x")
    table["kind"] = chance.choice(list("abcdef"), 3000)
    table["x1"] += table["x0"]
    found = explainer(table).ground_report(progress=False)
    assert 0.92 <= found.in_use.held_out <= 0.98


def test_features_that_are_declared_never_to_move_are_what_people_are_compared_by():
    schema = Schema(
        [
            Feature("months", kind="integer", moves="never"),
            Feature("price"),
            Feature("total"),
            Feature("score"),
            Feature("special", kind="binary", categories=("no", "yes")),
        ]
    )
    found = explainer(schema=schema).ground_report(progress=False)
    assert found.circumstances.own == ("months",)
    assert "people alike in months" in str(found)
