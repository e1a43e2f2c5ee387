# SPDX-License-Identifier: BSD-2-Clause
"""A chip that trains alone: a step on a sample, or on a whole graph, is one program."""

import operator
from collections.abc import Callable

from hypercast.errors import InputError
from hypercast.host.compiler.compiler import compile_sampled, with_sample
from hypercast.host.compiler.job import Job
from hypercast.host.compiler.layout import SUMS, SUMS_AHEAD
from hypercast.host.compiler.memory_map import CapacityError
from hypercast.host.runtime.chip import SATURATIONS, Chip
from hypercast.host.runtime.image import brought_exponents
from hypercast.host.runtime.timeline import profile
from hypercast.host.runtime.training_device import TrainingDevice
from hypercast.host.transport.transport import Transport
from hypercast.reference.initial_model import InitialModel
from hypercast.reference.metrics import Metrics
from hypercast.reference.sample import Sample
from hypercast.reference.training_state import TrainingState

__all__ = ["AloneChip"]


class AloneChip(Chip, TrainingDevice):
    """A chip, real or simulated, that runs a compiled job.

    If a step works ahead, it finds the sums of its sample's input features where the step before
    left them. If no step has left them, a program of their own makes them, and its cycles count.
    Sums that saturate are counted when they are made. While it runs, lists of the next step are
    brought, if the job has two places for them.

    Parameters
    ----------
    transport, job, model, progress
        As of ``Chip``.
    """

    def __init__(self, transport: Transport, job: Job, model: InitialModel, *,
                 progress: Callable[[str], None] = lambda text: None) -> None:
        self._following = model.sample
        # What a step trains on and works ahead for, after this one, if it is known.
        self._later: tuple[Sample, Sample] | None = None
        # The job of the step to come, and what was brought for it while the last one ran.
        self._coming: Job | None = None
        self._brought: tuple[Job, tuple[Sample, Sample]] | None = None
        # What the sums are of that a step which works ahead left.
        self._summed: Sample | None = None
        super().__init__(transport, job, model, progress=progress)

    def _load(self, job: Job) -> None:
        self._summed = self._coming = self._brought = None
        super()._load(job)

    def train_step(self, *, record: bool = False) -> Metrics:
        """One training step; returns the ``Metrics`` of its forward pass.

        With ``record``, its ``profile`` is kept; the transport raises ``TransportError`` if it
        cannot record.
        """
        before, saturations = 0, 0
        if self._coming is None and self.job.brought_early:
            self.take(self._sample)
        coming = self._coming
        if coming is None:
            coming = self.job.after_step() if self.job.ahead else self.job
            if coming.counts_early:
                self.driver.load_counts(coming)
        if self.job.ahead and self._summed is not self._sample:
            before, saturations = self._aggregate(coming)
        self._summed = None
        self._open(coming)
        self.job, self._coming = coming, None
        self._patch()
        if record:
            self._transport.record()
        metrics, cycles = self._run("train", meanwhile=self._bring)
        if record:
            self.profile = profile(self._transport.timeline(), self.job,
                                   self.job.starts["train"], cycles, self.counters)
        self.saturations = saturations + self._saturated
        self.train_cycles += before + cycles
        self._summed = self._following
        self._step += 1
        return metrics

    def _open(self, coming: Job) -> None:
        """Give entries of the exponent file what they have to have in the step that begins.

        Each access to the chip is one for which it waits, so the file is read once, and only what
        differs is written.
        """
        found = self.driver.exponent_file(self.job)
        brought = {name: (exponent, None) for name, exponent in brought_exponents(coming).items()}
        self._rules.begin_step(self._step, found | brought)
        file = {self.job.tensors[name]: entry for name, entry in found.items()}
        entries: dict[int, tuple[int, int | None]] = {
            self.job.tensors[name]: (exponent, None)
            for name, exponent in self._rules.raised.items()}
        if coming.ahead:
            sums = (file | entries)[coming.tensors[SUMS]]
            entries[coming.tensors[SUMS_AHEAD]] = self._ahead_entry(self._step + 1, sums)
        entries.update((coming.tensors[name], entry) for name, entry in brought.items())
        names = {number: name for name, number in coming.tensors.items()}
        self.driver.set_entries(coming, {
            names[number]: entry for number, entry in entries.items() if entry != file[number]})

    def _aggregate(self, coming: Job) -> tuple[int, int]:
        """Make the sums that the step of a job begins with; returns cycles and saturations."""
        alone = self._following is self._sample and not coming.brought_early
        if not alone:
            self.driver.load_sample(with_sample(self.job, self._sample))
        sums = self.driver.exponent_entry(self.job, SUMS)
        self.driver.set_entries(self.job, {SUMS_AHEAD: self._ahead_entry(self._step, sums)})
        cycles = self._execute(self.job, "aggregate_ahead")
        saturations = self.driver.monitor.totals([SATURATIONS])[SATURATIONS]
        if coming.brought_early:
            self.driver.load_counts(coming)
        elif not alone:
            self.driver.load_sample(coming)
        return cycles, saturations

    def _bring(self) -> None:
        """Bring what the next step reads, while this one runs, where that can be done."""
        self._brought = None
        if self._later and self.job.brought_early and self.driver.beside:
            try:
                job = with_sample(self.job.after_step(), *self._later)
            except CapacityError:
                return  # ``take`` makes room for it
            self.driver.load_beside(job)
            self._brought = job, self._later

    def _ahead_entry(self, step: int, sums: tuple[int, int | None]) -> tuple[int, int | None]:
        """The entry of sums that are made ahead: that which ``step`` would have given them."""
        raised = self._rules.raises(step, {SUMS: sums})
        return (raised[SUMS], None) if SUMS in raised else sums

    def take(self, sample: Sample, *following: Sample) -> None:
        after, later = [*following, sample, sample][:2] if self.job.ahead else (sample, sample)
        self._later = (after, later if len(following) > 1 else after) if following else None
        self._sample, self._following = sample, after
        brought, self._brought = self._brought, None  # what is loaded now may take its place
        if brought and all(map(operator.is_, brought[1], (sample, after))):
            self._coming = brought[0]
            if not self._coming.counts_early:
                self.driver.load_counts(self._coming)
            return
        job = None
        for larger in dict.fromkeys((sample, after)):
            try:
                job = self._step_on(sample, after)
                break
            except CapacityError:
                if self.job.plan.capacity is None:
                    raise
                self._compile_larger(larger)
        self._coming = job or self._step_on(sample, after)
        if not self.job.ahead:
            self.job, self._coming = self._coming, None
        self.driver.load_sample(self._coming or self.job)

    def _step_on(self, sample: Sample, following: Sample) -> Job:
        """The job of the step to come, on a sample."""
        job = self.job.after_step() if self.job.ahead else self.job
        return with_sample(job, sample, following)

    def _compile_larger(self, sample: Sample) -> None:
        """Go on with a program that has memory for ``sample``, in the same state."""
        self._progress("a sample takes more memory than those before; compiling the program again")
        state = self.state()
        self._load(compile_sampled(self._model.with_sample(sample), self.job.config,
                                   self.job.plan.capacity_for(sample), ahead=self.job.ahead,
                                   pieces=self.job.pieces))
        self.load_state(state)

    def load_state(self, state: TrainingState) -> None:
        super().load_state(state)
        self._summed = None

    def _bring_back(self) -> None:
        self.take(self._sample, self._following)

    def evaluate(self) -> Metrics:
        if "evaluate" not in self.job.starts:
            raise InputError("a program whose steps work ahead cannot evaluate")
        metrics, cycles = self._run("evaluate")
        self.evaluate_cycles += cycles
        return metrics
