# SPDX-License-Identifier: BSD-2-Clause
"""Drives a chip through its AXI4-Lite port: identify, load, run, read back."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain, starmap

import numpy as np
import numpy.typing as npt

from hypercast.errors import HypercastError, InputError
from hypercast.host.compiler.images import Words
from hypercast.host.compiler.job import Job
from hypercast.host.compiler.packing import undeal, unpack_entry, unpack_panels, unpack_rows
from hypercast.host.compiler.state import load_state, matrix_of
from hypercast.host.runtime.chip_monitor import ChipMonitor, engine_names
from hypercast.host.runtime.chip_reset import reset_chip
from hypercast.host.runtime.image import (
    Block,
    brought_exponents,
    count_blocks,
    entry_blocks,
    exponent_blocks,
    instruction_block,
    limit_of,
    load_blocks,
    memory_stripes,
)
from hypercast.host.runtime.loaded_program import LoadedProgram
from hypercast.host.runtime.memory_access import MemoryAccess
from hypercast.host.transport.transport import Transport, TransportError
from hypercast.reference.array_types import IntArray
from hypercast.reference.tensor import Tensor
from hypercast.rtl.config import INTERFACE_VERSION, Config
from hypercast.rtl.isa import STEP_KEY_INCREMENT
from hypercast.rtl.limits import PATIENCE
from hypercast.rtl.placement import rows_of
from hypercast.rtl.registers import (
    LIMIT_UNIT,
    MAGIC,
    Control,
    Error,
    Space,
    Status,
    register,
)

__all__ = ["DeviceError", "DeviceTimeoutError", "Driver", "MismatchError"]

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


class DeviceError(HypercastError, RuntimeError):
    """The device stopped with an error; the message names it and where the program was."""


class DeviceTimeoutError(DeviceError):
    """The device does not end a program as it should; the message holds its last state."""


class MismatchError(DeviceError):
    """Device and job do not fit: another chip, version or configuration."""


class Driver:
    """One chip behind a transport.

    Parameters
    ----------
    transport : Transport
        How to reach the chip.
    config : Config
        Configuration the chip is expected to have.

    Attributes
    ----------
    config : Config
        As given.
    monitor : ChipMonitor
        What the chip says of itself.

    Raises
    ------
    MismatchError
        If the chip is no Hypercast, or of another version or configuration.
    """

    def __init__(self, transport: Transport, config: Config) -> None:
        self._transport = transport
        self._memories = MemoryAccess(transport, config)
        self.monitor = ChipMonitor(transport, self._memories, config.cores)
        self._program = LoadedProgram()
        # Training steps and their key, as registers were left.
        self._counted: tuple[int, ...] | None = None
        # Whether a program did not reach its end, or a transfer stopped half-way, and there was no
        # reset since.
        self._broken_off = False
        self.config = config
        for name, expected, reason in (
                ("magic", MAGIC, "there is no Hypercast at this address; check the connection"),
                ("version", INTERFACE_VERSION, "the device was built from another version of "
                 "Hypercast; build it again, or use that version"),
                ("config_hash", config.hash, "the device was built for another configuration; use "
                 "the preset it was built with, or build it again")):
            found = self._read(name)
            if found != expected:
                raise MismatchError(f"register {name} reads {found:#010x}, expected "
                                    f"{expected:#010x}: {reason}")

    def _read(self, name: str) -> int:
        return self._transport.read(register(name))

    def _write(self, name: str, value: int) -> None:
        self._transport.write(register(name), value & _WORD)

    # Spaces.

    def write_window(self, core: int, space: Space, address: int, values: npt.ArrayLike) -> None:
        """Write 32-bit values to consecutive addresses of a space, through the window.

        Raises
        ------
        DeviceError
            If the chip is at work; nothing is written then. So does all else that writes.
        """
        self._require_idle()
        self._memories.write_window(core, space, address, values)
        self._note(space, address, values)

    def _note(self, space: Space, address: int, values: npt.ArrayLike) -> None:
        """Keep in mind what was written into the program memory."""
        if space == Space.PROGRAM:
            self._program.write(address, np.asarray(values).tolist())

    def _require_idle(self) -> None:
        if Status(self._read("status")) & Status.RUNNING:
            raise DeviceError("the device is running a program, perhaps of another process; wait "
                              "until it ends, or reset the device")
        if busy := self._read("busy"):
            raise DeviceError(f"engines of the device are still busy ({engine_names(busy)}) though "
                              f"its program ended; reset the device")

    def read_window(self, core: int, space: Space, address: int, count: int) -> list[int]:
        """Read ``count`` consecutive addresses of a space through the window, in a list."""
        return self._memories.read_window(core, space, address, count)

    def flush(self) -> None:
        """Wait until all writes are done; a ``TransportError`` if one of them was refused."""
        self._transport.flush()

    def answers(self) -> bool:
        """Whether the chip is still there."""
        try:
            return self._read("magic") == MAGIC
        except TransportError:
            return False

    def write(self, block: Block) -> None:
        """Write a ``Block``."""
        self._require_idle()
        self._write_block(block)

    def _write_all(self, *blocks: Iterable[Block]) -> None:
        """Write blocks, if there are any."""
        for number, block in enumerate(chain(*blocks)):
            if not number:
                self._require_idle()
            self._write_block(block)

    def _write_block(self, block: Block) -> None:
        with self._transfer():
            self._memories.write(block)
        self._note(block.space, block.address, block.words)

    @contextmanager
    def _transfer(self) -> Iterator[None]:
        """Keep in mind if what is done to memories stops half-way."""
        try:
            yield
        except TransportError:
            self._broken_off = True
            raise

    def write_words(self, core: int, space: Space, address: int, words: Words) -> None:
        """Write (words, chunks) ``uint32`` to a memory of a core."""
        self.write(Block(core, space, address * self.config.chunks, words.ravel()))

    def read_words(self, core: int, space: Space, address: int, count: int) -> Words:
        """Read (words, chunks) ``uint32`` from a memory of a core.

        Raises
        ------
        DeviceError
            If the memory failed, or a word in it had changed.
        """
        with self._transfer():
            words = self._memories.read(core, space, address, count)
        if not self._memories.checks(core, space) and self._read("error") & Error.MEMORY:
            raise DeviceError(f"what was read is void{self.monitor.explain(Error.MEMORY)}")
        return words

    # Jobs.

    def load(self, job: Job) -> None:
        """Load program, exponents, row counts, memory images and weights.

        If the last program did not reach its end, or an access to a memory failed, the chip is
        reset first. Errors of what was there before are cleared.

        Raises
        ------
        MismatchError
            If the job was compiled for another configuration; nothing is written then.
        """
        if job.config.hash != self.config.hash:
            raise MismatchError(
                f"the job was compiled for configuration {job.config.hash:#010x}, the device has "
                f"{self.config.hash:#010x}; compile it again for this device")
        if self._broken_off:
            reset_chip(self._transport)
            self._broken_off, self._counted = False, None
        self._require_idle()
        self._program.clear()
        for block in load_blocks(job):
            self._write_block(block)
        # Memories report what is wrong in them even if nothing uses it.
        self.monitor.clear_errors()

    def load_sample(self, job: Job) -> None:
        """Load what differs in a job with another sample: exponents, row counts, edges, features,
        labels.
        """
        self._write_all(exponent_blocks(job, brought_exponents(job)), count_blocks(job))
        with self._transfer():
            self._load_memories(job)

    def _load_memories(self, job: Job) -> None:
        for stripes in memory_stripes(job):
            self._memories.write_stripes(stripes)

    def load_counts(self, job: Job) -> None:
        """Load the row counts of a job with another sample."""
        self._write_all(count_blocks(job))

    @property
    def beside(self) -> bool:
        """Whether ``load_beside`` can be done."""
        return self._memories.beside

    def load_beside(self, job: Job) -> None:
        """Load what differs in the memories, while a program runs that does not use it.

        So are row counts, if there is room for the row counts of two steps.
        """
        for block in count_blocks(job) if job.counts_early else ():
            self._memories.write(block)
        self._load_memories(job)

    def set_step(self, step: int, key: int) -> None:
        """Set the number of training steps done, and the key that dropout gets from it."""
        self._require_idle()
        self._counted = step & _WORD, key & _WORD
        for name, value in zip(_COUNTING, self._counted, strict=True):
            self._write(name, value)

    def patch(self, row: int, instruction: int) -> None:
        """Replace one instruction of the loaded program."""
        self.write(instruction_block(row, instruction))

    def update_program(self, instructions: Mapping[int, int]) -> None:
        """Let rows of the program memory hold these instructions; what they hold is not written."""
        self._write_all(
            Block(0, Space.PROGRAM, address, np.array(values, dtype=np.uint32))
            for address, values in (
                self._program.difference(block.address, block.words.tolist())
                for block in starmap(instruction_block, instructions.items()))
            if values)

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
        self._require_idle()
        before, steps = self._count_before(), repeat * self._steps(entry)
        self._write("entry", entry)
        self._write("repeat", repeat)
        units = limit_of(repeat * limit)
        self._write("limit", units)
        self._broken_off = True
        self._write("control", Control.START)
        meanwhile()
        status = self._wait((units * LIMIT_UNIT + 2) * PATIENCE)
        if status & Status.ERROR:
            error = self.monitor.clear_errors()
            raise DeviceError(f"the device stopped with error {error!r}"
                              f"{self.monitor.explain(error)}; {self.monitor.where()}")
        self._counted = self._read_count()
        _require_count(
            self._counted,
            (before[0] + steps & _WORD, before[1] + steps * STEP_KEY_INCREMENT & _WORD),
            "the program did not do what it was to do, and its results are void; load the device "
            "again from the last checkpoint")
        self._broken_off = False
        return self.monitor.cycles()

    def _wait(self, most: int) -> Status:
        """Wait until the program has ended, which a sound chip's has after ``most`` cycles."""
        before, looks = 0, 0
        while (status := Status(self._read("status"))) & Status.RUNNING:
            passed = self.monitor.cycles()
            before, looks = passed, looks + 1 if passed == before else 0
            if passed > most or looks == _LOOKS:
                state = self.monitor.where()  # before STOP, which makes it wait for nothing
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
            return self._program.steps(entry)
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

    # Tensors.

    def matrix(self, job: Job, name: Tensor) -> IntArray:
        """A matrix of the memory channels as (vertices, columns) mantissas, in rank order."""
        region, vertices = job.regions[name], job.rows[name.level]
        parts = []
        for core in range(self.config.cores):
            words = self.read_words(core, region.space, region.address, region.words)
            rows = rows_of(core, vertices, self.config.cores)
            parts.append(unpack_panels(words, rows, region.columns, region.stride, self.config))
        return undeal(parts, vertices, self.config)

    def operand(self, job: Job, name: Tensor, core: int = 0) -> IntArray:
        """A weight matrix (or bias) as mantissas, from one core's weight bank."""
        weights = job.weights[name]
        words = self.read_words(core, Space.WEIGHTS, weights.base, weights.rows)
        return matrix_of(unpack_rows(words, self.config), weights, self.config)

    def optimiser(self, job: Job, name: Tensor) -> tuple[IntArray, ...]:
        """State of a weight matrix (or bias): masters, momenta and, with Adam, second moments."""
        weights = job.weights[name]
        region = weights.state
        images = [self.read_words(core, region.space, region.address, region.words)
                  for core in range(self.config.cores)]
        return load_state(weights, self.config, images)

    def exponents(self, job: Job) -> dict[Tensor, int]:
        """Exponent of every tensor now."""
        return {name: exponent for name, (exponent, _) in self.exponent_file(job).items()}

    def set_exponents(self, job: Job, exponents: Mapping[Tensor, int]) -> None:
        """Give tensors exponents that they keep until they are next computed and recorded."""
        self._write_all(exponent_blocks(job, exponents))

    def set_entries(self, job: Job, entries: Mapping[Tensor, tuple[int, int | None]]) -> None:
        """Give tensors exponents and peaks, as ``exponent_file`` has them."""
        self._write_all(entry_blocks(job, entries))

    def exponent_entry(self, job: Job, name: Tensor) -> tuple[int, int | None]:
        """Exponent and peak (``None`` if not valid) of an entry of the exponent file now."""
        [word] = self.read_window(0, Space.TENSORS, job.tensors[name], 1)
        return unpack_entry(word)

    def exponent_file(self, job: Job) -> dict[Tensor, tuple[int, int | None]]:
        """Exponent and peak (``None`` if not valid) of every tensor now."""
        words = self.read_window(0, Space.TENSORS, 0, max(job.tensors.values()) + 1)
        return {name: unpack_entry(words[number]) for name, number in job.tensors.items()}

