# SPDX-License-Identifier: BSD-2-Clause
"""The step graph: everything that a training step of a network stores, as sums of few kinds.

Each tensor is the result of a node: some terms are summed exactly in accumulators, then rounded
once. The forward nodes follow from the layers, and the backward nodes from the forward ones by
rules. Reference, compiler, boards and planner read the same graph. Their witnesses, ``float_gnn``
and the exact step of the tests, do not.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property, lru_cache
from itertools import groupby
from typing import NamedTuple

from hypercast.reference.dropout import Dropout
from hypercast.reference.network import AGGREGATE_FIRST, LINEAR, Network
from hypercast.reference.tensor import BACKWARD, FEATURES, ONE, Kind, Pass, Tensor

__all__ = ["Node", "Op", "ParameterGradient", "StepGraph", "Term", "step_graph"]


class Op(Enum):
    """The operation on a term's rows before they are summed."""

    MULTIPLY = "multiply"  # by weights; in the backward pass by transposed ones
    AGGREGATE = "aggregate"  # over neighbours; in the backward pass along the reversed edges
    ADD = "add"  # nothing


class Term(NamedTuple):
    """An addend of a node.

    Attributes
    ----------
    op : Op
        The operation on the rows.
    rows : Tensor
        The matrix that has them. The result may have fewer rows: then only the first rows count.
    weights : Tensor, optional
        The matrix that ``MULTIPLY`` multiplies by.
    dropout : Dropout, optional
        Elements of the input features that are dropped where they are read.
    """

    op: Op
    rows: Tensor
    weights: Tensor | None = None
    dropout: Dropout | None = None


@dataclass(frozen=True, kw_only=True)
class Node:
    """A tensor, and the terms whose sum it is.

    Parameters
    ----------
    result : Tensor
        The tensor that is stored.
    layer : int
        The layer, from 1, whose work it is: whose edges are summed over, and whose board does it.
    columns : int
        Columns of the result.
    terms : tuple of Term
        The addends. All have the exponent of the first one.
    bias : Tensor, optional
        Added to each row.
    relu : bool
        Whether negative elements become zero.
    scale : Dropout, optional
        The sums are multiplied by its scale when they are rounded.
    dropout : Dropout, optional
        Elements of the result that are dropped.
    mask_write : Tensor, optional
        Where it is noted which elements of the result are positive and kept.
    mask_read : Tensor, optional
        A mask that an earlier node wrote; other elements of the result become zero.
    """

    result: Tensor
    layer: int
    columns: int
    terms: tuple[Term, ...]
    bias: Tensor | None = None
    relu: bool = False
    scale: Dropout | None = None
    dropout: Dropout | None = None
    mask_write: Tensor | None = None
    mask_read: Tensor | None = None

    @property
    def backward(self) -> bool:
        """Whether it is a gradient: weights are transposed, and edges are reversed."""
        return self.result.kind in BACKWARD

    @property
    def evaluation(self) -> "Node":
        """This node of the forward pass in an evaluation, which drops nothing."""
        terms = tuple(Term(term.op, term.rows.in_pass(Pass.EVALUATION), term.weights)
                      for term in self.terms)
        return replace(self, result=self.result.in_pass(Pass.EVALUATION), terms=terms, scale=None,
                       dropout=None, mask_write=None)


class ParameterGradient(NamedTuple):
    """The gradient of a parameter: ``left.T @ right``, a sum over the vertices.

    Attributes
    ----------
    parameter : Tensor
        Weights or a bias.
    left, right : Tensor
        The factors; the left one of a bias is ``ONE``.
    dropout : Dropout, optional
        Elements of the input features on the left that are dropped where they are read.
    """

    parameter: Tensor
    left: Tensor
    right: Tensor
    dropout: Dropout | None = None

    @property
    def factors(self) -> tuple[Tensor, Tensor]:
        """Left and right factor."""
        return self.left, self.right


@dataclass(frozen=True)
class StepGraph:
    """A training step of a network; ``step_graph`` makes it.

    Parameters
    ----------
    network : Network
        The network.
    forward : tuple of Node
        In the order in which they are computed. The loss follows, from the logits to their
        gradient.
    backward : tuple of Node
        From the last layer to the first.
    gradients : dict
        Parameter to its ``ParameterGradient``, from the last layer to the first; of a layer, the
        bias comes first.
    """

    network: Network
    forward: tuple[Node, ...]
    backward: tuple[Node, ...]
    gradients: dict[Tensor, ParameterGradient]

    def forward_of(self, layer: int, during: Pass = Pass.TRAINING) -> tuple[Node, ...]:
        """A layer's nodes of the forward pass, of a training step or of an evaluation."""
        return self._forward[layer, during != Pass.EVALUATION]

    def backward_of(self, layer: int) -> tuple[Node, ...]:
        """A layer's nodes of the backward pass."""
        return self._backward.get(layer, ())

    def gradients_of(self, layer: int) -> list[ParameterGradient]:
        """Gradients of a layer's parameters, the bias's first."""
        return [gradient for gradient in self.gradients.values()
                if gradient.parameter.layer == layer]

    def aggregated_columns(self, layer: int) -> tuple[list[int], list[int]]:
        """Columns of each matrix that a layer sums over neighbours, forward and backward."""
        forward, backward = ([
            self.columns.get(term.rows, self.network.features) for node in nodes
            for term in node.terms if term.op == Op.AGGREGATE]
            for nodes in (self.forward_of(layer), self.backward_of(layer)))
        return forward, backward

    @cached_property
    def adds_rows(self) -> bool:
        """Whether rows are added themselves anywhere, to sums over neighbours or to other sums."""
        return any(term.op == Op.ADD for node in (*self.forward, *self.backward)
                   for term in node.terms)

    def gradients_after(self, layers: Iterable[int]) -> frozenset[int]:
        """Other layers whose gradients go into the gradients of some layers, by whichever way."""
        makers = {node.result: node.layer for node in self.backward}
        some, left, found = {*layers}, [*layers], set[int]()
        while left:
            layer = left.pop()
            read = {Tensor(Kind.GRADIENT, layer), *(
                term.rows for node in self.backward_of(layer) for term in node.terms)}
            more = {makers[name] for name in read if name in makers} - found - {layer}
            found |= more
            left += more
        return frozenset(found - some)

    def tensors_of(self, layers: Iterable[int], *, trained: bool = True) -> frozenset[Tensor]:
        """Matrices and masks that some layers read or store, but for the input features.

        Parameters
        ----------
        layers : iterable of int
            The layers, from 1.
        trained : bool
            Whether they are trained: if not, only the tensors of the forward pass count, without
            masks.
        """
        found: set[Tensor] = set()
        for layer in layers:
            if trained:
                nodes = *self.forward_of(layer), *self.backward_of(layer)
                found.update(mask for node in nodes for mask in (node.mask_write, node.mask_read)
                             if mask)
                found.add(Tensor(Kind.GRADIENT, layer))
            else:
                nodes = self.forward_of(layer)
            found.update(name for node in nodes
                         for name in (node.result, *(term.rows for term in node.terms)))
        return frozenset(found - {FEATURES})

    @cached_property
    def kept(self) -> frozenset[Tensor]:
        """Matrices and masks of the forward pass that the backward pass reads."""
        made = {FEATURES, *(name for node in self.forward
                            for name in (node.result, node.mask_write) if name)}
        read = {gradient.left for gradient in self.gradients.values()}
        for node in self.backward:
            read.update(term.rows for term in node.terms)
            if node.mask_read:
                read.add(node.mask_read)
        return frozenset(made & read)

    @cached_property
    def columns(self) -> dict[Tensor, int]:
        """Matrix or mask to its columns: all that are stored, but the loss's, in order."""
        nodes = *self.forward, *self.backward
        return {Tensor(Kind.GRADIENT, len(self.network.layers)): self.network.classes} | {
            name: node.columns for node in nodes for name in (node.result, node.mask_write) if name}

    @cached_property
    def _forward(self) -> dict[tuple[int, bool], tuple[Node, ...]]:
        found = _by_layer(self.forward)
        return {(layer, training): nodes if training else tuple(node.evaluation for node in nodes)
                for layer, nodes in found.items() for training in (True, False)}

    @cached_property
    def _backward(self) -> dict[int, tuple[Node, ...]]:
        return _by_layer(self.backward)


def _by_layer(nodes: Sequence[Node]) -> dict[int, tuple[Node, ...]]:
    return {layer: tuple(some) for layer, some in groupby(nodes, lambda node: node.layer)}


@lru_cache(maxsize=256)
def step_graph(network: Network) -> StepGraph:
    """The ``StepGraph`` of a network."""
    forward = tuple(node for number, _ in enumerate(network.layers, 1)
                    for node in _layer(network, number))
    return StepGraph(network, forward, tuple(_gradients(network, forward)), {
        gradient.parameter: gradient for number in range(len(network.layers), 0, -1)
        for gradient in _parameter_gradients(network, number, _by_layer(forward)[number])})


# Forward: a rule for each kind of layer.

def _layer(network: Network, number: int) -> Iterator[Node]:
    """A layer's nodes of the forward pass; the last one has its outputs."""
    layer, scale = network.layers[number - 1], network.dropouts[number - 1]
    last = number == len(network.layers)
    outputs = Node(
        result=Tensor(Kind.LOGITS if last else Kind.HIDDEN, number), layer=number,
        columns=layer.features_out, terms=(), bias=Tensor(Kind.BIAS, number), relu=not last,
        dropout=None if last else network.output_dropout(number),
        mask_write=None if last else Tensor(Kind.MASK, number))
    products = tuple(
        Term(Op.MULTIPLY, Tensor(Kind.HIDDEN, weight.source), weight.name) if weight.source
        else Term(Op.MULTIPLY, FEATURES, weight.name, network.output_dropout(0))
        for weight in network.weights(number))
    if layer.order == LINEAR:
        yield replace(outputs, terms=products, scale=scale)
        return
    if layer.order == AGGREGATE_FIRST:
        [product] = products  # of features without dropout, if they are the input
        sums = Node(result=Tensor(Kind.AGGREGATED, number), layer=number,
                    columns=layer.features_in, terms=(Term(Op.AGGREGATE, product.rows),),
                    scale=scale)
        yield sums
        yield replace(outputs, terms=(Term(Op.MULTIPLY, sums.result, product.weights),))
        return
    parts = [Node(result=Tensor(kind, number), layer=number, columns=layer.features_out,
                  terms=(product,), scale=scale)
             for kind, product in zip((Kind.COMBINED, Kind.ROOT), products, strict=False)]
    yield from parts
    yield replace(outputs, terms=tuple(
        Term(op, part.result) for op, part in zip((Op.AGGREGATE, Op.ADD), parts, strict=False)))


# Backward: rules that take the forward nodes.

class _Use(NamedTuple):
    """How a layer's sums come from features: by a product, and maybe a sum over neighbours.

    Attributes
    ----------
    rows, weights : Tensor
        The features, and the weights that multiply them.
    stored : Tensor or None
        The tensor that is stored between the two, product or sum; None if there is no sum over
        neighbours.
    """

    rows: Tensor
    weights: Tensor
    stored: Tensor | None = None

    @property
    def aggregated_first(self) -> bool:
        """Whether the sum over neighbours comes first."""
        return self.stored is not None and self.stored.kind == Kind.AGGREGATED

    @property
    def gradient(self) -> Kind:
        """The kind of the product of the sums' gradient with transposed weights."""
        root = self.weights.kind in (Kind.ROOT_WEIGHTS, Kind.IDENTITY)
        return Kind.ROOT_GRADIENT if root else Kind.AGGREGATED_GRADIENT


def _uses(nodes: Sequence[Node]) -> Iterator[_Use]:
    """The uses of features in a layer's nodes of the forward pass."""
    *parts, outputs = nodes
    made = {node.result: node.terms[0] for node in parts}
    for term in outputs.terms:
        first = made.get(term.rows, term)
        weights = first.weights or term.weights
        assert weights is not None, f"{outputs.result} is not a sum of products"
        yield _Use(first.rows, weights, None if Op.AGGREGATE not in (first.op, term.op)
                   else term.rows)


def _parameter_gradients(network: Network, number: int,
                         nodes: Sequence[Node]) -> Iterator[ParameterGradient]:
    """Gradients of a layer's parameters.

    A factor is stored where the product with the weights is made: the rows that are multiplied are
    the left factor, the gradient of the product is the right one.
    """
    outputs = Tensor(Kind.GRADIENT, number)
    yield ParameterGradient(Tensor(Kind.BIAS, number), ONE, outputs)
    for use in _uses(nodes):
        if use.aggregated_first:
            assert use.stored is not None
            yield ParameterGradient(use.weights, use.stored, outputs)
            continue
        dropout = network.output_dropout(0) if use.rows == FEATURES else None
        yield ParameterGradient(use.weights, use.rows, Tensor(
            Kind.COMBINED_GRADIENT, number) if use.stored else outputs, dropout)


def _gradients(network: Network, forward: Sequence[Node]) -> Iterator[Node]:
    """The nodes of the backward pass.

    Layers that read the same features add to their gradient, from the last one to the first. All
    but the first one store what there is so far. The first one stores the gradient of the sums
    that the features were made of.
    """
    layers = _by_layer(forward)
    uses = {number: [*_uses(nodes)] for number, nodes in layers.items()}
    first: dict[Tensor, int] = {}
    for number, some in uses.items():
        for use in some:
            first.setdefault(use.rows, number)
    parts: dict[Tensor, Tensor] = {}
    for number in reversed(layers):
        outputs, combined = (Tensor(kind, number) for kind in (
            Kind.GRADIENT, Kind.COMBINED_GRADIENT))
        columns = network.layers[number - 1].features_out
        if any(use.stored and not use.aggregated_first for use in uses[number]):
            yield Node(result=combined, layer=number, columns=columns,
                       terms=(Term(Op.AGGREGATE, outputs),))
        read = dict.fromkeys(use.rows for use in uses[number] if use.rows != FEATURES)
        joined = len(read) > 1 and len(layers[number]) == 1
        # What this layer is not the first to read comes first, but for features side by side.
        for rows in read if joined else sorted(read, key=lambda rows: first[rows] == number):
            found = [use for use in uses[number] if use.rows == rows]
            yield from _contributions(network, number, found, first[rows] == number, parts,
                                      joined=joined)


def _contributions(network: Network, number: int, uses: Sequence[_Use], finishes: bool,
                   parts: dict[Tensor, Tensor], *, joined: bool) -> Iterator[Node]:
    """The nodes by which a layer adds to a gradient of features that it ``uses``.

    Parameters
    ----------
    network, number, uses
        The layer, and its uses of the features.
    finishes : bool
        Whether no other layer adds to it.
    parts : dict
        Features to their gradient so far, from other layers; this layer's is noted.
    joined : bool
        Whether the layer takes several features side by side.
    """
    rows, outputs = uses[0].rows, Tensor(Kind.GRADIENT, number)
    source, later = rows.layer, parts.get(rows)
    node = Node(result=Tensor(Kind.PARTIAL_GRADIENT, number), layer=number,
                columns=network.layers[source - 1].features_out, terms=())
    [use, *others] = uses
    terms: list[Term]
    if not others and later is None and not use.aggregated_first:
        # A product of the right factor of the weights' gradient.
        factor = Tensor(Kind.COMBINED_GRADIENT, number) if use.stored else outputs
        terms = [Term(Op.MULTIPLY, factor, use.weights)]
        if joined:
            node = replace(node, result=Tensor(Kind.JUMPING_GRADIENT, source))
        elif use.gradient == Kind.ROOT_GRADIENT:
            node = replace(node, result=Tensor(Kind.ROOT_GRADIENT, number))
    else:
        # Products have different exponents. So each is stored, and its rows are added.
        terms = [Term(Op.ADD, later)] if later else []
        for use in uses:
            product = replace(node, result=Tensor(use.gradient, number),
                              terms=(Term(Op.MULTIPLY, outputs, use.weights),))
            yield product
            term = Term(Op.AGGREGATE if use.stored else Op.ADD, product.result)
            terms = [*terms, term] if use.gradient == Kind.ROOT_GRADIENT else [term, *terms]
    node = replace(node, terms=tuple(terms))
    if finishes:
        node = replace(node, result=Tensor(Kind.GRADIENT, source),
                       scale=network.output_dropout(source),
                       mask_read=Tensor(Kind.MASK, source))
    parts[rows] = node.result
    yield node
