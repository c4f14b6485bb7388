"""Errors: what they carry beside their sentence, and what a missing extra says."""

from __future__ import annotations

import pickle

import pytest

from localface.errors import DataError, InputError, ModelError, needs_extra


def test_an_error_carries_what_it_is_about() -> None:
    error = DataError("'age' is wrong", feature="age", person=3, option="where")

    assert str(error) == "'age' is wrong"
    assert (error.feature, error.person, error.option) == ("age", 3, "where")
    assert isinstance(error, ValueError)


def test_an_error_about_nothing_in_particular_carries_nothing() -> None:
    error = ModelError("it failed")

    assert (error.feature, error.person, error.option, error.stage) == (None, None, None, None)


def test_an_error_keeps_what_it_carries_on_its_way_to_another_process() -> None:
    error = ModelError("it failed", feature="age", person=3, option="target", stage="explore")

    copy = pickle.loads(pickle.dumps(error))

    assert type(copy) is ModelError
    assert str(copy) == "it failed"
    assert (copy.feature, copy.person, copy.option) == ("age", 3, "target")
    assert copy.stage == "explore"


def test_a_missing_extra_says_what_to_run() -> None:
    sentence = 'drawing needs no_such_package, .* run: pip install "localface\\[plots\\]"'

    with (
        pytest.raises(ModuleNotFoundError, match=sentence) as caught,
        needs_extra("plots", "drawing"),
    ):
        import no_such_package.inside  # type: ignore[import-not-found]  # noqa: F401

    assert caught.value.name == "no_such_package"


def test_a_mistake_in_our_own_imports_is_no_missing_extra() -> None:
    with pytest.raises(ModuleNotFoundError, match=r"localface\.nowhere"), needs_extra("web", "it"):
        import localface.nowhere  # type: ignore[import-not-found]  # noqa: F401


def test_other_errors_pass_through_untouched() -> None:
    with pytest.raises(InputError, match="as it was"), needs_extra("web", "it"):
        raise InputError("as it was")
