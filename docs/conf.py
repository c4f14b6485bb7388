"""The site: the Markdown of this folder, and the reference that is read off the package itself."""

from __future__ import annotations

import re
from typing import Any

from sphinx.application import Sphinx

from localface import __version__

project = "localface"
copyright = "the localface authors"
version = release = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["figures"]
suppress_warnings = ["myst.header"]  # the table of contents of an included page starts anew

# Markdown: the anchors are those that GitHub makes, so that a link works in both places.
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]
myst_links_external_new_tab = True

# The reference, from signatures and docstrings.
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstrings say what each thing may be
autodoc_default_options = {"members": True}
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_attr_annotations = False
add_module_names = False

html_theme = "furo"
html_title = f"localface {version}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
html_theme_options = {"navigation_with_keys": True, "top_of_page_buttons": []}
pygments_style = "friendly"
pygments_dark_style = "monokai"

# Docstrings here say what a parameter means on its line ("seed : what decides the draws"), where
# napoleon expects a type; and a colon in the sentence of a property is a colon, not a type.
_PARAMETER = re.compile(r"^(\w[\w, *]*) : (.+)$")
_sentences: dict[str, list[str]] = {}


def keep_sentences(app: Sphinx, what: str, name: str, one: object, options: Any, lines: list[str]):
    """Put meanings below their parameters, and note the sentences of properties."""
    _sentences[name] = list(lines)
    for i in reversed(range(len(lines))):
        if found := _PARAMETER.match(lines[i]):
            lines[i : i + 1] = [found[1], f"    {found[2]}"]


def restore_sentences(
    app: Sphinx, what: str, name: str, one: object, options: Any, lines: list[str]
):
    """Give properties their sentences back."""
    if what in ("attribute", "property"):
        lines[:] = _sentences[name]


def setup(app: Sphinx) -> None:
    """Before napoleon (500), and after it."""
    app.connect("autodoc-process-docstring", keep_sentences, priority=400)
    app.connect("autodoc-process-docstring", restore_sentences, priority=600)
