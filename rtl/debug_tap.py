# SPDX-License-Identifier: BSD-2-Clause
"""What a logic analyser in the FPGA watches: registers that are marked for it."""

from amaranth.hdl import Cat, Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In

from hypercast.rtl.config import Config
from hypercast.rtl.isa import WAITS_WIDTH
from hypercast.rtl.layouts import CONTROL, HostRequest, Issue, bulk_request
from hypercast.rtl.limits import ERROR_WIDTH

__all__ = ["DebugTap"]

#: Tells Vivado which nets to watch, so that it does not change them (AMD UG908, UG912).
_MARK = {"mark_debug": "true"}


class DebugTap(wiring.Component):
    """Registers that tell what the chip does, one cycle late. No part of the chip reads them.

    Parameters
    ----------
    config : Config
        Configuration of the chip.
    bulk : bool
        Whether the chip has a bulk port.

    Members
    -------
    issue, issue_valid, clear, request, request_valid : In
        As ``ControlUnit`` gives them.
    busy, error, progress : In, one per core
        As ``Core`` gives them.

    Attributes
    ----------
    registers : dict
        The registers, by name without the ``debug_`` that each name begins with. ``start``,
        ``issued`` and ``opcode`` are of the controller. ``access`` and the names that begin with it
        are of the host's window, and of the bulk port. ``busy_N`` (bits as in ``isa.Engine``) and
        ``error_N`` (bits as in ``Core``) are of core N. ``progress`` has a bit for each core.
    """

    def __init__(self, config: Config, *, bulk: bool = False) -> None:
        cores = range(config.cores)
        super().__init__({
            "issue": In(Issue), "issue_valid": In(1), "clear": In(1),
            "request": In(bulk_request(config) if bulk else HostRequest), "request_valid": In(1),
            "busy": In(WAITS_WIDTH).array(config.cores),
            "error": In(ERROR_WIDTH).array(config.cores), "progress": In(1).array(config.cores),
        })
        self._watched = {
            "start": self.clear, "issued": self.issue_valid,
            "opcode": CONTROL(self.issue.instruction[:CONTROL.size]).opcode,
            "access": self.request_valid, "access_write": self.request.write,
            "access_core": self.request.core, "access_space": self.request.space,
            "access_address": self.request.address,
            **{f"busy_{core}": self.busy[core] for core in cores},
            **{f"error_{core}": self.error[core] for core in cores},
            "progress": Cat(self.progress),
        }
        self.registers = {
            name: Signal(Value.cast(value).shape(), name=f"debug_{name}", attrs=_MARK)
            for name, value in self._watched.items()}

    def elaborate(self, platform: object) -> Module:
        m = Module()
        for name, value in self._watched.items():
            m.d.sync += self.registers[name].eq(value)
        return m
