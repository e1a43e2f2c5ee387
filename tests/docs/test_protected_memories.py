# SPDX-License-Identifier: BSD-2-Clause
"""The table of protected memories names every memory of the netlist, and no other."""

from fnmatch import fnmatchcase

import pytest
from amaranth.hdl import Fragment, MemoryInstance, Module

from hypercast.rtl.config import PRESETS
from hypercast.rtl.control.control_unit import ControlUnit
from hypercast.rtl.core import Core
from hypercast.rtl.folding.link_memory import LinkMemory
from hypercast.rtl.serial.bridge import Bridge
from tests.packaging.source_tree import ROOT

_HEAD = "| what | where | how it is protected |"
_TINY, _TEST = PRESETS["tiny"], PRESETS["test"]


def _rows():
    """What is in the table: patterns of places, to how they are protected."""
    lines = (ROOT / "docs/architecture.md").read_text().split(_HEAD)[1].splitlines()[2:]
    table = lines[:lines.index("")]
    cells = [line.strip("|").split("|") for line in table]
    return {tuple(part.strip().strip("`") for part in places.split(",")): how.strip()
            for _, places, how in cells}


def _memories(fragment, path):
    """Names of all memories in a fragment."""
    if isinstance(fragment, MemoryInstance):
        yield path
    for part, name, _ in fragment.subfragments:
        yield from _memories(part, f"{path}.{name}")


def _folded():
    m = Module()
    m.submodules.link_0 = LinkMemory(0, 2, 8)
    return m


@pytest.fixture(scope="module")
def found():
    """All memories that a chip can have."""
    parts = {
        "core": [Core(_TINY), Core(_TINY, external=True, bulk=True), Core(_TEST.replace(
            memory_latency=4, memory_stalls=True))],
        "control": [ControlUnit(_TINY, bulk=True)],
        "bridge": [Bridge(9)], "folded": [_folded()]}
    return {place for name, blocks in parts.items() for block in blocks
            for place in _memories(Fragment.get(block, None), name)}


def test_each_memory_is_in_one_row(found):
    rows = _rows()
    for place in found:
        fitting = [places for places in rows if any(fnmatchcase(place, one) for one in places)]
        assert len(fitting) == 1, f"{place} is in rows {fitting}"
        protected = not rows[fitting[0]].startswith("not protected")
        assert protected == (place.endswith(".with_parity") or place.startswith("folded")), place


def test_each_row_is_about_a_memory(found):
    for places in _rows():
        for one in places:
            assert any(fnmatchcase(place, one) for place in found), f"{one} is nowhere"
