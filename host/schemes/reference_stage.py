# SPDX-License-Identifier: BSD-2-Clause
"""A reference that has a run of layers, forward and backward, of one micro-batch after another."""

from hypercast.host.runtime.reference_device import ReferenceDevice
from hypercast.host.schemes.stage import LayerPasses
from hypercast.reference.array_types import IntArray
from hypercast.reference.fixed_gnn import FixedGnn
from hypercast.reference.initial_model import InitialModel
from hypercast.reference.sample import Sample

__all__ = ["ReferenceStage"]


class ReferenceStage(ReferenceDevice):
    """The fixed-point reference, of a run of layers.

    Parameters
    ----------
    model : InitialModel
        The whole model.
    layers : range
        The layers, from 1.
    oracle : FixedGnn, optional
        Holds the parameters, and updates them; one is made if it is not given.
    """

    def __init__(self, model: InitialModel, layers: range, oracle: FixedGnn | None = None) -> None:
        super().__init__(model, oracle)
        self._layers = layers
        self._evaluated: LayerPasses | None = None

    def passes(self, sample: Sample, *, training: bool) -> LayerPasses:
        """The ``LayerPasses`` of a micro-batch."""
        if training:
            return LayerPasses(self.oracle, sample, self._layers, self.oracle.step_key)
        self._evaluated = LayerPasses(self.oracle, sample, self._layers, None)
        return self._evaluated

    def logits(self) -> tuple[IntArray, int]:
        assert self._evaluated
        self.oracle.tensors |= self._evaluated.passes.tensors
        return super().logits()
