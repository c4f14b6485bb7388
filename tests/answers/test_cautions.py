"""Cautions in words, on every page of an answer, and through JSON."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace

import numpy as np
import pytest
from handmade import acted_answer, answer, refusal

from localface.answers.cautions import (
    cautions_about_company,
    cautions_about_own_state,
    cautions_about_quirks,
    doubts_about_record,
    lacking_in_words,
)
from localface.answers.doubt import Doubt
from localface.answers.many import Recourses
from localface.answers.recourse import Recourse
from localface.answers.status import Status
from localface.data.feature import Feature
from localface.data.schema import Schema
from localface.data.seen_values import read_seen_values
from localface.search.questions import OthersHelped

SCHEMA = Schema(
    [
        Feature("potassium", unit="mmol/L", resolution=0.1),
        Feature("length"),
        Feature("airway", kind="categorical", categories=("tube", "patent", "mask")),
    ]
)
ROWS = np.column_stack(
    [np.linspace(2.8, 7.2, 45), np.linspace(10_000.2, 10_000.6, 45), np.arange(45) % 2]
)
SEEN = read_seen_values(SCHEMA, ROWS)
SLIP = "potassium 41 mmol/L is higher than anybody's in the data (highest: 7.2): is it 4.1?"


def said(**changes: float) -> list[str]:
    usual = {"potassium": 4.0, "length": 10_000.4, "airway": 0.0}
    record = np.array(list((usual | changes).values()))
    return [doubt.sentence for doubt in doubts_about_record(SCHEMA, record, SEEN)]


def test_an_ordinary_record_needs_no_caution() -> None:
    assert said() == []


def test_a_slip_of_the_unit_is_suggested() -> None:
    assert said(potassium=41) == [SLIP]
    assert said(potassium=0.4) == [
        "potassium 0.4 mmol/L is lower than anybody's in the data (lowest: 2.8): is it 4?"
    ]


def test_without_a_slip_it_is_asked_whether_the_value_is_right() -> None:
    assert said(potassium=9.1)[0].endswith("(highest: 7.2): is it right?")


def test_a_value_and_the_extreme_look_as_different_as_they_are() -> None:
    assert said(length=10_001)[0].startswith(
        "length 10001 is higher than anybody's in the data (highest: 10000.6)"
    )


def test_a_category_without_a_row_is_named() -> None:
    assert said(airway=2) == [
        "nobody in the data has airway 'mask': the answer rests on people who differ in it"
    ]


def test_an_own_state_far_below_the_floor_is_said_in_words() -> None:
    (sentence,) = cautions_about_own_state(0.003, 0.05, found=True)

    assert sentence == (
        "taken together, these values are more unusual than 99.7 % of people's, so the first step "
        "starts from a very rare state: are they right?"
    )
    assert list(cautions_about_own_state(0.0, 0.05, found=False)) == [
        "taken together, these values are more unusual than anybody's: are they right?"
    ]


@pytest.mark.parametrize(("share", "floor"), [(0.005, 0.05), (0.02, 0.05), (0.003, 0.001), (0, 0)])
def test_near_the_floor_or_without_one_nothing_is_said(share: float, floor: float) -> None:
    assert not list(cautions_about_own_state(share, floor, found=True))


@pytest.mark.parametrize(
    ("n", "names", "sentence"),
    [
        (None, ["age"], None),
        (50.0, ["age"], None),
        (12.4, ["age", "sex"], "compared with only about 12 people alike in age and sex"),
        (5.2, ["age"], "compared with only about 5 people alike in age"),
        (7, list("abcdef"), "compared with only about 7 people alike in a, b, c, d and 2 more"),
        (7, [], "compared with only about 7 people"),
    ],
)
def test_few_comparable_people_are_counted(
    n: float | None, names: list[str], sentence: str | None
) -> None:
    assert list(cautions_about_company(n, names)) == ([] if sentence is None else [sentence])


TOLD = "how common states are is told by people who differ in"


@pytest.mark.parametrize(
    ("n", "names", "lacking", "sentence"),
    [
        (12, ["age"], ["s"], "compared with only about 12 people alike in age who also lack s"),
        (12, list("abcde"), ["s"], "alike in a, b, c, d and e who also lack s"),
        (12, list("abcdef"), ["s"], "alike in a, b, c, d and 2 more who also lack s"),
        (12, [], ["a", "b"], "compared with only about 12 people who also lack a and b"),
        (1.2, [], ["s"], f"with only about 1 person who also lacks s: {TOLD} this"),
        (4.4, ["age"], ["s"], f"4 people alike in age who also lack s: {TOLD} these"),
        (0.2, ["age"], ["s"], f"nobody in the data is alike in age and without s: {TOLD} these"),
    ],
)
def test_what_comparable_people_lack_is_never_hidden_and_where_there_are_none_others_tell(
    n: float, names: list[str], lacking: list[str], sentence: str
) -> None:
    (told,) = cautions_about_company(n, names, lacking=lacking)

    assert told.endswith(sentence)


def test_what_is_lacked_is_named_with_the_word_of_its_code() -> None:
    schema = Schema([Feature("income"), Feature("late", codes={-9: "never"}), Feature("age")])
    record = np.array([np.nan, -9.0, 40.0])

    assert lacking_in_words(schema, record) == ["income", "late (never)"]


# where they stand


def test_cautions_come_first_in_text_and_html() -> None:
    one = acted_answer(cautions=(SLIP,), relaxed_to=0.01)

    assert str(one).splitlines()[0] == f"caution: {SLIP}"
    assert one._repr_html_().index("caution: potassium") < one._repr_html_().index("relaxed:")
    assert repr(one).startswith("<Recourse: found, 1 caution, ")


def test_nobody_is_simply_there_already_with_a_doubtful_record() -> None:
    there = refusal(status=Status.ALREADY_THERE, reason="", cautions=(SLIP, "and another"))

    assert str(there).splitlines()[:2] == [f"caution: {SLIP}", "caution: and another"]
    assert repr(there).startswith("<Recourse: already there, 2 cautions, ")


def test_cautions_are_escaped_in_html() -> None:
    assert "<b>" not in answer(cautions=("<b>bold</b>",))._repr_html_()


def test_cautions_survive_json_and_pickle() -> None:
    one = acted_answer(cautions=(SLIP,))
    document = json.loads(one.to_json())

    assert document["cautions"] == [SLIP]
    assert Recourse.from_json(one.to_json()).cautions == (SLIP,)
    assert pickle.loads(pickle.dumps(one)).cautions == (SLIP,)


def test_documents_from_before_there_were_cautions_are_read() -> None:
    document = json.loads(acted_answer().to_json())
    del document["cautions"]

    assert Recourse.from_json(json.dumps(document)).cautions == ()


def test_the_actions_as_a_path_keep_the_cautions() -> None:
    assert acted_answer(cautions=(SLIP,)).with_actions_as_path().cautions == (SLIP,)


def test_tables_of_answers_have_them_too() -> None:
    many = Recourses([answer(cautions=(SLIP, "another")), answer()])

    assert many.to_frame()["cautions"].tolist() == [f"{SLIP}; another", ""]
    assert "1 with cautions" in repr(many)
    assert many[0].summary["cautions"] == [SLIP, "another"]


def test_doubts_name_the_feature_and_the_likely_value_and_survive_json_and_pickle() -> None:
    doubts = (Doubt("potassium", SLIP, 4.1), Doubt("airway", "nobody has it"))
    one = acted_answer(cautions=(SLIP, "nobody has it"), doubts=doubts)

    assert json.loads(one.to_json())["doubts"][0] == {
        "feature": "potassium",
        "sentence": SLIP,
        "suggestion": 4.1,
    }
    assert Recourse.from_json(one.to_json()).doubts == doubts
    assert pickle.loads(pickle.dumps(one)).doubts == doubts


def quirks(shares: list[float], whole: float = 0.9) -> list[str]:
    """What is said of a plan that changes all three features, in turn."""
    before_after = (np.array([4.0, 10_000.4, 0.0]), np.array([5.0, 10_000.2, 2.0]))
    columns = np.eye(3, dtype=bool)[: len(shares)]
    helped = OthersHelped(columns, np.array(shares), np.full(len(shares), 80), whole, 90)
    return list(cautions_about_quirks(SCHEMA, before_after, helped, np.arange(3)))


def test_a_change_that_helps_few_others_is_named() -> None:
    moved = "of 80 other people whose score the same change moves: this may be a quirk of the model"

    assert quirks([0.31, 0.5, 0.9]) == [f"raising potassium would help only 31 % {moved}"]
    assert quirks([0.6, 0.31, 0.9]) == [f"lowering length would help only 31 % {moved}"]
    assert quirks([0.6, 0.6, 0.31]) == [
        f"changing airway from tube to mask would help only 31 % {moved}"
    ]
    assert quirks([0.5, 0.5, 0.5]) == []


def test_several_such_changes_are_one_sentence_the_worst_first() -> None:
    (line,) = quirks([0.4, 0.1, 0.9])

    assert line == (
        "lowering length (10 %) and raising potassium (40 %) would each help less than half of the "
        "other people whose score the same change moves: this may be a quirk of the model"
    )


def test_changes_that_help_few_others_only_together_are_told_together() -> None:
    (line,) = quirks([0.6, 0.6, 0.6], whole=0.2)

    assert line == (
        "taken together, the changes would help only 20 % of 90 other people whose score the same "
        "change moves: this may be a quirk of the model"
    )


def test_linked_features_are_one_change() -> None:
    before_after = (np.array([4.0, 10_000.4, 0.0]), np.array([5.0, 10_000.2, 0.0]))
    together = OthersHelped(
        np.array([[True, True, False]]), np.array([0.2]), np.array([70]), 0.2, 70
    )

    (line,) = cautions_about_quirks(SCHEMA, before_after, together, np.arange(3))

    assert line.startswith("changing potassium and length together would help only 20 % of 70")


def test_a_refusal_says_nothing_of_a_plan_that_it_does_not_give() -> None:
    told = replace(acted_answer(), cautions=("compared with few", *quirks([0.1])))

    assert told.without_path(Status.NOT_LASTING, "no").cautions == ("compared with few",)
