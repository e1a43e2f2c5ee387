# SPDX-License-Identifier: BSD-2-Clause
"""Settings of the documentation's builder, Sphinx: ``make docs``."""

import ast
import inspect
import re
import textwrap
from pathlib import Path

import hypercast

project = "Hypercast"
author = "the Hypercast authors"
copyright = re.search(r"^Copyright \(c\) (.*)$", Path(__file__, "../../LICENSE").resolve()
                      .read_text(encoding="utf-8"), re.MULTILINE)[1]
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

autodoc_default_options = {"member-order": "bysource"}
# What hypercast.cocotb needs, and the pages do not.
autodoc_mock_imports = ["cocotb", "cocotb_tools", "cocotbext"]
autosummary_generate = True
autosummary_ignore_module_all = False
napoleon_custom_sections = [("Members", "params_style"), "Attributes"]
napoleon_google_docstring = False
napoleon_use_ivar = True


#: What names in the source are called on pages.
_CALLED = {"npt.": "", "_Path": "str | PathLike[str]"}


class _Written(str):
    """A part of a signature as its source has it, which a signature shows without quotes."""

    def __repr__(self):
        return re.sub("|".join(map(re.escape, _CALLED)), lambda found: _CALLED[found[0]], self)


def _parsed(thing):
    """The syntax tree of a function or class."""
    return ast.parse(textwrap.dedent(inspect.getsource(thing))).body[0]


class _WithoutRanges(ast.NodeTransformer):
    """Replaces ``Annotated[int, Within(1, 5)]`` by ``int``: the text says what the range is."""

    def visit_Subscript(self, node):
        self.generic_visit(node)
        annotated = isinstance(node.value, ast.Name) and node.value.id == "Annotated"
        return node.slice.elts[0] if annotated else node


def _written(annotation):
    annotation = _WithoutRanges().visit(annotation)
    return _Written(annotation.value if isinstance(annotation, ast.Constant) and isinstance(
        annotation.value, str) else ast.unparse(annotation))


def _annotations(function):
    """Name of each parameter, and ``return``, to its annotation as the source has it."""
    if function.__code__.co_filename.startswith("<"):  # made by dataclass
        owner = getattr(inspect.getmodule(function), function.__qualname__.split(".")[0])
        fields = (line for base in reversed(owner.__mro__[:-1]) for line in _parsed(base).body
                  if isinstance(line, ast.AnnAssign))
        return {line.target.id: _written(line.annotation) for line in fields}
    parsed = _parsed(function)
    return {**{part.arg: _written(part.annotation) for part in ast.walk(parsed.args)
               if isinstance(part, ast.arg) and part.annotation},
            **({"return": _written(parsed.returns)} if parsed.returns else {})}


def _with_written_types(app, what, name, thing, options, arguments, returned):
    """Name types in a signature as the source does: what npt.ArrayLike stands for takes a line."""
    is_class = inspect.isclass(thing)
    function = thing.__init__ if is_class else inspect.unwrap(getattr(thing, "__func__", thing))
    if not inspect.isfunction(function):
        return ("", None) if is_class and arguments is not None else None
    found = _annotations(function)
    signature = inspect.signature(function)
    parameters = [one.replace(
        annotation=found.get(one.name, one.empty),
        default=_Written("...") if inspect.isfunction(one.default) else one.default)
        for one in signature.parameters.values() if one.name not in ("self", "cls")]
    text = signature.replace(parameters=parameters, return_annotation=signature.empty)
    return str(text), None if is_class or "return" not in found else repr(found["return"])


def setup(app):
    """Called by Sphinx."""
    app.connect("autodoc-process-signature", _with_written_types)
