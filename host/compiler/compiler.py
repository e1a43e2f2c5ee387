"""Compiles a training job: memory map, images and program for one configuration."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from hypercast.host.compiler.compiled_edges import CompiledEdges
from hypercast.host.compiler.emitter import Emitter
from hypercast.host.compiler.features import Features, fill_dense
from hypercast.host.compiler.gradient_emitter import GradientEmitter
from hypercast.host.compiler.images import Image
from hypercast.host.compiler.job import Job
from hypercast.host.compiler.kept_map import KeptMap
from hypercast.host.compiler.label_list import LabelFormat, fill_labels
from hypercast.host.compiler.lowering import Program
from hypercast.host.compiler.memory_map import CapacityError, MemoryMap, require_capacity
from hypercast.host.compiler.model import Model
from hypercast.host.compiler.operand_map import OperandMap, Parts
from hypercast.host.compiler.operands import Operands
from hypercast.host.compiler.packing import pack_rows
from hypercast.host.compiler.reduction import gradient_slices, plan_reductions
from hypercast.host.compiler.sample_plan import Room, SamplePlan
from hypercast.host.compiler.state import store_state, weight_rows
from hypercast.host.compiler.timing import Timing
from hypercast.host.compiler.verification import verify
from hypercast.host.compiler.vertices import Vertices
from hypercast.host.compiler.weights import Weights, first_panels
from hypercast.reference.array_types import IntArray
from hypercast.reference.network import AGGREGATE_FIRST, COMBINE_FIRST, Network
from hypercast.reference.sample import Sample
from hypercast.reference.tensor import EDGES, FEATURES, Kind, Pass, Tensor
from hypercast.rtl.config import Config
from hypercast.rtl.isa import OPERANDS, Keep, Opcode, Split, decode, encode
from hypercast.rtl.limits import CLASSES

__all__ = [
    "compile_job", "place_operands", "place_tensors", "place_weights", "updates_at", "with_sample",
]

#: Tensors and their columns.
Shapes: TypeAlias = list[tuple[Tensor, int]]

#: Panels an instruction can sum over, and rows of a core it can start from.
_MAXIMUM_PANELS = (1 << dict(OPERANDS[Opcode.MATMUL])["panels"]) - 1
_MAXIMUM_ROWS = 1 << dict(OPERANDS[Opcode.MATMUL])["row_start"]

_SMALLER_SAMPLES = "take smaller samples: --batch, --fan-outs"


def compile_job(model: Model, config: Config, *, word_sparse: bool = True,
                room: Room | None = None, edges: CompiledEdges | None = None) -> Job:
    """Compile a model, as it stands before its first step.

    Parameters
    ----------
    model : Model
        Network, recipe, graph, initial state and calibrated exponents.
    config : Config
        Configuration of the chip.
    word_sparse : bool
        Whether input features may be stored without their zero words, where that is less.
    room : Room, optional
        What other samples take, if the program is to train on others, too.
    edges : CompiledEdges, optional
        The sample's, of any orders, if they have been compiled and there is no ``room``.

    Raises
    ------
    CapacityError
        If something does not fit the configuration; names what, and which field to raise.
    """
    _check(model, config)
    plan = SamplePlan(model.network, config, model.sample, room, edges)
    rows = [max(1, level.rows) for level in plan.vertices]
    memory = MemoryMap(config, rows)
    place_tensors(model.network, memory, config)
    plan.place(memory)
    labels = LabelFormat.of(model, several_samples=bool(room))
    memory.labels(labels.records(model.network.classes, config))
    weights, used = place_weights(
        model.network, memory, config, adam=model.recipe.optimiser == "adam")
    features = Features(model, rows[0], config, word_sparse=word_sparse and not room)
    firsts = first_panels([weights[weight.name] for weight in model.network.inputs], config)
    features.place(memory, firsts)
    memory.check(dict.fromkeys(memory.regions, _SMALLER_SAMPLES) if room else features.remedies)

    images = plan.images(model.sample)
    features.fill(memory, images)
    fill_labels(model.sample, labels, images, config)
    bank = np.zeros((used, config.lanes), dtype=np.int64)
    for name, place in weights.items():
        operands = weight_rows(_matrix(model.tensors[name]), place, config)
        bank[place.base:place.base + len(operands)] = operands
    _fill_state(model, weights, images, config)

    tensors = {name: number for number, (name, _) in enumerate(model.exponents.items())}
    require_capacity(config, "tensors", len(tensors), "the network has that many tensors")
    sparse = {} if features.words is None else {FEATURES: features.words}
    emitter = Emitter(
        config=config, regions=memory.regions, weights=weights, tensors=tensors,
        slot=model.network.slot,
        messages=plan.messages, roots=plan.roots,
        operands=place_operands(
            config, model.network, memory, plan.vertices, features.operand(firsts)),
        timing=Timing(config, sparse), headroom=model.recipe.headroom_of,
        labels=labels)
    slices = dict.fromkeys(weights, config.slices) if room else gradient_slices(model, config)
    program = Program(network=model.network, emitter=emitter, gradient_emitter=GradientEmitter(
        emitter=emitter, slices=slices))
    entries: dict[str, int] = {}
    for entry in ("train", "evaluate") if room else ("load", "train", "evaluate"):
        row = len(emitter.schedule.issued)
        getattr(program, entry)()
        if row < len(emitter.schedule.issued):
            entries[entry] = row
    words = emitter.schedule.words
    require_capacity(config, "program_rows", len(words), "the program has that many instructions")
    job = Job(
        config=config, plan=plan, labels=labels, rows=model.sample.rows, program=words,
        row_table=plan.row_table(model.sample),
        entries=entries, phases=program.phases,
        updates=tuple(emitter.schedule.labels), tensors=tensors,
        exponents=dict(model.exponents.items()), regions=memory.regions, images=images,
        weights=weights, weight_bank=pack_rows(bank, config),
        split_sizes=_split_sizes(model.sample), **plan.traffic)
    for row, word in updates_at(job, model, 0):
        words[row] = word
    verify(job)
    return job


def with_sample(job: Job, sample: Sample) -> Job:
    """A job that goes on with another ``Sample``; program and parameters stay.

    Raises
    ------
    CapacityError
        If there is not enough room for it.
    """
    row_table, images = job.plan.row_table(sample), job.plan.images(sample)
    fill_dense(sample.features.values, job.regions[FEATURES], images, job.config)
    fill_labels(sample, job.labels, images, job.config)
    exponents = {EDGES: sample.edge_exponent, FEATURES: sample.features.exponent}
    return replace(job, rows=sample.rows, row_table=row_table, images=images,
                   exponents=job.exponents | exponents, split_sizes=_split_sizes(sample))


def updates_at(job: Job, model: Model, epoch: int) -> Iterator[tuple[int, int]]:
    """The program rows of UPDATEs, and the instructions with the constants of ``epoch``."""
    for row, name in job.updates:
        fields = decode(job.program[row]) | model.rates(name, epoch)._asdict()
        fields["momentum_exponent"] = model.momentum_exponents[name]
        yield row, encode(Opcode(fields.pop("opcode")), **fields)


def _check(model: Model, config: Config) -> None:
    if model.recipe.element_width != config.element_width:
        raise CapacityError(
            f"the model has {model.recipe.element_width}-bit elements, the configuration "
            f"{config.element_width}-bit; give both the same element_width")
    if model.network.classes > CLASSES:
        raise CapacityError(f"the network has {model.network.classes} classes, but the loss unit "
                            f"takes {CLASSES} at most")
    features = max(layer.features_in for layer in model.network.layers)
    if features > _MAXIMUM_PANELS * config.lanes:
        raise CapacityError(f"a layer has {features} input features, but with lanes = "
                            f"{config.lanes} there can be {_MAXIMUM_PANELS * config.lanes}; raise "
                            f"lanes, or reduce the features")
    if len(model.labels) >= _MAXIMUM_ROWS * config.cores:
        raise CapacityError(f"the graph has {len(model.labels)} vertices, but with dimensions = "
                            f"{config.dimensions} there must be fewer than "
                            f"{_MAXIMUM_ROWS * config.cores}; raise dimensions")
    if model.recipe.optimiser == "adam" and not config.adam:
        raise CapacityError("the recipe's optimiser is adam, but the configuration's adam is "
                            "False: its chip has no unit for it; set adam to True, or train with "
                            "sgd")


def _matrix(values: IntArray) -> IntArray:
    return np.atleast_2d(values)


def place_tensors(network: Network, memory: MemoryMap, config: Config) -> None:
    """Allocate matrices and masks: operands that meet lie in different channels."""
    for number, layer in enumerate(network.layers, 1):
        last = number == len(network.layers)
        forward, backward = _products(network, number)
        # What is aggregated first is multiplied while more is aggregated. LOSS writes to channel 1.
        summed = int(layer.order == AGGREGATE_FIRST and not layer.root and not last)
        for name, columns in forward:
            _place(memory, name, summed, columns)
        outputs = Tensor(Kind.LOGITS if last else Kind.HIDDEN, number)
        _place(memory, outputs, 0, layer.features_out)
        # Where dZ is only sent, it leaves channel 1 to edges and dT.
        sent = layer.order == COMBINE_FIRST and not layer.root and not last
        memory.matrix(Tensor(Kind.GRADIENT, number), 0 if sent or summed else 1,
                      layer.features_out)
        for name, columns in backward:
            memory.matrix(name, 1, columns)
        if not last:
            memory.packed(Tensor(Kind.MASK, number), 1, config.mask_rows, layer.features_out)


def _place(memory: MemoryMap, name: Tensor, channel: int, columns: int) -> None:
    """Allocate a matrix; evaluation uses the same words."""
    memory.regions[name.made(Pass.EVALUATION)] = memory.matrix(name, channel, columns)


def _products(network: Network, number: int) -> tuple[Shapes, Shapes]:
    """What a layer's products are stored in, and its columns, forward and backward."""
    layer = network.layers[number - 1]
    forward: Shapes = []
    backward: Shapes = []
    if layer.order == AGGREGATE_FIRST:
        forward.append((Tensor(Kind.AGGREGATED, number), layer.features_in))
    if layer.order == COMBINE_FIRST:
        forward.append((Tensor(Kind.COMBINED, number), layer.features_out))
        backward.append((Tensor(Kind.COMBINED_GRADIENT, number), layer.features_out))
    if layer.root:
        forward.append((Tensor(Kind.ROOT, number), layer.features_out))
    if number > 1 and network.sums_gradients(number):
        backward.append((Tensor(Kind.AGGREGATED_GRADIENT, number), layer.features_in))
        if layer.root:
            backward.append((Tensor(Kind.ROOT_GRADIENT, number), layer.features_in))
    if number in network.jumping[:-1]:
        backward.append((Tensor(Kind.JUMPING_GRADIENT, number), layer.features_out))
    return forward, backward


def place_weights(network: Network, memory: MemoryMap, config: Config, *,
                  adam: bool = False) -> tuple[dict[Tensor, Weights], int]:
    """Give every parameter its weight bank rows and its state's region; returns rows used.

    With ``adam``, state has second moments.
    """
    weights: dict[Tensor, Weights] = {}
    base = 0
    chunks = plan_reductions(network, config)
    for number, layer in enumerate(network.layers, 1):
        panels = -(-layer.features_out // config.lanes)
        shapes = [(weight.name, weight.shape[0], -(-weight.shape[0] // config.lanes) * config.lanes)
                  for weight in network.weights(number)]
        for name, features, height in (*shapes, (Tensor(Kind.BIAS, number), 1, 1)):
            rows = panels * height
            values = 3 if adam else 2
            state = memory.words(f"state of {name}", 1,
                                 -(-rows // config.cores) * values * config.state_words)
            weights[name] = Weights(
                name=name, shape=(features, layer.features_out), base=base, height=height,
                panels=panels, state=state, chunks=tuple(chunks[name]), adam=adam)
            base += rows
    require_capacity(config, "weight_rows", base,
                     "the network's weights take that many rows of the weight bank")
    return weights, base


def place_operands(config: Config, network: Network, memory: MemoryMap,
                   vertices: Sequence[Vertices], inputs: Parts) -> Operands:
    """Choose what is kept close to the engines; ``inputs`` are the features' ``Parts``."""
    return Operands(
        regions=memory.regions, vertices=vertices,
        buffer=OperandMap(config, _left_operands(network, memory, inputs)),
        kept=KeptMap(config, _kept_panels(network, memory, vertices)))


def _left_operands(network: Network, memory: MemoryMap, inputs: Parts) -> Iterator[Parts]:
    """The matrices that the array reads more than once."""
    if network.layers[0].order != AGGREGATE_FIRST:
        yield inputs
    names: list[Tensor] = []
    for number, layer in enumerate(network.layers, 1):
        if layer.order == AGGREGATE_FIRST:
            names.append(Tensor(Kind.AGGREGATED, number))
        else:
            names += [Tensor(Kind.HIDDEN, weight.source)
                      for weight in network.weights(number) if weight.source]
        if number > 1:
            direct = layer.order == COMBINE_FIRST and not network.sums_gradients(number)
            names.append(Tensor(Kind.COMBINED_GRADIENT if direct else Kind.GRADIENT, number))
    for name in dict.fromkeys(names):
        region = memory[name]
        yield Parts.dense(name, region.panels, region.stride)


def _kept_panels(network: Network, memory: MemoryMap,
                 vertices: Sequence[Vertices]) -> Iterator[tuple[Keep, Tensor, int, int]]:
    """Rows to be sent, and right operands of gradients, of matrices that are not tiled.

    If not all fit: chaining gains most where a matrix is a panel or two, in the last layers;
    gradients gain most where the array takes most panels, in the first.
    """
    last = len(network.layers)
    combines = [layer.order == COMBINE_FIRST for layer in network.layers]
    sent: list[Tensor] = []
    right: list[Tensor] = []
    for number, (layer, combine) in enumerate(zip(network.layers, combines, strict=True), 1):
        outputs = Tensor(Kind.GRADIENT, number)
        right.append(Tensor(Kind.COMBINED_GRADIENT, number) if combine else outputs)
        if combine:
            sent += [outputs, Tensor(Kind.COMBINED, number)]
        if number > 1 and network.sums_gradients(number):
            sent.append(Tensor(Kind.AGGREGATED_GRADIENT, number))
        if number > 1 and layer.order == AGGREGATE_FIRST:
            sent.append(Tensor(Kind.HIDDEN, number - 1))
    # Biases, and weights of roots, have gradients, too.
    right += [Tensor(Kind.GRADIENT, number)
              for number, combine in enumerate(combines, 1) if combine]
    if any(len(rows.tiles) > 1 for rows in vertices):
        return
    for target, names in ((Keep.SEND, reversed(sent)), (Keep.RIGHT, right)):
        for name in names:
            # LOSS writes several panels row by row.
            if name != Tensor(Kind.GRADIENT, last) or memory[name].panels == 1:
                yield target, name, memory[name].panels, memory[name].stride


def _split_sizes(sample: Sample) -> tuple[int, ...]:
    return tuple(int(np.count_nonzero(sample.splits == split))
                 for split in (Split.TRAIN, Split.VALIDATION, Split.TEST))


def _fill_state(model: Model, weights: Mapping[Tensor, Weights], images: Sequence[Image],
                config: Config) -> None:
    for name, place in weights.items():
        parts = [np.zeros((place.state.words, config.chunks), dtype=np.uint32)
                 for _ in range(config.cores)]
        store_state([_matrix(values) for values in model.optimiser(name).values()], place, config,
                    parts)
        for image, part in zip(images, parts, strict=True):
            image.append((place.state.name, part))
