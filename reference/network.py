# SPDX-License-Identifier: BSD-2-Clause
"""The network that is trained: layers, weights and branches."""

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, Self

from hypercast.errors import require
from hypercast.reference.dropout import Dropout
from hypercast.reference.exponent_entries import SUMMANDS, exponent_entry
from hypercast.reference.tensor import Kind, Tensor

__all__ = [
    "AGGREGATE_FIRST", "COMBINE_FIRST", "LINEAR", "ROOT_IDENTITY", "ROOT_INITIAL", "ROOT_WEIGHTS",
    "Dropout", "Layer", "Network", "Weight",
]

#: ``A (H W)``: rows are multiplied by the weights, then summed over neighbours.
COMBINE_FIRST = "combine_first"
#: ``(A H) W``: rows are summed over neighbours, then multiplied by the weights.
AGGREGATE_FIRST = "aggregate_first"
#: ``H W``: nothing is summed over neighbours, as in a multilayer perceptron.
LINEAR = "linear"
#: A vertex's own features are added, multiplied by weights of their own: GraphSAGE.
ROOT_WEIGHTS = "weights"
#: A vertex's own features are added unchanged: a residual connection.
ROOT_IDENTITY = "identity"
#: A vertex's outputs of the first layer are added, multiplied by weights: an initial residual.
ROOT_INITIAL = "initial"
#: Kinds of matrices that these features are multiplied by.
_ROOTS = {None: (), ROOT_WEIGHTS: (Kind.ROOT_WEIGHTS,), ROOT_IDENTITY: (Kind.IDENTITY,),
          ROOT_INITIAL: (Kind.ROOT_WEIGHTS,)}


class Weight(NamedTuple):
    """A matrix of weights, and the layer whose outputs it multiplies.

    Attributes
    ----------
    name : Tensor
        W2, say, of layer 2. R2 or I2 multiplies a vertex's own features; I2 is the identity, which
        is not trained. W3.1 and W3.2, if layer 3 has the outputs of layers 1 and 2 as its inputs.
    source : int
        Layer whose outputs it multiplies; 0 for the input features.
    shape : tuple of int
        Rows and columns.
    """

    name: Tensor
    source: int
    shape: tuple[int, int]

    @property
    def root(self) -> bool:
        """Whether the product is added itself, not summed over neighbours."""
        return self.name.kind in (Kind.ROOT_WEIGHTS, Kind.IDENTITY)


@dataclass(frozen=True, kw_only=True)
class Layer:
    """A graph convolution, ``A dropout(H) W + b``, or a linear layer, ``dropout(H) W + b``.

    Parameters
    ----------
    features_in, features_out : int
        Shape of the weights.
    order : str
        ``COMBINE_FIRST`` or ``AGGREGATE_FIRST``: which product comes first; or ``LINEAR``.
    dropout : float
        Probability with which an element of the layer's input is dropped in training. In a linear
        layer, the scale is applied after the bias has been added: a power of two only.
    source : int, optional
        The layer (from 1) whose outputs it reads, or 0 for the input features; the layer before it,
        if none is given.
    root : str, optional
        ``ROOT_WEIGHTS`` or ``ROOT_IDENTITY``: a convolution that combines first adds ``dropout(H)``
        too, multiplied by weights or by the identity. Or ``ROOT_INITIAL``: the first layer's
        outputs, with the dropout that they have once, are multiplied by weights and added.
    alpha : float
        Share of the first layer's outputs in the sums, with ``ROOT_INITIAL``.
    beta : float
        Share of weights beside the identity (identity mapping). Features are multiplied by
        ``(1 - alpha) ((1 - beta) I + beta W)``, and the first layer's outputs by
        ``alpha ((1 - beta) I + beta W)`` with other weights (Chen et al., Simple and Deep Graph
        Convolutional Networks, 2020, there GCNII*). These matrices are the parameters.

    Raises
    ------
    InputError
        If a field is out of range, or they do not fit each other.
    """

    features_in: int
    features_out: int
    order: str = COMBINE_FIRST
    dropout: float = 0.0
    source: int | None = None
    root: str | None = None
    alpha: float = 0.0
    beta: float = 1.0

    def __post_init__(self) -> None:
        for name in ("features_in", "features_out"):
            value = getattr(self, name)
            require(value >= 1, f"{name} must be at least 1, not {value}")
        orders = COMBINE_FIRST, AGGREGATE_FIRST, LINEAR
        require(self.order in orders,
                 f"order must be {' or '.join(orders)}, not {self.order!r}")
        require(self.root in _ROOTS, f"root must be {ROOT_WEIGHTS}, {ROOT_IDENTITY}, "
                                      f"{ROOT_INITIAL} or None, not {self.root!r}")
        require(self.order in self.orders,
                 f"a layer that adds a vertex's own features must be {COMBINE_FIRST}, not "
                 f"{self.order}")
        require(self.root != ROOT_IDENTITY or self.features_in == self.features_out,
                 f"a residual connection needs as many inputs as outputs, not {self.features_in} "
                 f"and {self.features_out}")
        initial = self.root == ROOT_INITIAL
        require(0 < self.alpha < 1 if initial else self.alpha == 0,
                 f"alpha must be {'above 0 and below 1' if initial else '0'} where root is "
                 f"{self.root}, not {self.alpha}")
        require(0 < self.beta <= 1, f"beta must be above 0 and at most 1, not {self.beta}")
        require(self.beta == 1 or self.features_in == self.features_out,
                 f"identity mapping needs as many inputs as outputs, not {self.features_in} and "
                 f"{self.features_out}")
        scale = Dropout.from_rate(self.dropout, 1)
        require(self.order != LINEAR or scale.multiplier == 0,
                 f"dropout of a linear layer must be 0, 0.5, 0.75 or another 1 - 2**-k, not "
                 f"{self.dropout}")

    @property
    def orders(self) -> tuple[str, ...]:
        """The orders that a layer of this kind can have."""
        if self.root:
            return (COMBINE_FIRST,)
        return (LINEAR,) if self.order == LINEAR else (COMBINE_FIRST, AGGREGATE_FIRST)


@dataclass(frozen=True, kw_only=True)
class Network:
    """A graph neural network: layers with a bias each, ReLU between them.

    Layers that read the outputs of one layer, or the input features, begin branches, which end
    where a last layer takes the outputs of several.

    Parameters
    ----------
    layers : tuple of Layer
        First to last, each after the layer that it reads; the last layer's outputs are the logits.
    jumping : tuple of int
        Layers whose outputs, side by side, are the inputs of the last one, which is linear, and
        whose outputs have dropout of the same rate (Xu et al., Representation Learning on Graphs
        with Jumping Knowledge Networks, 2018). Empty if it has only the outputs of the layer
        before.

    Raises
    ------
    InputError
        If the layers do not fit each other, or if one aggregates the input features first although
        they have dropout: they would have to be stored anew in every step.
    """

    layers: tuple[Layer, ...]
    jumping: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        require(self.layers, "a network needs at least one layer")
        if self.jumping:
            self._check_jumping()
        for number, layer in enumerate(self.layers, 1):
            self._check_source(number, layer)
        for number in range(len(self.layers)):
            self._check_readers(number)
        for number in self.readers(0):
            layer = self.layers[number - 1]
            require(layer.order != AGGREGATE_FIRST or layer.dropout == 0,
                    f"layer {number} cannot aggregate first with dropout {layer.dropout} on its "
                    f"input; use {COMBINE_FIRST} or dropout 0")
        for number, layer in enumerate(self.layers, 1):
            if layer.root == ROOT_INITIAL:
                self._check_initial(number)

    def _check_source(self, number: int, layer: Layer) -> None:
        if layer.source is not None:
            require(number > 1 or layer.source == 0,
                    f"layer 1 reads the input features, and not layer {layer.source}")
            require(0 <= layer.source < number,
                    f"layer {number} must read the input features, as layer 0, or one of the "
                    f"layers 1 to {number - 1}, not layer {layer.source}")
            require(not self._joins(number), f"layer {number} takes the outputs of layers "
                                             f"{self.jumping}, and not of layer {layer.source}")
        if number > 1 and not self._joins(number):
            source = self.source(number)
            outputs = self.layers[source - 1].features_out if source else self.features
            require(outputs == layer.features_in,
                    f"{f'layer {source} has {outputs} outputs' if source else ''}"
                    f"{'' if source else f'the input has {outputs} features'}, but layer {number} "
                    f"has {layer.features_in} inputs")

    def _check_readers(self, number: int) -> None:
        readers = self.readers(number)
        require(readers, f"no layer reads the outputs of layer {number}; let the last layer take "
                         f"them (jumping), or leave the layer out")
        rates = {self.layers[reader - 1].dropout for reader in readers}
        what = f"the outputs of layer {number}" if number else "the input features"
        require(len(rates) == 1, f"layers {', '.join(map(str, readers))} read {what} and must have "
                                 f"the same dropout, not {', '.join(map(str, sorted(rates)))}")

    def _check_initial(self, number: int) -> None:
        layer, (first, *others) = self.layers[number - 1], self.layers
        require(number > 1, "layer 1 has no outputs of a first layer to add; leave its initial "
                            "residual out")
        require(all(one.source is None for one in self.layers),
                 f"layer {number} adds the outputs of layer 1, which none but layer 2 can read; "
                 f"leave branches or the initial residual out")
        require(not self.jumping, f"layer {number} adds the outputs of layer 1, which jumping "
                                  f"knowledge takes, too; leave one of them out")
        require(layer.beta == 1 or first.features_out == layer.features_out,
                 f"identity mapping in layer {number} needs as many outputs of layer 1, not "
                 f"{first.features_out} and {layer.features_out}")
        require(layer.dropout == others[0].dropout,
                 f"layers 2 and {number} take the outputs of layer 1 and must have the same "
                 f"dropout, not {others[0].dropout} and {layer.dropout}")

    def _check_jumping(self) -> None:
        last, found = self.layers[-1], self.jumping
        before = len(self.layers) - 1
        require(sorted({*found}) == list(found) and found[0] >= 1 and found[-1] == before,
                 f"jumping must be layers in ascending order, the last of them {before}, not "
                 f"{found}")
        require(last.order == LINEAR, f"the last layer must be {LINEAR} to take the outputs of "
                                       f"layers {found}, not {last.order}")
        total = sum(self.layers[number - 1].features_out for number in found)
        require(last.features_in == total, f"layers {found} have {total} outputs, but the last "
                                            f"layer has {last.features_in} inputs")

    @classmethod
    def of_widths(cls, widths: Sequence[int], *, dropout: float = 0.0,
                  orders: str | Sequence[str] = COMBINE_FIRST) -> Self:
        """A network of ``len(widths) - 1`` layers with the same dropout everywhere.

        ``orders`` is one order for all layers, or a sequence of one per layer.
        """
        pairs = list(itertools.pairwise(widths))
        orders = [orders] * len(pairs) if isinstance(orders, str) else orders
        return cls(layers=tuple(
            Layer(features_in=features_in, features_out=features_out, order=order,
                  dropout=dropout)
            for (features_in, features_out), order in zip(pairs, orders, strict=True)))

    def with_orders(self, orders: Iterable[str]) -> Self:
        """This network with other orders of its layers' products."""
        layers = zip(self.layers, orders, strict=True)
        return replace(self, layers=tuple(replace(layer, order=order) for layer, order in layers))

    def weights(self, number: int) -> tuple[Weight, ...]:
        """The ``Weight`` matrices of a layer (from 1), the ones of its root last."""
        layer = self.layers[number - 1]
        if self._joins(number):
            return tuple(Weight(Tensor(Kind.WEIGHTS, number, source=source), source, (
                self.layers[source - 1].features_out, layer.features_out))
                for source in self.jumping)
        found = [Weight(Tensor(kind, number), self.source(number),
                        (layer.features_in, layer.features_out))
                 for kind in (Kind.WEIGHTS, *_ROOTS[layer.root])]
        if layer.root == ROOT_INITIAL:
            found[1] = found[1]._replace(
                source=1, shape=(self.layers[0].features_out, layer.features_out))
        return tuple(found)

    def _joins(self, number: int) -> bool:
        """Whether a layer takes the outputs of ``jumping``."""
        return bool(self.jumping) and number == len(self.layers)

    def source(self, number: int) -> int:
        """The layer whose outputs a layer reads, 0 being the input; of ``jumping``, the last one.
        """
        source = self.layers[number - 1].source
        return number - 1 if source is None else source

    def readers(self, number: int) -> tuple[int, ...]:
        """The layers that read the outputs of one, in order, but for initial residuals."""
        return self._readers.get(number, ())

    @cached_property
    def _readers(self) -> dict[int, tuple[int, ...]]:
        found: dict[int, tuple[int, ...]] = {}
        for number, _ in enumerate(self.layers, 1):
            for source in self.jumping if self._joins(number) else (self.source(number),):
                found[source] = (*found.get(source, ()), number)
        return found

    def path(self, number: int) -> tuple[int, ...]:
        """A way from the input to the logits through a layer: each but the first reads the one
        before it.
        """
        before, after = [number], [number]
        while source := self.source(before[-1]):
            before.append(source)
        while readers := self.readers(after[-1]):
            after.append(readers[0])
        return *before[:0:-1], *after

    @cached_property
    def branches(self) -> bool:
        """Whether layers read others than the one before."""
        return any(self.source(number) < number - 1 for number, _ in enumerate(self.layers, 1))

    def weight_factor(self, name: Tensor) -> float:
        """The factor of a layer's weights W in a parameter; see ``Layer``."""
        layer = self.layers[name.layer - 1]
        if name.kind == Kind.WEIGHTS:
            return (1 - layer.alpha) * layer.beta
        return (layer.alpha or 1.0) * layer.beta if name.kind == Kind.ROOT_WEIGHTS else 1.0

    @cached_property
    def initial(self) -> tuple[int, ...]:
        """Layers that add outputs of the first layer and are not the next to it."""
        return tuple(number for number, layer in enumerate(self.layers, 1)
                     if layer.root == ROOT_INITIAL and number > 2)

    @property
    def shares_exponents(self) -> bool:
        """Whether tensors of several layers have one exponent."""
        return bool(self.jumping or self.initial)

    def exponent_entry(self, tensor: Tensor) -> Tensor:
        """The exponent file's entry of a tensor, see ``exponent_entries``; of an entry, itself."""
        if self.branches and tensor.kind in SUMMANDS:
            jumping = tensor.kind == Kind.JUMPING_GRADIENT
            source = tensor.source if not tensor.layer else \
                tensor.layer if jumping else self.source(tensor.layer)
            return Tensor(Kind.AGGREGATED_GRADIENT, during=tensor.during, source=source)
        return exponent_entry(tensor, jumping=bool(self.jumping), initial=bool(self.initial))

    @property
    def inputs(self) -> list[Weight]:
        """The ``Weight`` matrices that multiply the input features."""
        return [weight for number in self.readers(0) for weight in self.weights(number)
                if weight.source == 0]

    def reads_features(self, layers: Iterable[int]) -> bool:
        """Whether any of some layers reads the input features."""
        return not {*layers}.isdisjoint(self.readers(0))

    def aggregates_features(self, number: int) -> bool:
        """Whether a layer aggregates the input features before it combines them.

        The sums, and the rows that boards give each other for them, depend on no weights.
        """
        return self.layers[number - 1].order == AGGREGATE_FIRST and self.reads_features((number,))

    @property
    def feature_orders(self) -> tuple[str, ...]:
        """Orders of the layers that read the input features."""
        return tuple(self.layers[number - 1].order for number in self.readers(0))

    @property
    def only_aggregates_features(self) -> bool:
        """Whether layer 1 aggregates the input features first, and no other layer reads them."""
        return self.feature_orders == (AGGREGATE_FIRST,)

    @property
    def features(self) -> int:
        """Input features of a vertex."""
        return self.layers[0].features_in

    @property
    def classes(self) -> int:
        """Number of logits."""
        return self.layers[-1].features_out

    def output_dropout(self, number: int) -> Dropout:
        """Dropout on a layer's outputs, or, of layer 0, on the input: its readers' dropout."""
        return self.dropouts[self.readers(number)[0] - 1]

    @property
    def dropouts(self) -> tuple[Dropout, ...]:
        """Dropout constants, one per layer."""
        return tuple(Dropout.from_rate(layer.dropout, number)
                     for number, layer in enumerate(self.layers, 1))
