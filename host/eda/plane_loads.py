"""Expected loads of a graph's statistics that know of planes."""

from dataclasses import replace

from hypercast.host.compiler.load import Load
from hypercast.host.cycle_model.aggregations import Expected
from hypercast.rtl.config import Config
from hypercast.rtl.network.routing import dimension_order

__all__ = ["PlaneLoads", "link_imbalance"]


def link_imbalance(config: Config) -> float:
    """Flits of the busiest dimension's links over the mean, of multicasts to all cores.

    In a plane's last dimension a multicast has most branches. With as many planes as dimensions,
    every dimension is the last one of a plane. Messages to fewer cores are spread more evenly.
    """
    dimensions = config.dimensions
    if not dimensions:
        return 1.0
    flits = [0.0] * dimensions
    for plane in range(config.planes):
        for step, dimension in enumerate(dimension_order(plane, dimensions)):
            flits[dimension] += 2**step
    return max(flits) * dimensions / sum(flits)


class PlaneLoads(Expected):
    """Expected loads, whose links are as busy as the planes make them at most."""

    def __init__(self, vertices: tuple[int, ...], edges: tuple[int, ...], config: Config,
                 law: str = "power") -> None:
        super().__init__(vertices, edges, config, law)
        self._imbalance = link_imbalance(config)

    def loads(self, layer: int, backward: bool) -> list[Load]:
        """Expected loads, in the form of ``CompiledEdges.loads``."""
        return [replace(load, links=round(load.links * self._imbalance))
                for load in super().loads(layer, backward)]
