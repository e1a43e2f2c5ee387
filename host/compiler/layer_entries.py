"""Which entries of the exponent file a program of some layers needs."""

from collections.abc import Iterable
from functools import lru_cache

from hypercast.host.compiler.layout import place_tensors
from hypercast.host.compiler.memory_map import MemoryMap
from hypercast.reference.network import Network
from hypercast.reference.tensor import EDGES, FEATURES, ONE, Kind, Tensor
from hypercast.rtl.config import Config

__all__ = ["COMMON_ENTRIES", "layer_entries"]

#: Entries that every program has.
COMMON_ENTRIES = frozenset((EDGES, FEATURES, ONE))


def layer_entries(network: Network, layers: Iterable[int]) -> frozenset[Tensor]:
    """Entries of the exponent file that training and evaluation of some layers need.

    They are those of what the layers read and write, and of their parameters. Those of a run of
    layers are those of each of them, taken together.

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
    config = Config()  # what a tensor is called depends on no sizes
    memory = MemoryMap(config, [0] * (len(network.layers) + 1))
    place_tensors(network, memory, config, range(number, number + 1))
    # What is kept of hidden features are bits; they have no exponent.
    stored = (name for name in memory.regions
              if isinstance(name, Tensor) and name.kind != Kind.MASK)
    parameters = (Tensor(Kind.BIAS, number), *(weight.name for weight in network.weights(number)))
    return frozenset(map(network.exponent_entry, (*stored, *parameters)))
