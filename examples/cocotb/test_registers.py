# SPDX-License-Identifier: BSD-2-Clause
"""Registers of the exported chip: what they read first, keep, and refuse."""

import json
import os
from pathlib import Path

import cocotb

from hypercast.cocotb import Chip

MANIFEST = json.loads(Path(os.environ["CHIP"], "manifest.json").read_text())


async def started(dut):
    """The chip after its reset, with memory if it was exported with --memory axi."""
    chip = Chip(dut)
    if hasattr(dut, "memory_base"):
        chip.attach_memory()
    await chip.reset()
    return chip


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def says_what_it_is(dut):
    chip = await started(dut)
    assert await chip.get("magic") == 0x48435354
    assert await chip.get("version") == MANIFEST["interface_version"]
    assert await chip.get("config_hash") == int(MANIFEST["configuration_hash"], 0)


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def keeps_what_is_written(dut):
    """Registers of the window, and a word of memory."""
    chip = await started(dut)
    for name, value in (("core", 1), ("space", MANIFEST["spaces"]["features"]), ("address", 5)):
        await chip.put(name, value)
        assert await chip.get(name) == value
    await chip.put("data", 0x12345678)
    assert await chip.get("address") == 6  # the window goes on by itself
    await chip.put("address", 5)
    assert await chip.get("data") == 0x12345678


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def refuses(dut):
    """A core that there is not: the access is answered, with an error."""
    chip = await started(dut)
    await chip.put("core", 2 ** MANIFEST["configuration"]["dimensions"])
    await chip.put("space", MANIFEST["spaces"]["features"])
    try:
        await chip.get("data")
    except RuntimeError as error:
        cocotb.log.info("as it should be: %s", error)
    else:
        raise AssertionError("a core that does not exist was read")
