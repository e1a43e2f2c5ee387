# SPDX-License-Identifier: BSD-2-Clause
"""A chip that has a run of layers, through which chunks of a whole graph go."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from hypercast.host.compiler.piece_program import BACKWARD
from hypercast.host.compiler.pieces import Pieces, compile_pieces
from hypercast.host.runtime.row_transfer import read_rows, write_rows
from hypercast.host.schemes.chunk_rows import GraphInChunks
from hypercast.host.schemes.graph_parts import renumbered
from hypercast.host.schemes.piece_parts import run_parts
from hypercast.host.schemes.shared_rows import Halo, SharedRows
from hypercast.host.schemes.stage_chip import ChipPasses, StageChip
from hypercast.host.transport.transport import Transport
from hypercast.reference.array_types import IntArray
from hypercast.reference.initial_model import InitialModel
from hypercast.reference.metrics import Metrics
from hypercast.reference.network import AGGREGATE_FIRST
from hypercast.reference.sample import Mantissas, Sample
from hypercast.reference.stale_rows import is_exact
from hypercast.reference.step_sums import StepSums
from hypercast.reference.tensor import Tensor
from hypercast.reference.training_state import TrainingState
from hypercast.rtl.config import Config

__all__ = ["ChunkChip", "ChunkPasses", "ChunkProgram"]


@dataclass(frozen=True, kw_only=True)
class ChunkProgram:
    """What a chip runs of a chunk, or of the whole graph.

    Parameters
    ----------
    sample : Sample
        The chunk.
    pieces : Pieces
        The programs; they end before each sum over neighbours.
    ranks : (R,) array of int
        Rank of each row's vertex, ascending.
    others : dict
        Whether edges are transposed, to the ranks of the rows of others that they name.
    """

    sample: Sample
    pieces: Pieces
    ranks: IntArray
    others: dict[bool, IntArray]

    @classmethod
    def of(cls, model: InitialModel, sample: Sample, config: Config, layers: range) -> Self:
        """The program of a chunk of a model's graph, for a run of layers (from 1).

        Raises
        ------
        CapacityError
            If something does not fit the configuration.
        """
        whole, edges = model.sample.features, sample.edges[0]
        ranks = sample.place.ranks
        if ranks is None:
            ranks = np.arange(len(sample.labels))
        directions = {False: edges, True: sample.place.transposed(edges)}
        others = {transposed: np.setdiff1d(matrix.indices, ranks).astype(np.int64)
                  for transposed, matrix in directions.items()}
        local = {transposed: renumbered(matrix, ranks, others[transposed])
                 for transposed, matrix in directions.items()}
        place = SharedRows(
            ranks, sample.training_vertices, local[True],
            {transposed: Halo(sent={}, received={0: len(rows)} if len(rows) else {})
             for transposed, rows in others.items()}, sample.element_width, sample.features.values)
        rows = ranks
        if AGGREGATE_FIRST in model.network.feature_orders:  # which never change
            rows = np.concatenate([ranks, others[False]])
        part = replace(sample, edges=(local[False],) * len(sample.edges), place=place,
                       features=Mantissas(whole.values[rows], whole.exponent))
        return cls(sample=sample, ranks=ranks, others=others, pieces=compile_pieces(
            model.with_sample(part), config, layers=layers))


class ChunkChip(StageChip):
    """A chip with a run of layers, and the chunks of a graph.

    Its memory holds one chunk: the host brings edges, features and program of the next one, and
    keeps rows that chunks read of each other. A chunk goes forward again before it goes backward,
    with the rows of others that it took before. A step on the whole graph, and an evaluation, have
    programs of their own.

    Parameters
    ----------
    transport : Transport
        How to reach it.
    model : InitialModel
        The whole graph's; its sample's place is ``GraphInChunks``.
    config : Config
        Configuration of the chip.
    layers : range
        The layers, from 1.
    chunks : sequence of Sample
        The chunks, as of ``chunks_of``.
    progress : callable
        Called with a line of text before each slow step.

    Raises
    ------
    CapacityError
        If the whole graph, or a chunk, does not fit the configuration.
    """

    def __init__(self, transport: Transport, model: InitialModel, config: Config, layers: range,
                 chunks: Sequence[Sample], *,
                 progress: Callable[[str], None] = lambda text: None) -> None:
        assert isinstance(model.sample.place, GraphInChunks)
        self._graph = model.sample.place
        self._programs = [ChunkProgram.of(model, sample, config, layers)
                          for sample in (model.sample, *chunks)]
        self.program = self._programs[0]
        #: The state after the last update, if it was read; a step that begins changes exponents.
        self._known: TrainingState | None = None
        super().__init__(transport, self.program.pieces, model, progress=progress)

    def passes(self, sample: Sample, *, training: bool) -> "ChunkPasses":
        return ChunkPasses(self, sample, training=training)

    def load(self, sample: Sample) -> None:
        """Bring a chunk, or the whole graph, but for what comes from other stages."""
        [program] = [one for one in self._programs if one.sample is sample]
        self._sample = sample
        if program is self.program:
            return
        state = self.state()
        self.program, self.pieces = program, program.pieces
        self._load(program.pieces.job)
        super().load_state(state)

    def run(self, piece: str) -> tuple[Metrics, int]:
        """Run a piece; returns its metrics, and saturations."""
        passes, backward = self.present, piece == BACKWARD
        assert isinstance(passes, ChunkPasses)

        def cross(number: int, name: Tensor) -> None:
            if is_exact(name):
                return
            others = self.program.others[backward]
            if (piece, number) not in passes.others:
                passes.others[piece, number] = self._taken(name, transposed=backward)[others]
            write_rows(self.driver, self.job, name, passes.others[piece, number],
                       first=len(self.program.ranks))

        return run_parts(self, self.pieces, piece, cross)

    def _taken(self, name: Tensor, *, transposed: bool) -> IntArray:
        """The rows of a tensor that this chunk reads, at their ranks; others will read its own."""
        driver, job, ranks = self.driver, self.job, self.program.ranks
        rows = read_rows(driver, job, name, np.arange(len(ranks)))
        exponent = driver.exponent_entry(job, self._model.network.exponent_entry(name))[0]
        if len(ranks) == len(self._graph.chunks):  # so it reads none
            return self._graph.with_neighbours(rows, transposed=transposed, name=name,
                                               exponent=exponent)
        return self._graph.taken(name, ranks, rows, exponent, transposed=transposed)

    def update(self, sums: StepSums) -> None:
        self.present = self._known = None
        super().update(sums)

    def state(self) -> TrainingState:
        if self._known is None:
            self._known = super().state()
        return replace(self._known, exponents=self.entries(),
                       momentum_exponents=self._rules.momentum_exponents.entries())

    def load_state(self, state: TrainingState) -> None:
        self._known = None
        self._graph.keep(state.older)
        super().load_state(state)


class ChunkPasses(ChipPasses):
    """The passes of a chunk through the layers of a ``ChunkChip``.

    Parameters
    ----------
    chip, sample, training
        As of ``ChipPasses``.

    Attributes
    ----------
    others : dict
        Piece and number of a part, to the rows of others that it took.
    """

    def __init__(self, chip: StageChip, sample: Sample, *, training: bool) -> None:
        super().__init__(chip, sample, training=training)
        self.others: dict[tuple[str, int], IntArray] = {}
