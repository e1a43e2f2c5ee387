"""The C++ that joins a chip's parts: CXXRTL's names, and every wire copied once."""

import re

import pytest

from hypercast.rtl.config import PRESETS
from hypercast.rtl.control.counters import Increments
from hypercast.rtl.registers import COUNTERS
from hypercast.sim.parts_header import cxx_name, parts_header


@pytest.mark.parametrize("name, expected", [
    ("valid", "p_valid"), ("axi__awaddr", "p_axi____awaddr"), ("a.b$3", "p_a_2e_b_24_3"),
    ("\\$signal", "p__24_signal"), ("$auto$1", "i_auto_24_1")])
def test_names(name, expected):
    assert cxx_name(name) == expected


#: Inputs of a core of preset tiny at its link.
LINK = [((None, port), ("top_engine", port)) for port in (
    "incoming__0__valid", "incoming__0__flit", "outgoing__0__credit")]


def test_every_wire_is_copied_where_it_may_change():
    pairs = [
        *LINK,
        ((None, "rst"), ("top_rest", "rst")),
        ((None, "core"), ("top_engine", "core")),
        ((None, "issue"), ("top_engine", "issue")),
        (("top_rest", "ready"), ("top_engine", "ready")),
        (("top_engine", "state"), ("top_rest", "state")),
        (("top_engine", "done"), (None, "busy")),
    ]
    wires = [(("control", "issue"), (1, "issue")), ((0, "busy"), ("control", "busy__0"))]
    text = parts_header(PRESETS["tiny"], "top", pairs, wires)
    copies = re.findall(r"if \((\S+)\)(?: \{\n +| )(\S+)\.take\((\S+), (.+)\);", text)
    assert copies == [
        ("core.engine.changed", "core.rest", "core.rest.module.p_state",
         "core.engine.module.p_state.curr"),
        ("core.rest.evaluated", "core.engine", "core.engine.module.p_ready",
         "current(core.rest.module.p_ready)"),
        ("chip.core[0].engine.changed", "chip.control", "chip.control.module.p_busy____0",
         "chip.core[0].engine.module.p_done.curr"),
        ("chip.control.changed", "chip.core[1].engine", "chip.core[1].engine.module.p_issue",
         "chip.control.module.p_issue.curr"),
    ]
    assert "core.rest.module.p_rst.template set<bool>(active)" in text
    assert "chip.core[i].engine.module.p_core.template set<uint32_t>(i)" in text


def test_every_counter_is_visited_at_its_place():
    pairs = [*LINK, ((None, "rst"), ("top_rest", "rst")), ((None, "core"), ("top_rest", "core")),
             (("top_rest", "busy"), (None, "busy"))]
    text = parts_header(PRESETS["tiny"], "top", pairs, [])
    names = list(COUNTERS)
    visited = {names[int(index)]: register for index, register in re.findall(
        r"visit\((\d+), core\.rest\.module\.p_counters_2e_(\w+)__low\);", text)}
    members = Increments(PRESETS["tiny"]).members
    assert visited == {name: name.replace("_", "__") for name in members}


@pytest.mark.parametrize("port", ["rst", "core", *(port for (_, port), _ in LINK)])
def test_an_input_that_nothing_reads_is_an_error(port):
    pairs = [*LINK, ((None, "rst"), ("top_rest", "rst")), ((None, "core"), ("top_rest", "core")),
             (("top_rest", "busy"), (None, "busy"))]
    pairs = [pair for pair in pairs if pair[0] != (None, port)]
    with pytest.raises(ValueError, match=f"no part of the core reads {port}; its inputs are "):
        parts_header(PRESETS["tiny"], "top", pairs, [])
