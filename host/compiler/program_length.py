# SPDX-License-Identifier: BSD-2-Clause
"""How many instructions the programs of some layers take, before there are edges and values."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from hypercast.host.compiler.emitter import PlacedMessages
from hypercast.host.compiler.label_list import LabelFormat
from hypercast.host.compiler.layer_entries import layer_entries
from hypercast.host.compiler.layout import Layout
from hypercast.host.compiler.load import Load
from hypercast.host.compiler.lowering import Program
from hypercast.host.compiler.operand_map import LeftOperand
from hypercast.host.compiler.piece_program import PIECES, PieceProgram
from hypercast.host.compiler.schedule import Schedule
from hypercast.host.compiler.tiling import Tiling
from hypercast.host.compiler.vertices import RowTable, Vertices
from hypercast.reference.network import COMBINE_FIRST, Network
from hypercast.reference.tensor import FEATURES
from hypercast.rtl.config import LARGEST_PROGRAM, Config
from hypercast.rtl.isa import BASE_WIDTH, Opcode

__all__ = ["program_length"]

#: Strips from which on programs in loops are the shorter ones, whose length is that of any more.
_STRIPS = 64
_NO_LOAD = Load(rows=0, sent=0, links=0, ejected=0, arrivals=0, words=0, streams=0, total_rows=0,
                messages=0, edges=0, total_words=0)


class _TooManyError(Exception):
    """There are more instructions than anybody wants to know."""


class _CountedSchedule(Schedule):
    """Counts instructions, and does not order them.

    In loops, the first strip's instructions stand for all. Each takes two rows there, and there is
    one LOOP at least.
    """

    def __init__(self) -> None:
        super().__init__()
        self._begun = False
        self._written_out, self._in_loops = 0, 1

    @property
    def empty(self) -> bool:
        return not self._begun

    @property
    def rows(self) -> int:
        return min(self._written_out, self._in_loops)

    def add(self, opcode: Opcode, fields: Mapping[str, int] | None = None, /, *,
            strip: int | None = None, **others: Any) -> None:
        self._count(strip)
        self._begun = True

    def halt(self, *, phase: int, step: int) -> None:
        self._count(None)
        self._begun = False

    def _count(self, strip: int | None) -> None:
        self._written_out += 1
        self._in_loops += 1 if strip is None else 0 if strip else 2
        if self.rows > LARGEST_PROGRAM:
            raise _TooManyError


def program_length(network: Network, config: Config, rows: tuple[int, ...],
                   names: Iterable[str] = PIECES, layers: range = range(0), *,
                   square: bool = True, sources: tuple[int, ...] = ()) -> int:
    """The least number of instructions that programs take on a chip; in loops, rows of LOOPs count
    as one.

    The compiler refuses what has more than the program memory. It may take more where there is
    room. Input features count as dense.

    Parameters
    ----------
    network : Network
        The network.
    config : Config
        Configuration of the chip.
    rows : tuple of int
        Vertices of the input, and of every layer's output.
    names : iterable of str
        Programs: ``PIECES``, or programs of a whole network (``Program``).
    layers : range
        Layers (from 1) that they are of; all of them if empty.
    square : bool
        Whether the input and all outputs have the same vertices.
    sources : tuple of int
        Rows that edges come from, and transposed ones, if devices share the rows of matrices.

    Returns
    -------
    int
        At most one more than ``LARGEST_PROGRAM``, which stands for all larger numbers.

    Raises
    ------
    CapacityError
        If the row table is too small.
    """
    layers = layers or range(1, len(network.layers) + 1)
    if square and not network.shares_exponents:
        network, layers = _between_neighbours(network, layers)
        rows = rows[:len(network.layers) + 1]
    return _length(network, config, rows, tuple(names), layers, square, sources)


def _between_neighbours(network: Network, layers: range) -> tuple[Network, range]:
    """The layers between one before and one after: what their programs depend on.

    What is alike is counted once.
    """
    first, last = max(0, layers[0] - 2), min(len(network.layers), layers[-1] + 1)
    found = list(network.layers[first:last])
    for place in {0, len(found) - 1}:
        if place + first + 1 not in layers:
            found[place] = replace(found[place], order=COMBINE_FIRST, root=None, alpha=0.0)
    return replace(network, layers=tuple(found)), range(layers[0] - first, layers[-1] - first + 1)


@lru_cache(maxsize=4096)
def _length(network: Network, config: Config, rows: tuple[int, ...], names: tuple[str, ...],
            layers: range, square: bool, sources: tuple[int, ...]) -> int:
    config = config.replace(weight_rows=1 << BASE_WIDTH)  # whether weights fit is not asked here
    rows, sources = (tuple(min(count, _STRIPS * config.strip_rows * config.cores)
                           for count in counts) for counts in (rows, sources))
    levels = [0 if square else level for level in range(len(rows))]
    vertices = Vertices.of_layers([*rows, *sources], config, RowTable(config), [
        *levels, *(("source", way) for way, _ in enumerate(sources))])
    vertices, others = vertices[:len(rows)], vertices[len(rows):]
    layout = Layout.of(network, config, vertices, LabelFormat(), layers=layers,
                       kept="train" not in names, shared_rows=max(
                           (one.rows for one in others), default=0))
    inputs = LeftOperand.dense(FEATURES, 0, 0)
    if network.reads_features(layers):
        region = layout.memory.matrix(FEATURES, 0, network.features)
        inputs = LeftOperand.dense(FEATURES, region.panels, region.stride)
    messages = {
        (number, backward): [PlacedMessages(0, 0, _NO_LOAD)] * len(
            vertices[number - backward].strips)
        for number in layers for backward in (False, True)}
    made = PieceProgram if names == PIECES else Program
    program = made.of(
        layout, inputs=inputs, messages=messages, roots=messages, digits={},
        tensors={name: place for place, name in enumerate(layer_entries(network, layers))},
        headroom=lambda name: 0, schedule=_CountedSchedule(), following=(),
        tiling=Tiling(turns=False))
    if isinstance(program, PieceProgram):
        program.layers, program.shared = layers, bool(sources)
    try:
        program.emit(names)
    except _TooManyError:
        return LARGEST_PROGRAM + 1
    return program.rows
