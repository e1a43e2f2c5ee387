"""The chip's wiring: every port of every part has one other end, in every number of dimensions."""

import re

import pytest
from amaranth.back import rtlil
from amaranth.lib.wiring import Out, Signature

from hypercast.rtl.chip import CONTROL_MODULE, CORE_MODULE, Chip, wires
from hypercast.rtl.config import PRESETS
from hypercast.rtl.control.control_unit import ControlUnit, control_signature
from hypercast.rtl.core import core_signature
from hypercast.rtl.export.options import TOP_MODULE

DIMENSIONS = range(7)
TINY = PRESETS["tiny"]


def ports(members):
    """Names of a part's ports in its converted module, by direction."""
    signature = Signature(members)
    found = {"in": set(), "out": set()}
    for path, member, _ in signature.flatten(signature.create()):
        found["out" if member.flow == Out else "in"].add("__".join(map(str, path)))
    return found


@pytest.fixture(scope="module", params=DIMENSIONS)
def config(request):
    return TINY.replace(dimensions=request.param, planes=2)


@pytest.mark.parametrize("bulk", [False, True])
def test_every_port_has_its_wire(config, bulk):
    """All inputs but the host's and the core numbers are driven once, all outputs are read.

    Resets are no wires, and ``unfinished`` is of cores whose memory is outside.
    """
    parts = {"control": ports(control_signature(config, bulk=bulk)),
             **dict.fromkeys(range(config.cores), ports(core_signature(config, bulk=bulk)))}
    pairs = wires(config, bulk=bulk)
    driven = [destination for _, destination in pairs]
    assert len(set(driven)) == len(driven)
    assert set(driven) == {
        (part, port) for part in parts for port in parts[part]["in"]
        if port != "core" and not port.startswith(("axi", "bulk", "unfinished"))}
    assert {source for source, _ in pairs} == {
        (part, port) for part in parts for port in parts[part]["out"]
        if port not in ("reset", "quiesce") and not port.startswith(("axi", "bulk"))}


def test_links_cross_their_dimension(config):
    crossings = [pair for pair in wires(config) if "control" not in (pair[0][0], pair[1][0])]
    assert len(crossings) == 4 * config.dimensions * config.cores
    for (source, output), (destination, port) in crossings:
        ends = output.split("__"), port.split("__")
        assert {end[0] for end in ends} == {"outgoing", "incoming"}
        assert ends[0][1:] == ends[1][1:]
        assert source ^ destination == 1 << int(ends[0][1])


def test_memory_has_ports_where_it_is_outside(config):
    assert Chip(config).signature.members.keys() == {"axi"}
    outside = Chip(config, external=True).signature.members
    assert outside.keys() == {"axi", "memory"}
    assert outside["memory"].dimensions == (2 * config.cores,)


def test_a_chip_with_a_bulk_port(config):
    chip = Chip(config, converted=True, bulk=True, debug=True)
    assert chip.signature.members.keys() == {"axi", "bulk"}
    assert "\\bulk__write__wdata" in rtlil.convert(chip, name=TOP_MODULE)


def test_top_converts(config):
    text = rtlil.convert(Chip(config, converted=True), name=TOP_MODULE)
    cells = re.findall(r"^  cell \\(\S+) \\part$", text, re.MULTILINE)
    assert cells.count(CORE_MODULE) == config.cores
    assert cells.count(CONTROL_MODULE) == 1


def test_control_unit_converts(config):
    text = rtlil.convert(ControlUnit(config), name=CONTROL_MODULE)
    assert f"module \\{CONTROL_MODULE}\n" in text


def test_the_chip_in_one_piece():
    """Parts and all, as Amaranth's simulator takes it."""
    text = rtlil.convert(Chip(TINY), name=TOP_MODULE)
    for core in range(TINY.cores):
        assert f"module \\{TOP_MODULE}.core_{core}\n" in text
