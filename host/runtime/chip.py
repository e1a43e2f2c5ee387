# SPDX-License-Identifier: BSD-2-Clause
"""A chip behind a driver: what it holds of a training, what it counts, and how programs are run."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

from hypercast.host.compiler.assembly import updates_at
from hypercast.host.compiler.job import Job
from hypercast.host.compiler.movement import most_moves
from hypercast.host.compiler.state import STATE
from hypercast.host.runtime.device_errors import DeviceError
from hypercast.host.runtime.driver import Driver
from hypercast.host.runtime.metric_counters import METRIC_COUNTERS, counted_metrics
from hypercast.host.runtime.state_transfer import read_parameters, write_state
from hypercast.host.runtime.timeline import Profile
from hypercast.host.runtime.training_device import Device, exponents_of_training, logits_tensor
from hypercast.host.transport.transport import Transport
from hypercast.reference.array_types import IntArray
from hypercast.reference.initial_model import InitialModel
from hypercast.reference.metrics import Metrics
from hypercast.reference.tensor import Pass, Tensor
from hypercast.reference.training_state import TrainingState

__all__ = ["SATURATIONS", "Chip"]

#: Counter that is read after every run, with ``METRIC_COUNTERS``.
SATURATIONS = "saturations"


class Chip(Device):
    """A chip, real or simulated, that holds a compiled job.

    Parameters
    ----------
    transport : Transport
        How to reach it.
    job : Job
        What it runs.
    model : InitialModel
        The model the job was compiled from.
    progress : callable
        Called with a line of text before each slow step.

    Attributes
    ----------
    driver : Driver
        Reaches it.
    job : Job
        What it runs next.
    train_cycles, evaluate_cycles : int
        Cycles of all training steps and evaluations so far.
    profile : Profile or None
        Profile of the last training step that was recorded.
    """

    def __init__(self, transport: Transport, job: Job, model: InitialModel, *,
                 progress: Callable[[str], None] = lambda text: None) -> None:
        self._transport = transport
        self._model = model
        self._rules = model.rules()
        self._limits: dict[str, int] = {}  # of programs that ran since the job was loaded
        self._progress = progress
        self._step = 0
        self._sample = model.sample
        self.train_cycles = 0
        self.evaluate_cycles = 0
        self._counters: dict[str, list[int]] | None = None
        self._saturated = 0
        self.saturations = 0
        self.profile: Profile | None = None
        self.driver = Driver(transport, job.config)
        self._load(job)
        self._set_step()

    def _load(self, job: Job) -> None:
        self.job = self._loaded = job
        self._limits.clear()
        self.driver.load(job)
        if "load" in job.starts:
            self._execute(job, "load")

    def _set_step(self) -> None:
        self.driver.set_step(self._step, self._rules.step_key(self._step))

    def _patch(self) -> None:
        """Replace the instructions that differ in the step that begins."""
        job = self.job
        # Without the next step's program, they take turns in one place.
        wanted = dict(enumerate(job.program)) if job.ahead and not job.both_loaded else {}
        wanted.update(updates_at(job, self._rules, self._step))
        self.driver.update_program({
            job.places[0] + row: instruction for row, instruction in wanted.items()})

    def go_on_counting(self, train_cycles: int, evaluate_cycles: int) -> None:
        """Go on counting from the cycles of an earlier part of this training."""
        self.train_cycles, self.evaluate_cycles = train_cycles, evaluate_cycles

    @contextmanager
    def lend(self, state: TrainingState) -> Iterator[Driver]:
        """Lend the chip's driver to other programs; then the training is back, on its sample.

        Parameters
        ----------
        state : TrainingState
            What ``state`` gives now.
        """
        try:
            yield self.driver
        finally:
            self._load(self._loaded)
            self.load_state(state)
            self._bring_back()

    def _bring_back(self) -> None:
        """Bring the sample that the training was on when the chip was lent."""

    def run_lent(self, job: Job, program: str) -> None:
        """While the chip is lent, run a program of an evaluation, whose cycles count as such."""
        self.evaluate_cycles += self.driver.run(job.start(program), limit=most_moves(job, program))
        self._counters = None

    def _run(self, program: str,
             meanwhile: Callable[[], None] = lambda: None) -> tuple[Metrics, int]:
        cycles = self._execute(self.job, program, meanwhile)
        self._counters = None
        totals = self.driver.monitor.totals([SATURATIONS, *METRIC_COUNTERS])
        self._saturated = totals[SATURATIONS]
        return counted_metrics(totals, self.job, self._model.sample), cycles

    def _execute(self, job: Job, program: str,
                 meanwhile: Callable[[], None] = lambda: None) -> int:
        """Run a program of the job that is loaded; returns its cycles."""
        if program not in self._limits:
            self._limits[program] = most_moves(self._loaded, program)
        return self.driver.run(job.start(program), limit=self._limits[program], meanwhile=meanwhile)

    @property
    def counters(self) -> dict[str, list[int]]:
        """Counter name to a value per core, of the last run; read when they are asked for."""
        if self._counters is None:
            self._counters = self.driver.monitor.counters()
        return self._counters

    @property
    def phase_cycles(self) -> dict[str, int]:
        """Phase name to cycles of the last run."""
        cycles = self.driver.monitor.phase_cycles()
        return dict(zip(map(str, self.job.phases), cycles, strict=False))

    def snapshot(self) -> dict[str, IntArray]:
        job, driver = self.job, self.driver
        values: dict[str, IntArray] = {name: driver.matrix(job, name) for name in job.matrices}
        for name in job.weights:
            operands = [driver.operand(job, name, core) for core in range(job.config.cores)]
            for core, operand in enumerate(operands):
                if not np.array_equal(operand, operands[0]):
                    raise DeviceError(f"core {core} holds other weights {name} than core 0")
            values[name] = operands[0]
            for kind, state in zip(STATE, driver.optimiser(job, name), strict=False):
                values[f"{name}.{kind}"] = state
        values["exponents"] = np.array([list(self.exponents().values())])
        return values

    def exponents(self) -> dict[Tensor, int]:
        return exponents_of_training(self.driver.exponents(self.job).items())

    def logits(self) -> tuple[IntArray, int]:
        name = logits_tensor(self._model.network)
        return self.driver.matrix(self.job, name), self.driver.exponents(self.job)[name]

    def state(self) -> TrainingState:
        return TrainingState(
            step=self._step, parameters=read_parameters(self.driver, self.job, self._model.state),
            exponents={name: entry for name, entry in self.driver.exponent_file(self.job).items()
                       if name.during != Pass.NEXT},
            momentum_exponents=self._rules.momentum_exponents.entries())

    def load_state(self, state: TrainingState) -> None:
        write_state(self.driver, self.job, self._model.network, state)
        self._rules.momentum_exponents.load(state.momentum_exponents)
        self._step = state.step
        self._set_step()

    def close(self) -> None:
        self._transport.close()

    @property
    def chip(self) -> "Chip":
        return self
