# SPDX-License-Identifier: BSD-2-Clause
"""The model, described without the graph it is trained on."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Self

from hypercast.host.description.conversion import (
    DescriptionError,
    Within,
    call_text,
    check_fields,
    given_fields,
)
from hypercast.host.graphs.graph import Graph
from hypercast.reference.models import MODELS, MOST_THETA, model_network
from hypercast.reference.network import AGGREGATE_FIRST, COMBINE_FIRST, LINEAR, Layer, Network

__all__ = ["AUTO", "FASTEST", "ORDERS", "Model"]

#: Ways to choose orders of products: by network and graph, the same on all chips, or by the fewest
#: predicted cycles on the chip that trains.
AUTO, FASTEST = "auto", "fastest"
ORDERS = (AUTO, FASTEST, COMBINE_FIRST, AGGREGATE_FIRST)
#: More than these is a slip, and no machine's memory.
_MOST_FEATURES, _MOST_LAYERS = 16_384, 1_000


@dataclass(frozen=True)
class Model:
    """A graph neural network.

    Parameters
    ----------
    name : str
        One of ``MODELS``.
    layers : int, optional
        Graph convolutions, or what else ``MODELS`` counts; as many as ``hidden`` asks for if not
        given. All of GCNII's are hidden.
    hidden : int or tuple of int
        Features of each hidden layer; one number holds for all.
    dropout : float or tuple of float
        Probability with which an element of a convolution's input is dropped; the last number holds
        for all beyond.
    residual : bool
        Whether hidden convolutions of as many outputs as inputs add these to their sums.
    jumping : bool
        Whether a linear layer takes the outputs of all convolutions side by side.
    alpha : float, optional
        Share of the first layer's outputs in what a convolution of GCNII adds up; ``ALPHA``.
    theta : float, optional
        Strength of GCNII's weights beside the identity, the paper's lambda; ``THETA``.
    order : str or tuple of str
        One of ``ORDERS``. ``combine_first``: features times weights come first in each
        convolution. ``aggregate_first``: adjacency times features do. ``auto``: what network and
        graph ask for, whatever the chip, so that the bits are the same on all. ``fastest``: what
        takes the fewest predicted cycles on the chip. Or what the ``Network`` has for each of its
        layers.
    weights : str or pathlib.Path, optional
        File with the initial weights, see ``interchange.weights``.

    Raises
    ------
    DescriptionError
        If they do not fit each other.
    """

    name: str = "gcn"
    layers: Annotated[int, Within(1, _MOST_LAYERS)] | None = None
    hidden: tuple[Annotated[int, Within(1, _MOST_FEATURES)], ...] = (16,)
    dropout: tuple[float, ...] = (0.5,)
    residual: bool = False
    jumping: bool = False
    alpha: float | None = None
    theta: float | None = None
    order: tuple[str, ...] = (AUTO,)
    weights: str | None = None

    if TYPE_CHECKING:  # lists may be given; a single value holds for all layers
        def __init__(self, name: str = "gcn", layers: int | None = None,
                     hidden: int | Sequence[int] = 16, dropout: float | Sequence[float] = 0.5,
                     residual: bool = False, jumping: bool = False, alpha: float | None = None,
                     theta: float | None = None, order: str | Sequence[str] = AUTO,
                     weights: str | PathLike[str] | None = None) -> None: ...

    def __post_init__(self) -> None:
        if isinstance(self.weights, PathLike):
            object.__setattr__(self, "weights", os.fspath(self.weights))
        check_fields("model", self)
        for key, value, known in (("name", self.name, MODELS),
                                  *(("order", one, self._orders) for one in self.order)):
            if value not in known:
                raise DescriptionError(f"[model] {key} must be one of {', '.join(known)}, not "
                                       f"{value!r}", "model", key)
        self._check_framed()
        if not self.order:
            raise DescriptionError(f"[model] order is empty; give one of {', '.join(ORDERS)}",
                                   "model", "order")
        if not self.dropout:
            raise DescriptionError("[model] dropout must not be empty", "model", "dropout")
        if not all(0 <= rate < 1 for rate in self.dropout):
            raise DescriptionError(f"[model] dropout must be at least 0 and below 1, not "
                                   f"{list(self.dropout)}", "model", "dropout")
        if len(self.hidden) not in (1, self._hidden_layers):
            raise DescriptionError(
                f"[model] hidden has {len(self.hidden)} numbers, but {self.layers} layers have "
                f"{self._hidden_layers} hidden ones; give as many, or one for all", "model",
                "hidden")

    def _check_framed(self) -> None:
        """Refuse what some models do not take."""
        named, gcnii = MODELS[self.name], self.name == "gcnii"
        for key, value in (("alpha", self.alpha), ("theta", self.theta)):
            if value is not None and not gcnii:
                raise DescriptionError(f"[model] {key} is of gcnii, not of {self.name}; leave it "
                                       f"out, or take another model", "model", key)
        if self.alpha is not None and not 0 < self.alpha < 1:
            raise DescriptionError(f"[model] alpha must be above 0 and below 1, not {self.alpha}",
                                   "model", "alpha")
        if self.theta is not None and not 0 < self.theta <= MOST_THETA:
            raise DescriptionError(f"[model] theta must be above 0 and at most {MOST_THETA:.3f}, "
                                   f"not {self.theta}", "model", "theta")
        for key in ("residual", "jumping") if named.own else ():
            if getattr(self, key):
                raise DescriptionError(f"[model] {self.name} has {named.own}; leave {key} out",
                                       "model", key)
        if self.hidden and self._hidden_layers < named.least:
            raise DescriptionError(
                f"[model] {self.name} has {named.counted}; give {named.least} numbers or more for "
                f"hidden, or one and layers of {named.least} or more, not {list(self.hidden)}",
                "model", "hidden")
        if gcnii and len({*self.hidden}) != 1:
            raise DescriptionError(
                f"[model] hidden must be one number for gcnii, whose layers have as many inputs "
                f"as outputs, not {list(self.hidden)}", "model", "hidden")

    @property
    def _orders(self) -> tuple[str, ...]:
        """Choices for ``order``: a choice for each layer."""
        return ORDERS if len(self.order) == 1 else (COMBINE_FIRST, AGGREGATE_FIRST, LINEAR)

    @property
    def chosen(self) -> bool:
        """Whether orders are to be chosen."""
        return self.order in ((AUTO,), (FASTEST,))

    @property
    def fastest(self) -> bool:
        """Whether they are chosen for the chip that trains."""
        return self.order == (FASTEST,)

    @property
    def _hidden_layers(self) -> int:
        """Convolutions that do not give the logits."""
        every = self.jumping or bool(MODELS[self.name].own)
        return len(self.hidden) if self.layers is None else self.layers - 1 + every

    def with_full_paths(self, folder: str | PathLike[str]) -> Self:
        """This model with a full path to the weights; a relative path is in ``folder``."""
        if self.weights is None:
            return self
        return replace(self, weights=os.path.abspath(Path(folder) / self.weights))

    def network(self, graph: Graph) -> Network:
        """The ``Network`` for a graph; orders that are to be chosen are as they come."""
        network = self._make_network(graph.features.shape[1], graph.classes)
        return self._order(replace(network, layers=tuple(self._with_dropout(network))))

    def network_of(self, features: int, classes: int) -> Network:
        """The ``Network`` for features and classes, without dropout; orders as above."""
        return self._order(self._make_network(features, classes))

    def _make_network(self, features: int, classes: int) -> Network:
        """The network without dropout, orders as they come."""
        hidden = self.hidden * self._hidden_layers if len(self.hidden) == 1 else self.hidden
        given = {key: value for key, value in (("alpha", self.alpha), ("theta", self.theta))
                 if value is not None}
        return model_network(self.name, features, hidden, classes, residual=self.residual,
                             jumping=self.jumping, **given)

    def _order(self, network: Network) -> Network:
        """The network with the orders that are given."""
        if self.chosen:
            return network
        if len(self.order) == 1:
            [order] = self.order
            return network.with_orders(order if order in layer.orders else layer.orders[0]
                                       for layer in network.layers)
        if len(self.order) != len(network.layers):
            raise DescriptionError(
                f"[model] order has {len(self.order)} values, but the network has "
                f"{len(network.layers)} layers; give one for each, or one for all", "model",
                "order")
        for number, (layer, order) in enumerate(zip(network.layers, self.order, strict=True), 1):
            if order not in layer.orders:
                raise DescriptionError(
                    f"[model] order of layer {number} must be {' or '.join(layer.orders)}, not "
                    f"{order}", "model", "order")
        return network.with_orders(self.order)

    def _with_dropout(self, network: Network) -> Iterator[Layer]:
        """The layers, those with dropout being convolutions and what jumping knowledge ends in.

        Of a model with ``own`` connections, all are.
        """
        layers = network.layers
        dropped = [layer.order != LINEAR or bool(MODELS[self.name].own)
                   or (self.jumping and layer is layers[-1]) for layer in layers]
        if len(self.dropout) > max(sum(dropped), 1):
            raise DescriptionError(
                f"[model] dropout has {len(self.dropout)} numbers, but {sum(dropped)} layers of "
                f"the network have dropout; give one for each, or one for all", "model", "dropout")
        rates = [*self.dropout, *self.dropout[-1:] * len(layers)]
        for layer, drops in zip(layers, dropped, strict=True):
            yield replace(layer, dropout=rates.pop(0)) if drops else layer

    def __repr__(self) -> str:
        return call_text("Model", given_fields(self))

    def values(self) -> dict[str, Any]:
        """Arguments of ``Model`` that are given."""
        return {key: value for key, value in asdict(self).items() if value is not None}
