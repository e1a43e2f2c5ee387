"""Settings of the documentation's builder, Sphinx: ``make docs``."""

from importlib.metadata import version as installed_version

project = "Hypercast"
author = "Hypercast's authors"
version = release = installed_version("hypercast")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.napoleon"]
exclude_patterns = ["_templates"]
templates_path = ["_templates"]

html_theme = "alabaster"
html_theme_options = {"description": "GCNs trained on a hypercube of cores, bit for bit",
                      "page_width": "1100px", "fixed_sidebar": True}

myst_heading_anchors = 3
# Pages are read on code hosts, too: links to files that are no pages of the site stay as they are.
suppress_warnings = ["myst.xref_missing"]

autodoc_default_options = {"members": True, "member-order": "bysource"}
autodoc_class_signature = "separated"
autosummary_generate = True
autosummary_ignore_module_all = False
napoleon_custom_sections = [("Members", "params_style"), "Attributes"]
napoleon_google_docstring = False
napoleon_use_ivar = True
