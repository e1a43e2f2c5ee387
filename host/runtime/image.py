# SPDX-License-Identifier: BSD-2-Clause
"""A job as a file that a driver in any language can load: blocks of words for the chip's window.

The file is little-endian 32-bit words: ``HEADER`` fields, then for each parameter the ``PARAMETER``
fields, then blocks, each the ``BLOCK`` fields and ``count`` words, in the order in which they are
to be written. ``examples/c`` has a driver that reads it.
"""

import io
import zlib
from collections.abc import Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np
import numpy.typing as npt

from hypercast.host.compiler.assembly import updates_at
from hypercast.host.compiler.images import Words
from hypercast.host.compiler.job import Job
from hypercast.host.compiler.movement import most_moves
from hypercast.host.compiler.packing import pack_entry
from hypercast.host.files.durable_file import write_durably
from hypercast.reference.fixed_gnn import FixedGnn
from hypercast.reference.initial_model import InitialModel
from hypercast.reference.tensor import Kind, Tensor
from hypercast.rtl.config import INTERFACE_VERSION
from hypercast.rtl.isa import INSTRUCTION_WORDS
from hypercast.rtl.registers import LIMIT_UNIT, CoreSpace, Space

__all__ = ["BLOCK", "HEADER", "MAGIC", "NO_ENTRY", "PARAMETER", "Block", "Stripes",
           "brought_exponents", "count_blocks", "entry_blocks", "exponent_blocks",
           "instruction_block", "limit_of", "load_blocks", "memory_stripes", "step_blocks",
           "write_image"]

#: First word of an image: "HCIM".
MAGIC = 0x4843494D
#: Stands for the row of a program that there is not.
NO_ENTRY = 0xFFFFFFFF
#: Words an image begins with: identity of the file; CRC-32 (``zlib.crc32``) of all after this word;
#: identity of the chip; the dropout key of the first step; program rows at which ``load`` (run
#: once, first), ``train`` and ``evaluate`` start; what register ``limit`` has to be while one of
#: them runs; training steps that the optimiser's constants are for; and the numbers of parameters
#: and of blocks.
HEADER = ("magic", "check", "version", "config_hash", "step_key", "load", "train", "evaluate",
          "limit", "steps", "parameters", "blocks")
#: Words that describe a parameter: its tensor number, rows and columns, and where it lies in the
#: weight bank: element (r, c) is lane ``c mod lanes`` of row ``base + (c div lanes) * height + r``.
PARAMETER = ("tensor", "rows", "columns", "base", "height")
#: Words before a block's contents: the training step (from 0) before which it is written, and where
#: to, address and ``count`` in units of 32 bits.
BLOCK = ("step", "core", "space", "address", "count")


class Block(NamedTuple):
    """Words for consecutive addresses of a window space.

    Attributes
    ----------
    core : int
        Core, 0 if the space is the chip's.
    space : Space
        Space.
    address : int
        First address, in units of 32 bits.
    words : numpy.ndarray
        (n,) ``uint32``.
    """

    core: int
    space: Space
    address: int
    words: npt.NDArray[np.uint32]


class Stripes(NamedTuple):
    """Words for the same addresses of a memory channel in all cores.

    Attributes
    ----------
    space : Space
        FEATURES or GRADIENTS.
    row : int
        First memory word in each core.
    parts : tuple of numpy.ndarray
        For each core, (n, chunks) ``uint32``; some may be shorter than others.
    """

    space: Space
    row: int
    parts: tuple[Words, ...]

    def blocks(self) -> Iterator[Block]:
        """The same, core by core."""
        for core, words in enumerate(self.parts):
            yield Block(core, self.space, self.row * words.shape[1], words.ravel())

    def rows(self) -> npt.NDArray[np.uint32]:
        """(rows, cores, chunks) ``uint32``, in the order in which striped bursts write them.

        Behind the end of the shorter ones are zeros.
        """
        words = np.zeros((max(map(len, self.parts)), len(self.parts), self.parts[0].shape[1]),
                         dtype=np.uint32)
        for core, part in enumerate(self.parts):
            words[:len(part), core] = part
        return words


def limit_of(moves: int) -> int:
    """The value of register ``limit`` for programs with so many moves at most."""
    return min(-(-moves // LIMIT_UNIT), 0xFFFFFFFF)


def instruction_block(row: int, instruction: int) -> Block:
    """The block that puts an encoded instruction into a row of the program memory."""
    octets = instruction.to_bytes(4 * INSTRUCTION_WORDS, "little")
    return Block(0, Space.PROGRAM, row * 16, np.frombuffer(octets, dtype="<u4"))


def load_blocks(job: Job) -> Iterator[Block]:
    """All that has to be written before a job runs: program, exponents, row counts, memories."""
    programs = {job.places[0]: job.program}
    if job.both_loaded:
        programs[job.places[1]] = job.exchanged
    for first, program in programs.items():
        for row, instruction in enumerate(program, first):
            yield instruction_block(row, instruction)
    exponents = np.zeros(job.config.tensors, dtype=np.uint32)
    for name, number in job.tensors.items():
        exponents[number] = pack_entry(job.exponents[name], None)
    yield Block(0, Space.TENSORS, 0, exponents)
    for core in range(job.config.cores):
        # All of the table, since entries that no instruction names may be looked at, too.
        counts = np.zeros(job.config.row_counts, dtype=np.uint32)
        block = _row_counts(job, core)
        counts[job.row_entries[0]:][:len(block.words)] = block.words
        yield block._replace(address=int(CoreSpace.ROWS), words=counts)
        yield from _images(job, core)
        yield Block(core, Space.WEIGHTS, 0, job.weight_bank.ravel())


def exponent_blocks(job: Job, exponents: Mapping[Tensor, int]) -> Iterator[Block]:
    """The blocks that put exponents into entries of the exponent file, without peaks."""
    return entry_blocks(job, {name: (exponent, None) for name, exponent in exponents.items()})


def entry_blocks(job: Job, entries: Mapping[Tensor, tuple[int, int | None]]) -> Iterator[Block]:
    """The blocks that put exponents and peaks into entries of the exponent file.

    There is one for each run of consecutive entries.
    """
    words = sorted((job.tensors[name], pack_entry(*entry)) for name, entry in entries.items())
    for _, run in groupby(enumerate(words), lambda place: place[1][0] - place[0]):
        numbers, values = zip(*(word for _, word in run), strict=True)
        yield Block(0, Space.TENSORS, numbers[0], np.array(values, dtype=np.uint32))


def brought_exponents(job: Job) -> dict[Tensor, int]:
    """Exponents of what a sample brings."""
    return {name: exponent for name, exponent in job.exponents.items()
            if name.kind in (Kind.EDGES, Kind.FEATURES)}


def count_blocks(job: Job) -> Iterator[Block]:
    """Row counts of a job that goes on with another sample (``with_sample``)."""
    for core in range(job.config.cores):
        yield _row_counts(job, core)


def memory_stripes(job: Job) -> Iterator[Stripes]:
    """Contents of the memory channels of such a job, region by region.

    A region is equally large in all cores, so it has room for as many rows as the longest takes.
    """
    for images in zip(*job.images, strict=True):
        [name] = {name for name, _ in images}
        region = job.regions[name]
        yield Stripes(region.space, region.address, tuple(words for _, words in images))


def _row_counts(job: Job, core: int) -> Block:
    return Block(core, Space.CORE, CoreSpace.ROWS + job.row_entries[0],
                 np.array(job.row_table[core], dtype=np.uint32))


def _images(job: Job, core: int) -> Iterator[Block]:
    """Memory channels of a core."""
    for name, words in job.images[core]:
        region = job.regions[name]
        yield Block(core, region.space, region.address * job.config.chunks, words.ravel())


def write_image(path: Path, job: Job, model: InitialModel) -> None:
    """Write a job as an image.

    Constants of the optimiser follow gradients as they grow, so the oracle trains the model, to
    know the constants of each step.

    Parameters
    ----------
    path : pathlib.Path
        File.
    job : Job
        What is to run.
    model : InitialModel
        What the job was compiled from.

    Raises
    ------
    ExponentError, AlignmentError
        Where the training would stop; nothing is written.
    """
    blocks = [(0, block) for block in load_blocks(job)]
    blocks += step_blocks(job, model)
    fields = {
        "version": INTERFACE_VERSION, "config_hash": job.config.hash,
        "step_key": model.recipe.seed & 0xFFFFFFFF,
        **{name: job.starts.get(name, NO_ENTRY) for name in ("load", "train", "evaluate")},
        "limit": limit_of(max(most_moves(job, program) for program in job.starts)),
        "steps": model.recipe.epochs, "parameters": len(job.weights), "blocks": len(blocks)}
    body = io.BytesIO()
    _put(body, [fields[name] for name in HEADER[2:]])
    for name, weights in job.weights.items():
        tensor = job.tensors[model.network.exponent_entry(name)]
        _put(body, [tensor, *weights.shape, weights.base, weights.height])
    for step, block in blocks:
        _put(body, [step, block.core, block.space, block.address, len(block.words)])
        _put(body, block.words)
    head = io.BytesIO()
    _put(head, [MAGIC, zlib.crc32(body.getbuffer())])
    write_durably(path, head.getvalue() + body.getvalue())


def step_blocks(job: Job, model: InitialModel) -> Iterator[tuple[int, Block]]:
    """(step, block) to write before a step: raised exponents, and UPDATEs with other constants.
    """
    program, oracle = dict(enumerate(job.program)), FixedGnn(model)
    for step in range(model.recipe.epochs):
        oracle.train_step()  # whose constants are now its rules'
        yield from ((step, block) for block in exponent_blocks(job, oracle.rules.raised))
        for row, instruction in updates_at(job, oracle.rules, step):
            if instruction != program[row]:
                program[row] = instruction
                yield step, instruction_block(row, instruction)


def _put(file: BinaryIO, words: npt.ArrayLike) -> None:
    file.write(np.asarray(words, dtype="<u4").tobytes())
