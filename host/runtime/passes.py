# SPDX-License-Identifier: BSD-2-Clause
"""The passes of a unit through some layers, and what crosses between boards that have them."""

import abc
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from hypercast.reference.array_types import BoolArray, IntArray
from hypercast.reference.metrics import LOSS_UNIT, Metrics
from hypercast.reference.network import Network
from hypercast.reference.sample import Sample
from hypercast.reference.step_sums import StepSums
from hypercast.reference.tensor import BACKWARD, EDGES, FEATURES, Kind, Pass, Tensor

__all__ = ["Crossing", "Entries", "Message", "Passes", "Rows", "no_metrics"]

#: Entry of the exponent file to its exponent and peak.
Entries = Mapping[Tensor, tuple[int, int | None]]


class Crossing(NamedTuple):
    """A tensor that a board makes and another one needs.

    Attributes
    ----------
    tensor : Tensor
        The tensor, of a training step.
    source, target : int
        Ranks of the boards.
    masked : bool
        Whether its mask crosses with it.
    """

    tensor: Tensor
    source: int
    target: int
    masked: bool = False


class Rows(NamedTuple):
    """Rows that cross between two boards.

    Attributes
    ----------
    mantissas : numpy.ndarray
        Mantissas in the width of an element.
    exponent : int
        The rows' exponent.
    mask : numpy.ndarray or None
        Where hidden features were positive and kept in training, packed by bits.
    """

    mantissas: npt.NDArray[np.signedinteger]
    exponent: int
    mask: npt.NDArray[np.uint8] | None = None

    def unpacked_mask(self) -> BoolArray:
        """The mask, as (rows, columns) booleans."""
        assert self.mask is not None
        bits = np.unpackbits(self.mask, count=self.mantissas.size)
        return bits.reshape(self.mantissas.shape).astype(bool)


class Message(NamedTuple):
    """The message between two boards in a pass of a unit.

    Attributes
    ----------
    rows : dict
        Rows by tensor, one of a training step or of an evaluation.
    opened : dict
        Exponents of entries of the exponent file that layers have in common, if this pass has
        opened them: what others store of them is another part.
    """

    rows: Mapping[Tensor, Rows] = {}
    opened: Mapping[Tensor, int] = {}

    def __or__(self, other: "Message") -> "Message":
        return Message({**self.rows, **other.rows}, {**self.opened, **other.opened})


class Passes(abc.ABC):
    """The passes of a unit (a sample, a chunk or a whole graph) through a part's layers.

    Parameters
    ----------
    network : Network
        The whole network.
    element_width : int
        Bits of a mantissa.
    sample : Sample
        The unit.
    training : bool
        Whether it is of a training step; if not, of an evaluation.

    Attributes
    ----------
    sample, training
        As given.
    metrics : Metrics or None
        Metrics of the forward pass, after the last layer.
    """

    def __init__(self, network: Network, element_width: int, sample: Sample, *,
                 training: bool) -> None:
        self.sample = sample
        self.training = training
        self.metrics: Metrics | None = None
        self._network = network
        self._during = Pass.TRAINING if training else Pass.EVALUATION
        self._type = np.dtype(f"int{element_width}")

    @abc.abstractmethod
    def forward(self, message: Message) -> None:
        """All layers, from the features, or from what other boards made."""

    @abc.abstractmethod
    def backward(self, message: Message) -> None:
        """All layers, from the loss, or from what other boards made."""

    def message(self, crossings: Iterable[Crossing]) -> Message:
        """The message for another board, of the pass that has been."""
        rows, backward = dict[Tensor, Rows](), False
        for crossing in crossings:
            name = crossing.tensor.in_pass(self._during)
            backward = name.kind in BACKWARD
            values, exponent = self._values(name)
            mask = self._mask(Tensor(Kind.MASK, name.layer), values.shape[1]) \
                if crossing.masked and self.training else None
            rows[name] = Rows(values.astype(self._type), exponent,
                              None if mask is None else np.packbits(mask))
        opened = self.opened if self._network.shares_exponents else {}
        return Message(rows, {name: exponent for name, (exponent, _) in opened.items()
                              if not name.layer and (name.kind in BACKWARD) == backward})

    @abc.abstractmethod
    def _values(self, name: Tensor) -> tuple[IntArray, int]:
        """Mantissas of a tensor that was made here, and their exponent."""

    @abc.abstractmethod
    def _mask(self, name: Tensor, columns: int) -> BoolArray | None:
        """A mask of so many columns, if layers here have made one."""

    @property
    @abc.abstractmethod
    def opened(self) -> dict[Tensor, tuple[int, int | None]]:
        """Exponent and peak of every entry of the exponent file that the passes opened."""

    @abc.abstractmethod
    def exponent(self, name: Tensor) -> int:
        """Exponent of a tensor that came from another board, or was made here."""

    @abc.abstractmethod
    def set_entries(self, entries: Entries) -> None:
        """Go backward with other entries of the exponent file, of what is opened there."""

    def sums(self) -> StepSums:
        """Results of the passes in training: sums of these layers' parameters, and opened entries.

        Parts before the last layer have no metrics.
        """
        sample = self.sample
        gradients, saturations = self._gradients()
        return StepSums(
            gradients=gradients, saturations=saturations,
            metrics=self.metrics or no_metrics(sample),
            entries=self.opened | {EDGES: (sample.edge_exponent, None),
                                   FEATURES: (sample.features.exponent, None)})

    @abc.abstractmethod
    def _gradients(self) -> tuple[dict[Tensor, IntArray], int]:
        """Accumulators of the parameters' gradients, and how many elements saturated."""


def no_metrics(sample: Sample) -> Metrics:
    """The metrics of no vertices: all counts are zero."""
    none = np.zeros(4, dtype=np.int64)
    return Metrics(none, none, none, none, LOSS_UNIT * sample.loss_scale)
