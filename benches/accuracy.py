# SPDX-License-Identifier: BSD-2-Clause
"""Accuracy of the fixed-point reference next to float64, and its words next to the chip's."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hypercast.benches.against_float import (
    against_float_figures,
    best_validated,
    train_all,
)
from hypercast.benches.figure import Figure
from hypercast.benches.many_features import many_features_figures
from hypercast.benches.on_chip import on_chip_figures
from hypercast.benches.several_labels import micro_f1_figures
from hypercast.host.description.model import Model
from hypercast.host.description.sampling import Sampling
from hypercast.host.graphs.datasets import DatasetError, random_split
from hypercast.host.graphs.graph import Graph
from hypercast.host.training.trainer import Trainer
from hypercast.reference.models import MODELS, model_network

__all__ = ["run"]

#: Trainings by model. GIN's differ by two points from seed to seed, whatever computes them.
SEEDS = {"gcn": 10, "sage": 10, "gin": 40}
EPOCHS = 200
#: Points that test accuracy may be below float64's, by element width.
BELOW = {16: 0.5, 8: 1.0}
#: Of all trainings on Cora: Kipf's, by Adam.
CORA: dict[str, Any] = {
    "optimiser": "adam", "learning_rates": (0.01,), "bias_learning_rates": (0.01,),
    "weight_decays": (5e-4, 0.0)}
FACEBOOK = "HYPERCAST_FACEBOOK"
#: Test accuracy demanded on the Facebook graph, and points that sampling may cost.
FACEBOOK_BAR, SAMPLING_BAR = 94.0, 1.0
_FACEBOOK: dict[str, Any] = {
    "optimiser": "adam", "learning_rate": 0.01, "bias_learning_rate": 0.01, "weight_decay": 0.0,
    "seed": 0}
_MODEL = Model(hidden=(64,), dropout=(0.2,))


def run(data: Path | None, progress: Callable[[str], None]) -> list[Figure]:
    """The figures; ``data`` is the folder with Cora's Planetoid files.

    The folder with the Facebook graph's is in the environment: HYPERCAST_FACEBOOK.
    """
    if data is None:
        raise DatasetError("this bench needs Cora: give the folder with the Planetoid files "
                           "ind.cora.* by --data or HYPERCAST_CORA "
                           "(https://github.com/kimiyoung/planetoid, data)")
    if FACEBOOK not in os.environ:
        raise DatasetError(f"this bench needs MUSAE's graph of Facebook pages: set {FACEBOOK} to "
                           f"the folder with its files "
                           f"(https://github.com/benedekrozemberczki/MUSAE, input)")
    cora = Graph.load(str(data))
    figures = []
    for model in SEEDS:
        figures += _on_cora(cora, model, progress)
    figures += many_features_figures(progress, seeds=3, epochs=200, bars=BELOW)
    progress("several labels")
    figures += micro_f1_figures(bars={16: 0.01})
    figures += _on_facebook(os.environ[FACEBOOK], progress)
    return figures + on_chip_figures(progress)


def _on_cora(graph: Graph, model: str, progress: Callable[[str], None]) -> list[Figure]:
    """Means over the seeds of float64 and of each element width."""
    network = model_network(model, graph.features.shape[1], (16,), graph.classes, dropout=0.5)
    trainings = [
        train_all(graph, network, {
            **CORA, "seed": seed, "normalisation": MODELS[model].normalisation}, BELOW,
                  lambda trained: best_validated(trained, EPOCHS),
                  lambda text: progress(f"Cora, {model}, {text}"))
        for seed in range(SEEDS[model])]
    return against_float_figures(f"Cora, {model}", trainings, BELOW)


def _on_facebook(folder: str, progress: Callable[[str], None]) -> list[Figure]:
    """GCN on a random split, on the whole graph and on samples of neighbours."""
    graph = Graph.load(folder)
    graph = graph.with_splits(**random_split(graph.labels, seed=0))
    found = {}
    for name, sampling, epochs in (
            ("whole graph", None, 200),
            ("neighbours", Sampling(sampler="neighbours", batch=1024, fan_outs=(10, 25)), 10)):
        with Trainer(graph, _MODEL, sampling=sampling, epochs=epochs, patience=epochs,
                     monitor="validation_accuracy", **_FACEBOOK) as trainer:
            for record in trainer:
                progress(f"Facebook, {name}, epoch {record['epoch'] + 1} of {epochs}")
            found[name] = 100 * trainer.final["test_accuracy"]
    whole, sampled = found.values()
    return [
        Figure(name="Facebook pages, GCN: test accuracy at the best validated epoch", value=whole,
               unit="%", bar=FACEBOOK_BAR),
        Figure(name="Facebook pages, GCN, neighbour sampling", value=sampled, unit="%"),
        Figure(name="neighbour sampling below the whole graph", value=whole - sampled,
               unit="points", bar=SAMPLING_BAR, relation="<="),
    ]
