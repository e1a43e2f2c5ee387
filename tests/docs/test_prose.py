# SPDX-License-Identifier: BSD-2-Clause
"""Prose of the pages: lines are wrapped, and links lead to headings that exist.

README leads to everything, and docstrings are no fragments.
"""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md")),
         *sorted((ROOT / "examples").glob("*/README.md"))]
WIDTH = 100
DOCSTRING_FOLDERS = ("benches", "boards", "examples", "host", "proofs", "reference", "rtl", "sim",
                     "tests")


def prose(page):
    """Lines of a page that are neither code, nor of a table, nor a heading or picture."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    return [line for line in text.split("\n") if not line.startswith(("|", "#", "!["))]


def anchors(page):
    """What a link can name after a page's ``#``."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_lines_are_wrapped(page):
    # A word longer than a line, such as a link's address, stands alone.
    assert not [line for line in prose(page) if len(line) > WIDTH and " " in line.strip(" -*")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_to_headings(page):
    for target, anchor in re.findall(r"\]\(([^)#:]*)#([^)]+)\)", page.read_text()):
        assert anchor in anchors(page.parent / target if target else page), (target, anchor)


def docstrings(folder):
    """Path and text of each docstring of a folder."""
    for path in sorted((ROOT / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
                yield path.relative_to(ROOT), ast.get_docstring(node) or ""


def descriptions(docstring):
    """The first line of each description in a docstring's sections."""
    for section in re.split(r"^\w[\w ]*\n-{3,}\n", docstring, flags=re.MULTILINE)[1:]:
        yield from re.findall(r"^\S.*\n +(\S.*)$", section, re.MULTILINE)


@pytest.mark.parametrize("folder", DOCSTRING_FOLDERS)
def test_docstrings_are_no_fragments(folder):
    """A docstring begins with what it is about, not with a word that points back at a name.

    So does what it says of each parameter, attribute, member, result and error.
    """
    assert not [(path, line) for path, text in docstrings(folder)
                for line in (*text.splitlines()[:1], *descriptions(text))
                if re.match(r"(Those|Theirs?|Likewise|Its|Of|See above)\b", line)]


def readme_row(folder):
    """The row of README's table of folders that describes a folder."""
    [row] = re.findall(rf"^\| `{folder}/` \|.*$", (ROOT / "README.md").read_text(), re.MULTILINE)
    return row


def test_readme_names_the_folders_of_the_host():
    # A folder that begins with an underscore is put elsewhere when the package is installed.
    folders = {path.parent.name for path in (ROOT / "host").glob("[!_]*/__init__.py")}
    assert not {name for name in folders if f"`{name}/`" not in readme_row("host")}


def test_readme_links_the_pages():
    """Every page is linked, but for the site's first page and the frame of blocks' pages."""
    pages = {path.name for path in (ROOT / "docs").glob("*.md")} - {"index.md", "block-pages.md"}
    assert len(pages) > 20
    assert not {name for name in pages if f"](docs/{name})" not in readme_row("docs")}
