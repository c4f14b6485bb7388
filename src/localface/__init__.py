"""Sequential algorithmic recourse: what would have to change, in which order, by how much."""

import importlib
import typing

from localface._version import __version__
from localface.answers.many import Recourses
from localface.answers.recourse import Recourse
from localface.answers.status import Status
from localface.data.feature import Feature
from localface.data.schema import Schema
from localface.errors import NoRecourse
from localface.options import Ask, Search

if typing.TYPE_CHECKING:
    from localface.analyses.promises import Promises
    from localface.explainer import LocalFACE
    from localface.models.refitting import refits

__all__ = [
    "Ask",
    "Feature",
    "LocalFACE",
    "NoRecourse",
    "Promises",
    "Recourse",
    "Recourses",
    "Schema",
    "Search",
    "Status",
    "__version__",
    "refits",
]

# With these comes all that searches: it is imported when the first of them is asked for.
_LATER = {
    "LocalFACE": "localface.explainer",
    "Promises": "localface.analyses.promises",
    "refits": "localface.models.refitting",
}

if not typing.TYPE_CHECKING:  # for a type checker they are there, and no other name is

    def __getattr__(name: str) -> typing.Any:
        """Return a name that is imported when it is first asked for."""
        if name not in _LATER:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        found = getattr(importlib.import_module(_LATER[name]), name)
        globals()[name] = found
        return found


def __dir__() -> list[str]:
    """Name what is there, and what is imported when it is asked for."""
    return sorted({*globals(), *__all__})
