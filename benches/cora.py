# SPDX-License-Identifier: BSD-2-Clause
"""Cora: accuracy of the fixed-point reference, and the same bits on the simulated chip."""

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from hypercast.benches.figure import Figure
from hypercast.host.graphs.datasets import DatasetError
from hypercast.host.graphs.graph import Graph
from hypercast.host.runtime.alone_chip import AloneChip
from hypercast.host.runtime.comparison import Comparison, compare
from hypercast.host.runtime.reference_device import ReferenceDevice
from hypercast.host.training.prepare import open_device, prepare
from hypercast.reference.fixed_gnn import FixedGnn
from hypercast.reference.initial_model import InitialModel
from hypercast.reference.network import Network
from hypercast.reference.recipe import Recipe
from hypercast.rtl.config import PRESETS
from hypercast.rtl.isa import Split

__all__ = ["run"]

SEEDS = 10
EPOCHS = 200
#: Epochs in which every word of the simulated chip is compared.
COMPARED_EPOCHS = 20
#: Test accuracy demanded of each element width, in percent.
BARS = {16: 81.0, 8: 80.5}


def _model(graph: Graph, seed: int, element_width: int) -> InitialModel:
    network = Network.of_widths([graph.features.shape[1], 16, graph.classes], dropout=0.5)
    recipe = Recipe(epochs=EPOCHS, seed=seed, element_width=element_width)
    return prepare(graph, network, recipe)


def run(data: Path | None, progress: Callable[[str], None]) -> list[Figure]:
    """The figures; ``data`` is the folder with Cora's Planetoid files."""
    if data is None:
        raise DatasetError("this bench needs Cora: give the folder with the Planetoid files "
                           "ind.cora.* by --data or HYPERCAST_CORA "
                           "(https://github.com/kimiyoung/planetoid, data)")
    graph = Graph.load(str(data))
    figures = []
    for width, bar in BARS.items():
        accuracies = []
        start = time.perf_counter()
        for seed in range(SEEDS):
            progress(f"{width}-bit elements, seed {seed}")
            model = FixedGnn(_model(graph, seed, width))
            for _ in range(EPOCHS):
                model.train_step()
            accuracies.append(100 * model.evaluate().accuracy(Split.TEST))
        seconds = time.perf_counter() - start
        figures += [
            Figure(name=f"test accuracy, {width}-bit, mean of {SEEDS} seeds",
                   value=float(np.mean(accuracies)), unit="%", bar=bar),
            Figure(name=f"test accuracy, {width}-bit, standard deviation",
                   value=float(np.std(accuracies)), unit="%"),
            Figure(name=f"reference, {width}-bit, time per epoch",
                   value=1000 * seconds / SEEDS / EPOCHS, unit="ms"),
        ]
    return figures + _on_chip(graph, progress)


def _on_chip(graph: Graph, progress: Callable[[str], None]) -> list[Figure]:
    """A whole training on the simulated chip; its first epochs are compared in all words."""
    config = PRESETS["cora"]
    model = _model(graph, 0, 16)
    oracle = ReferenceDevice(model)
    device = open_device("rtl", model, config, progress=progress)
    assert isinstance(device, AloneChip)
    words = Comparison()
    seconds = 0.0
    try:
        for epoch in range(EPOCHS):
            progress(f"simulated chip, epoch {epoch + 1} of {EPOCHS}")
            start = time.perf_counter()
            device.train_step()
            seconds += time.perf_counter() - start
            oracle.train_step()
            if epoch < COMPARED_EPOCHS or epoch == EPOCHS - 1:
                words.add(compare(oracle.snapshot(), device.snapshot(), config.lanes))
        accuracy = 100 * device.evaluate().accuracy(Split.TEST)
    finally:
        device.close()
    return [
        Figure(name=f"simulated chip: words compared, epochs 1-{COMPARED_EPOCHS} and {EPOCHS}",
               value=words.words),
        Figure(name="of these, equal to the reference", value=words.equal, bar=words.words,
               relation="="),
        Figure(name="simulated chip: test accuracy, seed 0", value=accuracy, unit="%"),
        Figure(name="simulated chip: cycles per training step",
               value=device.train_cycles // EPOCHS, unit="cycles"),
        Figure(name=f"simulated chip: {EPOCHS} training steps", value=device.train_cycles,
               unit="cycles"),
        Figure(name=f"simulated chip: wall time of {EPOCHS} training steps", value=seconds,
               unit="s"),
    ]
