"""The facts of an answer and what follows from them."""

from __future__ import annotations

import copy
import pickle
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from handmade import ENTRY, STRICT, acted_answer, answer, refusal

from localface.answers.recourse import Recourse
from localface.answers.status import Status
from localface.errors import InputError, NoRecourse


def test_the_repr_answers_the_first_question_in_one_line() -> None:
    assert (
        repr(answer())
        == "<Recourse: found, 3 steps, score 0.21 -> 0.81, 104 of 13,943 rows seen (0.75 %)>"
    )
    assert "\n" not in repr(refusal())
    assert repr(refusal()).startswith(
        "<Recourse: unreachable, score 0.21, wanted class 1, score at least 0.75, 104 of"
    )


def test_require_returns_the_recourse_or_raises_with_the_reason() -> None:
    one = answer()

    assert one.require() is one
    with pytest.raises(
        NoRecourse, match=r"no path through common enough states.*: 31 rows are cut off"
    ):
        refusal().require()


def test_the_counterfactual_is_the_end_of_the_path() -> None:
    end = answer().counterfactual

    assert end["spo2_min"].tolist() == [95]
    assert end["airway"].tolist() == ["patent"]


def test_an_answer_cannot_be_changed() -> None:
    one = answer()

    with pytest.raises(AttributeError):
        one.status = Status.BUDGET  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        one.records[0, 0] = 1.0
    with pytest.raises(TypeError):
        one.settings["n_neighbors"] = 1  # type: ignore[index]


def test_an_answer_survives_pickling_and_copying() -> None:
    one = answer(relaxed_to=0.012)

    for other in (pickle.loads(pickle.dumps(one)), copy.deepcopy(one)):
        assert other.to_json() == one.to_json()
        assert not other.records.flags.writeable


def test_pieces_that_do_not_belong_together_are_refused() -> None:
    with pytest.raises(InputError, match="a recourse of 4 records has 3 certificates; got 1"):
        answer(certificates=(STRICT,))
    with pytest.raises(InputError, match="at least one record of 4 features; got 0 x 4"):
        answer(records=np.zeros((0, 4)))


def test_the_repr_counts_actions_and_names_what_was_widened() -> None:
    one = acted_answer(widened={"fio2": 0.2, "gcs_min": 3}, relaxed_to=0.012)

    assert repr(one).startswith(
        "<Recourse: found, 2 actions, score 0.21 -> 0.92, floor relaxed to 1.2 %, "
        "fio2 and gcs_min widened, 104 of"
    )


def test_where_the_actions_lead_is_the_end_and_the_followed_path() -> None:
    one = acted_answer()

    followed = one.with_actions_as_path()

    assert one.end["gcs_min"].tolist() == [14]
    assert one.end["spo2_min"].tolist() == [91]
    assert isinstance(followed, Recourse)
    assert followed.scores == (0.21, 0.4, 0.92)
    assert followed.rows == (None, None, None)
    assert np.array_equal(followed.records[1], [1, 9, 0.55, 91])
    assert followed.actions == ()


def test_without_actions_the_path_is_what_is_followed() -> None:
    one = answer()

    assert one.with_actions_as_path() is one
    assert one.end.equals(one.counterfactual)
    assert refusal().end is None


def test_cost_and_entry_are_those_of_the_steps() -> None:
    assert answer().cost == 3 * 1.25
    assert not answer().entry
    assert answer(certificates=(ENTRY, STRICT, STRICT)).entry


def test_records_are_finite() -> None:
    with pytest.raises(InputError, match="finite records"):
        answer(records=np.full((4, 4), np.inf))


@dataclass(frozen=True)
class Settings:
    depth: int = 3


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (np.float64(0.5), 0.5),
        (np.array([1, 2]), (1, 2)),
        ({"b", "a"}, ("a", "b")),
        ({1: [None, True]}, {"1": (None, True)}),
        (Settings(), {"depth": 3}),
        (Settings, "Settings"),
        (object(), "object"),
    ],
)
def test_settings_are_kept_as_plain_values(given: Any, kept: Any) -> None:
    assert dict(answer(settings={"one": given}).settings) == {"one": kept}
