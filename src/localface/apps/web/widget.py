"""The page's view of an answer in a notebook: the same ES module, without a service."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from localface.apps.web.bundle import bundle_module, read_static_file
from localface.apps.web.views.view import answer_view
from localface.errors import needs_extra

with needs_extra("notebook", "the widget"):
    import anywidget
    import traitlets

if TYPE_CHECKING:
    from localface.answers.recourse import Recourse

_SHOWN = """
export default {
  render({ model, el }) {
    const show = () => render(model.get("view"), el, {});
    model.on("change:view", show);
    const stay = followHost(el);
    show();
    return () => (stay(), model.off("change:view", show));
  },
};
"""


class RecourseWidget(anywidget.AnyWidget):
    """Shows a view: ``RecourseWidget(answer_view(answer))``, or ``RecourseWidget.of(answer)``."""

    view = traitlets.Dict().tag(sync=True)

    def __init__(self, view: dict[str, Any], **options: Any) -> None:
        self._esm = bundle_module("view.js", "host.js") + _SHOWN
        self._css = read_static_file("view.css")
        super().__init__(view=view, **options)

    @classmethod
    def of(cls, answer: Recourse) -> RecourseWidget:
        """Show an answer."""
        return cls(answer_view(answer))
