# SPDX-License-Identifier: BSD-2-Clause
"""Compiles evaluations alone: forward passes whose exponents the host chooses, tensor by tensor."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from hypercast.host.compiler.assembly import (
    assemble,
    check_model,
    initial_exponents,
    number_entries,
)
from hypercast.host.compiler.compiled_edges import CompiledEdges
from hypercast.host.compiler.features import Features, fill_dense
from hypercast.host.compiler.job import Job
from hypercast.host.compiler.label_list import LabelFormat, fill_labels
from hypercast.host.compiler.layout import Layout
from hypercast.host.compiler.lowering import Program, fit_program
from hypercast.host.compiler.memory_map import CapacityError
from hypercast.host.compiler.operand_map import LeftOperand
from hypercast.host.compiler.sample_plan import SamplePlan
from hypercast.host.compiler.state import weight_bank
from hypercast.host.compiler.verification import verify
from hypercast.reference.array_types import IntMatrix
from hypercast.reference.initial_model import InitialModel
from hypercast.reference.tensor import FEATURES, Kind, Pass, Tensor
from hypercast.rtl.config import Config
from hypercast.rtl.isa import Opcode, decode

__all__ = ["LOSS", "Evaluation", "compile_evaluation"]

#: Entry of the program that ends an evaluation: loss and metrics.
LOSS = "loss"


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """Layers of an evaluation, as far as a chip holds them at once.

    Parameters
    ----------
    job : Job
        Programs: one for each tensor that the layers store, by its name, and ``LOSS`` behind the
        last layer. They run in that order. There is room for nothing that trains.
    inputs : tuple of Tensor
        Hidden features of layers before, which the layers read.
    """

    job: Job
    inputs: tuple[Tensor, ...]

    @property
    def stored(self) -> tuple[Tensor, ...]:
        """The tensors that the layers store, in order."""
        return tuple(Tensor.parse(name) for name in self.job.starts if name != LOSS)

    def factors(self, name: Tensor) -> tuple[Tensor, Tensor]:
        """Entries of the exponent file whose sum is the exponent of a tensor's accumulators."""
        entries = list(self.job.tensors)
        drain = next(fields for fields in map(decode, self.job.instructions(name))
                     if fields["opcode"] == Opcode.DRAIN)
        return entries[drain["a"]], entries[drain["b"]]

    def with_values(self, mantissas: Mapping[Tensor, IntMatrix],
                    exponents: Mapping[Tensor, int]) -> Job:
        """The job that loads parameters and inputs.

        Parameters
        ----------
        mantissas : dict
            What they are, by name; there may be others.
        exponents : dict
            Exponents of entries that differ from the job's.
        """
        images = [list(image) for image in self.job.images]
        for name in self.inputs:
            fill_dense(mantissas[name], self.job.regions[name], images, self.job.config)
        return replace(
            self.job, images=images,
            weight_bank=weight_bank(mantissas, self.job.weights, self.job.config),
            exponents={name: exponents.get(name, exponent)
                       for name, exponent in self.job.exponents.items()})


def compile_evaluation(model: InitialModel, config: Config, *,
                       progress: Callable[[str], None] = lambda text: None) -> list[Evaluation]:
    """Compile the evaluation of a model: of all layers at once, or layer by layer.

    Parameters
    ----------
    model : InitialModel
        Network, recipe, sample, and exponents to begin with.
    config : Config
        Configuration of the chip.
    progress : callable
        Called with a line of text before each strip of messages.

    Returns
    -------
    list of Evaluation
        One if all layers fit, else one for each.

    Raises
    ------
    CapacityError
        If a layer alone does not fit the configuration.
    """
    check_model(model, config)
    sample = model.sample
    edges = CompiledEdges.of(model.network, sample.edges, sample.root_weight, config,
                             trained=False, progress=progress)
    layers = range(1, len(model.network.layers) + 1)
    try:
        return [_compile(model, config, layers, edges)]
    except CapacityError:
        if len(layers) == 1:
            raise
    return [_compile(model, config, range(number, number + 1), edges) for number in layers]


def _compile(model: InitialModel, config: Config, layers: range,
             edges: CompiledEdges) -> Evaluation:
    """Compile some layers."""
    network, sample = model.network, model.sample
    plan = SamplePlan(network, config, sample, edges=edges.of_layers(layers, trained=False))
    labels = LabelFormat.of(model)
    features = Features(model, plan.feature_rows, config) if network.reads_features(layers) \
        else None
    layout = Layout.of(network, config, plan.vertices, labels,
                       words=features.words if features else None, edges=plan.place,
                       layers=layers, trained=False)
    memory = layout.memory
    if features:
        features.place(memory, (0,))
    memory.check()
    images = plan.images(sample, sample, memory.regions)
    if features:
        features.fill(memory, images)
    last = len(network.layers) in layers
    if last:
        fill_labels(sample, labels, images, config)

    exponents = initial_exponents(model)
    tensors = number_entries(exponents, config)
    program, starts = fit_program(lambda tiling, schedule: Program.of(
            layout,
            inputs=features.operand((0,)) if features else LeftOperand.dense(FEATURES, 0, 0),
            tensors=tensors, messages=plan.messages, roots=plan.roots, digits={},
            headroom=model.recipe.finest_headroom_of, schedule=schedule, following=(),
            tiling=tiling),
            lambda program: _emit(program, layers, last=last), config, layout.vertices)
    job = assemble(model, layout, plan, program, starts, images, exponents)
    verify(job)
    sources = {weight.source for number in layers for weight in network.weights(number)}
    return Evaluation(job=job, inputs=tuple(
        Tensor(Kind.HIDDEN, source, Pass.EVALUATION)
        for source in sorted(sources) if source and source not in layers))


def _emit(program: Program, layers: range, *, last: bool) -> dict[str, int]:
    """Starts of programs, for each tensor that layers store, and of the ``last`` one's loss."""
    starts: dict[str, int] = {}
    for number in layers:
        row = program.rows
        for name in program.evaluate_apart(number):
            starts[name] = row
            row = program.rows
    if last:
        starts[LOSS] = program.rows
        program.evaluate_loss()
    return starts
