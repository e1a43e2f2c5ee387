"""The compiled chip: what a reset does to it."""

import contextlib

from hypercast.rtl.config import PRESETS
from hypercast.rtl.registers import Space, register
from hypercast.sim.cxxrtl_transport import CxxrtlTransport

TINY = PRESETS["tiny"]


def look(chip, address):
    for name, value in (("core", 1), ("space", Space.FEATURES), ("address", address)):
        chip.write(register(name), value)


def test_a_reset_clears_registers_and_leaves_memories():
    with contextlib.closing(CxxrtlTransport(TINY)) as chip:
        look(chip, 7)
        chip.write(register("data"), 0x12345678)
        chip.reset()
        assert chip.read(register("core")) == chip.read(register("address")) == 0
        look(chip, 7)
        assert chip.read(register("data")) == 0x12345678
