"""Sequential algorithmic recourse: what would have to change, in which order, by how much."""

from localface._version import __version__
from localface.errors import NoRecourse
from localface.explainer import LocalFACE
from localface.recourse import Recourse, Status
from localface.schema import Feature, Schema

__all__ = ["Feature", "LocalFACE", "NoRecourse", "Recourse", "Schema", "Status", "__version__"]
