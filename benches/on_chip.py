# SPDX-License-Identifier: BSD-2-Clause
"""Every model, loss, optimiser and sampler on the simulated sixteen-core chip, in every word."""

from collections.abc import Callable
from typing import Any

from hypercast.benches.figure import Figure
from hypercast.host.description.device import Device
from hypercast.host.description.model import Model
from hypercast.host.description.sampling import Sampling
from hypercast.host.graphs.datasets import random_split
from hypercast.host.graphs.graph import Graph
from hypercast.host.training.trainer import Trainer

__all__ = ["on_chip_figures"]

_DEVICE = Device("rtl", preset="demo", program_rows=2048, weight_rows=1024, channel_words=32768)
#: Options that all trainings have in common.
_EPOCHS, _SEED, _HIDDEN, _DROPOUT = 2, 0, (8, 8), 0.5
#: Name to data set, model, sampling and recipe.
_TRAININGS: dict[str, tuple[str, dict[str, Any], dict[str, Any], dict[str, Any]]] = {
    "gcn, sgd, cross-entropy": ("blocks", {}, {}, {}),
    "sage": ("blocks", {"name": "sage"}, {}, {}),
    "gin": ("blocks", {"name": "gin"}, {}, {}),
    "gcn, residual": ("blocks", {"residual": True}, {}, {}),
    "gcn, jumping knowledge": ("blocks", {"jumping": True}, {}, {}),
    "gcnii": ("blocks", {"name": "gcnii", "layers": 3, "hidden": (8,)}, {}, {}),
    "mixhop": ("blocks", {"name": "mixhop", "layers": 4, "hidden": (8,)}, {}, {}),
    "sign": ("blocks", {"name": "sign", "layers": 3, "hidden": (8,)}, {}, {}),
    "several labels, binary cross-entropy": ("communities", {}, {}, {}),
    "adam": ("blocks", {}, {}, {"optimiser": "adam"}),
    "momentum 0, weight decay 0.01, schedule": (
        "blocks", {}, {}, {"momentum": 0.0, "weight_decay": 0.01, "schedule": ((1, 0.1),)}),
    "neighbours": ("blocks", {}, {"sampler": "neighbours", "batch": 64, "fan_outs": (5, 5, 5)}, {}),
    "GraphSAINT, nodes": ("blocks", {}, {"sampler": "nodes", "batch": 96}, {}),
    "GraphSAINT, edges": ("blocks", {}, {"sampler": "edges", "batch": 96}, {}),
    "GraphSAINT, walks": ("blocks", {}, {"sampler": "walks", "batch": 48}, {}),
}


def on_chip_figures(progress: Callable[[str], None]) -> list[Figure]:
    """Words of trainings on the chip that equal the reference's."""
    figures = []
    for name, (dataset, model, sampling, recipe) in _TRAININGS.items():
        progress(f"on the chip: {name}")
        graph = Graph.load(dataset)
        if sampling:  # which needs vertices to train on
            graph = graph.with_splits(**random_split(graph.labels, seed=_SEED))
        with Trainer(graph, Model(**{"hidden": _HIDDEN, "dropout": (_DROPOUT,)} | model), _DEVICE,
                     sampling=Sampling(**sampling), check=True, epochs=_EPOCHS, seed=_SEED,
                     **recipe) as trainer:
            trainer.fit()
            words = trainer.words
        figures.append(Figure(name=f"{name}: words equal on rtl, of {words.words}",
                              value=words.equal, bar=words.words, relation="="))
    return figures
