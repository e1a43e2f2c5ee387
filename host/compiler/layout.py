# SPDX-License-Identifier: BSD-2-Clause
"""Places a network's tensors and parameters: what programs and predictions begin with alike."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from hypercast.errors import InputError
from hypercast.host.compiler.bypass_map import BypassMap
from hypercast.host.compiler.emitter import Emitter, PlacedMessages
from hypercast.host.compiler.label_list import LabelFormat
from hypercast.host.compiler.memory_map import (
    LABELS,
    RANKS,
    MemoryMap,
    require_capacity,
    second,
)
from hypercast.host.compiler.operand_map import LeftOperand, OperandMap
from hypercast.host.compiler.operands import Operands
from hypercast.host.compiler.reduction import plan_reductions
from hypercast.host.compiler.schedule import Schedule
from hypercast.host.compiler.tiling import PLAIN, Tiling
from hypercast.host.compiler.timing import Timing
from hypercast.host.compiler.vertices import Vertices
from hypercast.host.compiler.weights import Weights, first_panels
from hypercast.reference.array_types import IntArray
from hypercast.reference.network import AGGREGATE_FIRST, Network
from hypercast.reference.step_graph import Op, StepGraph, step_graph
from hypercast.reference.tensor import BACKWARD, EDGES, FEATURES, FORWARD, ONE, Kind, Pass, Tensor
from hypercast.rtl.config import Config
from hypercast.rtl.isa import Bypass

__all__ = ["NEXT_ENTRIES", "SUMS", "SUMS_AHEAD", "Layout"]

#: Sums of input features; and of the next batch's input features, if a step works ahead.
SUMS = Tensor(Kind.AGGREGATED, 1)
SUMS_AHEAD = SUMS.in_pass(Pass.NEXT)
#: Entries of the exponent file that a program that works ahead has besides.
NEXT_ENTRIES = (EDGES.in_pass(Pass.NEXT), FEATURES.in_pass(Pass.NEXT), SUMS_AHEAD)

#: Places of a layer's tensors behind its forward results; others of a place follow each other in
#: the order in which they are stored.
_PLACES = {Kind.GRADIENT: 1, **dict.fromkeys(BACKWARD - {Kind.GRADIENT}, 2),
           Kind.JUMPING_GRADIENT: 3, Kind.MASK: 4}
#: Kinds of matrices of which a layer's rows are sent, in the order in which they get places close
#: to the engine that sends them.
_SENT = (Kind.GRADIENT, Kind.COMBINED, Kind.AGGREGATED_GRADIENT, Kind.HIDDEN)


@dataclass(frozen=True, kw_only=True)
class Layout:
    """Where a network's tensors and parameters lie: what programs and predictions begin with.

    Parameters
    ----------
    network : Network
        The network that is trained.
    config : Config
        Configuration of the chip.
    vertices : sequence of Vertices
        Vertices of the input, and of every layer's output.
    labels : LabelFormat
        How labels lie in memory.
    memory : MemoryMap
        Regions of all but the input features, which can be stored in several ways.
    weights : dict
        Where parameters lie, as ``Weights``.
    weight_rows : int
        Rows of the weight bank that they take.
    words : (cores, panels) array of int, optional
        Words of the input features, if they are word-sparse.
    ahead : bool
        Whether a step aggregates the next batch's input features, too.
    layers : range
        Layers (from 1) that it is of; all of them if empty.
    shared : bool
        Whether matrices have rows of other devices, too, which come before they are summed.
    """

    network: Network
    config: Config
    vertices: Sequence[Vertices]
    labels: LabelFormat
    memory: MemoryMap
    weights: dict[Tensor, Weights]
    weight_rows: int
    words: IntArray | None = None
    ahead: bool = False
    layers: range = range(0)
    shared: bool = False

    @classmethod
    def of(cls, network: Network, config: Config, vertices: Sequence[Vertices],
           labels: LabelFormat, *, words: IntArray | None = None,
           edges: Callable[[MemoryMap], None] = lambda memory: None, adam: bool = False,
           ahead: bool = False, twice: bool = False, kept: bool = False,
           feature_rows: int | None = None, layers: range = range(0), trained: bool = True,
           shared_rows: int = 0) -> Self:
        """Place everything but the input features.

        Parameters
        ----------
        network, config, vertices, labels, words, ahead
            As in ``Layout``.
        edges : callable
            Allocates the regions of edges in a ``MemoryMap``.
        adam : bool
            Whether the optimiser's state has second moments.
        twice : bool
            Whether there are two places for labels.
        kept : bool
            Whether there is room for sums of gradients, beside the optimiser's state.
        feature_rows : int, optional
            Rows of input features that the largest core holds, if not the input's rows.
        layers : range
            Layers (from 1) that it is of, if it is not of all: there is room for what these read
            and write, and for no other parameters.
        trained : bool
            Whether layers are trained: if not, there is no room for gradients, and for the
            optimiser's state.
        shared_rows : int
            Rows that the largest core holds of each matrix, if others have rows that are summed
            here.

        Raises
        ------
        CapacityError
            If the weight bank is too small.
        InputError
            If what a step has to aggregate for the next one depends on weights.
        """
        if ahead and not network.only_aggregates_features:
            raise InputError(f"a step can work ahead if the first layer is {AGGREGATE_FIRST} and "
                             f"no other reads the input features, not if those that do are "
                             f"{network.feature_orders}")
        rows = [level.rows for level in vertices]
        memory = MemoryMap(config, [max(shared_rows, feature_rows or rows[0]),
                                    *(max(shared_rows, count) for count in rows[1:])])
        place_tensors(network, memory, config, layers, trained=trained)
        if ahead:
            memory.matrix(SUMS_AHEAD, memory[SUMS].channel, network.features)
        edges(memory)
        if not layers or len(network.layers) in layers:
            for name in (LABELS, second(LABELS)) if twice else (LABELS,):
                memory.labels(labels.records(network.classes, config), name)
        if shared_rows and any(dropout.threshold for dropout in network.dropouts):
            memory.words(RANKS, 1, -(-rows[0] // config.ranks_in_word))
        read = (vertices[0].rows * -(-network.features // config.lanes) if words is None
                else int(words.sum(axis=(1, 2)).max()))
        weights, weight_rows = place_weights(
            network, memory, config, read, adam=adam, kept=kept, layers=layers, trained=trained,
            apart=bool(shared_rows))
        return cls(network=network, config=config, vertices=vertices, labels=labels,
                   memory=memory, weights=weights, weight_rows=weight_rows, words=words,
                   ahead=ahead, layers=layers, shared=bool(shared_rows))

    @property
    def first_panels(self) -> list[int]:
        """First panels of the pieces that the input features are taken in, if word-sparse."""
        return first_panels([self.weights[weight.name] for weight in self.network.inputs
                             if weight.name in self.weights], self.config)

    def emitter(self, *, inputs: LeftOperand, tensors: Mapping[Tensor, int],
                messages: Mapping[tuple[int, bool], Sequence[PlacedMessages]],
                roots: Mapping[tuple[int, bool], Sequence[PlacedMessages]],
                headroom: Callable[[Tensor], int], schedule: Schedule,
                following: Sequence[Vertices] = (), tiling: Tiling = PLAIN) -> Emitter:
        """An ``Emitter`` with an empty schedule, once the input features are placed.

        Parameters
        ----------
        inputs : LeftOperand
            How the array takes the input features.
        tensors, messages, roots, headroom, schedule
            As in ``Emitter``.
        following, tiling
            As in ``Operands``.
        """
        sparse = {} if self.words is None else {FEATURES: self.words}
        return Emitter(
            config=self.config, regions=self.memory.regions, weights=self.weights,
            tensors=tensors, exponent_entry=self.network.exponent_entry, messages=messages,
            roots=roots,
            operands=place_operands(self.config, self.network, self.memory, self.vertices, inputs,
                                    following, tiling=tiling, layers=self.layers,
                                    shared=self.shared),
            timing=Timing(self.config, sparse), headroom=headroom, labels=self.labels,
            schedule=schedule)


def place_tensors(network: Network, memory: MemoryMap, config: Config,
                  layers: range = range(0), *, trained: bool = True) -> None:
    """Allocate the matrices and masks that some layers, or all, read and store.

    What others store comes first. Layers follow each other: forward results, then gradients.

    Parameters
    ----------
    network, config
        As of ``Layout``.
    memory : MemoryMap
        Where they are allocated.
    layers : range
        The layers, from 1; all of them if empty.
    trained : bool
        Whether there is a backward pass.
    """
    graph, layers = step_graph(network), layers or range(1, len(network.layers) + 1)
    found = graph.tensors_of(layers, trained=trained)
    read_first = {term.rows for layer in layers for term in graph.forward_of(layer)[0].terms}

    def place(name: Tensor) -> tuple[bool, bool, bool, int, int]:
        own = name.layer in layers
        given = not own and name.layer < layers[0]
        return (own, not given, given and name.kind == Kind.HIDDEN and name not in read_first,
                name.layer, _PLACES.get(name.kind, 0))

    for name in sorted((name for name in graph.columns if name in found), key=place):
        columns = graph.columns[name]
        if name.kind == Kind.MASK:
            memory.add_packed(name, 1, config.mask_rows, columns)
            continue
        tiled = memory.rows_of(name) > config.strip_rows
        region = memory.matrix(name, _channel(graph, name, tiled=tiled), columns)
        if name.kind in FORWARD:  # evaluation uses the same words
            memory.regions[name.in_pass(Pass.EVALUATION)] = region


def _channel(graph: StepGraph, name: Tensor, *, tiled: bool) -> int:
    """The memory channel of a matrix: operands that meet lie in different ones.

    Features are in channel 0, gradients in channel 1. But sums over neighbours are multiplied while
    more are summed, so they leave channel 0 to the features that are sent, and the gradients that
    meet them are there; LOSS writes to channel 1, whatever it meets. A gradient that is only sent
    leaves channel 1 to edges and to what is made of it. A product that is only sent, and ``tiled``,
    leaves channel 0 to what it is made of, which is read for many of its panels.
    """
    last = len(graph.network.layers)
    if tiled and name.kind == Kind.COMBINED:
        return 1
    if name.layer == last:
        return int(name.kind in BACKWARD)
    if name.kind == Kind.GRADIENT:
        met = [gradient.left for gradient in graph.gradients_of(name.layer)
               if gradient.right == name and gradient.left != ONE]
        return int(bool(met) and met[0].kind != Kind.AGGREGATED)
    return int(name.kind in BACKWARD or name.kind == Kind.AGGREGATED)


def place_weights(network: Network, memory: MemoryMap, config: Config, words: int, *,
                  adam: bool = False, kept: bool = False, layers: range = range(0),
                  trained: bool = True, apart: bool = False) -> tuple[dict[Tensor, Weights], int]:
    """Give parameters their weight bank rows and their state's regions; returns rows used.

    ``words``, ``layers`` and ``apart`` as in ``plan_reductions``. With ``adam``, state has second
    moments. With ``kept``, there is room for sums of gradients beside it. If nothing is
    ``trained``, there is no state.
    """
    weights: dict[Tensor, Weights] = {}
    base = 0
    layers = layers or range(1, len(network.layers) + 1)
    portions = plan_reductions(network, config, words, layers, apart=apart)
    for number in layers:
        layer = network.layers[number - 1]
        panels = -(-layer.features_out // config.lanes)
        shapes = [(weight.name, weight.shape[0], -(-weight.shape[0] // config.lanes) * config.lanes)
                  for weight in network.weights(number)]
        for name, features, height in (*shapes, (Tensor(Kind.BIAS, number), 1, 1)):
            rows = panels * height
            values = (3 if adam else 2) + (2 if kept else 0) if trained else 0
            state = memory.words(f"state of {name}", 1,
                                 -(-rows // config.cores) * values * config.state_words)
            weights[name] = Weights(
                name=name, shape=(features, layer.features_out), base=base, height=height,
                panels=panels, state=state, portions=tuple(portions[name]), adam=adam, kept=kept)
            base += rows
    require_capacity(config, "weight_rows", base,
                     "the network's weights take that many rows of the weight bank")
    return weights, base


def place_operands(config: Config, network: Network, memory: MemoryMap,
                   vertices: Sequence[Vertices], inputs: LeftOperand,
                   following: Sequence[Vertices] = (), *, tiling: Tiling = PLAIN,
                   layers: range = range(0), shared: bool = False) -> Operands:
    """Choose what stays close to the engines; ``inputs`` are the features' ``LeftOperand``.

    ``layers`` and ``shared`` as in ``Layout``. What comes from outside is in memory only.
    """
    graph, layers = step_graph(network), layers or range(1, len(network.layers) + 1)
    return Operands(
        regions=memory.regions, vertices=vertices, following=following, tiling=tiling,
        buffer=OperandMap(config, _left_operands(graph, memory, inputs, layers)),
        bypass=BypassMap(config, _bypassed_panels(graph, memory, vertices, layers,
                                                  shared=shared)))


def _left_operands(graph: StepGraph, memory: MemoryMap, inputs: LeftOperand,
                   layers: range) -> Iterator[LeftOperand]:
    """The matrices that the array reads more than once, of those that have a place in memory."""
    if graph.forward[0].terms[0].op == Op.MULTIPLY:
        yield inputs
    names = [term.rows for layer in layers
             for node in (*graph.forward_of(layer), *reversed(graph.backward_of(layer)))
             for term in node.terms if term.op == Op.MULTIPLY]
    for name in dict.fromkeys(name for name in names if name in memory.regions):
        if name != FEATURES:
            region = memory[name]
            yield LeftOperand.dense(name, region.panels, region.stride)


def _bypassed_panels(graph: StepGraph, memory: MemoryMap, vertices: Sequence[Vertices],
                     layers: range, *,
                     shared: bool) -> Iterator[tuple[Bypass, Tensor, int, int]]:
    """Rows to be sent, and right operands of gradients, of matrices that are not tiled.

    If not all fit: chaining gains most where a matrix is a panel or two, in the last layers;
    gradients gain most where the array takes most panels, in the first. What has no place in
    memory, as gradients where nothing is trained, takes none here.
    """
    if any(len(rows.strips) > 1 for rows in vertices):
        return
    logits = Tensor(Kind.GRADIENT, len(graph.network.layers))
    made, sent, right = {logits}, list[Tensor](), list[Tensor]()
    for layer in layers:
        nodes = *graph.forward_of(layer), *graph.backward_of(layer)
        made |= {node.result for node in nodes}
        named = {term.rows for node in nodes for term in node.terms if term.op != Op.MULTIPLY}
        sent += sorted((name for name in named if name.kind in _SENT),
                       key=lambda name: _SENT.index(name.kind))
    gradients = [graph.gradients_of(layer) for layer in layers]
    # Operands of gradients of each layer's first weights, then of its bias.
    right = [some[1].right for some in gradients] + [some[0].right for some in gradients]
    for target, names in ((Bypass.SEND, () if shared else reversed(sent)), (Bypass.RIGHT, right)):
        for name in dict.fromkeys(one for one in names if one in memory.regions and one in made):
            # LOSS writes several panels row by row.
            if name != logits or memory[name].panels == 1:
                yield target, name, memory[name].panels, memory[name].stride
