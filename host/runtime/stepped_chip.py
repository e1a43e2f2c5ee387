# SPDX-License-Identifier: BSD-2-Clause
"""A chip whose training steps are in pieces: sums of gradients pass the host on their way."""

from collections.abc import Callable, Mapping

from hypercast.errors import InputError
from hypercast.host.runtime.chip_device import ChipDevice
from hypercast.host.runtime.state_transfer import read_sums, write_sums
from hypercast.reference.metrics import Metrics
from hypercast.reference.step_sums import StepSums
from hypercast.reference.tensor import EDGES, FEATURES, Tensor

__all__ = ["SteppedChip"]


class SteppedChip(ChipDevice):
    """A chip that takes several samples a step, or shares a step with other devices.

    A step begins with ``begin_step``. For each of its samples, ``take`` and ``step_sums`` follow.
    It ends with ``update``, by the sums over all samples, wherever they were computed. The sums are
    exact, so the bits are those of any other device that does the same.

    Parameters
    ----------
    transport, job, model, progress
        As those of ``ChipDevice``; the job's steps are in pieces.
    """

    #: Is told of each program of a step that ran: its entry, and its cycles.
    spent: Callable[[str, int], None] = staticmethod(lambda entry, cycles: None)
    _begun: dict[Tensor, tuple[int, int | None]]
    #: What programs have counted since the last update, or up to it.
    _of_step: dict[str, list[int]]
    _phases_of_step: dict[str, int]
    _ended = True

    def train_step(self, *, record: bool = False) -> Metrics:
        """A step on the present sample; returns the ``Metrics`` of its forward pass.

        Raises
        ------
        InputError
            If it is to be recorded.
        """
        if record:
            raise InputError("a step in pieces is several programs, of which no timeline is kept; "
                             "train with one sample a step, on one board")
        self.begin_step()
        sums = self.step_sums()
        self.update(sums)
        return sums.metrics

    def begin_step(self) -> None:
        """Begin a step: exponents of momenta and of what is foreseen are raised."""
        self._rules.begin_step(self._step, self.entries())
        self.set_entries({name: (exponent, None)
                          for name, exponent in self._rules.raised.items()})
        self._begun = self.entries()

    def step_sums(self) -> StepSums:
        """The ``StepSums`` of the present sample, from where the step began."""
        sample = self._sample
        self.driver.set_entries(self.job, self._begun | {
            EDGES: (sample.edge_exponent, None), FEATURES: (sample.features.exponent, None)})
        metrics = self._piece("step_sums")
        return StepSums(
            gradients=read_sums(self.driver, self.job, self._model.state),
            entries=self.driver.exponent_file(self.job), metrics=metrics,
            saturations=self._saturated)

    def update(self, sums: StepSums) -> None:
        """End the step, by the sums over all its samples.

        Raises
        ------
        AccumulatorError
            If a sum does not fit an accumulator; nothing is changed then.
        """
        sums.check(self.job.config.accumulator_width)
        self.set_entries(sums.entries)
        write_sums(self.driver, self.job, sums.gradients)
        self._patch()
        self._piece("update")
        self._ended = True
        self.saturations = sums.saturations + self._saturated
        self._model.sample.place.end_step()
        self._step += 1

    def entries(self) -> dict[Tensor, tuple[int, int | None]]:
        """Exponent and peak of every entry of the exponent file."""
        return self.driver.exponent_file(self.job)

    def set_entries(self, entries: Mapping[Tensor, tuple[int, int | None]]) -> None:
        """Go on with other exponents and peaks."""
        self.driver.set_entries(self.job, entries)

    @property
    def counters(self) -> dict[str, list[int]]:
        """Counter name to a value per core, of all programs of the last step here."""
        return self._of_step

    @property
    def phase_cycles(self) -> dict[str, int]:
        """Phase name to cycles of all programs of the last step here."""
        return self._phases_of_step

    def run_entry(self, entry: str, *, training: bool) -> tuple[Metrics, int]:
        """Run a program of a step or of an evaluation; returns its metrics, and saturations."""
        if training:
            metrics = self._piece(entry)
        else:
            metrics, cycles = self._run(entry)
            self.evaluate_cycles += cycles
        return metrics, self._saturated

    def _piece(self, entry: str) -> Metrics:
        """Run a program of a step."""
        if self._ended:
            self._of_step, self._phases_of_step, self._ended = {}, {}, False
        metrics, cycles = self._run(entry)
        self.train_cycles += cycles
        self.spent(entry, cycles)
        for name, values in super().counters.items():
            before = self._of_step.get(name, [0] * len(values))
            self._of_step[name] = [sum(pair) for pair in zip(before, values, strict=True)]
        for phase, spent in super().phase_cycles.items():
            self._phases_of_step[phase] = self._phases_of_step.get(phase, 0) + spent
        return metrics
