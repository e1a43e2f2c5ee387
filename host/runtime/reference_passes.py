# SPDX-License-Identifier: BSD-2-Clause
"""The passes of a sample through some layers, on the fixed-point reference."""

from collections.abc import Mapping

import numpy as np

from hypercast.host.runtime.part_device import Observer
from hypercast.host.runtime.passes import Entries, Message, Passes
from hypercast.reference.array_types import BoolArray, IntArray
from hypercast.reference.fixed_gnn import FixedGnn
from hypercast.reference.fixed_passes import FixedPasses
from hypercast.reference.rows import Older
from hypercast.reference.sample import Sample
from hypercast.reference.tensor import EDGES, FEATURES, Kind, Tensor

__all__ = ["ReferencePasses"]


class ReferencePasses(Passes):
    """``Passes`` of a unit, computed by ``FixedPasses``.

    Parameters
    ----------
    oracle : FixedGnn
        Has the parameters, and has begun the step.
    sample : Sample
        The unit.
    layers : range
        Numbers of the layers, from 1.
    step_key : int or None
        Step key of a training step; None is an evaluation.
    entries : dict, optional
        Entries of the exponent file, if not the oracle's.
    weights : dict, optional
        Parameters, if they are not the oracle's newest ones.
    observer : Observer, optional
        Is told of each pass in training, before it is computed.

    Attributes
    ----------
    passes : FixedPasses
        Computes them.
    """

    def __init__(self, oracle: FixedGnn, sample: Sample, layers: range, step_key: int | None, *,
                 entries: Entries | None = None,
                 weights: Mapping[Tensor, Older] | None = None,
                 observer: Observer | None = None) -> None:
        super().__init__(oracle.network, oracle.recipe.element_width, sample,
                         training=step_key is not None)
        self._layers = layers
        self._observer = observer
        self._step_key = step_key
        self.passes = passes = FixedPasses(oracle.network, oracle.recipe, sample)
        passes.exponents.load(oracle.exponents.entries() if entries is None else entries)
        for name, values in ((EDGES, sample.edge_exponent), (FEATURES, sample.features.exponent)):
            passes.exponents[name] = values
        passes.tensors.update({name: oracle.tensors[name] for name in oracle.kept})
        for name, older in (weights or {}).items():
            passes.tensors[name], passes.exponents[name] = older
        passes.begin()

    def forward(self, message: Message) -> None:
        self._take(message)
        self._begins(forward=True)
        for number in self._layers:
            self.passes.forward_layer(number, self._step_key)
        if self._layers[-1] < len(self.passes.network.layers):
            return
        loss = self.passes.loss(self._during)
        self.metrics = self.passes.metrics(loss)
        if self._step_key is not None:
            self.passes.store_loss(loss)

    def backward(self, message: Message) -> None:
        self._take(message)
        self._begins(forward=False)
        for number in reversed(self._layers):
            self.passes.backward_layer(number)

    def _begins(self, *, forward: bool) -> None:
        if self._observer and self.training:
            self._observer.compute(self.sample, self._layers, forward=forward)

    def _values(self, name: Tensor) -> tuple[IntArray, int]:
        values: IntArray = self.passes.tensors[name]
        return values, self.passes.exponents[name]

    def _mask(self, name: Tensor, columns: int) -> BoolArray | None:
        return self.passes.masks.get(name)

    @property
    def opened(self) -> dict[Tensor, tuple[int, int | None]]:
        return self.passes.opened

    def exponent(self, name: Tensor) -> int:
        return self.passes.exponents[name]

    def set_entries(self, entries: Entries) -> None:
        exponents = self.passes.exponents
        exponents.load({**exponents.entries(), **entries})

    def _gradients(self) -> tuple[dict[Tensor, IntArray], int]:
        gradients = {name: one.accumulators for name, one in self.passes.gradients.items()}
        return gradients, self.passes.saturations.total()

    def _take(self, message: Message) -> None:
        passes = self.passes
        passes.take_opened(message.opened)
        for name, rows in message.rows.items():
            passes.tensors[name] = rows.mantissas.astype(np.int64)
            if passes.network.exponent_entry(name) not in message.opened:
                passes.exponents[name] = rows.exponent
            if rows.mask is not None:
                passes.masks[Tensor(Kind.MASK, name.layer)] = rows.unpacked_mask()
