# SPDX-License-Identifier: BSD-2-Clause
"""Evaluates parameters on a whole graph, on the chip that trains them on samples."""

from collections.abc import Callable

from hypercast.host.compiler.evaluation import LOSS, Evaluation, compile_evaluation
from hypercast.host.runtime.chip import Chip
from hypercast.host.runtime.driver import Driver
from hypercast.host.runtime.metric_counters import METRIC_COUNTERS, counted_metrics
from hypercast.reference.initial_model import InitialModel
from hypercast.reference.judge import Judge
from hypercast.reference.metrics import Metrics
from hypercast.reference.tensor import Kind, Pass, Tensor
from hypercast.reference.training_state import TrainingState
from hypercast.rtl.isa import MAXIMUM_EXPONENT

__all__ = ["ChipJudge"]


class ChipJudge(Judge):
    """A ``Judge`` whose tensors are computed by a chip, with the same bits.

    The host chooses exponents by the peaks that the chip finds, as the reference does. So each
    tensor is computed by a program of its own. That runs again if the tensor gets another exponent
    than it had in the evaluation before. If the chip does not hold all layers at once, it is loaded
    for one after the other, and hidden features pass the host.

    Meanwhile the host keeps what the chip trains. The training goes on with the same bits.

    Parameters
    ----------
    chip : Chip
        The chip.
    model : InitialModel
        What it trains, with the whole graph as its sample.
    progress : callable
        Called with a line of text before each slow step.

    Raises
    ------
    CapacityError
        If the chip does not hold a layer.
    """

    def __init__(self, chip: Chip, model: InitialModel, *,
                 progress: Callable[[str], None] = lambda text: None) -> None:
        super().__init__(model.network, model.recipe, model.sample)
        self._chip = chip
        self._parts = compile_evaluation(model, chip.job.config, progress=progress)
        self._logits = Tensor(Kind.LOGITS, len(model.network.layers), Pass.EVALUATION)
        self._read = {name for part in self._parts for name in part.inputs} | {self._logits}
        # What each tensor's exponent was last, or at the beginning of the training.
        self._expected = {name: part.job.exponents[self.network.exponent_entry(name)]
                          for part in self._parts for name in part.stored}

    def judge(self, state: TrainingState) -> Metrics:
        """``Metrics`` of a pass without dropout, with exponents chosen from the pass itself.

        Parameters
        ----------
        state : TrainingState
            What the chip's ``state`` gives now; has the parameters.

        Raises
        ------
        ExponentError, AlignmentError
            As the reference raises them.
        """
        self.begin_judging(state)
        with self._chip.lend(state) as driver:
            if len(self._parts) == 1:
                self._load(driver, self._parts[0])
            return self.calibrate_during(lambda: self._pass(driver))

    def _pass(self, driver: Driver) -> Metrics:
        """All layers and the loss, from the first one again."""
        self.begin()
        for part in self._parts:
            if len(self._parts) > 1:
                self._load(driver, part)
            for name in part.stored:
                self._store(driver, part, name)
                if name in self._read:
                    self.tensors[name] = driver.matrix(part.job, name)
        self.exponents.loss_shift(self._logits)
        last = self._parts[-1].job
        self._chip.run_lent(last, LOSS)
        return counted_metrics(driver.monitor.totals(METRIC_COUNTERS), last, self.sample)

    def _load(self, driver: Driver, part: Evaluation) -> None:
        driver.load(part.with_values(self.tensors, dict(self.exponents.items())))

    def _store(self, driver: Driver, part: Evaluation, name: Tensor) -> None:
        """Compute a tensor, with the exponent that it has to have."""
        base = self._file.base(*part.factors(name))
        if name.kind in (Kind.HIDDEN, Kind.LOGITS):
            self.exponents.bias_shift(Tensor(Kind.BIAS, name.layer), base)
        if base > MAXIMUM_EXPONENT:  # which the chip would stop at
            self._file.calibrate(name, 0, base)
        # An entry that is open has the exponent of what was stored with it, which may be a factor.
        opened = self.network.exponent_entry(name) in self._file.opened
        expected = self.exponents[name] if opened else self._expected[name]
        found, peak = self._compute(driver, part, name, expected)
        self._file.calibrate(name, 0 if peak is None else peak - base, base)
        self._expected[name] = chosen = self.exponents[name]
        if found != chosen:
            self._compute(driver, part, name, chosen)

    def _compute(self, driver: Driver, part: Evaluation, name: Tensor,
                 exponent: int) -> tuple[int, int | None]:
        """Run a tensor's program; returns the exponent that it got, at least this, and its peak."""
        entry = self.network.exponent_entry(name)
        driver.set_exponents(part.job, {entry: exponent})
        self._chip.run_lent(part.job, name)
        return driver.exponent_entry(part.job, entry)
