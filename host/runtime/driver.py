# SPDX-License-Identifier: BSD-2-Clause
"""Drives a chip through its AXI4-Lite port: identify, load, run, read back."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import chain, starmap

import numpy as np
import numpy.typing as npt

from hypercast.host.compiler.images import Words
from hypercast.host.compiler.job import Job
from hypercast.host.compiler.packing import undeal, unpack_entry, unpack_panels, unpack_rows
from hypercast.host.compiler.state import load_state, matrix_of
from hypercast.host.runtime.chip_monitor import ChipMonitor
from hypercast.host.runtime.chip_reset import reset_chip
from hypercast.host.runtime.device_errors import DeviceError, MismatchError
from hypercast.host.runtime.image import (
    Block,
    brought_exponents,
    count_blocks,
    entry_blocks,
    exponent_blocks,
    instruction_block,
    load_blocks,
    memory_stripes,
)
from hypercast.host.runtime.memory_access import MemoryAccess
from hypercast.host.runtime.program_runs import ProgramRuns
from hypercast.host.transport.transport import Transport, TransportError
from hypercast.reference.array_types import IntArray
from hypercast.reference.tensor import Tensor
from hypercast.rtl.config import INTERFACE_VERSION, Config
from hypercast.rtl.placement import rows_of
from hypercast.rtl.registers import MAGIC, Error, Space, register

__all__ = ["Driver"]


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
        self._runs = ProgramRuns(transport, self.monitor)
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

    # Spaces.

    def write_window(self, core: int, space: Space, address: int, values: npt.ArrayLike) -> None:
        """Write 32-bit values to consecutive addresses of a space, through the window.

        Raises
        ------
        DeviceError
            If the chip is at work; nothing is written then. So does all else that writes.
        """
        self._runs.require_idle()
        self._memories.write_window(core, space, address, values)
        self._note(space, address, values)

    def _note(self, space: Space, address: int, values: npt.ArrayLike) -> None:
        """Keep in mind what was written into the program memory."""
        if space == Space.PROGRAM:
            self._runs.program.write(address, np.asarray(values).tolist())

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
        self._runs.require_idle()
        self._write_block(block)

    def _write_all(self, *blocks: Iterable[Block]) -> None:
        """Write blocks, if there are any."""
        for number, block in enumerate(chain(*blocks)):
            if not number:
                self._runs.require_idle()
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
            self._runs.broken_off = True
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
        if self._runs.broken_off:
            reset_chip(self._transport)
            self._runs.begin_anew()
        self._runs.require_idle()
        self._runs.program.clear()
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
        self._runs.set_step(step, key)

    def patch(self, row: int, instruction: int) -> None:
        """Replace one instruction of the loaded program."""
        self.write(instruction_block(row, instruction))

    def update_program(self, instructions: Mapping[int, int]) -> None:
        """Let rows of the program memory hold these instructions; what they hold is not written."""
        self._write_all(
            Block(0, Space.PROGRAM, address, np.array(values, dtype=np.uint32))
            for address, values in (
                self._runs.program.difference(block.address, block.words.tolist())
                for block in starmap(instruction_block, instructions.items()))
            if values)

    def run(self, entry: int, *, repeat: int = 1, limit: int,
            meanwhile: Callable[[], None] = lambda: None) -> int:
        """Run the loaded program from row ``entry``; all as of ``ProgramRuns.run``."""
        return self._runs.run(entry, repeat=repeat, limit=limit, meanwhile=meanwhile)

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

