# SPDX-License-Identifier: BSD-2-Clause
"""A chip with a run of layers whose passes take older weights, which its host keeps."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from hypercast.host.compiler.pieces import Pieces
from hypercast.host.runtime.state_transfer import write_operands
from hypercast.host.schemes.stage_chip import ChipPasses, StageChip
from hypercast.host.transport.transport import Transport
from hypercast.reference.initial_model import InitialModel
from hypercast.reference.rows import Older
from hypercast.reference.sample import Sample
from hypercast.reference.step_sums import StepSums
from hypercast.reference.tensor import Tensor
from hypercast.reference.training_state import TrainingState
from hypercast.reference.weight_operands import weight_operands

__all__ = ["OlderWeightsChip", "OlderWeightsPasses"]


class OlderWeightsChip(StageChip):
    """A chip that is an ``OlderWeightsStage``.

    Its weight bank holds one version. The host keeps the others, and writes what passes take before
    they begin, if something else is there. An update makes the newest from the master weights, of
    which the chip has one version only.

    Parameters
    ----------
    transport, pieces, model, progress
        As of ``StageChip``.
    staleness : sequence of int
        As of ``OlderWeightsGnn``.

    Attributes
    ----------
    newest, versions
        As of ``OlderWeightsStage``, of its own layers.
    """

    newest: dict[Tensor, Older]
    versions: dict[Tensor, tuple[Older, ...]]

    def __init__(self, transport: Transport, pieces: Pieces, model: InitialModel,
                 staleness: Sequence[int], *,
                 progress: Callable[[str], None] = lambda text: None) -> None:
        super().__init__(transport, pieces, model, progress=progress)
        self._staleness = tuple(staleness)
        #: What the weight bank holds.
        self._bank: dict[Tensor, Older] = {}
        self._keep(model.state)

    @property
    def step(self) -> int:
        """Updates done."""
        return self._step

    def passes(self, sample: Sample, *, training: bool) -> ChipPasses:
        """The ``ChipPasses`` of a micro-batch: in training, with what the next step takes."""
        if not training:
            self.hold(self._step, self.newest)
            return super().passes(sample, training=False)
        return self.passes_in(self._step, sample, self.begun, {
            name: (*self.versions[name], one)[0] for name, one in self.newest.items()})

    def passes_in(self, step: int, sample: Sample, entries: Mapping[Tensor, tuple[int, int | None]],
                  weights: Mapping[Tensor, Older]) -> "OlderWeightsPasses":
        """The training passes of a micro-batch of a step, see ``OlderWeightsStage``."""
        return OlderWeightsPasses(self, step, sample, entries, weights)

    def hold(self, step: int, weights: Mapping[Tensor, Older]) -> None:
        """Let passes of a step find these parameters."""
        self.driver.set_step(step, self._rules.step_key(step))
        other = {name: one.values for name, one in weights.items()
                 if self._bank.get(name) is not one}
        write_operands(self.driver, self.job, other)
        self._bank |= {name: weights[name] for name in other}

    def end_step(self, begun: Mapping[Tensor, tuple[int, int | None]], sums: StepSums) -> None:
        """Update the parameters by a step that began with these entries of the exponent file."""
        self._rules.begin_step(self._step, begun)
        self.update(sums)

    def update(self, sums: StepSums) -> None:
        self.present = None  # whose exponents are gone
        self._set_step()
        super().update(sums)
        self.versions = {name: (*versions, self.newest[name])[1:] if versions else ()
                         for name, versions in self.versions.items()}
        entries = self.entries()
        self.newest = {name: Older(self.driver.operand(self.job, name).reshape(one.values.shape),
                                   entries[self._entry(name)][0])
                       for name, one in self.newest.items()}
        self._bank = dict(self.newest)

    def state(self) -> TrainingState:
        return replace(super().state(), versions={
            name: versions for name, versions in self.versions.items() if versions})

    def load_state(self, state: TrainingState) -> None:
        super().load_state(state)
        self._keep(state)

    def _keep(self, state: TrainingState) -> None:
        """Keep what a state has, which the chip holds from now on."""
        operands = weight_operands(self.model.network, self.job.config.element_width, state)
        self.newest = {name: Older(operands[name], state.exponents[self._entry(name)][0])
                       for name in self.job.weights}
        self.versions = {
            name: state.versions.get(name, (one,) * self._staleness[name.layer - 1])
            for name, one in self.newest.items()}
        self._bank = dict(self.newest)

    def _compile_larger(self, sample: Sample) -> None:
        newest, versions = self.newest, self.versions
        super()._compile_larger(sample)
        # Exponents in the chip may have been those of older ones, so its weights are void.
        self.newest, self.versions, self._bank = newest, versions, {}

    def _entry(self, name: Tensor) -> Tensor:
        return self.model.network.exponent_entry(name)


class OlderWeightsPasses(ChipPasses):
    """The training passes of a micro-batch through the layers of an ``OlderWeightsChip``.

    Parameters
    ----------
    chip : OlderWeightsChip
        The chip.
    step, sample, entries, weights
        As of ``OlderWeightsStage.passes_in``.
    """

    def __init__(self, chip: OlderWeightsChip, step: int, sample: Sample,
                 entries: Mapping[Tensor, tuple[int, int | None]],
                 weights: Mapping[Tensor, Older]) -> None:
        super().__init__(chip, sample, training=True)
        self._step, self._entries, self._weights = step, dict(entries), dict(weights)
        self._hold = chip.hold

    def _begin(self) -> dict[Tensor, tuple[int, int | None]]:
        self._hold(self._step, self._weights)
        entry_of = self._chip.model.network.exponent_entry
        return self._entries | {
            entry_of(name): (one.exponent, None) for name, one in self._weights.items()}
