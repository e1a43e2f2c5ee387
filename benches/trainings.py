# SPDX-License-Identifier: BSD-2-Clause
"""Small whole trainings whose every word is compared with the reference."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from hypercast.host.graphs.graph import Graph
from hypercast.host.runtime.chip import Chip
from hypercast.host.runtime.comparison import Comparison, compare
from hypercast.host.runtime.reference_device import ReferenceDevice
from hypercast.host.runtime.training_device import TrainingDevice
from hypercast.host.training.prepare import prepare
from hypercast.reference.array_types import IntArray
from hypercast.reference.initial_model import InitialModel
from hypercast.reference.metrics import Metrics
from hypercast.reference.network import Network
from hypercast.reference.recipe import Recipe
from hypercast.rtl.config import Config

__all__ = ["BenchTraining", "Compared", "compare_training"]


class Compared(Protocol):
    """A training job of any kind, as ``compare_training`` takes it."""

    @property
    def config(self) -> Config:
        """Configuration of the chip."""

    @property
    def epochs(self) -> int:
        """Training steps."""

    def model(self) -> InitialModel:
        """A fresh model in its initial state."""


@dataclass(frozen=True, kw_only=True)
class BenchTraining:
    """A training job, small enough to be compared in every word of every epoch.

    Parameters
    ----------
    dataset : str
        A bundled data set.
    config : Config
        Configuration of the chip.
    epochs : int
        Training steps.
    hidden : tuple of int
        Features of the hidden layers.
    dropout : float
        On every layer's input.
    orders : tuple of str, optional
        Order of each layer.
    normalisation : str
        How edges are weighted.
    optimiser : str
        One of ``OPTIMISERS``.
    seed : int
        Seed of weights and dropout.
    """

    dataset: str
    config: Config
    epochs: int
    hidden: tuple[int, ...] = (16,)
    dropout: float = 0.5
    orders: tuple[str, ...] | None = None
    normalisation: str = "symmetric"
    optimiser: str = "sgd"
    seed: int = 0

    def model(self) -> InitialModel:
        """A fresh model in its initial state."""
        graph = Graph.load(self.dataset)
        widths = [graph.features.shape[1], *self.hidden, graph.classes]
        orders = {} if self.orders is None else {"orders": self.orders}
        network = Network.of_widths(widths, dropout=self.dropout, **orders)
        recipe = Recipe(epochs=self.epochs, seed=self.seed,
                        element_width=self.config.element_width,
                        normalisation=self.normalisation, optimiser=self.optimiser)
        return prepare(graph, network, recipe)


def compare_training(
        training: Compared, open_chip: Callable[[InitialModel], TrainingDevice],
        after_step: Callable[[Chip], None] = lambda chip: None,
) -> tuple[Comparison, dict[str, IntArray], int]:
    """Train on a chip and on the reference, side by side.

    Parameters
    ----------
    training : Compared
        The training.
    open_chip : callable
        Makes the chip's device from a fresh model.
    after_step : callable
        Called with the chip's device after every training step.

    Returns
    -------
    tuple
        The ``Comparison`` of all words after every epoch and of the final metrics, the last
        snapshot, and the device's training cycles.
    """
    oracle = ReferenceDevice(training.model())
    device = open_chip(training.model())
    words = Comparison()
    try:
        for _ in range(training.epochs):
            metrics = oracle.train_step(), device.train_step()
            assert device.chip
            after_step(device.chip)
            words.add(compare(oracle.snapshot(), device.snapshot(), training.config.lanes))
            words.add(_compare_metrics(*metrics))
        words.add(_compare_metrics(oracle.evaluate(), device.evaluate()))
        assert device.chip
        return words, device.snapshot(), device.chip.train_cycles
    finally:
        device.close()


def _compare_metrics(expected: Metrics, found: Metrics) -> Comparison:
    """Losses, hits and misses of one pass: three words each."""
    one, other = (
        {name: getattr(metrics, name)[None, 1:] for name in ("loss", "correct", "wrong")}
        for metrics in (expected, found))
    return compare(one, other, lanes=1)
