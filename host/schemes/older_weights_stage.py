# SPDX-License-Identifier: BSD-2-Clause
"""A run of layers whose passes take older weights: what such a device is, and a reference of it."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from hypercast.host.schemes.reference_stage import ReferenceStage
from hypercast.host.schemes.stage import LayerPasses, StageDevice, StagePasses
from hypercast.reference.initial_model import InitialModel
from hypercast.reference.older_weights import OlderWeightsGnn
from hypercast.reference.rows import Older
from hypercast.reference.sample import Sample
from hypercast.reference.step_sums import StepSums
from hypercast.reference.tensor import Tensor

__all__ = ["OlderWeightsReference", "OlderWeightsStage"]


class OlderWeightsStage(StageDevice, Protocol):
    """A device that has a run of layers and older versions of their weights, on any of which it
    computes.

    Passes of several steps may be under way; updates come in the order of steps.
    """

    @property
    def step(self) -> int:
        """Updates done."""

    @property
    def newest(self) -> Mapping[Tensor, Older]:
        """The parameters after the last update: of these layers at least."""

    @property
    def versions(self) -> Mapping[Tensor, tuple[Older, ...]]:
        """Parameter to its older operands, oldest first, as of ``OlderWeightsGnn``."""

    def passes_in(self, step: int, sample: Sample, entries: Mapping[Tensor, tuple[int, int | None]],
                  weights: Mapping[Tensor, Older]) -> StagePasses:
        """The training passes of a micro-batch of a step (from 0).

        Parameters
        ----------
        step : int
            The step, which may be after the next one.
        sample : Sample
            The micro-batch.
        entries : dict
            The exponent file that they begin with, but for the parameters.
        weights : dict
            The parameters that they take.
        """

    def end_step(self, begun: Mapping[Tensor, tuple[int, int | None]], sums: StepSums) -> None:
        """Update the parameters by a step that began with these entries of the exponent file."""


class OlderWeightsReference(ReferenceStage):
    """The fixed-point reference of an ``OlderWeightsStage``.

    Parameters
    ----------
    model : InitialModel
        The whole model.
    layers : range
        The layers, from 1.
    staleness : sequence of int
        As of ``OlderWeightsGnn``.
    """

    oracle: OlderWeightsGnn

    def __init__(self, model: InitialModel, layers: range, staleness: Sequence[int]) -> None:
        super().__init__(model, layers, OlderWeightsGnn(model, staleness))

    @property
    def step(self) -> int:
        return self.oracle.step

    @property
    def newest(self) -> dict[Tensor, Older]:
        return self.oracle.newest

    @property
    def versions(self) -> dict[Tensor, tuple[Older, ...]]:
        return self.oracle.versions

    def passes(self, sample: Sample, *, training: bool) -> LayerPasses:
        """The ``LayerPasses`` of a micro-batch: in training, with what the next step takes."""
        if not training:
            return super().passes(sample, training=False)
        return self.passes_in(self.step, sample, self.entries(), self.oracle.older)

    def passes_in(self, step: int, sample: Sample, entries: Mapping[Tensor, tuple[int, int | None]],
                  weights: Mapping[Tensor, Older]) -> LayerPasses:
        return LayerPasses(self.oracle, sample, self._layers, self.oracle.rules.step_key(step),
                           entries=entries, weights=weights)

    def end_step(self, begun: Mapping[Tensor, tuple[int, int | None]], sums: StepSums) -> None:
        self.oracle.rules.begin_step(self.step, begun)
        self.update(sums)
