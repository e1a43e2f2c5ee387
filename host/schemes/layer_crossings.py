# SPDX-License-Identifier: BSD-2-Clause
"""Which tensors cross between boards that have a run of layers each, and from which to which."""

from collections.abc import Sequence
from typing import NamedTuple, Self

from hypercast.host.runtime.passes import Crossing
from hypercast.reference.network import Network
from hypercast.reference.step_graph import step_graph
from hypercast.reference.tensor import Kind, Tensor

__all__ = ["Routes", "crossings"]


def crossings(network: Network, runs: Sequence[range], *, forward: bool) -> list[Crossing]:
    """Tensors that cross in a pass of a micro-batch: a board stores them, and another reads them.

    Forward, these are the outputs H of layers. The first layer that reads them needs their mask,
    too, as it computes their gradient. Backward, they are the gradients dZ of layers' sums, and
    gradients of H as far as the layers after have added them up.

    Parameters
    ----------
    network : Network
        The whole network.
    runs : sequence of range
        The layers (from 1) of each board, in order.
    forward : bool
        Whether it is a forward pass.

    Returns
    -------
    list of Crossing
        By layer.
    """
    graph = step_graph(network)
    boards = dict(enumerate((rank for rank, run in enumerate(runs) for _ in run), 1))
    nodes = graph.forward if forward else graph.backward
    readers: dict[Tensor, list[int]] = {}
    for node in nodes:
        for term in node.terms:
            readers.setdefault(term.rows, []).append(boards[node.layer])
    if not forward:  # parameters' gradients are products with gradients of sums
        for layer, board in boards.items():
            readers.setdefault(Tensor(Kind.GRADIENT, layer), []).append(board)
    masked = {(node.mask_read, boards[node.layer]) for node in graph.backward}
    return [
        Crossing(node.result, boards[node.layer], target, forward and (
            Tensor(Kind.MASK, node.result.layer), target) in masked)
        for node in sorted(nodes, key=lambda node: node.result.layer)
        for target in dict.fromkeys(readers.get(node.result, ())) if target != boards[node.layer]]


class Routes(NamedTuple):
    """With which ranks one rank has messages in a pass of a micro-batch.

    Attributes
    ----------
    sources : list of int
        Ranks that send to it, in the order in which they do.
    sent : dict
        Rank that receives from it to what that needs; what waits for it first comes first.
    """

    sources: list[int]
    sent: dict[int, list[Crossing]]

    @classmethod
    def of(cls, network: Network, runs: Sequence[range], rank: int, *, forward: bool) -> Self:
        """The routes of a rank; arguments as of ``crossings``."""
        found = crossings(network, runs, forward=forward)
        sources = {crossing.source for crossing in found if crossing.target == rank}
        targets = {crossing.target for crossing in found if crossing.source == rank}
        return cls(sorted(sources, reverse=not forward), {
            target: [crossing for crossing in found
                     if (crossing.source, crossing.target) == (rank, target)]
            for target in sorted(targets, reverse=not forward)})
