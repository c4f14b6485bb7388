"""The page's own modules as one text that imports nothing: for notebooks and files."""

from __future__ import annotations

import re
from importlib.resources import files

_IMPORT = re.compile(r'^import\s*\{[^}]*\}\s*from\s*"\./(?P<name>[\w-]+\.js)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(async )?(function|const|let|class)\b)", re.MULTILINE)


def bundle_module(*names: str) -> str:
    """Modules of the page with all that they import, as one text that imports nothing.

    A notebook takes no more than one. Names at the top of these modules must therefore differ
    from each other.
    """
    known: list[str] = []
    for name in names:
        _modules_needed_by(name, known)
    return "\n".join(_EXPORT.sub("", _IMPORT.sub("", read_static_file(one))) for one in known)


def read_static_file(name: str) -> str:
    """The text of one of the page's files."""
    return files("localface.apps.web").joinpath("static", name).read_text(encoding="utf-8")


def _modules_needed_by(name: str, known: list[str]) -> list[str]:
    """The modules that one needs, each once and after those that it needs itself."""
    for found in _IMPORT.finditer(read_static_file(name)):
        if found["name"] not in known:
            _modules_needed_by(found["name"], known)
    if name not in known:
        known.append(name)
    return known
