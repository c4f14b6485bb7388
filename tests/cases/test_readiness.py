"""The case study end to end: codebook, splits, imputation, the forest, recourse, the page."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from dataclasses import replace
from functools import cache
from html import unescape
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import roc_auc_score, roc_curve

from judge import Judge
from localface.analyses.observed_moves import Trajectories
from localface.answers.many import Recourses
from localface.cases.readiness import (
    CRITERIA,
    SIZES,
    count_criteria_met,
    criteria_met,
    run,
    schema,
    synthetic,
)
from localface.cases.readiness.codebook import format_value
from localface.cases.readiness.cohort_recourse import (
    _explain_with_and_without_relaxing,
    _with_bounds_as_charted,
    confusion_groups,
    explain_tested_patients,
)
from localface.cases.readiness.document import render_html, render_markdown
from localface.cases.readiness.drawing import PICTURE_STYLE
from localface.cases.readiness.example_patient import example_patient_blocks
from localface.cases.readiness.imputation import fit_imputation
from localface.cases.readiness.report import TITLE, report_blocks, write_report
from localface.cases.readiness.report_tables import success_table
from localface.cases.readiness.samples import Samples, Split, split_samples
from localface.cases.readiness.study import run_study
from localface.cases.readiness.training import (
    Settings,
    cross_validation_folds,
    evaluate_forest,
    fit_on_split,
    forest_measures,
    score_cut_at_specificity,
    search_settings,
)
from localface.errors import DataError

pytestmark = pytest.mark.slow

SMALL = {"mimic": 1500, "gicu": 400}


@cache
def whole() -> Samples:
    return Samples.of_cohort(synthetic(seed=0))


@cache
def small() -> Samples:
    return Samples.of_cohort(synthetic(seed=1, sizes=SMALL))


@cache
def ward():
    """The whole study on a small cohort."""
    return run_study(small(), splits=2, people=150, progress=False)


def stays(n: int = 250, rows: int = 4) -> Samples:
    """Patients with several rows each: all rows of a patient are alike, as is the outcome."""
    cohort = synthetic(seed=2, sizes={"mimic": n})
    rng = np.random.default_rng(0)
    patient = np.repeat(np.arange(n), rows)
    frame = cohort.frame().iloc[patient].reset_index(drop=True)
    frame["creatinine"] += rng.integers(0, 3, len(frame))
    return Samples(
        frame, rng.permutation(cohort.ready)[patient], np.full(len(frame), "mimic"), patient
    )


# --- the codebook --------------------------------------------------------------------------------


def test_the_generated_cohort_is_the_one_it_always_was():
    cohort = synthetic(seed=0)
    assert SIZES == {"mimic": 13_243, "gicu": 3_506}
    assert int(cohort.ready.sum()) == 8299
    assert cohort.frame().shape == (16_749, 22)
    means = cohort.frame()[["creatinine", "los", "gcs_min", "airway"]].mean()
    assert means.to_numpy() == pytest.approx(
        [115.728999, 113.034874, 12.883993, 0.197086], rel=1e-5
    )


def test_the_schema_says_what_a_patient_may_change():
    plan = schema()
    assert {one.name: one.moves for one in plan if one.own} == {
        "bmi": "never",
        "los": "grows",
        "age": "never",
        "sex": "never",
    }
    assert [one.name for one in plan if one.protected] == ["age", "sex"]
    assert plan["age"].comparable == 25
    assert plan["los"].within == pytest.approx(11.7 * 24)
    assert plan["gcs_min"].kind == "integer"
    assert plan["gcs_min"].bounds == (3, 15)
    assert plan["pain"].bounds == (0, 10)
    assert plan["fio2"].bounds == (0.21, 1.0)
    pairs = {(low, high) for low, _, high in plan.relations}
    assert pairs == {("resp_min", "resp_max"), ("hr_min", "hr_max"), ("temp_min", "temp_max")}


def test_values_are_shown_in_the_words_and_units_of_a_ward():
    plan = schema()
    assert [format_value(plan["airway"], code) for code in (0, 1)] == ["patent", "tube"]
    assert format_value(plan["temp_max"], 38.0) == "38 °C"
    assert format_value(plan["temp_max"], 38.04) == "38.04 °C"  # as it is, not as it is measured
    assert format_value(plan["gcs_min"], 14.0) == "14"


EDGES = {
    "airway": {0: True, 1: False},
    "fio2": {0.6: True, 0.61: False},
    "spo2_min": {95: True, 94: False},
    "hco3": {19: True, 18: False, 40: True},
    "resp_min": {10: True, 9: False},
    "resp_max": {30: True, 31: False},
    "bp_min": {100: True, 99: False},
    "hr_min": {60: True, 59: False},
    "hr_max": {100: True, 101: False},
    "pain": {0: True, 1: True, 2: False},
    "gcs_min": {14: True, 13: False, 15: True},
    "temp_min": {36.0: True, 35.9: False, 38.0: True},
    "temp_max": {37.5: True, 37.6: False},
    "haemoglobin": {90: True, 89: False},
    "k": {3.5: True, 6.0: True, 3.4: False, 6.1: False},
    "na": {130: True, 150: True, 129: False, 151: False},
    "creatinine": {59: True, 104: True, 58: False, 105: False},
    "bun": {2.5: True, 7.8: True, 2.4: False, 7.9: False},
}
WELL = {
    "airway": 0,
    "fio2": 0.4,
    "spo2_min": 97,
    "hco3": 24,
    "resp_min": 14,
    "resp_max": 20,
    "bp_min": 120,
}
WELL |= {"hr_min": 70, "hr_max": 90, "pain": 0, "gcs_min": 15, "temp_min": 36.5, "temp_max": 37.0}
WELL |= {"haemoglobin": 120, "k": 4.2, "na": 140, "creatinine": 80, "bun": 5.0}


@pytest.mark.parametrize("feature", list(EDGES))
def test_each_criterion_holds_up_to_its_ends_and_not_beyond(feature: str):
    cases = EDGES[feature]
    table = criteria_met(pd.DataFrame([{**WELL, feature: value} for value in cases]))
    assert table[feature].tolist() == list(cases.values())
    assert table.drop(columns=feature).all(axis=None)


def test_criteria_are_eighteen_and_counted_for_each_record():
    frame = pd.DataFrame(
        [WELL, {**WELL, "airway": 1, "temp_min": 35.0, "hco3": 10}, {**WELL, "pain": np.nan}]
    )
    assert [one.feature for one in CRITERIA] == list(EDGES)
    assert count_criteria_met(frame).tolist() == [18, 15, 17]
    with pytest.raises(DataError, match="no column 'bun'"):
        criteria_met(frame.drop(columns="bun"))


# --- parting and imputing ------------------------------------------------------------------------


def test_the_papers_split_tests_on_as_many_rows_of_either_source():
    parts = split_samples(whole(), seed=0)
    counts = pd.Series(whole().source[parts.test]).value_counts().to_dict()
    assert counts == {"mimic": 1403, "gicu": 1403}
    assert len(parts.train) == 13_943
    assert sorted([*parts.train, *parts.test]) == list(range(len(whole())))
    assert np.array_equal(split_samples(whole(), seed=0).test, parts.test)
    assert not np.array_equal(split_samples(whole(), seed=1).test, parts.test)


def test_a_split_by_patient_leaks_nobody_and_a_split_by_row_does():
    samples = stays()
    for seed in range(5):
        parts = split_samples(samples, seed=seed)
        rows = split_samples(samples, seed=seed, by="row")
        assert not set(samples.patient[parts.train]) & set(samples.patient[parts.test])
        assert set(samples.patient[rows.train]) & set(samples.patient[rows.test])
        assert abs(len(parts.test) - 400) < 4
    with pytest.raises(DataError, match="did you mean 'patient'"):
        split_samples(samples, by="patients")  # type: ignore[arg-type]


def test_the_same_number_in_two_sources_is_two_patients():
    frame = synthetic(sizes={"mimic": 4}).frame()
    samples = Samples(
        frame, np.array([0, 1, 0, 1]), np.array(["a", "a", "b", "b"]), np.array([1, 1, 1, 2])
    )
    assert samples.n_patients == 3
    assert samples.patient_numbers[0] == samples.patient_numbers[1] != samples.patient_numbers[2]


def test_splitting_by_row_makes_a_forest_that_learnt_nothing_look_good():
    samples = stays()  # who fares well is drawn by lot, so nothing can be learnt of it
    honest, leaky = (
        evaluate_forest(samples, splits=3, by=by, progress=False) for by in ("patient", "row")
    )
    assert honest.mean("auc") == pytest.approx(0.5, abs=0.08)
    assert leaky.mean("auc") > 0.85


def test_too_few_patients_of_a_kind_are_refused_with_a_reason():
    frame = synthetic(sizes={"mimic": 5}).frame()
    alike = Samples(frame, np.ones(5, dtype=int), np.full(5, "mimic"), np.arange(5))
    with pytest.raises(DataError, match="more patients of either kind are needed"):
        split_samples(alike)
    with pytest.raises(DataError, match="one value a row"):
        Samples(frame, np.ones(4), np.full(5, "mimic"), np.arange(5))


def gappy(frame: pd.DataFrame, seed: int = 0) -> pd.DataFrame:
    holes = np.random.default_rng(seed).random(frame.shape) < 0.15
    holes[:, [frame.columns.get_loc(name) for name in ("sex", "age", "los")]] = False
    return frame.mask(holes)


def test_imputation_learns_from_the_training_part_alone():
    frame = gappy(small().features)
    train = frame[:1200]
    test = frame[1200:].copy()
    imputation = fit_imputation(train, schema())
    once = imputation.fill_missing(test)
    test.iloc[1:] = 1e6  # whatever else is tested must not matter to the first of them
    assert imputation.fill_missing(test).iloc[0].equals(once.iloc[0])
    filled = once[frame[1200:].isna()].max()
    assert (filled.dropna() <= train.max()[filled.dropna().index] + 1e-9).all()


def test_fitting_learns_nothing_from_those_it_is_tested_on():
    samples = replace(small(), features=gappy(small().features))
    parts = split_samples(samples)
    other = samples.features.copy()
    other.iloc[parts.test] = 1e6
    first, second = (
        fit_on_split(one, parts) for one in (samples, replace(samples, features=other))
    )
    assert first.train.equals(second.train)
    assert np.array_equal(
        first.model.predict_proba(first.test)[:, 1], second.model.predict_proba(first.test)[:, 1]
    )


def test_what_was_charted_stays_and_what_is_imputed_could_have_been_charted():
    frame = gappy(small().features)
    done = fit_imputation(frame, schema()).fill_missing(frame)
    assert not done.isna().any(axis=None)
    assert (
        done.to_numpy()[frame.notna().to_numpy()] == frame.to_numpy()[frame.notna().to_numpy()]
    ).all()
    assert set(done["airway"]) <= {0.0, 1.0}
    assert done["gcs_min"].isin(range(3, 16)).all()
    assert done["pain"].isin(range(11)).all()
    for what in ("resp", "hr", "temp"):
        assert (done[f"{what}_min"] <= done[f"{what}_max"]).all()


def test_imputed_values_are_means_of_the_nearest_patients_in_standard_deviations():
    frame = small().features[:400].copy()
    frame.iloc[7, frame.columns.get_loc("creatinine")] = np.nan
    done = fit_imputation(frame, schema()).fill_missing(frame)
    others = [name for name in frame.columns if name != "creatinine"]
    z = (frame[others] - frame[others].mean()) / frame[others].std(ddof=0)
    order = ((z - z.iloc[7]) ** 2).sum(axis=1).drop(7).nsmallest(5).index
    assert done["creatinine"][7] == round(frame["creatinine"][order].mean())


def test_a_feature_that_was_never_charted_is_named():
    frame = small().features.assign(pain=np.nan)
    with pytest.raises(DataError, match="'pain': never charted"):
        fit_imputation(frame, schema())


# --- the forest ----------------------------------------------------------------------------------


def test_folds_hold_out_whole_sources_or_whole_patients():
    rows = split_samples(small()).train
    held = [set(small().source[out]) for _, out in cross_validation_folds(small(), rows)]
    assert held == [{"mimic"}, {"gicu"}]
    samples = stays()
    rows = split_samples(samples).train
    parts = list(cross_validation_folds(samples, rows))
    assert sorted(row for _, out in parts for row in out) == sorted(rows)
    for kept, out in parts:
        assert not set(samples.patient[kept]) & set(samples.patient[out])


def test_the_first_trees_of_a_forest_are_the_smaller_forest():
    data = small().features
    ready = small().ready
    few, many = (
        RandomForestClassifier(n, max_depth=4, random_state=3).fit(data, ready) for n in (5, 12)
    )
    votes = [tree.predict_proba(data.to_numpy())[:, 1] for tree in many.estimators_[:5]]
    assert few.predict_proba(data)[:, 1] == pytest.approx(np.mean(votes, axis=0), abs=1e-12)


def test_the_grid_search_finds_what_carries_over_between_sources(monkeypatch: pytest.MonkeyPatch):
    for name, values in (("SHARES", (0.5,)), ("DEPTHS", (1, 5)), ("TREES", (3, 15))):
        monkeypatch.setattr(f"localface.cases.readiness.training.{name}", values)
    rows = split_samples(small()).train
    aucs = {}
    for depth, trees in ((1, 3), (1, 15), (5, 3), (5, 15)):
        found = []
        for name in ("mimic", "gicu"):
            out, kept = (rows[(small().source[rows] == name) == side] for side in (True, False))
            forest = RandomForestClassifier(
                trees, max_depth=depth, max_features=0.5, random_state=0
            )
            forest.fit(small().features.iloc[kept], small().ready[kept])
            scores = forest.predict_proba(small().features.iloc[out])[:, 1]
            found.append(roc_auc_score(small().ready[out], scores))
        aucs[trees, 0.5, depth] = np.mean(found)
    assert search_settings(small(), rows) == Settings(*max(aucs, key=aucs.get))


def test_measures_at_a_specificity_agree_with_the_roc_curve():
    rng = np.random.default_rng(0)
    ready = rng.integers(0, 2, 500)
    scores = np.round(0.3 * ready + rng.random(500), 2)  # rounded: ties must not break it
    called = scores > score_cut_at_specificity(ready, scores)
    assert 1 - called[ready == 0].mean() >= 0.7
    wrong, right, _ = roc_curve(ready, scores, drop_intermediate=False)
    assert forest_measures(ready, scores)["sensitivity"] == pytest.approx(
        right[wrong <= 0.3 + 1e-12].max()
    )
    assert forest_measures(ready, scores)["accuracy"] == pytest.approx((called == ready).mean())


def test_the_forest_on_the_generated_cohort_is_as_good_as_the_papers():
    found = evaluate_forest(whole(), splits=4, progress=False)
    assert found.mean("auc") == pytest.approx(0.882, abs=0.01)
    assert found.mean("brier") == pytest.approx(0.143, abs=0.006)
    assert found.mean("sensitivity") == pytest.approx(0.89, abs=0.02)


def test_the_same_seed_gives_the_same_figures():
    first, second = (evaluate_forest(small(), splits=2, progress=False) for _ in range(2))
    assert np.array_equal(first.scores, second.scores)
    with pytest.raises(DataError, match="1 or more; got 0"):
        evaluate_forest(small(), splits=0)


# --- recourse ------------------------------------------------------------------------------------


def test_everyone_is_asked_once_and_answered():
    study = ward()
    people = study.patients.people
    first = study.evaluation.first
    assert len(people) == len({one.row for one in people}) == 150
    for one in people:
        score = first.scores[one.row]
        truth = first.ready[one.row]
        right = "true" if (score >= 0.5) == truth else "false"
        called = "positive" if score >= 0.5 else "negative"
        assert one.group == f"{right} {called}"
        assert one.direction == ("not ready" if one.group == "false positive" else "ready")
        assert one.was_asked == (one.direction == "not ready" or score < 0.75)
        assert one.answer.found or one.answer.reason or not one.was_asked
        if not one.was_asked:
            assert one.answer.disclosure.rows == 0


def test_the_counts_of_the_table_add_up():
    rows = [
        [int(cell.partition(" ")[0].replace(",", "")) for cell in row[1:]]
        for row in success_table(ward().patients).rows
    ]
    *groups, everyone = rows
    assert np.sum(groups, axis=0).tolist() == everyone
    people, there, asked, plain, relaxed, lost = everyone
    assert (people, there + asked, plain + relaxed + lost) == (150, 150, asked)


def test_asking_again_only_those_without_a_way_gives_what_asking_everyone_gives():
    study = ward()
    mine = study.patients.select_people(direction="ready")
    people = study.evaluation.first.test.iloc[[one.row for one in mine]]
    at_once = study.patients.explainers["ready"].explain_many(people, relax=True, progress=False)
    for one, other in zip(mine, at_once, strict=True):
        assert one.answer.status is other.status
        assert np.array_equal(one.answer.records, other.records)
        assert one.answer.actions == other.actions
        assert one.answer.relaxed_to == other.relaxed_to


def test_answers_keep_every_promise_before_an_independent_judge():
    study = ward()
    first = study.evaluation.first
    plan = schema()
    for direction, target in (("ready", 1), ("not ready", 0)):
        found = [
            one for one in study.patients.select_people(direction=direction) if one.plain.found
        ][:10]
        assert len(found) >= 8
        judge = Judge.of(study.patients.explainers[direction], first.train, found[0].answer)
        for one in found:
            states = pd.DataFrame(
                one.answer.with_actions_as_path().records, columns=list(plan.names)
            )
            begin = first.test.iloc[one.row]
            assert states.iloc[0].tolist() == begin.tolist()
            for own in ("age", "sex", "bmi", "los"):
                assert (states[own] == begin[own]).all()
            assert all((states[low] <= states[high]).all() for low, _, high in plan.relations)
            score = first.model.predict_proba(states.iloc[[-1]])[0, target]
            assert score >= (0.75 if target else 0.5)
            assert one.after == count_criteria_met(states.iloc[[-1]]).iloc[0]
            floor = min(judge.floor, judge.lowest(*[judge.points(states.iloc[[0]])[0]] * 2))
            points = judge.points(states)
            for start, end, action in zip(points[:-1], points[1:], one.answer.actions, strict=True):
                assert action.certificate.entry or judge.lowest(start, end) >= floor - 1e-6


def test_no_answer_touches_or_names_what_is_the_patients_own():
    people = ward().patients.people
    own = [schema().index(name) for name in ("age", "sex", "bmi", "los")]
    assert sum(one.answer.found for one in people) > 10
    for one in people:
        answer = one.answer
        assert (answer.records[:, own] == answer.records[0, own]).all()
        assert not {"age", "sex", "bmi", "los"} & {
            name
            for names in (*answer.opens, *(one.changes for one in answer.actions))
            for name in names
        }
        words = answer.reason.partition("with time alone")[0]
        assert not re.search(r"\b(age|sex|bmi|los)\b", words)


def test_waiting_is_told_of_the_stay_alone_and_never_of_a_shorter_one():
    waits = [one.answer for one in ward().patients.people if one.answer.waiting is not None]
    for answer in waits:
        now = answer.schema.values(answer.records[0])["los"]
        assert answer.waiting.feature == "los"
        assert now < answer.waiting.value <= now + 11.7 * 24 + 1
        assert answer.target.is_reached_by(answer.waiting.score)


def test_the_worked_patients_are_chosen_by_the_rule_that_the_page_states():
    study = ward()
    assert set(study.examples) == {"true negative", "false negative", "false positive"}
    for group, one in study.examples.items():
        found = [other for other in study.patients.select_people(group) if other.plain.found]
        best = min(abs(len(other.answer.actions) - 3) for other in found)
        assert one.group == group
        assert abs(len(one.answer.actions) - 3) == best
        assert study.example_recourse(group).found


def test_cautions_about_a_patient_stand_below_the_heading():
    person = next(one for one in ward().patients.people if one.was_asked and one.answer.found)
    doubtful = replace(person, answer=replace(person.answer, cautions=("is it 4.1?",)))

    _, first, *_ = example_patient_blocks(doubtful.group, doubtful)

    assert (first.words, first.look) == ("caution: is it 4.1?", "alert")


def test_bounds_give_way_to_what_was_charted():
    charted = pd.DataFrame({"fio2": [0.0, 0.4], "pain": [1, 2], "gcs_min": [3, 15]})

    plan = _with_bounds_as_charted(schema(), charted)

    assert plan["fio2"].bounds == (0.0, 1.0)
    assert plan["gcs_min"] == schema()["gcs_min"]


def test_groups_are_named_by_verdict_and_truth():
    named = confusion_groups(np.array([0, 1, 0, 1]), np.array([0.49, 0.49, 0.5, 0.5]))
    assert named == ["true negative", "false negative", "false positive", "true positive"]


# --- the page ------------------------------------------------------------------------------------


def words(page: str) -> str:
    """What a page says, without pictures, styles and tags."""
    page = re.sub(r"<(svg|style|head)\b.*?</\1>", " ", page, flags=re.DOTALL)
    return unescape(re.sub(r"<[^>]+>", " ", page))


def numbers(text: str) -> list[str]:
    return re.findall(r"\d[\d,.]*\d|\d", text)


def test_the_page_asks_nothing_of_anybody(tmp_path: Path):
    page = write_report(ward(), tmp_path).read_text(encoding="utf-8")
    assert not re.search(r"https?:|//[a-z]|<script|@import|url\(", page)
    assert all(
        found == "data:," or found.startswith("#") or (tmp_path / found).is_file()
        for found in re.findall(r'(?:src|href)="([^"]*)"', page)
    )


def test_each_worked_patient_has_the_view_of_a_page_and_its_caution(tmp_path: Path):
    page = write_report(ward(), tmp_path).read_text(encoding="utf-8")
    groups = list(ward().examples)
    assert groups
    for group in groups:
        name = f"{group.replace(' ', '-')}.html"
        assert f'href="{name}"' in page
        own = (tmp_path / name).read_text(encoding="utf-8")
        assert ward().examples[group].answer._repr_mimebundle_()["text/html"] in own
        assert "correlational, not advice" in own
        assert not re.search(r'(?:src|href)="(?!data:,|readiness\.html)', own)


def test_markdown_and_page_say_the_same_numbers():
    blocks = report_blocks(ward())
    markdown = re.sub(r"!\[[^\]]*\]\([^)]*\)", " ", render_markdown(blocks))
    page = words(render_html(TITLE, blocks))
    assert len(numbers(page)) > 300
    assert sorted(numbers(markdown)) == sorted(numbers(page))


def test_the_files_that_markdown_shows_are_there(tmp_path: Path):
    write_report(ward(), tmp_path)
    shown_files = re.findall(
        r"\]\((figures/[^)]*)\)", (tmp_path / "readiness.md").read_text(encoding="utf-8")
    )
    assert len(shown_files) >= 6
    assert all(
        (tmp_path / name).read_text(encoding="utf-8").startswith("<svg xmlns")
        for name in shown_files
    )
    assert len(pd.read_csv(tmp_path / "people.csv")) == 150


def test_the_page_can_be_read_without_seeing_it():
    page = render_html(TITLE, report_blocks(ward()))
    levels = [int(level) for level in re.findall(r"<h(\d)", page)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert page.count("<svg") == len(
        re.findall(r'<svg[^>]*role="img" aria-label="[^"]{20,}"', page)
    )
    for table in re.findall(r"<table>.*?</table>", page, flags=re.DOTALL):
        assert "<caption>" in table
        assert 'scope="col"' in table
        assert 'scope="row"' in table
    assert 'lang="en-GB"' in page


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("mode", [0, 1], ids=["light", "dark"])
def test_text_stands_out_from_its_ground(mode: int):
    style = render_html(TITLE, []) + PICTURE_STYLE
    colours = {
        name: re.findall(rf"--{name}: (#\w+)", style)
        for name in ("ink", "quiet", "second", "card", "ground")
    }
    for text in ("ink", "quiet", "second"):
        for ground in ("card", "ground"):
            pair = sorted([luminance(colours[text][mode]), luminance(colours[ground][mode])])
            assert (pair[1] + 0.05) / (pair[0] + 0.05) >= 4.5, (text, ground)


def browsed(page: Path, scratch: Path) -> tuple[list[str], list[str]]:
    """Open a page in Chromium: what its console says, and which addresses are asked for."""
    browser = (
        shutil.which("chromium")
        or shutil.which("chromium-browser")
        or shutil.which("google-chrome")
    )
    if browser is None:
        pytest.skip("no Chromium to open the page with")
    log = scratch / f"{page.stem}-net.json"
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
    options += ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
    options += ["--no-proxy-server", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"]
    options += [
        f"--user-data-dir={scratch / 'profile'}",
        f"--log-net-log={log}",
        "--enable-logging=stderr",
    ]
    options += ["--virtual-time-budget=3000", "--dump-dom", page.as_uri()]
    done = subprocess.run(
        [browser, *options], capture_output=True, text=True, timeout=120, check=False
    )
    if "</html>" not in done.stdout:
        pytest.skip(f"Chromium cannot run here: {done.stderr.strip()[-200:]}")
    said = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    events = [
        one.get("params", {}) for one in json.loads(log.read_text(encoding="utf-8"))["events"]
    ]
    pages = [
        one for one in events if one.get("initiator", "not an origin") != "not an origin"
    ]  # not the browser's own
    return said, [one["url"] for one in pages if one.get("url", "").startswith("http")]


def test_the_page_opens_in_a_browser_without_errors_and_without_requests(tmp_path: Path):
    loud = tmp_path / "loud.html"
    loud.write_text(
        '<html><img src="http://127.0.0.1:9/there.png">'
        '<script>console.error("so loud")</script></html>',
        encoding="utf-8",
    )
    said, asked = browsed(loud, tmp_path)
    assert any("so loud" in line for line in said)  # the test hears what there is to hear
    assert any("127.0.0.1:9/there.png" in address for address in asked)
    said, asked = browsed(write_report(ward(), tmp_path / "out"), tmp_path)
    assert (said, asked) == ([], [])


# --- real patients -------------------------------------------------------------------------------


def test_the_study_runs_on_the_mimic_demo_and_says_what_it_cannot(
    data_folder: Path, tmp_path: Path
):
    pytest.importorskip("duckdb", reason="the extraction reads with DuckDB")
    study = run(
        tmp_path / "out",
        mimic=data_folder / "mimic3-demo",
        splits=2,
        row_split=True,
        progress=False,
    )
    assert study.page == tmp_path / "out" / "readiness.html"
    said = words(study.page.read_text(encoding="utf-8"))
    assert "one source only" in said
    assert "machinery runs, not a result" in said
    assert "split by row" in said
    assert "data use agreement" in said
    assert len(study.patients.people) == len(study.evaluation.first.split.test)
    assert not set(study.samples.patient[study.evaluation.first.split.train]) & set(
        study.samples.patient[study.evaluation.first.split.test]
    )


def test_the_forest_ranks_the_open_demos_as_was_measured(data_folder: Path):
    pytest.importorskip("duckdb", reason="the extraction reads with DuckDB")
    from localface.cases.mimic import from_mimic

    third = from_mimic(data_folder / "mimic3-demo", progress=False).table
    table = pd.read_csv(data_folder / "icu-demos" / "rfd_samples.csv.gz").query("strict == 1")
    fourth = table[table["source"] == "mimic4_demo"].rename(columns={"outcome": "ready"})
    joined = pd.concat([third, fourth], ignore_index=True)
    samples = Samples(
        joined, *(joined[name].to_numpy() for name in ("ready", "source", "subject_id"))
    )
    part = np.random.default_rng(0).permutation(samples.n_patients)[samples.patient_numbers] % 5
    scores = np.zeros(len(samples))
    for number in range(5):
        parts = Split(np.flatnonzero(part != number), np.flatnonzero(part == number))
        scores[parts.test] = fit_on_split(samples, parts).scores
    assert 0.80 <= roc_auc_score(samples.ready, scores) <= 0.90


def test_a_file_in_the_way_is_named_before_any_work_is_done(tmp_path: Path):
    (tmp_path / "there").write_text("", encoding="utf-8")
    with pytest.raises(DataError, match="is a file"):
        run(tmp_path / "there")


def test_a_study_prints_what_it_found_and_what_it_could_not():
    printed = str(ward())
    assert "nobody is real" in printed
    assert f"AUC {ward().evaluation.mean('auc'):.4f} (paper 0.8814)" in printed
    assert "measured over 2 splits" in printed
    assert printed.endswith("not advice")


def test_few_people_leave_out_what_there_is_nobody_for():
    study = run_study(small(), splits=1, people=3, progress=False)
    assert any("over one split" in note for note in study.notes)
    page = render_html(TITLE, report_blocks(replace(study, examples={})))
    assert "What this cannot say" in page
    with pytest.raises(DataError, match="1 or more; got 0"):
        explain_tested_patients(study.evaluation.first, people=0)


def test_people_over_time_speak_beside_the_worked_patients():
    frame = pd.concat(
        [small().features.assign(hour=hour) for hour in (0.0, 8.0)], ignore_index=True
    )
    frame["stay"] = np.tile(np.arange(len(small())), 2)
    frame["left_alive"] = np.tile(small().ready, 2)
    over_time = Trajectories(
        frame, person="stay", time="hour", outcome="left_alive", unit="h", people="patients"
    )
    study = run_study(small(), splits=1, people=40, evidence=over_time, progress=False)
    told = [
        action.evidence.sentence for one in study.examples.values() for action in one.answer.actions
    ]
    assert told
    page = words(render_html(TITLE, report_blocks(study)))
    assert all(sentence in page for sentence in told)
    assert ward().examples
    assert all(
        action.evidence is None for one in ward().examples.values() for action in one.answer.actions
    )


def test_a_study_that_is_stopped_says_so_and_takes_no_part_of_the_patients_for_all():
    class Stopped:
        asked: ClassVar[list[Any]] = []

        def explain_many(self, people: Any, **options: Any) -> Recourses:
            self.asked.append(options["max_seconds"])
            return Recourses([], numbers=[], unfinished=len(people))

    with pytest.raises(KeyboardInterrupt, match="stopped: a study of some of the patients"):
        _explain_with_and_without_relaxing(
            Stopped(), small().features.iloc[:3], max_seconds=7.0, progress=False
        )
    assert Stopped.asked == [7.0]
