# SPDX-License-Identifier: BSD-2-Clause
"""Runs the program in a chip's memory, and counts training steps with the chip."""

from collections.abc import Callable, Sequence

from hypercast.errors import InputError
from hypercast.host.runtime.chip_monitor import ChipMonitor, engine_names
from hypercast.host.runtime.device_errors import DeviceError, DeviceTimeoutError
from hypercast.host.runtime.image import limit_of
from hypercast.host.runtime.loaded_program import LoadedProgram
from hypercast.host.transport.transport import Transport
from hypercast.rtl.isa import STEP_KEY_INCREMENT
from hypercast.rtl.limits import PATIENCE
from hypercast.rtl.registers import LIMIT_UNIT, Control, Status, register

__all__ = ["ProgramRuns"]

#: A register's bits.
_WORD = 0xFFFFFFFF
#: Registers that count training steps.
_COUNTING = ("step", "step_key")
#: Cycles between two looks at the status register: a share of the cycles that have passed, at least
#: and at most.
_POLL_SHARE, _POLL_LEAST, _POLL_MOST = 256, 32, 500
#: Looks at a chip that counts no cycles before it is given up.
_LOOKS = 1000


def _require_count(found: Sequence[int], expected: Sequence[int], advice: str) -> None:
    """Raise ``DeviceError`` if ``_COUNTING`` are not what is expected."""
    if found != expected:
        different = "; ".join(
            f"{name} is {one:#x}, not {other:#x}"
            for name, one, other in zip(_COUNTING, found, expected, strict=True) if one != other)
        raise DeviceError(f"the device lost count of training steps ({different}): {advice}")


class ProgramRuns:
    """Runs of a chip's program, one after another.

    Parameters
    ----------
    transport : Transport
        How to reach the chip.
    monitor : ChipMonitor
        What the chip says of itself.

    Attributes
    ----------
    program : LoadedProgram
        What was written into the program memory.
    broken_off : bool
        Whether a run did not reach its end, or a transfer stopped half-way, and there was no reset
        since.
    """

    def __init__(self, transport: Transport, monitor: ChipMonitor) -> None:
        self._transport = transport
        self._monitor = monitor
        self.program = LoadedProgram()
        self.broken_off = False
        # Training steps and their key, as registers were left.
        self._counted: tuple[int, ...] | None = None

    def begin_anew(self) -> None:
        """Take the chip for reset: its counts are not known."""
        self.broken_off, self._counted = False, None

    def require_idle(self) -> None:
        """Refuse a chip that is at work.

        Raises
        ------
        DeviceError
            If it runs a program, or an engine is still busy.
        """
        if Status(self._read("status")) & Status.RUNNING:
            raise DeviceError("the device is running a program, perhaps of another process; wait "
                              "until it ends, or reset the device")
        if busy := self._read("busy"):
            raise DeviceError(f"engines of the device are still busy ({engine_names(busy)}) though "
                              f"its program ended; reset the device")

    def set_step(self, step: int, key: int) -> None:
        """Set the number of training steps done, and the key that dropout gets from it."""
        self.require_idle()
        self._counted = step & _WORD, key & _WORD
        for name, value in zip(_COUNTING, self._counted, strict=True):
            self._write(name, value)

    def run(self, entry: int, *, repeat: int = 1, limit: int,
            meanwhile: Callable[[], None] = lambda: None) -> int:
        """Run the program from row ``entry`` to HALT, ``repeat`` times.

        Parameters
        ----------
        limit : int
            Cycles in which something moves, such as a word or a flit, that a sound run can have. A
            chip stops what goes on beyond them.
        meanwhile : callable
            Called once, when it has begun.

        Returns
        -------
        int
            Cycles it took.

        Raises
        ------
        DeviceError
            If there is no program at ``entry``, the device is at work, stops with an error, or
            counts other training steps than the program's.
        DeviceTimeoutError
            If it counts no cycles, or goes on though it should have stopped by itself.
        """
        self.require_idle()
        before, steps = self._count_before(), repeat * self._steps(entry)
        self._write("entry", entry)
        self._write("repeat", repeat)
        units = limit_of(repeat * limit)
        self._write("limit", units)
        self.broken_off = True
        self._write("control", Control.START)
        meanwhile()
        status = self._wait((units * LIMIT_UNIT + 2) * PATIENCE)
        if status & Status.ERROR:
            error = self._monitor.clear_errors()
            raise DeviceError(f"the device stopped with error {error!r}"
                              f"{self._monitor.explain(error)}; {self._monitor.where()}")
        self._counted = self._read_count()
        _require_count(
            self._counted,
            (before[0] + steps & _WORD, before[1] + steps * STEP_KEY_INCREMENT & _WORD),
            "the program did not do what it was to do, and its results are void; load the device "
            "again from the last checkpoint")
        self.broken_off = False
        return self._monitor.cycles()

    def _wait(self, most: int) -> Status:
        """Wait until the program has ended, which a sound chip's has after ``most`` cycles."""
        before, looks = 0, 0
        while (status := Status(self._read("status"))) & Status.RUNNING:
            passed = self._monitor.cycles()
            before, looks = passed, looks + 1 if passed == before else 0
            if passed > most or looks == _LOOKS:
                state = self._monitor.where()  # before STOP, which makes it wait for nothing
                self._write("control", Control.STOP)
                raise DeviceTimeoutError(
                    f"the device runs a program but counts no cycles; check its clock; {state}"
                    if passed <= most else f"the device did not finish within {most} cycles, "
                    f"though it should have stopped by itself; load its bitstream again; {state}")
            self._transport.wait(min(max(passed // _POLL_SHARE, _POLL_LEAST), _POLL_MOST))
        return status

    def _steps(self, entry: int) -> int:
        """Training steps of the program at row ``entry``."""
        try:
            return self.program.steps(entry)
        except InputError as error:
            raise DeviceError(str(error)) from error

    def _read_count(self) -> tuple[int, ...]:
        return tuple(self._read(name) for name in _COUNTING)

    def _count_before(self) -> tuple[int, ...]:
        """Training steps and their key before a run, which makes them unknown until it ends."""
        left, self._counted = self._counted, None
        found = self._read_count()
        if left:
            _require_count(found, left, "it was reset, or another process uses it; load it again "
                                        "from the last checkpoint")
        return found

    def _read(self, name: str) -> int:
        return self._transport.read(register(name))

    def _write(self, name: str, value: int) -> None:
        self._transport.write(register(name), value & _WORD)
