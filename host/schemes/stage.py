# SPDX-License-Identifier: BSD-2-Clause
"""A run of layers, forward and backward, of one micro-batch: what passes of it are, and those of a
reference.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from hypercast.host.runtime.sampled_device import SteppedDevice
from hypercast.host.schemes.layer_crossings import Crossing
from hypercast.reference.array_types import BoolArray, IntArray
from hypercast.reference.fixed_gnn import FixedGnn
from hypercast.reference.fixed_passes import FixedPasses
from hypercast.reference.metrics import Metrics
from hypercast.reference.rows import Older
from hypercast.reference.sample import Sample
from hypercast.reference.step_sums import StepSums
from hypercast.reference.tensor import BACKWARD, EDGES, FEATURES, Kind, Pass, Tensor

__all__ = ["LayerPasses", "Message", "Rows", "StageDevice", "StagePasses"]


class Rows(NamedTuple):
    """Rows that cross between two stages.

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


class Message(NamedTuple):
    """What crosses between two stages in a pass of a micro-batch.

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


class StagePasses(Protocol):
    """The passes of a micro-batch through some layers, on some device.

    Attributes
    ----------
    sample : Sample
        The micro-batch.
    training : bool
        Whether it is of a training step; if not, of an evaluation.
    metrics : Metrics or None
        After the last layer, those of the forward pass.
    """

    sample: Sample
    metrics: Metrics | None

    @property
    def training(self) -> bool: ...

    def forward(self, message: Message) -> None:
        """All layers, from the features, or from what other stages made."""

    def backward(self, message: Message) -> None:
        """All layers, from the loss, or from what other stages made."""

    def message(self, crossings: Iterable[Crossing]) -> Message:
        """What another stage takes of the pass that has been."""

    @property
    def opened(self) -> dict[Tensor, tuple[int, int | None]]:
        """Exponent and peak of every entry of the exponent file that the passes opened."""

    def exponent(self, name: Tensor) -> int:
        """Exponent of a tensor that came from another stage, or was made here."""

    def set_entries(self, entries: Mapping[Tensor, tuple[int, int | None]]) -> None:
        """Go backward with other entries of the exponent file, of what is opened there."""

    def sums(self, nothing: Metrics) -> StepSums:
        """What it leaves in training; ``nothing`` are the metrics of stages before the last."""


class StageDevice(SteppedDevice, Protocol):
    """A device that has a run of layers; ``begin_step`` and ``update`` are of their parameters."""

    saturations: int

    def passes(self, sample: Sample, *, training: bool) -> StagePasses:
        """The passes of a micro-batch."""


class LayerPasses:
    """The passes of a micro-batch through some layers.

    Parameters
    ----------
    oracle : FixedGnn
        Has their parameters, and has begun the step.
    sample : Sample
        The micro-batch.
    layers : range
        Numbers of the layers, from 1.
    step_key : int or None
        Step key of a training step; None is an evaluation.
    entries : dict, optional
        Entries of the exponent file, if they are not those of the oracle.
    weights : dict, optional
        Parameters, if they are not the oracle's newest ones.
    """

    def __init__(self, oracle: FixedGnn, sample: Sample, layers: range, step_key: int | None, *,
                 entries: Mapping[Tensor, tuple[int, int | None]] | None = None,
                 weights: Mapping[Tensor, Older] | None = None) -> None:
        self._layers = layers
        self._step_key = step_key
        self._during = Pass.EVALUATION if step_key is None else Pass.TRAINING
        self.sample = sample
        self.passes = passes = FixedPasses(oracle.network, oracle.recipe, sample)
        passes.exponents.load(oracle.exponents.entries() if entries is None else entries)
        for name, values in ((EDGES, sample.edge_exponent), (FEATURES, sample.features.exponent)):
            passes.exponents[name] = values
        passes.tensors |= {name: oracle.tensors[name] for name in oracle.kept}
        for name, older in (weights or {}).items():
            passes.tensors[name], passes.exponents[name] = older
        self._type = np.dtype(f"int{oracle.recipe.element_width}")
        self.metrics: Metrics | None = None
        passes.begin()

    @property
    def training(self) -> bool:
        """Whether it is of a training step."""
        return self._step_key is not None

    def forward(self, message: Message) -> None:
        """All layers, from the features, or from what other stages made."""
        self._take(message)
        for number in self._layers:
            self.passes.forward_layer(number, self._step_key)
        if self._layers[-1] < len(self.passes.network.layers):
            return
        loss = self.passes.loss(self._during)
        self.metrics = self.passes.metrics(loss)
        if self._step_key is not None:
            self.passes.store_loss(loss)

    def backward(self, message: Message) -> None:
        """All layers, from the loss, or from what other stages made."""
        self._take(message)
        for number in reversed(self._layers):
            self.passes.backward_layer(number)

    def message(self, crossings: Iterable[Crossing]) -> Message:
        """What another stage takes of the pass that has been."""
        passes, rows, backward = self.passes, dict[Tensor, Rows](), False
        for crossing in crossings:
            backward = crossing.tensor.kind in BACKWARD
            name = crossing.tensor.made(self._during)
            values: IntArray = passes.tensors[name]
            mask = passes.masks.get(_mask_of(name)) if crossing.masked else None
            rows[name] = Rows(values.astype(self._type), passes.exponents[name],
                              None if mask is None else np.packbits(mask))
        return Message(rows, {entry: exponent for entry, (exponent, _) in passes.opened.items()
                              if not entry.layer and (entry.kind in BACKWARD) == backward})

    @property
    def opened(self) -> dict[Tensor, tuple[int, int | None]]:
        """Exponent and peak of every entry of the exponent file that the passes opened."""
        return self.passes.opened

    def exponent(self, name: Tensor) -> int:
        """Exponent of a tensor that came from another stage, or was made here."""
        return self.passes.exponents[name]

    def set_entries(self, entries: Mapping[Tensor, tuple[int, int | None]]) -> None:
        """Go backward with other entries of the exponent file, of what is opened there."""
        exponents = self.passes.exponents
        exponents.load({**exponents.entries(), **entries})

    def sums(self, nothing: Metrics) -> StepSums:
        """What it leaves: of these layers' parameters, and entries that were opened.

        ``nothing`` are the metrics of stages before the last.
        """
        passes, sample = self.passes, self.sample
        return StepSums(
            gradients={name: gradient.accumulators for name, gradient in passes.gradients.items()},
            entries=passes.opened | {EDGES: (sample.edge_exponent, None),
                                     FEATURES: (sample.features.exponent, None)},
            metrics=self.metrics or nothing, saturations=passes.saturations.total())

    def _take(self, message: Message) -> None:
        passes = self.passes
        passes.take_opened(message.opened)
        for name, rows in message.rows.items():
            passes.tensors[name] = rows.mantissas.astype(np.int64)
            if passes.network.exponent_entry(name) not in message.opened:
                passes.exponents[name] = rows.exponent
            if rows.mask is not None:
                passes.masks[_mask_of(name)] = _unpacked(rows.mask, rows.mantissas.shape)


def _mask_of(hidden: Tensor) -> Tensor:
    """The mask of hidden features; evaluations write none."""
    return Tensor(Kind.MASK, hidden.layer, hidden.during)


def _unpacked(mask: npt.NDArray[np.uint8], shape: tuple[int, ...]) -> BoolArray:
    found: BoolArray = np.unpackbits(mask, count=int(np.prod(shape))).reshape(shape).astype(bool)
    return found
