"""What was revealed of other people."""

from __future__ import annotations

import pickle

import pytest

from localface.answers.disclosure import Disclosure


def test_disclosure_is_a_share_of_all_rows() -> None:
    assert Disclosure(104, 13_943).fraction == 104 / 13_943
    assert Disclosure(0, 0).fraction == 0.0
    assert str(Disclosure(0, 10)) == "0 of 10 rows seen (0 %)"


def test_disclosure_says_what_it_took() -> None:
    seen = Disclosure(104, 13_943, questions=1200, model_calls=3)

    assert seen.sentence == "104 of 13,943 rows (0.75 %), 1,200 questions, 3 model calls"


def test_disclosure_cannot_be_changed_and_survives_pickling() -> None:
    seen = Disclosure(1, 2, seconds={"model": 0.5})

    with pytest.raises(TypeError):
        seen.seconds["model"] = 0.1  # type: ignore[index]
    assert pickle.loads(pickle.dumps(seen)) == seen
    assert seen.to_dict()["seconds"] == {"model": 0.5}
