# SPDX-License-Identifier: BSD-2-Clause
"""A chip as the driver sees it: registers and window, but nothing behind them computes.

It does count training steps, as its program says.
"""

from hypercast.host.runtime.driver import Driver
from hypercast.host.runtime.loaded_program import LoadedProgram
from hypercast.host.transport.transport import Transport
from hypercast.rtl.config import INTERFACE_VERSION
from hypercast.rtl.isa import STEP_KEY_INCREMENT, Opcode, encode
from hypercast.rtl.registers import ALL_CORES, MAGIC, Control, CoreSpace, Space, Status, register
from tests.host.models import SMALL


class FakeChip(Transport):
    """Registers by offset and window contents by (core, space); no back door to memories.

    Parameters
    ----------
    config : Config
        Configuration that the chip claims.
    cycles : int
        How long a program takes.
    error : Error
        With which every program ends.
    endless : bool
        Whether a reset does not end.
    **changes
        Registers that read otherwise.
    """

    def __init__(self, config, *, cycles=1200, error=0, endless=False, **changes):
        self.registers = {register(name): value for name, value in {
            "magic": MAGIC, "version": INTERFACE_VERSION, "config_hash": config.hash,
            **changes}.items()}
        self.window = {}
        self.writes = []
        self.closed = False
        self._cycles = cycles
        self._error = error
        self._endless = endless

    def __getitem__(self, name):
        return self.registers.get(register(name), 0)

    def __setitem__(self, name, value):
        self.registers[register(name)] = value

    def _memory(self):
        core = 0 if self["space"] <= Space.TENSORS else self["core"]
        return self.window.setdefault((core, Space(self["space"])), {})

    def _total(self):
        upper = self["address"] >= CoreSpace.CARRIES
        place = self["address"] - upper * (CoreSpace.CARRIES - CoreSpace.COUNTERS)
        total = sum(memory.get(place, 0) for (_, space), memory in self.window.items()
                    if space == self["space"] == Space.CORE)
        return total >> 32 * upper & 0xFFFFFFFF

    def read(self, address):
        if address == register("data"):
            value = self._total() if self["core"] == ALL_CORES \
                else self._memory().get(self["address"], 0)
            self["address"] += 1
            return value
        return self.registers.get(address, 0)

    def write(self, address, value):
        assert 0 <= value < 1 << 32
        self.writes.append((address, value))
        if address == register("data"):
            self._memory()[self["address"]] = value
            self["address"] += 1
        elif address == register("error"):
            self["error"] &= ~value
            self["status"] &= ~Status.ERROR
        elif address == register("control"):
            if value & Control.START:
                self["status"], self["cycles_low"], self["cycles_high"] = Status.RUNNING, 0, 0
            if value & Control.RESET:
                for name in ("status", "error", "busy", "cycles_low", "cycles_high", "step",
                             "step_key"):
                    self[name] = 0
                self["status"] = Status.RESETTING if self._endless else Status(0)
        else:
            self.registers[address] = value

    def wait(self, cycles):
        self["cycles_low"] += cycles
        if self["status"] & Status.RUNNING and self["cycles_low"] >= self._cycles:
            self["error"] = int(self._error)
            self["status"] = Status.ERROR if self._error else Status.DONE
            if not self._error:
                self._count()

    def _count(self):
        program = LoadedProgram()
        for address, value in self.window[0, Space.PROGRAM].items():
            program.write(address, [value])
        steps = self["repeat"] * program.steps(self["entry"])
        self["step"] = self["step"] + steps & 0xFFFFFFFF
        self["step_key"] = self["step_key"] + steps * STEP_KEY_INCREMENT & 0xFFFFFFFF

    def close(self):
        self.closed = True


def started(chip, *instructions):
    """A driver of a chip of configuration ``SMALL`` with a program at row 17."""
    driver = Driver(chip, SMALL)
    for row, instruction in enumerate(instructions or [encode(Opcode.HALT)], 17):
        driver.patch(row, instruction)
    return driver
