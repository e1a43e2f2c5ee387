# SPDX-License-Identifier: BSD-2-Clause
"""Compiles what a device has of a training that several share: a run of layers, or some rows."""

from dataclasses import dataclass
from functools import cached_property
from typing import Self

from hypercast.host.compiler.assembly import (
    assemble,
    check_model,
    fill_state,
    initial_exponents,
    number_entries,
)
from hypercast.host.compiler.features import Features
from hypercast.host.compiler.job import Job
from hypercast.host.compiler.label_list import LabelFormat, fill_labels
from hypercast.host.compiler.layer_entries import layer_entries
from hypercast.host.compiler.layout import Layout
from hypercast.host.compiler.lowering import fit_program
from hypercast.host.compiler.memory_map import LABELS, RANKS
from hypercast.host.compiler.operand_map import LeftOperand
from hypercast.host.compiler.packing import deal, pack_records
from hypercast.host.compiler.piece_program import EVALUATE, PIECES, PieceProgram, part_name
from hypercast.host.compiler.reduction import gradient_digits
from hypercast.host.compiler.sample_capacity import Capacity
from hypercast.host.compiler.sample_plan import SamplePlan
from hypercast.host.compiler.schedule import Schedule
from hypercast.host.compiler.tiling import Tiling
from hypercast.host.compiler.verification import verify
from hypercast.reference.initial_model import InitialModel
from hypercast.reference.tensor import FEATURES, Tensor
from hypercast.rtl.config import Config
from hypercast.rtl.isa import Opcode, decode

__all__ = ["STEP_SUMS", "Pieces", "compile_pieces"]

#: The piece of all layers forward and backward, in one program.
STEP_SUMS = "step_sums"


@dataclass(frozen=True, kw_only=True)
class Pieces:
    """A compiled share of a training.

    Parameters
    ----------
    job : Job
        The programs: their names are ``PIECES``, and parts of them.
    layers : range
        Layers of the share, from 1.
    crossing : dict
        Piece to the tensors whose rows of others have to be there before each of its parts; None
        for a part that needs none.
    """

    job: Job
    layers: range
    crossing: dict[str, list[Tensor | None]]

    @classmethod
    def of_steps(cls, job: Job) -> Self:
        """The pieces of a job of the whole network whose steps are in pieces."""
        return cls(job=job, layers=range(1, len(job.rows)),
                   crossing={STEP_SUMS: [None], EVALUATE: [None]})

    def parts(self, piece: str) -> list[tuple[str, Tensor | None]]:
        """Program of each part of a piece, and what has to cross before it."""
        return [(part_name(piece, number), name)
                for number, name in enumerate(self.crossing[piece])]

    @cached_property
    def stored(self) -> dict[str, frozenset[Tensor]]:
        """Entries of the exponent file of what each piece stores."""
        entries = list(self.job.tensors)
        found = {}
        for piece in self.crossing:
            words = (word for program, _ in self.parts(piece)
                     for word in self.job.instructions(program))
            found[piece] = frozenset(
                entries[fields["o"]] for fields in map(decode, words)
                if fields["opcode"] == Opcode.DRAIN
                or (fields["opcode"] == Opcode.LOSS and fields["open"]))
        return found


def compile_pieces(model: InitialModel, config: Config, *, layers: range = range(0),
                   capacity: Capacity | None = None) -> Pieces:
    """Compile a share of a training, as it stands before its first step.

    Parameters
    ----------
    model : InitialModel
        Network, recipe, sample and initial state. If several devices share the rows of the sample,
        its place says so; its features then are of the rows here, and of all rows that edges come
        from if the first layer aggregates first.
    config : Config
        Configuration of the chip.
    layers : range
        Layers (from 1) of the share; all of them if empty. There is room for no other parameters,
        nor for exponents of other layers' tensors.
    capacity : Capacity, optional
        What other samples take, if the program is to train on others, too.

    Raises
    ------
    CapacityError
        If something does not fit the configuration; names what, and which field to raise.
    """
    check_model(model, config)
    network, sample = model.network, model.sample
    layers = layers or range(1, len(network.layers) + 1)
    shared = sample.rows_here.shared
    plan = SamplePlan(network, config, sample, capacity, layers=layers)
    labels = LabelFormat.of(model, several_samples=bool(capacity))
    # Ranks are read beside rows whose words are all stored.
    dense = capacity or (shared and network.dropouts[0].threshold)
    features = Features(model, max(plan.feature_rows, plan.shared_rows), config,
                        word_sparse=not dense) if network.reads_features(layers) else None
    layout = Layout.of(network, config, plan.vertices, labels,
                       words=features.words if features else None, edges=plan.place,
                       adam=model.recipe.optimiser == "adam", kept=True, layers=layers,
                       shared_rows=plan.shared_rows)
    memory, firsts = layout.memory, layout.first_panels if features else []
    if features:
        features.place(memory, firsts)
    memory.check()
    images = plan.images(sample, sample, memory.regions)
    if features:
        features.fill(memory, images)
    if RANKS in memory.regions:
        assert sample.rows_here.ranks is not None, "shared rows have no ranks"
        for core, image in enumerate(images):
            ranks = deal(sample.rows_here.ranks, core, config).astype("<u4")
            image.append((RANKS, pack_records(ranks, config)))
    if LABELS in memory.regions:
        fill_labels(sample, labels, images, config)
    fill_state(model, layout.weights, images, config)

    exponents = initial_exponents(model)
    if len(layers) < len(network.layers):
        used = layer_entries(network, layers)
        exponents = {name: value for name, value in exponents.items() if name in used}
    tensors = number_entries(exponents, config)

    def empty(tiling: Tiling, schedule: Schedule) -> PieceProgram:
        program = PieceProgram.of(
            layout,
            inputs=features.operand(firsts) if features else LeftOperand.dense(FEATURES, 0, 0),
            tensors=tensors, messages=plan.messages, roots=plan.roots,
            digits={} if capacity else gradient_digits(model, config),
            headroom=model.recipe.headroom_of, schedule=schedule, following=(), tiling=tiling)
        program.layers, program.shared = layers, shared
        return program

    program, starts = fit_program(empty, lambda program: program.emit(PIECES), config,
                                  layout.vertices)
    assert isinstance(program, PieceProgram)
    job = assemble(model, layout, plan, program, starts, images, exponents)
    verify(job)
    return Pieces(job=job, layers=layers, crossing=program.crossing)
