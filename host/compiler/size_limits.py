# SPDX-License-Identifier: BSD-2-Clause
"""Sizes that instructions of a chip can name."""

from hypercast.host.compiler.memory_map import CapacityError
from hypercast.reference.network import Network
from hypercast.rtl.config import Config
from hypercast.rtl.isa import Opcode, largest
from hypercast.rtl.limits import CLASSES

__all__ = ["check_sizes"]

#: Panels an instruction can sum over, and rows of a core it can start from.
_MAXIMUM_PANELS = largest(Opcode.MATMUL, "panels")
_MAXIMUM_ROWS = largest(Opcode.MATMUL, "row_start") + 1


def check_sizes(network: Network, vertices: int, config: Config) -> None:
    """Refuse a network or a graph that is too large for any program.

    Raises
    ------
    CapacityError
        If there are too many classes, features or vertices.
    """
    if network.classes > CLASSES:
        raise CapacityError(f"the network has {network.classes} classes, but the loss unit takes "
                            f"{CLASSES} at most")
    features = max(layer.features_in for layer in network.layers)
    if features > _MAXIMUM_PANELS * config.lanes:
        raise CapacityError(f"a layer has {features} input features, but with lanes = "
                            f"{config.lanes} there can be {_MAXIMUM_PANELS * config.lanes}; raise "
                            f"lanes, or reduce the features")
    if vertices >= _MAXIMUM_ROWS * config.cores:
        raise CapacityError(f"the graph has {vertices} vertices, but with dimensions = "
                            f"{config.dimensions} there must be fewer than "
                            f"{_MAXIMUM_ROWS * config.cores}; raise dimensions")
