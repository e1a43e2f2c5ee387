# SPDX-License-Identifier: BSD-2-Clause
"""A few neighbouring layers of a workload, for predictions that do not grow with its depth."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from hypercast.host.compiler.load import Load
from hypercast.host.cycle_model.workload import Aggregations, Workload
from hypercast.reference.network import ROOT_INITIAL, ROOT_WEIGHTS, Network
from hypercast.reference.tensor import Tensor

__all__ = ["layer_window"]


def layer_window(workload: Workload, layers: Sequence[int]) -> Workload:
    """The workload of some layers in a chain, as if there were no others.

    If they are not the first ones, they read their input as a batch's features are read. The last
    of them ends with the loss. With jumping knowledge, a linear layer takes their outputs, too.

    Parameters
    ----------
    workload : Workload
        The whole step.
    layers : sequence of int
        The layers, from 1.
    """
    network = workload.network
    if len(layers) == len(network.layers):
        return workload
    part = _part(network, layers)

    def digits(ordered: Network) -> Mapping[Tensor, int]:
        orders = [layer.order for layer in network.layers]
        for number, layer in zip(layers, ordered.layers, strict=False):
            orders[number - 1] = layer.order
        places = {0: 0} | {number: place for place, number in enumerate(layers, 1)}
        return {Tensor(name.kind, places[name.layer], source=places[name.source]):
                count for name, count in workload.digits(network.with_orders(orders)).items()
                if name.layer in layers and name.source in places}

    aggregations = _Moved(workload.aggregations, tuple(layers), len(part.layers))
    found = replace(workload, network=part, digits=digits, aggregations=aggregations)
    return found if layers[0] == 1 else replace(
        found, words=None, sampled=True, pipelined=False, resident=False)


def _part(network: Network, layers: Sequence[int]) -> Network:
    """Some layers of a network."""
    chosen = [replace(network.layers[number - 1], source=None) for number in layers]
    if layers[0] > 1:  # whose input may be anything, as may an initial residual's
        chosen = [replace(layer, root=ROOT_WEIGHTS, alpha=0.0) if layer.root == ROOT_INITIAL
                  else layer for layer in chosen]
        chosen[0] = replace(chosen[0], dropout=0.0)
    ends = layers[-1] == len(network.layers)
    sources = {place for place, number in enumerate(layers, 1) if number in network.jumping}
    if not sources:
        return Network(layers=tuple(chosen))
    if ends:
        chosen.pop()
    sources.add(len(chosen))
    last = replace(network.layers[-1], features_in=sum(
        chosen[number - 1].features_out for number in sources))
    return Network(layers=(*chosen, last), jumping=tuple(sorted(sources)))


@dataclass(frozen=True)
class _Moved:
    """Aggregations of some layers; the first of them becomes number 1.

    Parameters
    ----------
    whole : Aggregations
        What all layers aggregate.
    layers : tuple of int
        The layers.
    count : int
        Layers of the part: added layers sum nothing over neighbours.
    """

    whole: Aggregations
    layers: tuple[int, ...]
    count: int

    @property
    def vertices(self) -> tuple[int, ...]:
        vertices = self.whole.vertices
        found = vertices[self.layers[0] - 1], *(vertices[number] for number in self.layers)
        return (*found, *found[-1:] * (self.count + 1 - len(found)))

    def loads(self, layer: int, backward: bool) -> list[Load]:
        return self.whole.loads(self.layers[layer - 1], backward)

    def root_loads(self, layer: int, backward: bool) -> list[Load]:
        if layer > len(self.layers):
            return self.whole.root_loads(self.layers[-1], False)
        return self.whole.root_loads(self.layers[layer - 1], backward)
