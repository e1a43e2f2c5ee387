# SPDX-License-Identifier: BSD-2-Clause
"""Which entries of the exponent file a program of some layers needs."""

from collections.abc import Iterable
from functools import lru_cache

from hypercast.reference.network import Network
from hypercast.reference.step_graph import step_graph
from hypercast.reference.tensor import EDGES, FEATURES, FORWARD, ONE, Kind, Pass, Tensor

__all__ = ["COMMON_ENTRIES", "layer_entries"]

#: Entries that every program has.
COMMON_ENTRIES = frozenset((EDGES, FEATURES, ONE))


def layer_entries(network: Network, layers: Iterable[int]) -> frozenset[Tensor]:
    """Entries of the exponent file that training and evaluation of some layers need.

    They belong to the tensors that the layers read and write, and to their parameters. A run of
    layers has the entries of all its layers.

    Parameters
    ----------
    network : Network
        The network.
    layers : iterable of int
        Some of its layers, from 1.
    """
    return COMMON_ENTRIES.union(*(_of_layer(network, number) for number in layers))


@lru_cache(maxsize=1024)
def _of_layer(network: Network, number: int) -> frozenset[Tensor]:
    graph = step_graph(network)
    # Masks of hidden features are bits; they have no exponent.
    matrices = {name for name in graph.tensors_of([number]) if name.kind != Kind.MASK}
    evaluated = {name.in_pass(Pass.EVALUATION) for name in matrices if name.kind in FORWARD}
    parameters = {gradient.parameter for gradient in graph.gradients_of(number)}
    return frozenset(map(network.exponent_entry, matrices | evaluated | parameters))
