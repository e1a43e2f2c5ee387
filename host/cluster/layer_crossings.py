"""Which tensors cross between boards that have a run of layers each, and from which to which."""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple, Self

from hypercast.reference.network import Network
from hypercast.reference.tensor import Kind, Tensor

__all__ = ["Crossing", "Routes", "crossings"]


class Crossing(NamedTuple):
    """A tensor that a board makes and another one needs.

    Attributes
    ----------
    tensor : Tensor
        The tensor, of a training step.
    source, target : int
        Ranks of the boards.
    masked : bool
        Whether its mask crosses with it.
    """

    tensor: Tensor
    source: int
    target: int
    masked: bool = False


def crossings(network: Network, runs: Sequence[range], *, forward: bool) -> list[Crossing]:
    """What crosses in a pass of a micro-batch.

    Forward, the boards of layers that read a layer's outputs need them: H. That of the first one
    needs their mask, too, as it computes their gradient; others, only for products. Backward, a
    layer's board needs the gradient dZ of its sums. If several read H, each but the last one adds
    to the gradient of H what comes from those after it: dU, or dC from the last layer with jumping
    knowledge.

    With an initial residual, all boards of such layers need the outputs H1, for products only.
    Backward, each adds to the gradient of H1 and passes it on, to the board of layer 2 at last.

    Parameters
    ----------
    network : Network
        The whole network.
    runs : sequence of range
        The layers (from 1) of each board, in order.
    forward : bool
        Whether it is a forward pass.
    """
    board = [rank for rank, run in enumerate(runs) for _ in run]
    found = list[Crossing]()
    for layer, here in enumerate(board[:-1], 1):
        readers = network.readers(layer)
        first, *others = [board[number - 1] for number in readers]
        if forward:
            hidden = Tensor(Kind.HIDDEN, layer)
            found.append(Crossing(hidden, here, first, masked=True))
            found += [Crossing(hidden, here, other) for other in sorted({*others} - {first})]
            continue
        found.append(Crossing(Tensor(Kind.GRADIENT, layer), first, here))
        for number, after in pairwise(readers):
            added = network.added_gradient(number)
            assert added
            found.append(Crossing(added, board[after - 1], board[number - 1]))
    initial = network.initial
    if forward and initial:
        found += [Crossing(Tensor(Kind.HIDDEN, 1), board[0], target)
                  for target in sorted({board[number - 1] for number in initial} - {board[1]})]
    elif initial:
        found += [Crossing(network.initial_gradient(number), board[number - 1], board[before - 1])
                  for before, number in pairwise((2, *initial))]
    return [crossing for crossing in found if crossing.source != crossing.target]


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
