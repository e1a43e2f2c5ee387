"""A few neighbouring layers of a workload, for predictions that do not grow with its depth."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from hypercast.host.compiler.load import Load
from hypercast.host.cycle_model.workload import Aggregations, Workload
from hypercast.reference.network import ROOT_INITIAL, ROOT_WEIGHTS, Network
from hypercast.reference.tensor import Tensor

__all__ = ["layer_window"]


def layer_window(workload: Workload, layers: range) -> Workload:
    """The workload of some layers as if there were no others.

    If they are not the first ones, they read their input as a batch's features are read. The last
    of them ends with the loss. With jumping knowledge, a linear layer takes their outputs, too.

    Parameters
    ----------
    workload : Workload
        The whole step.
    layers : range
        The layers, from 1.
    """
    network, begin = workload.network, layers[0] - 1
    if len(layers) == len(network.layers):
        return workload
    part = _part(network, layers)

    def digits(ordered: Network) -> Mapping[Tensor, int]:
        orders = [layer.order for layer in network.layers]
        orders[begin:layers[-1]] = [layer.order for layer in ordered.layers[:len(layers)]]
        return {Tensor(name.kind, name.layer - begin, source=name.source and name.source - begin):
                count for name, count in workload.digits(network.ordered(orders)).items()
                if name.layer in layers}

    aggregations = _Moved(workload.aggregations, begin, layers[-1], len(part.layers))
    found = replace(workload, network=part, digits=digits, aggregations=aggregations)
    return found if begin == 0 else replace(
        found, words=None, sampled=True, pipelined=False, resident=False)


def _part(network: Network, layers: range) -> Network:
    """Some layers of a network."""
    chosen = [network.layers[number - 1] for number in layers]
    if layers[0] > 1:  # whose input may be anything, as may an initial residual's
        chosen = [replace(layer, root=ROOT_WEIGHTS, alpha=0.0) if layer.root == ROOT_INITIAL
                  else layer for layer in chosen]
        chosen[0] = replace(chosen[0], dropout=0.0)
    ends = layers[-1] == len(network.layers)
    sources = {number - layers[0] + 1 for number in network.jumping if number in layers}
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
    """Aggregations of some layers, the first of which is number 1.

    Parameters
    ----------
    whole : Aggregations
        What all layers aggregate.
    begin, end : int
        Layers before the first one, and the last one.
    count : int
        Layers of the part: one that is added sums nothing over neighbours.
    """

    whole: Aggregations
    begin: int
    end: int
    count: int

    @property
    def vertices(self) -> tuple[int, ...]:
        found = self.whole.vertices[self.begin:self.end + 1]
        return (*found, *found[-1:] * (self.count + 1 - len(found)))

    def loads(self, layer: int, backward: bool) -> list[Load]:
        return self.whole.loads(self.begin + layer, backward)

    def root_loads(self, layer: int, backward: bool) -> list[Load]:
        number = self.begin + layer
        return self.whole.root_loads(number, backward) if number <= self.end else \
            self.whole.root_loads(self.end, False)
