"""What stands on the page that shows an answer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from handmade import (
    ENTRY,
    STRICT,
    Tags,
    acted_answer,
    action,
    answer,
    refusal,
    short_answer,
)

from localface.answers.certificate import Certificate
from localface.answers.move_evidence import CAUTION, MoveEvidence
from localface.answers.page import evidence_notes, make_page_step, page_of
from localface.answers.robustness import Lasting, ModelVerdict, Robustness
from localface.answers.status import Status
from localface.answers.waiting import Waiting
from localface.data.feature import Feature
from localface.data.schema import Schema
from localface.data.table_format import TableFormat


def test_it_prints_one_numbered_block_per_step_in_units() -> None:
    assert str(answer()).splitlines() == [
        "<Recourse: found, 3 steps, score 0.21 -> 0.81, 104 of 13,943 rows seen (0.75 %)>",
        "  now                                score 0.21",
        "  1  airway    ventilated -> patent  score 0.30",
        "  2  gcs_min   9 -> 14               score 0.58",
        "  3  fio2      0.55 -> 0.35",
        "     spo2_min  91 -> 95 %            score 0.81",
        "  every step is proven to pass through states at least as common as 1 in 20 people's",
    ]


def test_a_step_shows_six_changes_and_counts_the_rest() -> None:
    schema = Schema([Feature(f"f{j}") for j in range(9)])
    records = np.array([np.zeros(9), np.arange(1.0, 10.0)])
    form = TableFormat.of(pd.DataFrame(records, columns=list(schema.names)), schema)

    shown = str(short_answer(schema, form, records))

    assert "and 3 more changes" in shown
    assert [f"f{j}" in shown for j in range(9)] == [False] * 3 + [True] * 6
    assert shown.index("f8") < shown.index("f3")


def test_an_entry_step_says_so() -> None:
    one = answer(certificates=(ENTRY, STRICT, STRICT))

    assert one.entry
    for shown in (str(one), "".join(Tags(one._repr_html_()).words)):
        assert (
            "entry: this first step passes through states more unusual than 99 % of people's"
            in shown
        )
        assert (
            "after the entry, every step is proven to pass through states at least as common as"
            in shown
        )


def test_two_floors_that_round_alike_are_told_apart() -> None:
    assert "from 12.5 % to 12.4 %" in str(answer(min_density=0.125, relaxed_to=0.124))


def test_steps_below_the_floor_are_never_said_to_keep_it() -> None:
    one = answer(
        certificates=(STRICT, Certificate("strict", 1.0, lowest=0.002, floor=0.05), STRICT)
    )

    assert str(one).startswith("below the floor: 1 of 3 steps")
    assert (
        "below the floor of 5 %: this step passes through states more unusual than 99.8 % of "
        "people's" in str(one)
    )
    assert "every step" not in str(one)


def test_the_last_line_speaks_of_the_rule_and_of_the_proof() -> None:
    average = Certificate("average", 1, 0.2, 0.05, certified=False)
    cover = Certificate("cover", 1, 0.2, 0.05, people=5, radius=0.8)

    assert "passes on average through" in str(answer(certificates=(average,) * 3))
    assert "(sampled, not proven)" in str(answer(certificates=(average,) * 3))
    assert "every step has at least 5 similar people around each of its states" in str(
        answer(certificates=(cover,) * 3)
    )
    assert "proven: no path over all the data is more than 5 % shorter" in str(
        answer(proven_within=0.05)
    )


def test_no_is_an_answer_with_its_sentence_its_reason_and_what_was_seen() -> None:
    one = refusal()

    assert not one.found
    assert one.counterfactual is None
    assert len(one.path) == 1
    assert one.cost == 0.0
    for shown in (str(one), "".join(Tags(one._repr_html_()).words)):
        assert Status.UNREACHABLE.value in shown
        assert "31 rows are cut off" in shown
        assert "seen: 104 of 13,943 rows (0.75 %), 12 questions, 3 model calls" in shown
        assert "score at least 0.75" in shown


def test_actions_stand_in_place_of_the_steps_of_the_path() -> None:
    page = page_of(acted_answer())

    assert [step.notes for step in page.steps] == [
        ("leads to a state more common than 1 in 20 people's",),
        ("together; needs step 1 first; leads to a state more common than 30 % of people's",),
    ]
    assert [change.values_text for change in page.steps[1].changes] == ["9 -> 14", "0.55 -> 0.35"]
    assert page.steps[1].score == "0.92"
    assert "also found: a path of 3 steps through real people (.path)" in page.closing


def test_of_many_changes_at_once_the_largest_are_shown_and_the_others_counted() -> None:
    schema = Schema([Feature(f"x{i}") for i in range(20)])
    before = {f"x{i}": 0.0 for i in range(20)}
    after = {f"x{i}": float(i + 1) for i in range(20)}
    scales = (*(1.0,) * 19, 100.0)  # the last change is the smallest of all
    form = TableFormat.of(pd.DataFrame([before, after]), schema)
    states = np.array([list(before.values()), list(after.values())])
    one = replace(
        short_answer(schema, form, states), scales=scales, actions=(action(after, before),)
    )

    (step,) = page_of(one).steps

    assert [change.feature.name for change in step.changes] == [f"x{i}" for i in range(18, 6, -1)]
    assert step.smaller_changes_phrase == "and 8 more changes"


def test_what_is_said_of_the_plan_stands_apart_from_what_is_proven_of_the_path() -> None:
    one = acted_answer(proven_within=0.05)

    assert one.effort == 2 * STRICT.length
    assert page_of(one).closing == (
        "every step is proven to pass through states at least as common as 1 in 20 people's",
        "in all: 3 features, 2.5 standard deviations of change; a smaller plan is not ruled out",
        (
            "also found: a path of 3 steps through real people (.path); "
            "proven: no path over all the data is more than 5 % shorter"
        ),
    )


def test_linked_features_are_counted_apart_and_as_one() -> None:
    one = acted_answer()

    linked = page_of(replace(one, schema=one.schema.link("gcs_min", "fio2"))).closing[1]

    assert linked.startswith("in all: 3 features (2 with linked ones counted as one), 2.5 standard")


def test_what_rests_on_samples_is_not_called_proven() -> None:
    sampled = replace(STRICT, certified=False)
    one = action({"gcs_min": 14}, {"gcs_min": 9}, certificate=sampled)

    closing = page_of(acted_answer(actions=(one,))).closing

    assert closing[0].startswith("every step passes through states")
    assert closing[0].endswith("(sampled, not proven)")
    assert "in all: 1 feature, " in closing[1]


def test_an_action_below_the_floor_carries_its_certificate() -> None:
    below = replace(STRICT, lowest=0.001)
    one = action({"gcs_min": 14}, {"gcs_min": 9}, certificate=below)

    (step,) = page_of(acted_answer(actions=(one,))).steps

    assert step.notes == ("leads to a state more common than 30 % of people's", below.sentence)


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        (
            {"composed": True},
            "it ends at a combination of values that no row has, as common as the rest",
        ),
        (
            {"robustness": Robustness(success=0.93, n=200)},
            "robust to noise: 93 % of 200 small deviations from it still",
        ),
        (
            {"robustness": Robustness(models=(ModelVerdict(1, 0.8, True),) * 2)},
            "holds under 2 of 2 other models",
        ),
        (
            {"robustness": Robustness(lasting=Lasting(0.8, (0.62, 0.91), 10, 8))},
            "holds under a retrained model with probability 80 % (90 % interval: 62 % to 91 %)",
        ),
        (
            {"robustness": Robustness(lasting=Lasting(0.984, (0.943, 0.99979), 20, 20))},
            "with probability 98 % (90 % interval: 94 % to more than 99 %)",
        ),
        (
            {"robustness": Robustness(success=1.0, interval=(1.0, 1.0), n=200)},
            "robust to noise: nothing that changes can be missed by a little",
        ),
        ({"min_density": 0.0, "certificates": (replace(STRICT, floor=0.0),) * 3}, "any state"),
        (
            {"certificates": (replace(STRICT, floor=0.01),) * 3},
            "is proven to pass through no state more unusual than this person's own",
        ),
    ],
)
def test_what_holds_for_the_path_as_a_whole_stands_below_it(
    changes: dict[str, Any], line: str
) -> None:
    assert any(line in one for one in page_of(answer(**changes)).closing)


def test_actions_to_a_composed_state_say_so() -> None:
    closing = page_of(acted_answer(composed=True)).closing

    said = "a path of 3 steps through states made of real people's values (.path)"
    assert f"also found: {said}" in closing


def test_a_floor_that_was_lowered_to_nothing_was_asked_for() -> None:
    nothing = (replace(STRICT, floor=0.0),) * 3

    lowered = page_of(answer(relaxed_to=0.0, certificates=nothing)).closing
    asked = page_of(answer(min_density=0.0, certificates=nothing)).closing

    assert lowered[0] == "every step may pass through any state: the floor was lowered to 0 %"
    assert asked[0] == "every step may pass through any state: no floor was asked for"


def test_a_feature_that_goes_further_than_it_may_is_an_alert() -> None:
    page = page_of(answer(widened={"spo2_min": 4.5, "fio2": 0.2}))

    assert page.alerts == (
        "relaxed: spo2_min moves by 4.5 %, further than was allowed: nobody nearer reaches it",
        "relaxed: fio2 moves by 0.2, further than was allowed: nobody nearer reaches it",
    )


def test_a_found_path_may_come_with_a_reason_on_top() -> None:
    assert page_of(answer(reason="because")).opening == ("because",)
    assert page_of(answer()).opening == ()


def test_a_refusal_without_a_reason_still_has_its_sentence() -> None:
    assert page_of(refusal(reason="")).opening == (Status.UNREACHABLE.value,)


def test_steps_whose_changes_cannot_be_seen_count_them() -> None:
    assert make_page_step(1, (), "0.5").smaller_changes_phrase == ""
    assert (
        replace(make_page_step(1, (), "0.5"), smaller=1).smaller_changes_phrase
        == "only 1 change too small to show"
    )
    assert (
        replace(make_page_step(1, (), "0.5"), smaller=2).smaller_changes_phrase
        == "only 2 changes too small to show"
    )


def moved(**changes: Any) -> MoveEvidence:
    return MoveEvidence(**{"similar": 9, "moved": 4, "within": 6, "unit": "hours", **changes})


def with_evidence(evidence: MoveEvidence | None) -> Any:
    one = action({"gcs_min": 14}, {"gcs_min": 9}, evidence=evidence)
    return acted_answer(actions=(one,))


def test_what_others_did_stands_beside_the_action_with_a_caution_below() -> None:
    evidence = moved(features=("airway", "gcs_min", "fio2"), ignored=("spo2_min",))

    page = page_of(with_evidence(evidence))

    assert page.steps[0].notes[-1] == "4 of 9 similar people did this within 6 hours"
    assert page.closing[-2:] == (
        "similar: close in 3 of 4 features; not compared: spo2_min",
        CAUTION,
    )


def test_what_others_were_compared_by_beyond_the_schema_is_said() -> None:
    every = moved(features=("airway", "gcs_min", "fio2", "spo2_min"), ignored=("fio2",))

    assert evidence_notes(with_evidence(every)) == (
        "similar: close in 3 of 4 features, and in what changes; not compared otherwise: fio2",
        CAUTION,
    )


def test_without_a_comparison_there_is_only_the_caution_and_without_evidence_nothing() -> None:
    assert evidence_notes(with_evidence(moved(untold=("fio2",)))) == (CAUTION,)
    assert evidence_notes(with_evidence(None)) == ()


def test_that_waiting_alone_would_do_is_said_last_and_is_no_advice() -> None:
    page = page_of(answer(waiting=Waiting("spo2_min", 96, 0.7612)))

    assert page.closing[-1] == (
        "with time alone the score comes to 0.76, at spo2_min 96 %: "
        "this is how the model behaves, and no advice to wait"
    )
    assert not any("time alone" in line for line in page_of(answer()).closing)


@pytest.mark.parametrize(
    ("score", "follows", "said"),
    [
        (0.5, (), ""),
        (0.21, (0,), "needed for what follows, not for the score"),
        (0.212, (0,), "needed for what follows, not for the score"),  # printed, it is the same
        (
            0.1,
            (0,),
            "needed for what follows, not for the score: it lowers the score from 0.21 to 0.10",
        ),
        (0.1, (), ""),
    ],
)
def test_an_action_that_the_score_does_not_need_says_what_it_is_for(
    score: float, follows: tuple[int, ...], said: str
) -> None:
    first = action({"gcs_min": 14}, {"gcs_min": 9}, score=score)
    second = action({"fio2": 0.35}, {"fio2": 0.55}, score=0.9, follows=follows)

    answer = acted_answer(actions=(first, second), densities=(0.3, 0.3, 0.3, 0.3))

    assert page_of(answer).steps[0].notes[0].partition("people's; ")[2] == said


def test_an_action_after_the_target_is_reached_is_for_the_sake_of_common_ground() -> None:
    first = action({"gcs_min": 14}, {"gcs_min": 9}, score=0.8, density=0.01)
    second = action({"fio2": 0.35}, {"fio2": 0.55}, score=0.9, density=0.3)

    steps = page_of(acted_answer(actions=(first, second))).steps

    assert (
        steps[1]
        .notes[0]
        .endswith("; does nothing for the score: it only leads to a more common state")
    )
    assert "common state" not in steps[0].notes[0]


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ({}, "lowers the score from 0.21 to 0.15"),
        ({"min_score": 0.3, "max_score": 0.6}, "lowers the score from 0.21 to 0.15"),
        ({"min_score": 0.1, "max_score": 0.22}, "does nothing for the score: it"),
    ],
    ids=str,
)
def test_an_action_that_takes_the_score_away_from_the_target_is_said_to_do_so(
    target: dict[str, Any], said: str
) -> None:
    first = action({"gcs_min": 14}, {"gcs_min": 9}, score=0.15, density=0.3)
    second = action({"fio2": 0.35}, {"fio2": 0.55}, score=0.8, density=0.3)
    found = acted_answer(actions=(first, second), densities=(0.01, 0.3, 0.3, 0.3))
    found = replace(found, target=replace(found.target, **target))
    words = page_of(found).steps[0].notes[0]

    assert said in words
    assert words.endswith("it only leads to a more common state")


def test_where_a_value_is_to_come_down_what_raises_it_is_said_to_do_so() -> None:
    first = action({"gcs_min": 14}, {"gcs_min": 9}, score=0.35, density=0.3)
    second = action({"fio2": 0.35}, {"fio2": 0.55}, score=0.05, density=0.3)
    found = acted_answer(actions=(first, second), densities=(0.01, 0.3, 0.3, 0.3))
    found = replace(found, target=replace(found.target, min_score=0.1, at_most=True))

    assert "; raises the score from 0.21 to 0.35; it only" in page_of(found).steps[0].notes[0]


def test_several_steps_that_come_first_are_steps() -> None:
    first = action({"gcs_min": 14}, {"gcs_min": 9}, score=0.3)
    second = action({"fio2": 0.35}, {"fio2": 0.55}, score=0.5)
    third = action({"airway": "patent"}, {"airway": "ventilated"}, score=0.9, follows=(0, 1))

    notes = page_of(acted_answer(actions=(first, second, third))).steps[2].notes

    assert notes[0].startswith("needs steps 1 and 2 first; ")
