"""The site: the Markdown of this folder, and the reference that is read off the package itself."""

from __future__ import annotations

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
autodoc_default_options = {"members": True, "show-inheritance": False}
napoleon_google_docstring = False
napoleon_use_rtype = False
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
