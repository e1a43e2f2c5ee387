# SPDX-License-Identifier: BSD-2-Clause
"""DebugTap: what it watches is in marked registers, a cycle later, and stays in the Verilog."""

import re

import numpy as np
import pytest

from hypercast.rtl.chip import Chip
from hypercast.rtl.config import PRESETS
from hypercast.rtl.debug_tap import DebugTap
from hypercast.rtl.export.rtlil import to_rtlil
from hypercast.rtl.export.verilog import write_verilog
from hypercast.rtl.isa import Opcode, encode
from tests.bench import run

CONFIG = PRESETS["tiny"]
MARKED = re.compile(r'\(\* mark_debug = "true" \*\)\n  reg (?:\[(\d+):0\] )?(\w+)')


def marked(text):
    """Registers that are marked, and their bits."""
    return {name: int(high or 0) + 1 for high, name in MARKED.findall(text)}


@pytest.mark.parametrize("dimensions", [0, 1, 3])
def test_registers_of_a_chip(dimensions):
    config = CONFIG.replace(dimensions=dimensions)
    text = write_verilog(to_rtlil(Chip(config, converted=True, debug=True), "chip"))
    found = marked(text)
    assert {name: width for name, width in found.items() if not name[-1].isdigit()} == {
        "debug_start": 1, "debug_issued": 1, "debug_opcode": found["debug_opcode"],
        "debug_access": 1, "debug_access_write": 1, "debug_access_core": 6,
        "debug_access_space": 3, "debug_access_address": 32, "debug_progress": config.cores}
    assert found["debug_opcode"] >= max(Opcode).bit_length()
    for name, width in (("busy", 8), ("error", 4)):
        assert [found[f"debug_{name}_{core}"] for core in range(config.cores)] == (
            [width] * config.cores)


def test_values():
    """Each register holds what was there a cycle before."""
    config = CONFIG.replace(dimensions=1)
    tap = DebugTap(config)
    rng = np.random.default_rng(0)

    async def bench(ctx):
        for _ in range(50):
            opcode = Opcode(rng.integers(len(Opcode)))
            values = {name: int(rng.integers(2)) for name in ("start", "issued", "access")}
            ctx.set(tap.clear, values["start"])
            ctx.set(tap.issue_valid, values["issued"])
            ctx.set(tap.request_valid, values["access"])
            ctx.set(tap.issue.instruction, encode(opcode))
            request = {name: int(rng.integers(1 << width)) for name, width in (
                ("write", 1), ("core", 6), ("space", 3), ("address", 32))}
            for name, value in request.items():
                ctx.set(getattr(tap.request, name), value)
            progress = rng.integers(2, size=config.cores)
            for core in range(config.cores):
                values[f"busy_{core}"], values[f"error_{core}"] = map(int, rng.integers((256, 16)))
                ctx.set(tap.busy[core], values[f"busy_{core}"])
                ctx.set(tap.error[core], values[f"error_{core}"])
                ctx.set(tap.progress[core], int(progress[core]))
            await ctx.tick()
            assert {name: int(ctx.get(register)) for name, register in tap.registers.items()} == {
                "opcode": opcode, "progress": int(progress @ (1 << np.arange(config.cores))),
                **values, **{f"access_{name}": value for name, value in request.items()}}

    run(tap, bench)


def test_no_tap_unless_asked():
    assert not marked(write_verilog(to_rtlil(Chip(CONFIG, converted=True), "chip")))
