"""Sequential algorithmic recourse: what would have to change, in which order, by how much."""

from localface._version import __version__
from localface.analyses.promises import Promises
from localface.answers.many import Recourses
from localface.answers.recourse import Recourse
from localface.answers.status import Status
from localface.data.feature import Feature
from localface.data.schema import Schema
from localface.errors import NoRecourse
from localface.explainer import LocalFACE
from localface.models.refitting import refits
from localface.options import Ask, Search

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
