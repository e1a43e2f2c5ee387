# SPDX-License-Identifier: BSD-2-Clause
"""Several labels per vertex: micro F1 of the fixed-point reference, next to float64."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from hypercast.benches.figure import Figure
from hypercast.host.graphs.datasets import communities
from hypercast.host.graphs.graph import Graph
from hypercast.host.graphs.rank_order import rank_order
from hypercast.host.training.prepare import loss_of, prepare
from hypercast.reference.fixed_gnn import FixedGnn
from hypercast.reference.float_gnn import FloatGnn
from hypercast.reference.network import Network
from hypercast.reference.recipe import Recipe
from hypercast.rtl.isa import Split

__all__ = ["micro_f1_figures"]

#: Most that micro F1 may be below float64's, by element width.
BARS = {16: 0.01, 8: 0.03}


def micro_f1_figures(*, vertices: int = 512, seeds: int = 3, epochs: int = 100,
                     bars: Mapping[int, float] = BARS) -> list[Figure]:
    """Test micro F1 of trainings on overlapping communities.

    Parameters
    ----------
    vertices : int
        Size of the graphs.
    seeds : int
        Graphs, each with initial weights and dropout of its own.
    epochs : int
        Training steps.
    bars : dict
        Element width to the points that micro F1 may be below float64's.

    Returns
    -------
    list of Figure
        Means over the seeds of float64 and of each element width, and how far the element widths
        are below float64.
    """
    real, figures = [], []
    fixed: dict[int, list[float]] = {width: [] for width in bars}
    for seed in range(seeds):
        graph = Graph(**communities(vertices=vertices, seed=seed))
        network = Network.of_widths([graph.features.shape[1], 16, graph.classes], dropout=0.2)
        recipe: dict[str, Any] = {
            "seed": seed, "loss": loss_of(graph), "learning_rates": (1.0,),
            "bias_learning_rates": (1.0,), "weight_decays": (5e-4,)}
        ranked = graph.permute(rank_order(graph))
        real.append(_train(FloatGnn(
          network, Recipe(**recipe), ranked.normalise("symmetric"), ranked.features,
          ranked.labels, ranked.splits), epochs))
        for width, scores in fixed.items():
            scores.append(_train(
                FixedGnn(prepare(graph, network, Recipe(element_width=width, **recipe))), epochs))
    figures.append(Figure(name="test micro F1, float64", value=float(np.mean(real)), unit=""))
    for width, scores in fixed.items():
        below = float(np.mean(real) - np.mean(scores))
        figures += [
            Figure(name=f"test micro F1, {width}-bit", value=float(np.mean(scores)), unit=""),
            Figure(name=f"test micro F1, {width}-bit below float64", value=below, unit="",
                   bar=bars[width], relation="<="),
        ]
    return figures


def _train(model: FloatGnn | FixedGnn, epochs: int) -> float:
    for _ in range(epochs):
        model.train_step()
    return model.evaluate().micro_f1(Split.TEST)
