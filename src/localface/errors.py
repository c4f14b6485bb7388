"""What can go wrong when the library is asked for something it cannot do.

    LocalFACEError
    ├── InputError (also a ValueError)      what came in cannot be used
    │   ├── SchemaError                     the description of a record
    │   ├── DataError                       the table, or the person
    │   ├── ConstraintError                 what a person may change
    │   ├── ModelError                      the model, or what it returns
    │   └── DensityError                    a density of the user's own
    ├── DamagedFile                         a file is not what this package wrote there
    └── NoRecourse                          raised by ``Recourse.require()`` only

    NearCopiesWarning (a UserWarning)       rows look like the same people again

"No recourse" is an answer and comes as a status; misuse is an exception. An error's text is
for people; programs read its attributes: ``feature``, ``person``, ``option``, ``suggestion``
and ``stage``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import Any

_SHORTEST_PART = 3  # letters of a name that say which is meant


class LocalFACEError(Exception):
    """The root of the errors of this package.

    Parameters
    ----------
    message : what happened and what to do, for people to read
    feature : the name of the feature that it is about, where it is about one
    person : the number of the person that it is about, where several came
    option : the name of the argument that it is about, such as ``"min_score"``
    suggestion : the value of the feature that is likely meant, where one is
    """

    def __init__(
        self,
        message: str = "",
        *,
        feature: str | None = None,
        person: int | None = None,
        option: str | None = None,
        suggestion: object = None,
    ) -> None:
        super().__init__(message)
        self.feature = feature
        self.person = person
        self.option = option
        self.suggestion = suggestion


class InputError(LocalFACEError, ValueError):
    """What came in cannot be used; the message says what to do about it."""


class SchemaError(InputError):
    """The description of a record contradicts itself or does not fit the data."""


class DataError(InputError):
    """The table or the person has values that cannot be used."""


class ConstraintError(InputError):
    """What the person may change contradicts itself, or names something unknown."""


class ModelError(InputError):
    """The model raised, or returned something that is no score.

    ``stage`` names the stage of the search that asked for the score, where one did.
    """

    def __init__(
        self,
        message: str = "",
        *,
        feature: str | None = None,
        person: int | None = None,
        option: str | None = None,
        stage: str | None = None,
    ) -> None:
        super().__init__(message, feature=feature, person=person, option=option)
        self.stage = stage


class DensityError(InputError):
    """A density of the user's own returned something that is no density."""


class DamagedFile(LocalFACEError):
    """A file is no longer what this package wrote; nothing that was asked is at fault."""


class NoRecourse(LocalFACEError):
    """There is no recourse, and the caller required one."""


class NearCopiesWarning(UserWarning):
    """Many rows are near-copies of others, and nobody said whose they are."""


@contextmanager
def needs_extra(extra: str, purpose: str) -> Iterator[None]:
    """Say how to install an extra where an import inside the ``with`` block fails.

    Write the imports as plain statements, so that tools that read imports see them:
    ``with needs_extra("plots", "--plot"): import matplotlib``.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package in ("", "localface"):
            raise
        raise ModuleNotFoundError(
            f"{purpose} needs {package}, which is not installed; run: {install_command(extra)}",
            name=package,
        ) from None


def install_command(extra: str) -> str:
    """Return the command that installs an extra, from where this package itself came.

    What was installed by name is asked for by name; what came from a clone, a repository or a
    file, from there again; and where that is gone, the packages of the extra are named.
    """
    origin = _read_origin()
    if origin is None:
        return f'pip install "localface[{extra}]"'
    address = origin["url"]
    if not address.startswith("file:"):
        return f'pip install "localface[{extra}] @ {_with_revision(origin)}"'
    place = _to_path(address)
    if place.is_dir():
        editable = "--editable " if origin.get("dir_info", {}).get("editable") else ""
        return f'pip install {editable}"{place}[{extra}]"'
    if place.is_file():
        return f'pip install "localface[{extra}] @ {address}"'
    return f"pip install {' '.join(_list_packages(extra))}"


def how_to_upgrade() -> str:
    """Return what to do for a newer version: ``"upgrade with: ..."``."""
    origin = _read_origin()
    if origin is None:
        return "upgrade with: pip install --upgrade localface"
    address = origin["url"]
    place = str(_to_path(address)) if address.startswith("file:") else address
    return f"install a newer version as this one was, from {place}"


def _read_origin() -> dict[str, Any] | None:
    """Where this package was installed from, as installers note it; None where by its name."""
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        note = distribution("localface").read_text("direct_url.json")
    except PackageNotFoundError:
        clone = Path(__file__).parents[2]
        is_clone = (clone / "pyproject.toml").is_file()
        return {"url": clone.as_uri(), "dir_info": {"editable": True}} if is_clone else None
    return json.loads(note) if note else None


def _with_revision(origin: dict[str, Any]) -> str:
    """The address that pip takes: that of a repository with its kind and its commit."""
    repository = origin.get("vcs_info")
    if repository is None:
        return str(origin["url"])
    return f"{repository['vcs']}+{origin['url']}@{repository['commit_id']}"


def _to_path(address: str) -> Path:
    from urllib.parse import urlsplit
    from urllib.request import url2pathname

    return Path(url2pathname(urlsplit(address).path))


def _list_packages(extra: str) -> list[str]:
    """What an extra asks for, each in quotes: ``'"matplotlib>=3.8"'``."""
    from importlib.metadata import requires

    lines = [line.split(";") for line in requires("localface") or []]
    wanted = [line for line in lines if re.search(rf"extra == .{extra}\W", line[-1])]
    return [f'"{line[0].strip()}"' for line in wanted]


def did_you_mean(name: object, known: Iterable[object]) -> str:
    """Return ``" (did you mean 'temp_max'?)"`` where a known name is close, else nothing.

    A name that the wrong one begins, ends or is a word of comes before one that is spelt alike.

    >>> did_you_mean("temp_mx", ["temp_max", "age"])
    " (did you mean 'temp_max'?)"
    >>> did_you_mean("wage", ["age", "wage_expected"])
    " (did you mean 'wage_expected'?)"
    >>> did_you_mean("colour", ["temp_max", "age"])
    ''
    """
    spelt = {str(one): one for one in known}
    longer = [one for one in spelt if _is_part_of(str(name), one)]
    close = get_close_matches(str(name), longer or list(spelt), n=1, cutoff=0 if longer else 0.6)
    return f" (did you mean {spelt[close[0]]!r}?)" if close else ""


def _is_part_of(part: str, name: str) -> bool:
    """Whether a name is longer than a part of it: its beginning, its end or a word of it."""
    found, whole = part.lower(), name.lower()
    if len(found) < _SHORTEST_PART or found == whole:
        return False
    return whole.startswith(found) or whole.endswith(found) or found in re.split(r"[\W_]+", whole)


def list_names(names: Iterable[object], most: int = 6) -> str:
    """Join names for a sentence, and count those that there is no room for.

    >>> list_names(["a", "b"])
    "'a', 'b'"
    """
    every = [repr(name) if isinstance(name, str) else str(name) for name in names]
    more = f" and {len(every) - most} more" if len(every) > most else ""
    return ", ".join(every[:most]) + more
