"""Settings of the documentation's builder, Sphinx: ``make docs``."""

import hypercast

project = "Hypercast"
author = "Hypercast's authors"
version = release = hypercast.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.napoleon",
              "sphinx.ext.viewcode", "sphinx_copybutton", "sphinx_design"]
exclude_patterns = ["_templates"]
templates_path = ["_templates"]

html_theme = "furo"
html_title = f"Hypercast {version}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_theme_options = {"navigation_with_keys": True}
copybutton_prompt_text = "$ "  # what a console prints before a command is not part of it

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3

autodoc_default_options = {"members": True, "member-order": "bysource"}
autodoc_class_signature = "separated"
# What hypercast.cocotb needs, and the pages do not.
autodoc_mock_imports = ["cocotb", "cocotb_tools", "cocotbext"]
autosummary_generate = True
autosummary_ignore_module_all = False
napoleon_custom_sections = [("Members", "params_style"), "Attributes"]
napoleon_google_docstring = False
napoleon_use_ivar = True
