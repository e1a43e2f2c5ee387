# SPDX-License-Identifier: BSD-2-Clause
"""The site's settings: signatures on the page of the Python API, and whose copyright it is."""

import importlib
import inspect
import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SETTINGS = runpy.run_path(str(ROOT / "docs" / "conf.py"))
PAGE = (ROOT / "docs" / "api.md").read_text()


def _thing(name):
    """What a full name stands for."""
    module, found = importlib.import_module("hypercast"), None
    for part in name.split(".")[1:]:
        found = getattr(found or module, part, None)
        if found is None:
            module = importlib.import_module(f"{module.__name__}.{part}")
        elif inspect.ismodule(found):
            module, found = found, None
    return found


def _documented():
    """Names on the page, with members that are listed or public."""
    for kind, name, rest in re.findall(
            r"^\.\. auto(class|function|exception):: (\S+)\n((?:   :.*\n)*)", PAGE, re.MULTILINE):
        yield kind, name
        if found := re.search(r":members:(.*)", rest):
            members = [one.strip() for one in found[1].split(",") if one.strip()]
            owner = _thing(name)
            for member in members or [one for one in vars(owner) if not one.startswith("_")]:
                if inspect.isroutine(getattr(owner, member)):
                    yield "method", f"{name}.{member}"


def _signature(kind, name):
    return SETTINGS["_with_written_types"](None, kind, name, _thing(name), None, "()", None)


@pytest.mark.parametrize(("kind", "name"), [*_documented()], ids=lambda value: value)
def test_signatures_are_short_and_have_types(kind, name):
    if name.startswith("hypercast.cocotb"):
        pytest.importorskip("cocotb")
    text, returned = _signature(kind, name)
    assert not re.search(r"_\w*Buffer|_Supports|_Nested|npt\.|<|object at|'[A-Z]", text)
    assert "(self" not in text and "(cls" not in text
    found = inspect.signature(_thing(name)) if text else inspect.Signature()
    named = [parameter for parameter in found.parameters if parameter not in ("self", "cls")]
    assert all(re.search(rf"\b{parameter}: ", text) for parameter in named)
    assert kind not in ("function", "method") or returned
    assert len(text) < 100 + 60 * len(named)


def test_a_signature():
    assert _signature("method", "hypercast.Graph.with_splits") == (
        "(*, train: ArrayLike, validation: ArrayLike = (), test: ArrayLike = ())", "Self")
    assert _signature("exception", "hypercast.host.graphs.graph.GraphError") == (
        "(text: str)", None)


def test_the_footer_names_the_licences_holder():
    assert re.fullmatch(r"20\d\d, the Hypercast authors", SETTINGS["copyright"])
