# SPDX-License-Identifier: BSD-2-Clause
"""A chip that has a part of a training; sums of gradients pass the host on their way."""

from collections.abc import Callable, Mapping, Sequence

from hypercast.host.compiler.compiler import compile_sampled, with_sample
from hypercast.host.compiler.memory_map import CapacityError
from hypercast.host.compiler.piece_program import BACKWARD, EVALUATE, FORWARD, UPDATE
from hypercast.host.compiler.pieces import STEP_SUMS, Pieces, compile_pieces
from hypercast.host.runtime.chip import Chip
from hypercast.host.runtime.chip_passes import ChipPasses
from hypercast.host.runtime.part_device import Observer, PartDevice
from hypercast.host.runtime.passes import Entries
from hypercast.host.runtime.row_transfer import read_rows, write_rows
from hypercast.host.runtime.state_transfer import read_sums, write_operands, write_sums
from hypercast.host.transport.transport import Transport
from hypercast.reference.array_types import IntArray
from hypercast.reference.initial_model import InitialModel
from hypercast.reference.metrics import Metrics
from hypercast.reference.rows import Older
from hypercast.reference.sample import Sample
from hypercast.reference.step_sums import StepSums
from hypercast.reference.tensor import EDGES, FEATURES, Tensor
from hypercast.reference.training_state import TrainingState

__all__ = ["ChipDevice"]


class ChipDevice(Chip, PartDevice):
    """A chip that has a part of a training.

    Its memory holds one unit: a sample, a chunk, or the whole graph. If another one has been there
    since, a unit goes forward again before it goes backward (re-materialisation, as in Huang et
    al., GPipe, 2019). That takes cycles, and changes no bit.

    If others have rows of the same matrices, its programs end before each sum over neighbours. The
    host reads the rows that others need, writes the rows of others below, and starts the next
    program.

    Its weight bank holds one version of the weights. The host writes what passes take before they
    begin, if something else is there. An update makes the newest from the master weights; of these,
    the chip has one version only.

    Parameters
    ----------
    transport : Transport
        How to reach it.
    pieces : Pieces
        What it runs.
    model : InitialModel
        The model they were compiled from.
    programs : sequence of (Sample, Pieces)
        What it runs of other units, if these have programs of their own.
    progress : callable
        Called with a line of text before each slow step.
    """

    def __init__(self, transport: Transport, pieces: Pieces, model: InitialModel, *,
                 programs: Sequence[tuple[Sample, Pieces]] = (),
                 progress: Callable[[str], None] = lambda text: None) -> None:
        self.pieces = pieces
        self._programs = [*programs, (model.sample, pieces)] if programs else []
        #: Entries of the exponent file that are of other layers' tensors; the chip has none.
        self._elsewhere: dict[Tensor, tuple[int, int | None]] = {}
        self._keep_elsewhere(model.state)
        #: The parameters after the last update, if they were read.
        self._known: dict[Tensor, dict[str, IntArray]] | None = None
        #: Known weights that the bank holds.
        self._bank: dict[Tensor, Older] = {}
        #: Whether passes may have been of another step than the next one.
        self._moved = False
        #: The exponent file as the step began.
        self.begun: Entries = {}
        #: Whose tensors are in the memory.
        self.present: ChipPasses | None = None
        self._observer: Observer | None = None
        #: What programs have counted since the last update, or up to it.
        self._of_step: dict[str, list[int]] = {}
        self._phases_of_step: dict[str, int] = {}
        self._ended = True
        super().__init__(transport, pieces.job, model, progress=progress)

    @property
    def model(self) -> InitialModel:
        """The model that the pieces were compiled from."""
        return self._model

    def observe(self, observer: Observer) -> None:
        self._observer = observer

    # A step.

    def begin_step(self) -> None:
        self._rules.begin_step(self._step, self.entries())
        self.set_entries({name: (exponent, None)
                          for name, exponent in self._rules.raised.items()})
        self.begun = self.entries()

    def step_sums(self, sample: Sample) -> StepSums:
        self.load(sample)
        self.set_entries({**self.begun, EDGES: (sample.edge_exponent, None),
                          FEATURES: (sample.features.exponent, None)})
        if STEP_SUMS in self.pieces.crossing:
            metrics, saturations = self.run(STEP_SUMS)
        else:
            metrics, saturations = self.run(FORWARD)
            saturations += self.run(BACKWARD)[1]
        return StepSums(gradients=read_sums(self.driver, self.job, self._model.state),
                        entries=self.entries(), metrics=metrics, saturations=saturations)

    def passes(self, sample: Sample, *, training: bool, step: int | None = None,
               entries: Entries | None = None,
               weights: Mapping[Tensor, Older] | None = None) -> ChipPasses:
        return ChipPasses(self, sample, training=training,
                          step=self._step if step is None else step, entries=entries,
                          weights=weights)

    def update(self, sums: StepSums, begun: Entries | None = None) -> None:
        if begun is not None:
            self._rules.begin_step(self._step, begun)
        sums.check(self.job.config.accumulator_width)
        self.present = self._known = None  # whose exponents are gone
        self._bank = {}
        if self._moved:
            self._set_step()
            self._moved = False
        self.set_entries(sums.entries)
        write_sums(self.driver, self.job, sums.gradients)
        self._patch()
        self._piece(UPDATE)
        self._ended = True
        self.saturations = sums.saturations + self._saturated
        self._model.sample.rows_here.end_step()
        self._step += 1

    def evaluate(self) -> Metrics:
        return self.run(EVALUATE)[0]

    # What the memories hold.

    def load(self, sample: Sample) -> None:
        """Bring a unit, but for what comes from other boards."""
        self._sample = sample
        pieces = next((pieces for one, pieces in self._programs if one is sample), self.pieces)
        if pieces is not self.pieces:
            self._go_on_with(pieces)
        if self.job.plan.capacity is None:
            return  # there is no other
        try:
            job = with_sample(self.job, sample)
        except CapacityError:
            self._progress(
                "a sample takes more memory than those before; compiling the program again")
            self._go_on_with(self._larger(sample))
            job = with_sample(self.job, sample)
        self.job = job
        self.driver.load_sample(job)

    def _larger(self, sample: Sample) -> Pieces:
        """Pieces that have memory for a sample."""
        model, pieces = self._model.with_sample(sample), self.pieces
        config, capacity = self.job.config, self.job.plan.capacity_for(sample)
        if STEP_SUMS in pieces.crossing:
            return Pieces.of_steps(
                compile_sampled(model, config, capacity, ahead=False, pieces=True))
        return compile_pieces(model, config, layers=pieces.layers, capacity=capacity)

    def _go_on_with(self, pieces: Pieces) -> None:
        """Load other pieces, in the same state."""
        state = self.state()
        self.pieces = pieces
        self._load(pieces.job)
        self._write(state)
        self._known = state.parameters

    def hold(self, step: int, weights: Mapping[Tensor, Older]) -> None:
        """Let passes of a step (from 0) find these parameters, among others."""
        self.driver.set_step(step, self._rules.step_key(step))
        self._moved = True
        other = {name: one.values for name, one in weights.items()
                 if self._bank.get(name) is not one}
        write_operands(self.driver, self.job, other)
        self._bank |= {name: weights[name] for name in other}

    def operands(self) -> dict[Tensor, Older]:
        entry_of, entries = self._model.network.exponent_entry, self.entries()
        self._bank = {
            name: Older(self.driver.operand(self.job, name).reshape(
                self._model.state.parameters[name]["master"].shape), entries[entry_of(name)][0])
            for name in self.job.weights}
        return dict(self._bank)

    def entries(self) -> dict[Tensor, tuple[int, int | None]]:
        # Of other layers, they are as they were set.
        return self._elsewhere | self.driver.exponent_file(self.job)

    def set_entries(self, entries: Entries) -> None:
        own = self.job.tensors
        self._elsewhere |= {name: entry for name, entry in entries.items() if name not in own}
        self.driver.set_entries(
            self.job, {name: entry for name, entry in entries.items() if name in own})

    def state(self) -> TrainingState:
        if self._known is None:
            self._known = super().state().parameters
        return TrainingState(
            step=self._step, parameters=dict(self._known), exponents=self.entries(),
            momentum_exponents=self._rules.momentum_exponents.entries())

    def load_state(self, state: TrainingState) -> None:
        self._model.sample.rows_here.keep(state.older)
        self._write(state)

    def _write(self, state: TrainingState) -> None:
        self._known, self._bank = None, {}
        self._keep_elsewhere(state)
        super().load_state(state)

    def _keep_elsewhere(self, state: TrainingState) -> None:
        self._elsewhere = {name: entry for name, entry in state.exponents.items()
                           if name not in self.pieces.job.tensors}

    # Programs.

    def run(self, piece: str,
            taken: dict[tuple[str, int], IntArray] | None = None) -> tuple[Metrics, int]:
        """All parts of a piece; returns the last one's metrics, and saturations of all.

        Parameters
        ----------
        piece : str
            One of ``PIECES``, or ``STEP_SUMS``.
        taken : dict, optional
            Piece and number of a part, to the rows of others that it took when it ran before; what
            it takes now is added.
        """
        saturations, taken = 0, {} if taken is None else taken
        for number, (program, name) in enumerate(self.pieces.parts(piece)):
            if name is not None:
                if (piece, number) not in taken:
                    taken[piece, number] = self._bring_rows(name, transposed=piece == BACKWARD)
                write_rows(self.driver, self.job, name, taken[piece, number],
                           first=len(self._sample.labels))
            if piece == EVALUATE:
                metrics, cycles = self._run(program)
                self.evaluate_cycles += cycles
            else:
                metrics = self._piece(program)
            saturations += self._saturated
        return metrics, saturations

    def _bring_rows(self, name: Tensor, *, transposed: bool) -> IntArray:
        """The rows of others of a tensor that this unit reads; others are given its own."""
        driver, job = self.driver, self.job

        def rows_of(rows: IntArray) -> IntArray:
            return read_rows(driver, job, name, rows)

        entry = self._model.network.exponent_entry(name)
        return self._sample.rows_here.bring(
            rows_of, job.regions[name].columns, transposed=transposed, name=name,
            exponent=driver.exponent_entry(job, entry)[0])

    def _piece(self, program: str) -> Metrics:
        """Run a program of a step."""
        if self._ended:
            self._of_step, self._phases_of_step, self._ended = {}, {}, False
        metrics, cycles = self._run(program)
        self.train_cycles += cycles
        if self._observer:
            self._observer.spend(program, cycles)
        for name, values in super().counters.items():
            before = self._of_step.get(name, [0] * len(values))
            self._of_step[name] = [sum(pair) for pair in zip(before, values, strict=True)]
        for phase, spent in super().phase_cycles.items():
            self._phases_of_step[phase] = self._phases_of_step.get(phase, 0) + spent
        return metrics

    @property
    def counters(self) -> dict[str, list[int]]:
        """Counter name to a value per core, of all programs of the last step here."""
        return self._of_step

    @property
    def phase_cycles(self) -> dict[str, int]:
        """Phase name to cycles of all programs of the last step here."""
        return self._phases_of_step
