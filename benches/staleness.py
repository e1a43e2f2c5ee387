# SPDX-License-Identifier: BSD-2-Clause
"""The cost of old rows and weights, and of a vertex cut: accuracy next to exact training's."""

import os
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from hypercast.benches.accuracy import FACEBOOK
from hypercast.benches.figure import Figure
from hypercast.benches.stale_graph import stale_graph
from hypercast.host.cluster.assignment import Assignment
from hypercast.host.description.model import Model
from hypercast.host.description.sampling import Sampling
from hypercast.host.graphs.datasets import random_split
from hypercast.host.graphs.graph import Graph
from hypercast.host.training.trainer import Trainer
from hypercast.host.training.trainer_arguments import Sharing
from hypercast.safe_path import safe_path

__all__ = ["SCHEMES", "accuracy", "run"]

_PARTS = 8
_SEEDS = 10
#: Ways to train, by name, with options of the ``Trainer``; the others are compared with the first.
SCHEMES: Mapping[str, Mapping[str, Any]] = {"exact": {}} | {
    name: {"boards": Sharing(assignment=assignment)} for name, assignment in {
        **{name: Assignment(scheme="graph", parts=(1.0,) * _PARTS, smoothing=smoothing)
           for name, smoothing in (("stale halos", 0.0), ("stale halos, smoothing 0.5", 0.5),
                                   ("stale halos, smoothing 0.95", 0.95))},
        "two weight versions": Assignment(scheme="layers", versions=2),
        "stashed weights, 2 stages": Assignment(scheme="layers", stages=2),
        "chunks through layers": Assignment(scheme="layers", chunks=_PARTS)}.items()} | {
    "vertex cut": {"sampling": Sampling(sampler="cut", parts=_PARTS), "micro_batches": _PARTS}}
_MODEL = Model(hidden=(64,), order=("combine_first",))
#: The least that exact training is better than stale halos on the graph that tells them apart.
_APART = 10.0


def run(data: Path | None, progress: Callable[[str], None]) -> list[Figure]:
    """The figures; Cora is trained on if ``data`` is the folder with its Planetoid files.

    Facebook pages are, if the folder with their files is in the environment: HYPERCAST_FACEBOOK.
    Each processor trains with some of the seeds.
    """
    trainings: list[tuple[str, Graph, float, int]] = [
        (f"generated graph, learning rate {rate}", stale_graph(), rate, epochs)
        for rate, epochs in ((0.01, 60), (0.002, 120))]
    if data is not None:
        trainings.append(("Cora, learning rate 0.01", Graph.load(str(data)), 0.01, 60))
    if FACEBOOK in os.environ:
        graph = Graph.load(os.environ[FACEBOOK])
        graph = graph.with_splits(**random_split(graph.labels, seed=0))
        trainings.append(("Facebook pages, learning rate 0.01", graph, 0.01, 40))
    return [figure for title, graph, rate, epochs in trainings
            for figure in _figures(title, graph, rate, epochs, progress)]


def _figures(title: str, graph: Graph, rate: float, epochs: int,
             progress: Callable[[str], None]) -> Iterator[Figure]:
    found = accuracies(graph, rate, epochs, lambda text: progress(f"{title}, {text}"))
    for name, each in found.items():
        yield Figure(name=f"{title}, {epochs} epochs, {name}: test accuracy at the best validated "
                          f"epoch", value=float(np.mean(each)), unit="%")
        yield Figure(name=f"{title}, {epochs} epochs, {name}: standard deviation of {_SEEDS} seeds",
                     value=float(np.std(each)), unit="points")
    if title == "generated graph, learning rate 0.01":
        yield Figure(name="generated graph: exact above stale halos", unit="points", bar=_APART,
                     value=float(np.mean(found["exact"]) - np.mean(found["stale halos"])))


def accuracies(graph: Graph, rate: float, epochs: int,
               progress: Callable[[str], None]) -> dict[str, list[float]]:
    """For each of ``SCHEMES``, the ``accuracy`` of all seeds."""
    with safe_path(), ProcessPoolExecutor(
            os.cpu_count(), mp_context=get_context("spawn"), initializer=_keep,
            initargs=(graph,)) as pool:
        trainings = {(name, seed): pool.submit(_accuracy_of, name, rate, epochs, seed)
                     for seed in range(_SEEDS) for name in SCHEMES}
        for name, seed in trainings:
            progress(f"seed {seed}, {name}")
            trainings[name, seed].result()
        return {name: [trainings[name, seed].result() for seed in range(_SEEDS)]
                for name in SCHEMES}


#: The graph that a process trains on.
_kept: list[Graph] = []


def _keep(graph: Graph) -> None:
    _kept.append(graph)


def _accuracy_of(name: str, rate: float, epochs: int, seed: int) -> float:
    return accuracy(_kept[0], SCHEMES[name], rate=rate, epochs=epochs, seed=seed)


def accuracy(graph: Graph, scheme: Mapping[str, Any], *, rate: float, epochs: int,
             seed: int, **more: Any) -> float:
    """Test accuracy at the best validated epoch, in percent; ``more`` is of the ``Trainer``, too.
    """
    with Trainer(graph, **{"model": _MODEL, **scheme, **more}, optimiser="adam",
                 learning_rate=rate, weight_decay=5e-4, epochs=epochs, seed=seed, patience=epochs,
                 monitor="validation_accuracy") as trainer:
        trainer.fit()
        return 100 * float(trainer.final["test_accuracy"])
