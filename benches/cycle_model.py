# SPDX-License-Identifier: BSD-2-Clause
"""The cycle model against the simulated chip, and the orders of products chosen by it."""

import itertools
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from hypercast.benches.figure import Figure
from hypercast.benches.order_choice import order_figures
from hypercast.benches.steps import synthetic_graph
from hypercast.host.cycle_model.prediction import predict
from hypercast.host.cycle_model.workload import Workload
from hypercast.host.runtime.alone_chip import AloneChip
from hypercast.host.training.prepare import open_device, prepare
from hypercast.reference.network import AGGREGATE_FIRST, COMBINE_FIRST, Network
from hypercast.reference.recipe import Recipe
from hypercast.rtl.config import Config

__all__ = ["CONFIGS", "HBM_LIKE", "SHAPES", "run"]

#: Error allowed of a step, and of the mean over all.
_BAR, _MEAN_BAR = 0.05, 0.02
#: Memory that answers as late as HBM, and stalls; and read buffers to go with it.
HBM_LIKE = {"memory_latency": 64, "memory_stalls": True, "read_buffer": 128}
_BASE = Config(dimensions=2, lanes=4, planes=2, eject=2, accumulator_rows=512, weight_rows=4096,
               channel_words=65536, operand_words=16384, edge_buffer=8, program_rows=2048)
CONFIGS = {
    "4 cores, P = 4, eject 2": _BASE,
    "16 cores, P = 4, HBM-like": _BASE.replace(
        dimensions=4, planes=4, eject=1, edge_buffer=16, **HBM_LIKE),
    "2 cores, P = 8, HBM-like": _BASE.replace(
        dimensions=1, lanes=8, eject=1, edge_buffer=16, accumulator_rows=1024, **HBM_LIKE),
}
#: Steps that are simulated: one alone takes longer or shorter by when memory happens to refresh.
_STEPS = 6
#: Vertices, undirected edges, features, hidden features and classes.
SHAPES = ((400, 1_200, 16, 16, 3), (1_500, 12_000, 32, 16, 4), (1_500, 3_000, 24, 48, 10),
          (1_000, 15_000, 40, 32, 7))


def run(data: Path | None, progress: Callable[[str], None]) -> list[Figure]:
    """The figures; orders of products are also chosen on Cora if ``data`` is its folder."""
    figures, errors = [], []
    for (name, config), shape, order in itertools.product(
            CONFIGS.items(), SHAPES, (COMBINE_FIRST, AGGREGATE_FIRST)):
        vertices, edges, *widths = shape
        label = (f"{name}; {vertices} vertices, {edges} edges, {'-'.join(map(str, widths))}, "
                 f"{order}")
        progress(label)
        predicted, cycles = _compare(shape, order, config, progress)
        errors.append(abs(predicted / cycles - 1))
        figures.append(Figure(name=f"{label}: predicted {predicted}, simulated {cycles}; error",
                              value=errors[-1], bar=_BAR, relation="<="))
    return [*figures, Figure(name="workloads", value=len(errors), bar=24),
            Figure(name="mean error", value=float(np.mean(errors)), bar=_MEAN_BAR, relation="<="),
            *order_figures(data, CONFIGS, SHAPES, progress)]


def _compare(shape: tuple[int, int, int, int, int], order: Sequence[str], config: Config,
             progress: Callable[[str], None]) -> tuple[int, int]:
    """Predicted cycles of a training step, and simulated ones in the mean."""
    vertices, edges, features, hidden, classes = shape
    graph = synthetic_graph(vertices, edges, features, classes)
    network = Network.of_widths([features, hidden, classes], orders=order)
    model = prepare(graph, network, Recipe(epochs=1, element_width=config.element_width))
    workload = Workload.of_model(model, config)
    device = open_device("rtl", model, config, progress=progress)
    assert isinstance(device, AloneChip)
    try:
        for _ in range(_STEPS):
            device.train_step()
        return predict(workload).cycles, round(device.train_cycles / _STEPS)
    finally:
        device.close()
