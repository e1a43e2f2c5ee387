# SPDX-License-Identifier: BSD-2-Clause
"""The chip's wiring: every port of every part has one other end, in every number of dimensions."""

import re

import numpy as np
import pytest
from amaranth.back import rtlil
from amaranth.lib.wiring import Out, Signature

from hypercast.rtl.chip import CONTROL_MODULE, CORE_MODULE, Chip, wires
from hypercast.rtl.config import PRESETS
from hypercast.rtl.control.control_unit import ControlUnit, control_signature
from hypercast.rtl.core import core_signature
from hypercast.rtl.export.export_options import TOP_MODULE
from hypercast.rtl.registers import Control, Space, Status, bulk_address
from tests.bench import run
from tests.rtl.control.axi_manager import AxiManager
from tests.rtl.control.bulk_manager import BulkManager

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


@pytest.mark.slow
def test_bulk_port_and_window_reach_the_same_words():
    """Also after a reset."""
    chip = Chip(TINY, bulk=True)
    rng = np.random.default_rng(0)
    host = AxiManager(chip.axi, rng, 0.0)
    bulk = BulkManager(chip.bulk.write, chip.bulk.read, rng, 0.2)

    async def reach(ctx, core, space):
        values = rng.integers(256, size=256, dtype=np.uint8).tobytes()
        bulk.start_write(bulk_address(core, space, 128), values)
        assert await bulk.finish_write(ctx) == 0
        for name, value in {"core": core, "space": space, "address": 32}.items():
            await host.write_register(ctx, name, value)
        found = [await host.read_register(ctx, "data") for _ in range(64)]
        assert np.array(found, "<u4").tobytes() == values
        await host.write_register(ctx, "data", 0x12345678)
        bulk.start_read(bulk_address(core, space, 128 + 256), 1)
        responses, beat = await bulk.finish_read(ctx)
        assert responses == [0] and beat[:4] == bytes([0x78, 0x56, 0x34, 0x12])

    async def program(ctx):
        for core in range(TINY.cores):
            for space in (Space.FEATURES, Space.GRADIENTS, Space.WEIGHTS):
                await reach(ctx, core, space)
        await host.write_register(ctx, "control", Control.RESET)
        bulk.start_write(bulk_address(0, Space.FEATURES, 0), bytes(16))
        assert await bulk.finish_write(ctx) == 2
        while await host.read_register(ctx, "status") & Status.RESETTING:
            pass
        await reach(ctx, 1, Space.GRADIENTS)

    run(chip, program, background=[*host.drivers, *bulk.drivers])
