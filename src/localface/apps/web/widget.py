"""The page's view of an answer in a notebook: the same ES module, without a service."""

from __future__ import annotations

import re
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from localface.apps.web.views.view import answer_view
from localface.errors import needs_extra

with needs_extra("notebook", "the widget"):
    import anywidget
    import traitlets

if TYPE_CHECKING:
    from localface.answers.recourse import Recourse

_IMPORT = re.compile(r'^import\s*\{[^}]*\}\s*from\s*"\./(?P<name>[\w-]+\.js)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(async )?(function|const|let|class)\b)", re.MULTILINE)
_SHOWN = """
export default {
  render({ model, el }) {
    const show = () => render(model.get("view"), el, {});
    model.on("change:view", show);
    show();
    return () => model.off("change:view", show);
  },
};
"""


class RecourseWidget(anywidget.AnyWidget):
    """Shows a view: ``RecourseWidget(answer_view(answer))``, or ``RecourseWidget.of(answer)``."""

    view = traitlets.Dict().tag(sync=True)

    def __init__(self, view: dict[str, Any], **options: Any) -> None:
        self._esm = bundle_module("view.js") + _SHOWN
        self._css = _read_static_file("view.css")
        super().__init__(view=view, **options)

    @classmethod
    def of(cls, answer: Recourse) -> RecourseWidget:
        """Show an answer."""
        return cls(answer_view(answer))


def bundle_module(name: str) -> str:
    """A module of the page with all that it imports, as one text that imports nothing.

    A notebook takes no more than one. Names at the top of these modules must therefore differ
    from each other.
    """
    return "\n".join(
        _EXPORT.sub("", _IMPORT.sub("", _read_static_file(one)))
        for one in _modules_needed_by(name, [])
    )


def _modules_needed_by(name: str, known: list[str]) -> list[str]:
    """The modules that one needs, each once and after those that it needs itself."""
    for found in _IMPORT.finditer(_read_static_file(name)):
        if found["name"] not in known:
            _modules_needed_by(found["name"], known)
    if name not in known:
        known.append(name)
    return known


def _read_static_file(name: str) -> str:
    return files("localface.apps.web").joinpath("static", name).read_text(encoding="utf-8")
