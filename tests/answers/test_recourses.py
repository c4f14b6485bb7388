"""The answers to many people."""

from __future__ import annotations

import numpy as np
import pytest
from handmade import acted_answer, answer, refusal

from localface.answers.many import Recourses
from localface.errors import InputError


def test_answers_come_in_order_and_slices_keep_whose_they_are() -> None:
    every = [answer(), refusal(), answer()]

    many = Recourses(every, numbers=(0, 2, 5))

    assert len(many) == 3
    assert list(many) == every
    assert many[1:].numbers == (2, 5)
    assert many[-1] is every[-1]
    assert many.found == [True, False, True]


def test_the_repr_counts_how_the_searches_ended() -> None:
    mistake = InputError("no")

    assert repr(Recourses([answer(), refusal(), answer()])) == (
        "<3 recourses: 2 found, 1 unreachable>"
    )
    assert repr(Recourses([answer()], numbers=(1,), errors={0: mistake}, unfinished=2)) == (
        "<1 recourses: 1 found, 1 could not be answered, 2 unfinished>"
    )


def test_a_notebook_shows_one_line_a_person_and_what_changes_most_often() -> None:
    doubted = acted_answer(cautions=("fio2 55 is high",))
    many = Recourses(
        [doubted, refusal(reason="31 rows <are> cut off")],
        numbers=(0, 2),
        errors={1: InputError("no <b>age</b>")},
        labels=("C17", "C18", "<C19>"),
    )

    page = many._repr_html_()

    assert page.index("C17") < page.index("C18") < page.index("&lt;C19&gt;")
    assert "2 recourses: 1 found, 1 unreachable, 1 with cautions" in page
    assert "0.21 -&gt; 0.92" in page
    assert "airway ventilated -&gt; patent" in page
    assert "caution: fio2 55 is high" in page
    assert "31 rows &lt;are&gt; cut off" in page
    assert "InputError: no &lt;b&gt;age&lt;/b&gt;" in page
    assert "what changes, the most often first" in page
    assert "<b>" not in page


def test_a_notebook_shows_no_more_than_fit_and_a_file_all() -> None:
    many = Recourses([refusal()] * 60)

    assert many._repr_html_().count('<th scope="row">') == 50
    assert "and 10 more, who are in to_frame()" in many._repr_html_()
    assert many.to_html().count('<th scope="row">') == 60
    assert "what changes" not in many.to_html()
    assert "<tbody></tbody>" in Recourses([])._repr_html_()


def test_the_table_has_one_line_a_person() -> None:
    pytest.importorskip("pandas")

    frame = Recourses([answer(), refusal()]).to_frame()

    assert frame["status"].tolist() == ["FOUND", "UNREACHABLE"]
    assert frame["steps"].tolist() == [3, 0]
    assert frame["score_after"].tolist() == [0.81, 0.21]
    assert "person" not in frame.columns


@pytest.mark.parametrize(
    "some",
    [
        Recourses([answer()], numbers=(3,)),
        Recourses([answer()], numbers=(0,), unfinished=1),
    ],
)
def test_the_table_says_whose_the_answers_are_where_some_have_none(some: Recourses) -> None:
    assert some.to_frame()["person"].tolist() == list(some.numbers)


def test_who_could_not_be_answered_has_a_line_that_says_why() -> None:
    some = Recourses(
        [answer(), refusal(reason="nobody is near")],
        numbers=[0, 2],
        errors={1: InputError("age is -3")},
        labels=["ada", "bob", "cid"],
    )

    frame = some.to_frame()

    assert frame["person"].tolist() == [0, 1, 2]
    assert frame["status"].tolist() == ["FOUND", "ERROR", "UNREACHABLE"]
    assert frame["error"].tolist() == ["", "InputError: age is -3", ""]
    assert frame["reason"].tolist() == ["", "", "nobody is near"]
    assert frame["steps"].isna().tolist() == [False, True, False]
    assert frame.index.tolist() == ["ada", "bob", "cid"]
    assert some.labels == ("ada", "cid")


def test_the_score_afterwards_is_that_of_the_plan_and_the_paths_is_called_so() -> None:
    planned = acted_answer()
    assert planned.actions[-1].score != planned.scores[-1]

    frame = Recourses([planned, answer()]).to_frame()

    assert frame["score_after"].tolist() == [planned.actions[-1].score, answer().scores[-1]]
    assert frame["score_of_path"].tolist() == [planned.scores[-1], answer().scores[-1]]


def test_nobody_has_no_lines() -> None:
    assert len(Recourses([]).to_frame()["status"]) == 0


def test_tables_have_the_labels_of_the_peoples_rows() -> None:
    some = Recourses([answer(), refusal()], labels=["ada", "bob"])

    assert some.labels == ("ada", "bob")
    assert some.to_frame().index.tolist() == ["ada", "bob"]
    assert some.ends.index.tolist() == ["ada", "bob"]
    assert some[1:].labels == ("bob",)


def test_labels_are_those_of_the_answered() -> None:
    some = Recourses([answer()], numbers=[1], errors={0: InputError("no")}, labels=["ada", "bob"])

    assert some.labels == ("bob",)
    assert some.ends.index.tolist() == ["bob"]
    assert some.to_frame().index.tolist() == ["ada", "bob"]


def test_ends_are_where_actions_lead_or_where_a_person_is() -> None:
    some = Recourses([answer(), refusal()])

    assert some.ends.iloc[0].tolist() == answer().path.iloc[-1].tolist()
    assert some.ends.iloc[1].tolist() == refusal().path.iloc[0].tolist()


def test_changes_and_their_summary_name_what_differs_at_the_end() -> None:
    some = Recourses([answer(), answer(), refusal()])
    names = [one.name for one in answer().changes]

    assert [list(one) for one in some.changes] == [names, names, []]
    counts = some.summary().set_index("feature")
    assert counts.loc[names, "people"].tolist() == [2] * len(names)
    assert counts.loc[names, "share"].tolist() == [1.0] * len(names)
    assert counts["people"].tolist() == sorted(counts["people"], reverse=True)


def test_a_summary_says_what_categories_become_and_leaves_out_what_never_changes() -> None:
    some = Recourses([acted_answer(), acted_answer(), answer()])

    counts = some.summary().set_index("feature")

    assert (counts["people"] > 0).all()
    assert "age" not in counts.index
    airway = counts.loc["airway"]
    assert airway["becomes"] == f"patent ({airway['people']})"
    assert (airway["up"], airway["down"]) == (0, 0)
    assert counts.loc["fio2", "becomes"] == ""
    assert counts[["up", "down"]].dtypes.tolist() == [np.dtype("int64")] * 2
    assert len(Recourses([refusal()]).summary()) == 0


def test_nobody_has_no_summary_and_no_ends() -> None:
    assert len(Recourses([]).summary()["feature"]) == 0
    assert len(Recourses([]).ends) == 0


def test_all_answers_survive_json() -> None:
    some = Recourses(
        [answer(), refusal()], numbers=[0, 2], errors={1: InputError("no")}, labels=["a", "b", "c"]
    )

    back = Recourses.from_json(some.to_json())

    assert [one.to_json() for one in back] == [one.to_json() for one in some]
    assert back.numbers == (0, 2)
    assert back.labels == ("a", "c")
    assert str(back.errors[1]) == "InputError: no"
    with pytest.raises(InputError, match="no document of recourses"):
        Recourses.from_json("{}")
