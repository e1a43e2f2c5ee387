# SPDX-License-Identifier: BSD-2-Clause
"""How long epochs on the reference take: of dense and of sparse features; of samples, with the
share of sampling, and how well they learn.
"""

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from hypercast.benches.accuracy import FACEBOOK
from hypercast.benches.feature_density import density_figures
from hypercast.benches.figure import Figure
from hypercast.host.description.model import Model
from hypercast.host.description.sampling import Sampling
from hypercast.host.graphs.datasets import random_split
from hypercast.host.graphs.graph import Graph
from hypercast.host.graphs.graph_arguments import graph_arguments
from hypercast.host.graphs.parallel_edges import Parallel
from hypercast.host.training.trainer import Trainer

__all__ = ["community_graph", "epoch_figures", "run"]

_RECIPE: dict[str, Any] = {
    "optimiser": "adam", "learning_rate": 0.01, "bias_learning_rate": 0.01, "weight_decay": 0.0,
    "seed": 0}
_MODEL = Model(hidden=(64,), dropout=(0.2,))
_SAMPLING = Sampling(sampler="neighbours", batch=1024, fan_outs=(10, 25))
#: Vertices of the generated graph, and the share of them to train on.
_MANY, _TRAIN = 1_000_000, 0.02


def run(data: Path | None, progress: Callable[[str], None]) -> list[Figure]:
    """The figures; ``data`` is not used.

    The folder with the Facebook graph's files is in the environment: HYPERCAST_FACEBOOK. Without
    it, there is only a generated graph.
    """
    figures = density_figures(progress)
    if FACEBOOK in os.environ:
        graph = Graph.load(os.environ[FACEBOOK])
        graph = graph.with_splits(**random_split(graph.labels, seed=0))
        figures += epoch_figures("Facebook pages", graph, _MODEL, _SAMPLING, epochs=10,
                                 progress=progress, **_RECIPE)
    progress("making a graph of a million vertices")
    graph = community_graph(_MANY, train=_TRAIN)
    title = "a generated graph of a million vertices"
    figures.append(Figure(name=f"{title}: edges, both directions", value=graph.edges.nnz))
    return figures + epoch_figures(title, graph, _MODEL, _SAMPLING, epochs=2, progress=progress,
                                   **_RECIPE)


def epoch_figures(title: str, graph: Graph, model: Model, sampling: Sampling, *, epochs: int,
                  progress: Callable[[str], None], **recipe: Any) -> list[Figure]:
    """Train on samples; returns test accuracy in per cent, and mean times of an epoch.

    An epoch is its training steps, while threads draw samples, and an evaluation of the whole
    graph. Samples of an epoch are drawn once more, without anything beside it.

    Parameters
    ----------
    title : str
        For people.
    graph, model, sampling, epochs, **recipe
        As of ``Trainer``; the epoch that is validated best counts.
    progress : callable
        Called with a line of text before each epoch.
    """
    begin = time.perf_counter()
    with Trainer(graph, model, sampling=sampling, epochs=epochs, patience=epochs,
                 monitor="validation_accuracy", **recipe) as trainer:
        target, samples = trainer.target, trainer.samples
        assert samples
        prepared, spent = time.perf_counter() - begin, []
        for _ in trainer:
            progress(f"{title}, epoch {trainer.epoch} of {epochs}")
            spent.append(time.perf_counter())
        whole = (spent[-1] - begin - prepared) / len(spent)
        accuracy = trainer.final["test_accuracy"]
        begin = time.perf_counter()
        target.evaluate()
        evaluating = time.perf_counter() - begin
        progress(f"{title}, samples of an epoch")
        begin = time.perf_counter()
        vertices = [sample.rows[0] for sample in samples.epoch(1)]
        drawing = time.perf_counter() - begin
    steps = whole - evaluating
    return [
        Figure(name=f"{title}: test accuracy at the best validated epoch", value=100 * accuracy,
               unit="%"),
        Figure(name=f"{title}: samples of an epoch", value=len(vertices)),
        Figure(name=f"{title}: vertices of a sample's input, mean", value=float(np.mean(vertices))),
        Figure(name=f"{title}: before the first epoch", value=prepared, unit="s"),
        Figure(name=f"{title}: an epoch on the reference", value=whole, unit="s"),
        Figure(name=f"{title}: of it, training steps, samples drawn beside them", value=steps,
               unit="s"),
        Figure(name=f"{title}: of it, evaluation of the whole graph", value=evaluating, unit="s"),
        Figure(name=f"{title}: samples of an epoch drawn and rounded with nothing beside",
               value=drawing, unit="s"),
        Figure(name=f"{title}: that, by the training steps", value=drawing / steps)]


def community_graph(vertices: int, *, classes: int = 16, degree: float = 20.0, same: float = 0.5,
                    features: int = 64, noise: float = 0.1, train: float = 0.1,
                    seed: int = 0) -> Graph:
    """A graph whose vertices prefer their own class, made in linear time.

    Parameters
    ----------
    vertices, classes, features : int
        Sizes.
    degree : float
        Mean number of neighbours.
    same : float
        Which share of them is drawn from the same class; the others from all.
    noise : float
        Probability with which a feature is set; of the class's own, twice that.
    train : float
        Share of the vertices that are to train on.
    seed : int
        Seed of all random choices.

    Returns
    -------
    Graph
        A tenth of the vertices are for validation.
    """
    generator = np.random.default_rng(seed)
    labels = generator.integers(classes, size=vertices)
    order = np.argsort(labels, kind="stable")
    counts = np.bincount(labels, minlength=classes)
    first = np.cumsum(counts) - counts
    ends = generator.integers(vertices, size=(round(vertices * degree / 2), 2))
    own = labels[ends[:, 0]]
    drawn = generator.random(len(ends)) < same
    near = order[first[own] + (generator.random(len(ends)) * counts[own]).astype(np.int64)]
    ends[drawn, 1] = near[drawn]
    chance = np.where(np.arange(features) % classes == labels[:, None], 2 * noise, noise)
    present = generator.random((vertices, features)) < chance
    return Graph(**graph_arguments(
        ends[ends[:, 0] != ends[:, 1]], present, labels,
        **random_split(labels, train=train, validation=0.1, seed=seed), parallel=Parallel.SET))
