# SPDX-License-Identifier: BSD-2-Clause
"""Training steps of full-batch workloads on the simulated chip, recorded."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from hypercast.host.cycle_model.prediction import predict
from hypercast.host.cycle_model.workload import Workload
from hypercast.host.graphs.graph import Graph
from hypercast.host.graphs.graph_arguments import graph_arguments
from hypercast.host.graphs.parallel_edges import Parallel
from hypercast.host.runtime.alone_chip import AloneChip
from hypercast.host.runtime.timeline import Profile
from hypercast.host.runtime.utilisation import Utilisation, utilisation
from hypercast.host.training.prepare import open_device, prepare
from hypercast.reference.initial_model import InitialModel
from hypercast.reference.network import Network
from hypercast.reference.recipe import Recipe
from hypercast.rtl.config import Config
from hypercast.rtl.isa import Engine

__all__ = ["Step", "chip", "measure", "predict_cycles", "synthetic_graph"]

#: Memories of a chip of some lanes for the workloads here: cores share the memory that they need.
_EJECT = {2: 1, 4: 2, 8: 4, 16: 4}


def chip(preset: Config, lanes: int, *, dimensions: int = 4) -> Config:
    """A preset with other lanes and dimensions, and memories for the same work.

    Fewer lanes have shorter words, so matrices have more of them; fewer cores have more rows.
    """
    factor = preset.lanes // lanes
    rows = 1 << preset.dimensions - dimensions
    return preset.replace(
        dimensions=dimensions, lanes=lanes, eject=min(_EJECT[lanes], preset.eject),
        accumulator_rows=min(16384, preset.accumulator_rows * rows),
        aggregation_rows=min(16384, preset.strip_rows * rows),
        operand_words=min(65536, preset.operand_words * factor * rows),
        bypass_rows=min(65536, preset.bypass_rows * factor * rows),
        weight_rows=min(65536, preset.weight_rows * factor),
        channel_words=min(1 << 24, preset.channel_words * factor * rows),
        edge_buffer=min(32, preset.edge_buffer * factor))


def synthetic_graph(vertices: int, edges: int, features: int, classes: int, seed: int = 0) -> Graph:
    """A random graph with ``edges`` undirected edges, degrees by a power law, dense features."""
    rng = np.random.default_rng(seed)
    weights = np.arange(1, vertices + 1) ** -0.5
    pairs = rng.choice(vertices, size=(edges, 2), p=weights / weights.sum())
    return Graph(**graph_arguments(
        pairs, rng.normal(size=(vertices, features)), rng.integers(0, classes, vertices),
        train=np.arange(0, vertices, 2), validation=np.arange(1, vertices, 4),
        test=np.arange(3, vertices, 4), parallel=Parallel.SET))


class Step(NamedTuple):
    """A training step.

    Attributes
    ----------
    cycles : int
        All cycles.
    profile : Profile
        The step's recording.
    rows : list of Utilisation
        Utilisation of every engine.
    """

    cycles: int
    profile: Profile
    rows: list[Utilisation]

    @property
    def busiest(self) -> Utilisation:
        """The ``Utilisation`` of the resource whose work, spread evenly, takes longest."""
        return max(self.rows, key=lambda row: row.work)

    def words_while_busy(self) -> float:
        """Share of the cycles in which the array has an instruction that bring it a word."""
        _, engine, start, end, _ = self.profile.slices
        own = engine == Engine.ARRAY
        words = sum(sum(phase.counters["array_words"]) for phase in self.profile.phases)
        return words / int((end - start)[own].sum())

    def exposed_share(self, engine: Engine) -> float:
        """Share of the step in which some core's ``engine`` is busy, and no other of any core."""
        others = np.zeros(self.cycles + 2, dtype=np.int64)
        own = np.zeros_like(others)
        for _, which, start, end, _ in zip(*self.profile.slices, strict=True):
            counts = own if which == engine else others
            counts[start] += 1
            counts[min(end, self.cycles + 1)] -= 1
        busy = (np.cumsum(own) > 0) & (np.cumsum(others) == 0)
        return float(busy.mean())


def measure(graph: Graph, widths: Sequence[int], config: Config,
            progress: Callable[[str], None]) -> Step:
    """The first training step of a network of ``widths`` hidden features on a graph."""
    model = _model(graph, widths, config)
    device = open_device("rtl", model, config, progress=progress)
    assert isinstance(device, AloneChip)
    try:
        device.train_step(record=True)
        assert device.profile
        return Step(device.train_cycles, device.profile,
                    utilisation(device.counters, device.train_cycles, config))
    finally:
        device.close()


def predict_cycles(graph: Graph, widths: Sequence[int], config: Config) -> int:
    """Cycles of the same step by the cycle model."""
    model = _model(graph, widths, config)
    return predict(Workload.of_model(model, config)).cycles


def _model(graph: Graph, widths: Sequence[int], config: Config) -> InitialModel:
    network = Network.of_widths([graph.features.shape[1], *widths, graph.classes], dropout=0.5)
    return prepare(graph, network, Recipe(epochs=1, element_width=config.element_width))
