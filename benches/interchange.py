# SPDX-License-Identifier: BSD-2-Clause
"""Weights go to PyTorch Geometric and come from it; the same recipe there, accuracy and speed.

PyTorch and PyTorch Geometric are no requirements of the package.
"""

import importlib.util
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from threadpoolctl import threadpool_limits

from hypercast.benches.epochs import community_graph
from hypercast.benches.figure import Figure
from hypercast.errors import NotFoundError
from hypercast.host.description.model import Model
from hypercast.host.graphs.graph import Graph
from hypercast.host.graphs.interchange.weights import WeightsWarning
from hypercast.host.training.trainer import Trainer
from hypercast.reference.array_types import FloatArray
from hypercast.rtl.isa import Split

__all__ = ["interchange_figures", "run"]

#: Name here to the class there.
_THEIRS = {"gcn": "GCN", "sage": "GraphSAGE", "gin": "GIN"}
_HIDDEN, _EPOCHS, _SEEDS = 64, 200, 5
#: Kipf's recipe: weights of the first layer decay.
_RATE, _DECAY, _DROPOUT = 0.01, 5e-4, 0.5
#: Percent of the largest logit, percent of the vertices, and points.
_LOGITS_BAR, _ARGMAX_BAR, _ACCURACY_BAR = 0.3, 99.9, 1.0

#: (V, C) logits of the same weights, here and there.
_Logits: TypeAlias = tuple[FloatArray, FloatArray]


class _Trained(NamedTuple):
    """Test accuracy at the best validated epoch, of 1, and processor time of an epoch in s."""

    accuracy: float
    seconds: float


def run(data: Path | None, progress: Callable[[str], None]) -> list[Figure]:
    """The figures, of Cora in the folder ``data``, else of a generated graph.

    Accuracies have a bar on Cora only. On the generated graph, trainings of GIN by this recipe
    differ more from seed to seed, here as there. The bundled graphs are too small: GIN learns
    nothing on them, and the logits of all classes are about the same.

    Raises
    ------
    NotFoundError
        If PyTorch or PyTorch Geometric is not installed.
    """
    if missing := [name for name in ("torch", "torch_geometric")
                   if not importlib.util.find_spec(name)]:
        raise NotFoundError(f"{' and '.join(missing)} not installed, which this bench "
                            f"compares with; pip install torch torch_geometric")
    graph = Graph.load(data) if data else community_graph(
        2000, classes=4, degree=5.0, same=0.9, features=50, train=0.2)
    return interchange_figures(
        "Cora" if data else "generated", graph.with_normalised_features(), epochs=_EPOCHS,
        seeds=_SEEDS, bar=_ACCURACY_BAR if data else None, progress=progress)


def interchange_figures(title: str, graph: Graph, *, epochs: int, seeds: int, bar: float | None,
                        progress: Callable[[str], None]) -> list[Figure]:
    """Train here and there, with the same recipe and initial weights, and exchange the weights.

    Parameters
    ----------
    title : str
        The graph, for people.
    graph : Graph
        The graph.
    epochs, seeds : int
        Epochs of a training, and trainings of each model.
    bar : float or None
        By how many points accuracies may differ, if that is judged.
    progress : callable
        Called with a line of text before each training.
    """
    figures = []
    for name, other in _THEIRS.items():
        ours, theirs, to, back = [], [], [], []
        for seed in range(seeds):
            progress(f"{title}, {other}, seed {seed}")
            with TemporaryDirectory() as folder, _one_thread():
                mine, yours, *logits = _exchange(name, graph, epochs, seed, Path(folder))
            ours.append(mine)
            theirs.append(yours)
            to.append(logits[0])
            back.append(logits[1])
        here, beside = (100 * float(np.mean([one.accuracy for one in every]))
                        for every in (ours, theirs))
        pace = float(np.mean([one.seconds for one in ours])
                     / np.mean([one.seconds for one in theirs]))
        figures += [
            *_difference(f"{title}, {other}: to PyTorch Geometric", to),
            *_difference(f"{title}, {other}: from PyTorch Geometric", back),
            Figure(name=f"{title}, {other}: test accuracy, mean of {seeds} seeds", value=here,
                   unit="%"),
            Figure(name=f"{title}, {other}: that of PyTorch Geometric", value=beside, unit="%"),
            Figure(name=f"{title}, {other}: between the two", value=abs(here - beside),
                   unit="points", bar=bar, relation="<="),
            Figure(name=f"{title}, {other}: an epoch on the reference / there, one thread",
                   value=pace, unit="x")]
    return figures


def _exchange(name: str, graph: Graph, epochs: int, seed: int, folder: Path) -> tuple[
        _Trained, _Trained, _Logits, _Logits]:
    """Both trainings, and logits here and there of our weights, then of theirs."""
    import torch

    model = Model(name, hidden=_HIDDEN, dropout=_DROPOUT)
    recipe: dict[str, Any] = {"optimiser": "adam", "learning_rate": _RATE,
                              "bias_learning_rate": _RATE, "weight_decay": (_DECAY, 0.0),
                              "seed": seed}
    with Trainer(graph, model, epochs=epochs, patience=epochs, monitor="validation_accuracy",
                 **recipe) as trainer:
        trainer.save_weights(folder / "begin.pt")
        begin = time.process_time()
        trainer.fit()
        seconds = (time.process_time() - begin) / epochs
        final = trainer.final["test_accuracy"]
        trainer.save_weights(folder / "ours.pt")
        ours = trainer.predict().logits
    torch.manual_seed(seed)
    there = _TheirTraining(name, graph)
    there.load(folder / "ours.pt")
    exchanged = ours, there.logits()
    there.load(folder / "begin.pt")
    begin = time.process_time()
    accuracy = there.train(epochs)
    trained = _Trained(accuracy, (time.process_time() - begin) / epochs)
    torch.save(there.model.state_dict(), folder / "theirs.pt")
    with warnings.catch_warnings(action="ignore", category=WeightsWarning), \
            Trainer(graph, Model(name, hidden=_HIDDEN, weights=str(folder / "theirs.pt")),
                    **recipe) as trainer:
        back = trainer.predict().logits
    return _Trained(final, seconds), trained, exchanged, (back, there.logits())


class _TheirTraining:
    """The same model in PyTorch Geometric, and its training on the whole graph."""

    def __init__(self, name: str, graph: Graph) -> None:
        import torch
        from torch_geometric.nn import models

        features = graph.features if isinstance(graph.features, np.ndarray) else \
            graph.features.toarray()
        edges = graph.edges.tocoo()
        self._torch: Any = torch
        self._features = torch.from_numpy(features.astype(np.float32))
        self._edges = torch.from_numpy(np.stack(edges.coords[::-1]).astype(np.int64))
        self._labels = torch.from_numpy(graph.labels)
        self._members = {split: torch.from_numpy(graph.splits == split) for split in Split}
        self.model: Any = getattr(models, _THEIRS[name])(
            features.shape[1], _HIDDEN, 2, graph.classes, dropout=_DROPOUT)

    def load(self, path: Path) -> None:
        """Take weights from a file, every tensor of it."""
        self.model.load_state_dict(self._torch.load(path))

    def logits(self) -> FloatArray:
        """(V, C) logits of all vertices."""
        self.model.eval()
        with self._torch.no_grad():
            found: FloatArray = self.model(self._features, self._edges).numpy()
        return found

    def train(self, epochs: int) -> float:
        """Train; the test accuracy at the epoch that is validated best, whose weights are kept."""
        functional = self._torch.nn.functional
        decays: list[Any] = []
        others: list[Any] = []
        for name, parameter in self.model.named_parameters():
            first = name.startswith("convs.0.") and name.endswith("weight") and "lins.1" not in name
            (decays if first else others).append(parameter)
        optimiser = self._torch.optim.Adam(
            [{"params": decays, "weight_decay": _DECAY}, {"params": others}], lr=_RATE)
        best, accuracy, weights = -1.0, 0.0, None
        for _ in range(epochs):
            self.model.train()
            optimiser.zero_grad()
            # Its dropout is between layers, ours on the features as well.
            dropped = functional.dropout(self._features, _DROPOUT)
            members = self._members[Split.TRAIN]
            functional.cross_entropy(self.model(dropped, self._edges)[members],
                                     self._labels[members]).backward()
            optimiser.step()
            right = self._torch.from_numpy(self.logits()).argmax(1) == self._labels
            validated, tested = (float(right[self._members[split]].float().mean())
                                 for split in (Split.VALIDATION, Split.TEST))
            if validated > best:
                best, accuracy = validated, tested
                weights = {name: values.clone()
                           for name, values in self.model.state_dict().items()}
        self.model.load_state_dict(weights)
        return accuracy


@contextmanager
def _one_thread() -> Iterator[None]:
    """One thread for PyTorch, NumPy and SciPy."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with threadpool_limits(1):
            yield
    finally:
        torch.set_num_threads(threads)


def _difference(name: str, pairs: Sequence[_Logits]) -> list[Figure]:
    """How far logits here are from logits there, each a pair of both."""
    largest = max(float(np.abs(here - there).max() / np.abs(there).max()) for here, there in pairs)
    same = float(np.mean([here.argmax(axis=1) == there.argmax(axis=1) for here, there in pairs]))
    return [
        Figure(name=f"{name}: largest difference of logits, of the largest", value=100 * largest,
               unit="%", bar=_LOGITS_BAR, relation="<="),
        Figure(name=f"{name}: vertices with the same class, of all seeds", value=100 * same,
               unit="%", bar=_ARGMAX_BAR)]
