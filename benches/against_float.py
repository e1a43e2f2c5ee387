# SPDX-License-Identifier: BSD-2-Clause
"""The same training by float64 and by the fixed-point reference, at several element widths."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from hypercast.benches.figure import Figure
from hypercast.host.graphs.graph import Graph
from hypercast.host.training.prepare import prepare, training_data
from hypercast.reference.fixed_gnn import FixedGnn
from hypercast.reference.float_gnn import FloatGnn
from hypercast.reference.network import Network
from hypercast.reference.recipe import Recipe
from hypercast.rtl.isa import Split

__all__ = ["against_float_figures", "best_validated", "train_all"]

#: Every so many steps a model is evaluated.
_EVERY = 5

#: Name of the training without element width.
_FLOAT = "float64"


def best_validated(model: Any, epochs: int) -> float:
    """Train a model; its test accuracy in percent at the evaluation with the best validation one.

    Parameters
    ----------
    model : FloatGnn or FixedGnn
        Model at its beginning.
    epochs : int
        Training steps.
    """
    found: list[tuple[float, float]] = []
    for epoch in range(1, epochs + 1):
        model.train_step()
        if epoch % _EVERY == 0:
            metrics = model.evaluate()
            found.append((metrics.accuracy(Split.VALIDATION), metrics.accuracy(Split.TEST)))
    return 100 * max(found, key=lambda pair: pair[0])[1]


def train_all(graph: Graph, network: Network, recipe: Mapping[str, Any], widths: Iterable[int],
              accuracy: Callable[[Any], float], progress: Callable[[str], None],
              ) -> dict[Any, float]:
    """Accuracies by ``"float64"`` and by element width.

    Parameters
    ----------
    graph, network : Graph, Network
        The graph, and the network that is trained.
    recipe : dict
        Arguments of ``Recipe`` but ``element_width``.
    widths : iterable of int
        Element widths.
    accuracy : callable
        Trains a model and returns its accuracy in percent.
    progress : callable
        Called with a line of text before each training.
    """
    found: dict[Any, float] = {}
    kinds: tuple[Any, ...] = (_FLOAT, *widths)
    for kind in kinds:
        progress(f"seed {recipe['seed']}, {kind}")
        found[kind] = accuracy(
            FloatGnn(network, Recipe(**recipe), *training_data(graph, Recipe(**recipe)))
            if kind == _FLOAT else
            FixedGnn(prepare(graph, network, Recipe(element_width=kind, **recipe))))
    return found


def against_float_figures(name: str, trainings: list[dict[Any, float]], bars: Mapping[int, float],
                          ) -> list[Figure]:
    """Means over trainings, and how far the element widths' means are below float64's.

    Parameters
    ----------
    name : str
        Names of graph and network, with which the figures' names begin.
    trainings : list of dict
        Results of ``train_all`` for each seed.
    bars : dict
        Element width to the points that accuracy may be below float64's.
    """
    mean = {kind: float(np.mean([training[kind] for training in trainings]))
            for kind in trainings[0]}
    figures = [Figure(name=f"{name}: float64, mean of {len(trainings)} seeds", value=mean[_FLOAT],
                      unit="%")]
    for width, bar in bars.items():
        figures += [
            Figure(name=f"{name}: {width}-bit", value=mean[width], unit="%"),
            Figure(name=f"{name}: {width}-bit below float64", value=mean[_FLOAT] - mean[width],
                   unit="points", bar=bar, relation="<="),
        ]
    return figures
