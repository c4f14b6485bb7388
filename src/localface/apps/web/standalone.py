"""The page's view of an answer in HTML that needs no service, no network and no widget."""

from __future__ import annotations

import hashlib
import json
from html import escape
from typing import TYPE_CHECKING

from localface.apps.web.bundle import bundle_module, read_static_file
from localface.apps.web.views.view import answer_view

if TYPE_CHECKING:
    from localface.answers.recourse import Recourse

_CAUTION = (
    "<strong>Decision support: correlational, not advice.</strong> It shows which %s the model "
    "scores differently, not what would happen if one were made to resemble another."
)
_SHOW = """
for (const place of document.querySelectorAll("[data-localface='%(key)s']:not([data-shown])")) {
  place.dataset.shown = "";
  followHost(place);
  render(JSON.parse(place.querySelector("script[type='application/json']").textContent), place, {});
}
"""


def standalone_view(answer: Recourse) -> str:
    """An answer as the page shows it, for a cell of a notebook or a part of a page.

    Where scripts do not run, such as on a forge that shows notebooks, the same stands there as
    plain HTML.
    """
    view = _safe_in_html(json.dumps(answer_view(answer), allow_nan=False))
    key = hashlib.sha256(view.encode()).hexdigest()[:12]
    script = bundle_module("view.js", "host.js") + _SHOW % {"key": key}
    caution = _CAUTION % escape(answer.schema.each_row.many)
    return (
        f"<style>{read_static_file('view.css')}</style>\n"
        f'<div data-localface="{key}">\n'
        f'<script type="application/json">{view}</script>\n'
        f"{answer._repr_html_()}\n</div>\n"
        f'<p class="localface-caution" role="note"><small>{caution}</small></p>\n'
        f'<script type="module">\n{_safe_in_html(script, in_code=True)}</script>\n'
    )


def _safe_in_html(text: str, *, in_code: bool = False) -> str:
    """Text that cannot end the element which it stands in."""
    return text.replace("</script", "<\\/script") if in_code else text.replace("<", "\\u003c")
