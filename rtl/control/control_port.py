# SPDX-License-Identifier: BSD-2-Clause
"""What the host port and the controller tell each other."""

from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hypercast.rtl.config import Config
from hypercast.rtl.isa import WAITS_WIDTH
from hypercast.rtl.layouts import HostRequest
from hypercast.rtl.registers import PHASES, Error

__all__ = ["ERROR_WIDTH", "ControlPort"]

#: Bits of register ``error``.
ERROR_WIDTH = len(Error)


class ControlPort(wiring.Signature):
    """The controller's registers and window spaces (seen from the host port).

    Members
    -------
    start, stop : Out(1)
        High for one cycle to start or stop the program. ``start`` does nothing while a program
        runs or together with ``stop``; ``stop`` does nothing while none runs.
    entry : Out(log2 program_rows)
        Program row to start at; valid with ``start``.
    repeat : Out(32)
        How often to run to HALT, 0 counts as 1; valid with ``start``.
    limit : Out(32)
        As in ``registers.REGISTERS``; used while a program runs.
    step_write, step_key_write : Out(1)
        High for one cycle to set ``step`` or ``step_key`` to ``data``.
    data : Out(32)
        Valid with ``step_write`` and ``step_key_write``.
    error_set, error_clear : Out(ERROR_WIDTH)
        Bits of ``registers.Error`` to set, and to clear, in this cycle.
    running, done : In(1)
        As in ``registers.Status``.
    error : In(ERROR_WIDTH)
        Sticky bits of ``registers.Error``.
    pc : In(log2 program_rows)
        Program row being issued.
    busy, waits : In(WAITS_WIDTH)
        Engines busy in any core, and engines that the next instruction waits for, or waited for
        when the program stopped; bits as ``isa.Engine``.
    step, step_key : In(32)
        Training steps done, and what is added to dropout keys.
    cycles : In(64)
        Cycles since ``start`` while running.
    phase_index : Out(PHASE_WIDTH)
        Phase counter to read.
    phase_cycles : In(32)
        The counter ``phase_index`` named one cycle ago.
    request : Out(HostRequest)
        Window access to the controller's spaces PROGRAM or TENSORS; stays until the next one.
    request_valid : Out(1)
        High for one cycle per request, never while a program runs.
    response, response_valid : In(32), In(1)
        Answer, to writes too; both are zero otherwise. An address outside the space gets none.
    """

    def __init__(self, config: Config) -> None:
        super().__init__({
            "start": Out(1), "stop": Out(1),
            "entry": Out(range(config.program_rows)), "repeat": Out(32), "limit": Out(32),
            "step_write": Out(1), "step_key_write": Out(1), "data": Out(32),
            "error_set": Out(ERROR_WIDTH), "error_clear": Out(ERROR_WIDTH),
            "running": In(1), "done": In(1), "error": In(ERROR_WIDTH),
            "pc": In(range(config.program_rows)), "busy": In(WAITS_WIDTH), "waits": In(WAITS_WIDTH),
            "step": In(32), "step_key": In(32), "cycles": In(64),
            "phase_index": Out(range(PHASES)), "phase_cycles": In(32),
            "request": Out(HostRequest), "request_valid": Out(1),
            "response": In(32), "response_valid": In(1),
        })
