"""Places a network's tensors and parameters: what programs and predictions begin with alike."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Self, TypeAlias

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
from hypercast.host.compiler.operand_map import OperandMap, Parts
from hypercast.host.compiler.operands import Operands
from hypercast.host.compiler.reduction import plan_reductions
from hypercast.host.compiler.schedule import Schedule
from hypercast.host.compiler.timing import Timing
from hypercast.host.compiler.vertices import Vertices
from hypercast.host.compiler.weights import Weights, first_panels
from hypercast.reference.array_types import IntArray
from hypercast.reference.network import AGGREGATE_FIRST, COMBINE_FIRST, Network
from hypercast.reference.tensor import EDGES, FEATURES, Kind, Pass, Tensor
from hypercast.rtl.config import Config
from hypercast.rtl.isa import Bypass

__all__ = ["NEXT_ENTRIES", "SUMS", "SUMS_AHEAD", "Layout"]

#: Input features, aggregated; and those of the next batch, if a step works ahead.
SUMS = Tensor(Kind.AGGREGATED, 1)
SUMS_AHEAD = SUMS.made(Pass.NEXT)
#: Entries of the exponent file that a program that works ahead has besides.
NEXT_ENTRIES = (EDGES.made(Pass.NEXT), FEATURES.made(Pass.NEXT), SUMS_AHEAD)

#: Tensors and their columns.
Shapes: TypeAlias = list[tuple[Tensor, int]]


@dataclass(frozen=True, kw_only=True)
class Layout:
    """Where a network's tensors and parameters lie: what programs and predictions begin with.

    Parameters
    ----------
    network : Network
        What is trained.
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
            Rows of input features that the largest core holds, if they are not those of the input.
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
        ValueError
            If what a step has to aggregate for the next one depends on weights.
        """
        if ahead and network.layers[0].order != AGGREGATE_FIRST:
            raise ValueError(f"a step can work ahead if the first layer is {AGGREGATE_FIRST}, not "
                             f"{network.layers[0].order}")
        rows = [level.rows for level in vertices]
        memory = MemoryMap(config, [max(shared_rows, feature_rows or rows[0]),
                                    *(max(shared_rows, count) for count in rows[1:])])
        if trained:
            place_tensors(network, memory, config, layers)
        else:
            _place_forward(network, memory, layers or range(1, len(rows)))
        if ahead:
            memory.matrix(SUMS_AHEAD, memory[SUMS].channel, network.features)
        edges(memory)
        if not layers or len(network.layers) in layers:
            for name in (LABELS, second(LABELS)) if twice else (LABELS,):
                memory.labels(labels.records(network.classes, config), name)
        if shared_rows and any(dropout.threshold for dropout in network.dropouts):
            memory.words(RANKS, 1, -(-rows[0] // config.ranks_in_word))
        read = (vertices[0].rows * -(-network.features // config.lanes) if words is None
                else int(words.sum(axis=1).max()))
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

    def emitter(self, *, inputs: Parts, tensors: Mapping[Tensor, int],
                messages: Mapping[tuple[int, bool], Sequence[PlacedMessages]],
                roots: Mapping[tuple[int, bool], Sequence[PlacedMessages]],
                headroom: Callable[[Tensor], int], schedule: Schedule,
                following: Sequence[Vertices] = (), turns: bool = True) -> Emitter:
        """An ``Emitter`` with an empty schedule, once the input features are placed.

        Parameters
        ----------
        inputs : Parts
            How the array takes the input features.
        tensors, messages, roots, headroom, schedule
            As in ``Emitter``.
        following, turns
            As in ``Operands``.
        """
        sparse = {} if self.words is None else {FEATURES: self.words}
        return Emitter(
            config=self.config, regions=self.memory.regions, weights=self.weights,
            tensors=tensors, exponent_entry=self.network.exponent_entry, messages=messages,
            roots=roots,
            operands=place_operands(self.config, self.network, self.memory, self.vertices, inputs,
                                    following, turns=turns, layers=self.layers,
                                    shared=self.shared),
            timing=Timing(self.config, sparse), headroom=headroom, labels=self.labels,
            schedule=schedule)


def place_tensors(network: Network, memory: MemoryMap, config: Config,
                  layers: range = range(0)) -> None:
    """Allocate matrices and masks of some layers, or of all: operands that meet lie in different
    channels.
    """
    last = len(network.layers)
    layers = layers or range(1, last + 1)
    # What they read of others, and the gradient of that, or a part of it.
    for source in range(1, layers[0]):
        readers = network.readers(source)
        if any(number in layers for number in readers):
            _place(memory, Tensor(Kind.HIDDEN, source), 0, network.layers[source - 1].features_out)
            ends = last in layers or readers[0] in layers
            products = _jumping_product(network, source) if ends else []
            if readers[0] in layers:
                _place_gradients(network, memory, config, source, products)
            else:
                for name, columns in products:
                    memory.matrix(name, 1, columns)
    if layers[0] > 2 and any(number in layers for number in network.initial):
        _place(memory, Tensor(Kind.HIDDEN, 1), 0, network.layers[0].features_out)
    for added in map(network.added_initial, layers):
        if added and added.layer not in layers:
            memory.matrix(added, 1, network.layers[0].features_out)
    for number in layers[layers[0] == 1:]:
        added = network.added_gradient(number)
        if added and added.kind == Kind.PARTIAL_GRADIENT and added.layer not in layers:
            memory.matrix(added, 1, network.layers[number - 1].features_in)
    for number in layers:
        _place_outputs(network, memory, number)
        products = _products(network, number)[1]
        if last in layers or (number < last and network.readers(number)[0] in layers):
            products += _jumping_product(network, number)
        _place_gradients(network, memory, config, number, products)


def _place_gradients(network: Network, memory: MemoryMap, config: Config, number: int,
                     products: Iterable[tuple[Tensor, int]]) -> None:
    """Allocate the gradient of a layer's output, what is made of it, and the mask."""
    layer, last = network.layers[number - 1], number == len(network.layers)
    # Where dZ is only sent, it leaves channel 1 to edges and dT. Sums that lie there meet it.
    sent = layer.order == COMBINE_FIRST and not layer.root and not last
    summed = layer.order == AGGREGATE_FIRST and not last
    memory.matrix(Tensor(Kind.GRADIENT, number), 0 if sent or summed else 1, layer.features_out)
    for name, columns in products:
        memory.matrix(name, 1, columns)
    if not last:
        memory.packed(Tensor(Kind.MASK, number), 1, config.mask_rows, layer.features_out)


def _place_forward(network: Network, memory: MemoryMap, numbers: range) -> None:
    """Allocate the matrices that some layers make in a forward pass, and what they are made of."""
    for number in numbers:
        for weight in network.weights(number):
            read = Tensor(Kind.HIDDEN, weight.source)
            if weight.source and read not in memory.regions:
                _place(memory, read, 0, network.layers[weight.source - 1].features_out)
        _place_outputs(network, memory, number)


def _place_outputs(network: Network, memory: MemoryMap, number: int) -> None:
    """Allocate the matrices that a layer makes in a forward pass."""
    layer, last = network.layers[number - 1], number == len(network.layers)
    # What is aggregated first is multiplied while more is aggregated. LOSS writes to channel 1.
    summed = int(layer.order == AGGREGATE_FIRST and not last)
    for name, columns in _products(network, number)[0]:
        _place(memory, name, summed, columns)
    _place(memory, Tensor(Kind.LOGITS if last else Kind.HIDDEN, number), 0, layer.features_out)


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
    if number > 1 and not network.finishes(number) and not (
            network.jumping and number == len(network.layers)):
        backward.append((Tensor(Kind.PARTIAL_GRADIENT, number), layer.features_in))
    if number in network.initial:
        backward += [(name, network.layers[0].features_out) for name in dict.fromkeys(
            (Tensor(Kind.ROOT_GRADIENT, number), network.initial_gradient(number)))]
    return forward, backward


def _jumping_product(network: Network, number: int) -> Shapes:
    """With jumping knowledge, what the last layer's part of the gradient of outputs is stored in.
    """
    return [(Tensor(Kind.JUMPING_GRADIENT, number), network.layers[number - 1].features_out)
            ] if number in network.jumped else []


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
                   vertices: Sequence[Vertices], inputs: Parts,
                   following: Sequence[Vertices] = (), *, turns: bool = True,
                   layers: range = range(0), shared: bool = False) -> Operands:
    """Choose what stays close to the engines; ``inputs`` are the features' ``Parts``.

    ``layers`` and ``shared`` as in ``Layout``. What comes from outside is in memory only.
    """
    layers = layers or range(1, len(network.layers) + 1)
    return Operands(
        regions=memory.regions, vertices=vertices, following=following, turns=turns,
        buffer=OperandMap(config, _left_operands(network, memory, inputs, layers)),
        bypass=BypassMap(config, _bypassed_panels(network, memory, vertices, layers,
                                                  shared=shared)))


def _left_operands(network: Network, memory: MemoryMap, inputs: Parts,
                   layers: range) -> Iterator[Parts]:
    """The matrices that the array reads more than once, of those that have a place in memory."""
    if network.layers[0].order != AGGREGATE_FIRST:
        yield inputs
    names: list[Tensor] = []
    for number in layers:
        layer = network.layers[number - 1]
        if layer.order == AGGREGATE_FIRST:
            names.append(Tensor(Kind.AGGREGATED, number))
        else:
            names += [Tensor(Kind.HIDDEN, weight.source)
                      for weight in network.weights(number) if weight.source]
        if number > 1:
            direct = layer.order == COMBINE_FIRST and not network.sums_gradients(number)
            names += [Tensor(Kind.COMBINED_GRADIENT, number)] * direct
            names += [Tensor(Kind.GRADIENT, number)] * (not direct or number in network.initial)
    for name in dict.fromkeys(name for name in names if name in memory.regions):
        region = memory[name]
        yield Parts.dense(name, region.panels, region.stride)


def _bypassed_panels(network: Network, memory: MemoryMap, vertices: Sequence[Vertices],
                     layers: range, *,
                     shared: bool) -> Iterator[tuple[Bypass, Tensor, int, int]]:
    """Rows to be sent, and right operands of gradients, of matrices that are not tiled.

    If not all fit: chaining gains most where a matrix is a panel or two, in the last layers;
    gradients gain most where the array takes most panels, in the first. What has no place in
    memory, as gradients where nothing is trained, takes none here.
    """
    last = len(network.layers)
    given = {Tensor(Kind.HIDDEN, number) for number in range(1, layers[0])}
    given |= {Tensor(Kind.GRADIENT, number) for number in layers
              if number < last and network.readers(number)[0] not in layers}
    combining = [number for number in layers
                 if network.layers[number - 1].order == COMBINE_FIRST]
    sent: list[Tensor] = []
    right: list[Tensor] = []
    for number in layers:
        outputs = Tensor(Kind.GRADIENT, number)
        combine = number in combining
        right.append(Tensor(Kind.COMBINED_GRADIENT, number) if combine else outputs)
        if combine:
            sent += [outputs, Tensor(Kind.COMBINED, number)]
        if number > 1 and network.sums_gradients(number):
            sent.append(Tensor(Kind.AGGREGATED_GRADIENT, number))
        if number > 1 and network.layers[number - 1].order == AGGREGATE_FIRST:
            sent.append(Tensor(Kind.HIDDEN, network.source(number)))
    # Biases, and weights of roots, have gradients, too.
    right += [Tensor(Kind.GRADIENT, number) for number in combining]
    if shared:
        sent = []
    if any(len(rows.strips) > 1 for rows in vertices):
        return
    for target, names in ((Bypass.SEND, reversed(sent)), (Bypass.RIGHT, right)):
        for name in (one for one in names if one in memory.regions and one not in given):
            # LOSS writes several panels row by row.
            if name != Tensor(Kind.GRADIENT, last) or memory[name].panels == 1:
                yield target, name, memory[name].panels, memory[name].stride
