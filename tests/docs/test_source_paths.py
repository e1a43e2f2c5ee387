# SPDX-License-Identifier: BSD-2-Clause
"""Pages: every file, folder and name of the source that a page names exists."""

import ast
import pkgutil
import re
from itertools import product
from pathlib import Path

import pytest

from tests.docs.named_paths import FOLDERS, exists

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
#: Folders of data sets, which are the user's.
OTHERS = {"NAME_litex.py", "raw/", "split/"}

PATH = re.compile(r"[\w.*{},/-]+")
QUOTED = re.compile(r"`([^`\n]+)`")


def alternatives(path):
    """``a/{b,c}.py`` as ``a/b.py`` and ``a/c.py``."""
    parts = [part.split(",") for part in re.split(r"[{}]", path)]
    return ["".join(chosen) for chosen in product(*parts)]


def is_source(quoted):
    """Whether what a page quotes is meant as a path of the source."""
    return (PATH.fullmatch(quoted) is not None and quoted not in OTHERS
            and (quoted.startswith(tuple(f"{folder}/" for folder in FOLDERS))
                 or quoted.endswith(("/", ".py", ".cpp"))))


def resolves(name):
    """Whether ``name`` is a module, or something in one."""
    try:
        pkgutil.resolve_name(name)
    except (AttributeError, ImportError):
        return False
    return True


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_paths_exist(page):
    text = page.read_text()
    named = [path for quoted in QUOTED.findall(text) if is_source(quoted)
             for path in alternatives(quoted)]
    for block in re.findall(r"^```console\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
        named += re.findall(r"(?<= )(?:examples|tests)/[\w/.]+", block)
    assert not [path for path in named if not exists(path)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_names_resolve(page):
    text = page.read_text()
    named = re.findall(r"`(hypercast(?:\.\w+)+)(?:\([^`]*\))?`", text)
    modules = {name for name in named if name.split(".")[1] in FOLDERS}
    for block in re.findall(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
        for node in ast.walk(ast.parse(block)):
            if isinstance(node, ast.ImportFrom) and node.module.startswith("hypercast."):
                modules |= {f"{node.module}.{alias.name}" for alias in node.names}
    assert not sorted(name for name in modules if not resolves(name))


def test_wrong_paths_are_found():
    assert is_source("host/model/execution.py") and not exists("host/model/execution.py")
    assert is_source("pe.py") and not exists("pe.py")
    assert is_source("link/") and not exists("link/")
    assert exists("rtl/serial/") and exists("host/cycle_model")
    assert exists("tests/rtl/*/test_router.py") and not exists("tests/rtl/*/test_pe.py")
    assert alternatives("rtl/{chip,core}.py") == ["rtl/chip.py", "rtl/core.py"]
    assert not resolves("hypercast.rtl.chip.Chips")
