"""Errors: what they carry beside their sentence, and what a missing extra says."""

from __future__ import annotations

import json
import pickle
import re
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from localface.errors import (
    DataError,
    InputError,
    ModelError,
    did_you_mean,
    how_to_upgrade,
    install_command,
    needs_extra,
)


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


@pytest.mark.parametrize(
    ("wrong", "known", "meant"),
    [
        ("wage", ["age", "sex", "wage_expected"], "wage_expected"),  # its beginning
        ("income", ["incoming", "net_income"], "net_income"),  # its end
        ("days", ["day", "paid_days_late"], "paid_days_late"),  # a word of it
        ("debt", ["debt_to_income", "debts"], "debts"),  # the nearest of several
        ("WAGE", ["age", "wage_expected"], "wage_expected"),
        ("temp_mx", ["temp_max", "age"], "temp_max"),
        ("ag", ["age", "language"], "age"),  # two letters are no word
        ("no", ["another", "northern"], None),
    ],
)
def test_a_near_miss_is_first_a_name_that_the_wrong_one_is_a_part_of(
    wrong: str, known: list[str], meant: str | None
) -> None:
    assert did_you_mean(wrong, known) == ("" if meant is None else f" (did you mean {meant!r}?)")


def test_a_missing_extra_says_what_to_run() -> None:
    sentence = f"drawing needs no_such_package, .* run: {re.escape(install_command('plots'))}"

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


METADATA = """\
Metadata-Version: 2.1
Name: localface
Version: 9.9
Requires-Dist: numpy>=1.26
Requires-Dist: matplotlib>=3.8; extra == 'plots'
Requires-Dist: pillow>=9; extra == 'plots'
Requires-Dist: fastapi>=0.115; extra == 'web'
"""


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Lets this package look as if it had been installed from somewhere."""

    def install(**origin: object) -> None:
        folder = tmp_path / "site" / "localface-9.9.dist-info"
        folder.mkdir(parents=True)
        (folder / "METADATA").write_text(METADATA)
        if origin:
            (folder / "direct_url.json").write_text(json.dumps(origin))
        monkeypatch.syspath_prepend(folder.parent)

    return install


def test_what_was_installed_by_name_asks_for_its_extras_by_name(installed) -> None:
    installed()

    assert install_command("plots") == 'pip install "localface[plots]"'
    assert how_to_upgrade() == "upgrade with: pip install --upgrade localface"


@pytest.mark.parametrize(("editable", "option"), [(True, "--editable "), (False, "")])
def test_what_was_installed_from_a_clone_asks_for_its_extras_from_there(
    editable: bool, option: str, installed, tmp_path: Path
) -> None:
    clone = tmp_path / "my clone"
    clone.mkdir()
    installed(url=clone.as_uri(), dir_info={"editable": editable})

    assert install_command("web") == f'pip install {option}"{clone}[web]"'
    assert how_to_upgrade() == f"install a newer version as this one was, from {clone}"


def test_what_was_installed_from_a_file_asks_for_its_extras_from_there(
    installed, tmp_path: Path
) -> None:
    wheel = tmp_path / "localface-9.9-py3-none-any.whl"
    wheel.touch()
    installed(url=wheel.as_uri(), archive_info={})

    assert install_command("web") == f'pip install "localface[web] @ {wheel.as_uri()}"'


def test_what_was_installed_from_a_repository_asks_for_the_same_commit(installed) -> None:
    installed(url="https://host/localface", vcs_info={"vcs": "git", "commit_id": "abc"})

    wanted = "localface[web] @ git+https://host/localface@abc"
    assert install_command("web") == f'pip install "{wanted}"'


def test_where_the_clone_is_gone_the_packages_of_the_extra_are_named(
    installed, tmp_path: Path
) -> None:
    installed(url=(tmp_path / "gone").as_uri(), dir_info={})

    assert install_command("plots") == 'pip install "matplotlib>=3.8" "pillow>=9"'


def test_what_is_not_installed_at_all_is_installed_from_the_clone_that_it_is_in(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def find_nothing(name: str) -> None:
        raise PackageNotFoundError(name)

    monkeypatch.setattr("importlib.metadata.distribution", find_nothing)

    root = Path(__file__).parents[1]
    assert install_command("plots") == f'pip install --editable "{root}[plots]"'
