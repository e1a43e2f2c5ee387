# SPDX-License-Identifier: BSD-2-Clause
"""A chip that has a run of layers, forward and backward, of one micro-batch after another."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

import numpy as np

from hypercast.host.compiler.compiler import with_sample
from hypercast.host.compiler.memory_map import CapacityError
from hypercast.host.compiler.piece_program import BACKWARD, EVALUATE, FORWARD
from hypercast.host.compiler.pieces import Pieces, compile_pieces
from hypercast.host.runtime.row_transfer import read_mask, write_mask, write_rows
from hypercast.host.runtime.state_transfer import read_sums
from hypercast.host.runtime.stepped_chip import SteppedChip
from hypercast.host.schemes.layer_crossings import Crossing
from hypercast.host.schemes.stage import Message, Rows
from hypercast.host.transport.transport import Transport
from hypercast.reference.initial_model import InitialModel
from hypercast.reference.metrics import Metrics
from hypercast.reference.sample import Sample
from hypercast.reference.step_sums import StepSums
from hypercast.reference.tensor import BACKWARD as BACKWARD_KINDS
from hypercast.reference.tensor import EDGES, FEATURES, Kind, Pass, Tensor
from hypercast.reference.training_state import TrainingState

__all__ = ["ChipPasses", "StageChip"]


class StageChip(SteppedChip):
    """A chip with a run of layers.

    Its memory holds one micro-batch. If another one has been there since, a micro-batch goes
    forward again before it goes backward (re-materialisation, as in Huang et al., GPipe, 2019).
    That takes cycles, and changes no bit.

    Parameters
    ----------
    transport : Transport
        How to reach it.
    pieces : Pieces
        What it runs.
    model : InitialModel
        The model they were compiled from.
    progress : callable
        Called with a line of text before each slow step.
    """

    def __init__(self, transport: Transport, pieces: Pieces, model: InitialModel, *,
                 progress: Callable[[str], None] = lambda text: None) -> None:
        self.pieces = pieces
        #: Entries of the exponent file that are of other layers' tensors; the chip has none.
        self._elsewhere: dict[Tensor, tuple[int, int | None]] = {}
        self._keep_elsewhere(model.state)
        #: Whose tensors are in the memory.
        self.present: ChipPasses | None = None
        super().__init__(transport, pieces.job, model, progress=progress)

    def passes(self, sample: Sample, *, training: bool) -> "ChipPasses":
        """The ``ChipPasses`` of a micro-batch."""
        return ChipPasses(self, sample, training=training)

    def load(self, sample: Sample) -> None:
        """Bring a micro-batch, but for what comes from other stages."""
        self._sample = sample
        if self.job.plan.capacity is None:
            return  # there is no other
        try:
            job = with_sample(self.job, sample)
        except CapacityError:
            self._compile_larger(sample)
            job = with_sample(self.job, sample)
        self.job = job
        self.driver.load_sample(job)

    def _compile_larger(self, sample: Sample) -> None:
        self._progress("a sample takes more memory than those before; compiling the program again")
        state = self.state()
        self.pieces = compile_pieces(
            self._model.with_sample(sample), self.job.config, layers=self.pieces.layers,
            capacity=self.job.plan.capacity_for(sample))
        self._load(self.pieces.job)
        self.load_state(state)

    def entries(self) -> dict[Tensor, tuple[int, int | None]]:
        """Exponent and peak of every entry of the exponent file, of other layers' as they were set.
        """
        return self._elsewhere | super().entries()

    def set_entries(self, entries: Mapping[Tensor, tuple[int, int | None]]) -> None:
        """Go on with other exponents and peaks."""
        own = self.job.tensors
        self._elsewhere |= {name: entry for name, entry in entries.items() if name not in own}
        super().set_entries({name: entry for name, entry in entries.items() if name in own})

    def state(self) -> TrainingState:
        return replace(super().state(), exponents=self.entries())

    def load_state(self, state: TrainingState) -> None:
        self._keep_elsewhere(state)
        super().load_state(state)

    def _keep_elsewhere(self, state: TrainingState) -> None:
        self._elsewhere = {name: entry for name, entry in state.exponents.items()
                           if name not in self.pieces.job.tensors}

    def run(self, piece: str) -> tuple[Metrics, int]:
        """Run a piece; returns its metrics, and saturations."""
        return self.run_entry(piece, training=piece != EVALUATE)

    @property
    def begun(self) -> dict[Tensor, tuple[int, int | None]]:
        """The exponent file as the step began."""
        return self._begun

    @property
    def model(self) -> InitialModel:
        """The model that the pieces were compiled from."""
        return self._model


class ChipPasses:
    """The passes of a micro-batch through the layers of a ``StageChip``, see ``LayerPasses``.

    Parameters
    ----------
    chip : StageChip
        The chip; it has begun the step.
    sample : Sample
        The micro-batch.
    training : bool
        Whether it is of a training step; if not, of an evaluation.
    """

    def __init__(self, chip: StageChip, sample: Sample, *, training: bool) -> None:
        self._chip = chip
        self.sample = sample
        self.training = training
        self._during = Pass.TRAINING if training else Pass.EVALUATION
        self._layers = chip.pieces.layers
        self._last = self._layers[-1] == len(chip.model.network.layers)
        self._type = np.dtype(f"int{chip.model.recipe.element_width}")
        self._taken = Message()
        #: Entries of the exponent file that passes here have opened, and layers elsewhere.
        self._stored: set[Tensor] = set()
        self._shared: set[Tensor] = set()
        #: What a pass backward finds, instead of what the one forward left.
        self._found: dict[Tensor, tuple[int, int | None]] = {}
        self.metrics: Metrics | None = None
        self._saturated = 0

    def forward(self, message: Message) -> None:
        """All layers, from the features, or from what other stages made."""
        self._taken = message
        metrics, self._saturated = self._forward()
        if self._last:
            self.metrics = metrics

    def _forward(self) -> tuple[Metrics, int]:
        chip, piece = self._chip, FORWARD if self.training else EVALUATE
        chip.load(self.sample)
        entries = self._begin()
        entries |= {EDGES: (self.sample.edge_exponent, None),
                    FEATURES: (self.sample.features.exponent, None)}
        self._take(self._taken, entries)
        chip.present = self
        self._stored |= chip.pieces.stored[piece]
        return chip.run(piece)

    def _begin(self) -> dict[Tensor, tuple[int, int | None]]:
        """Prepare the chip; returns the entries of the exponent file that passes begin with."""
        return dict(self._chip.begun if self.training else self._chip.entries())

    def backward(self, message: Message) -> None:
        """All layers, from the loss, or from what other stages made."""
        chip = self._chip
        if chip.present is not self:
            self._forward()
        self._take(message, dict(self._found))
        self._stored |= chip.pieces.stored[BACKWARD]
        _, saturated = chip.run(BACKWARD)
        self._saturated += saturated

    def _take(self, message: Message, entries: dict[Tensor, tuple[int, int | None]]) -> None:
        """Write what other stages made, and these ``entries`` of the exponent file."""
        driver, job = self._chip.driver, self._chip.job
        self._shared |= {*message.opened}
        entries |= {name: (exponent, None) for name, exponent in message.opened.items()}
        for name, rows in message.rows.items():
            entries[self._chip.model.network.exponent_entry(name)] = rows.exponent, None
            write_rows(driver, job, name, rows.mantissas)
            if rows.mask is not None:
                write_mask(driver, job, Tensor(Kind.MASK, name.layer),
                           np.unpackbits(rows.mask, count=rows.mantissas.size).reshape(
                               rows.mantissas.shape).astype(bool))
        self._chip.set_entries(entries)

    def message(self, crossings: Iterable[Crossing]) -> Message:
        """What another stage takes of the pass that has been."""
        driver, job = self._chip.driver, self._chip.job
        rows, backward = dict[Tensor, Rows](), False
        for crossing in crossings:
            name = crossing.tensor.made(self._during)
            backward = name.kind in BACKWARD_KINDS
            values = driver.matrix(job, name).astype(self._type)
            mask = np.packbits(read_mask(driver, job, Tensor(Kind.MASK, name.layer),
                                         values.shape[1])) \
                if crossing.masked and self.training else None
            entry = self._chip.model.network.exponent_entry(name)
            rows[name] = Rows(values, driver.exponent_entry(job, entry)[0], mask)
        opened = self.opened if self._chip.model.network.shares_exponents else {}
        return Message(rows, {name: exponent for name, (exponent, _) in opened.items()
                              if not name.layer and (name.kind in BACKWARD_KINDS) == backward})

    def exponent(self, name: Tensor) -> int:
        """Exponent of a tensor that came from another stage, or was made here."""
        entry = self._chip.model.network.exponent_entry(name)
        return self._chip.driver.exponent_entry(self._chip.job, entry)[0]

    def set_entries(self, entries: Mapping[Tensor, tuple[int, int | None]]) -> None:
        """Go backward with other entries of the exponent file, of what is opened there."""
        self._found = dict(entries)

    def sums(self, nothing: Metrics) -> StepSums:
        """What it leaves here; ``nothing`` are the metrics of stages without the last layer."""
        chip, sample = self._chip, self.sample
        return StepSums(
            gradients=read_sums(chip.driver, chip.job, chip.model.state),
            entries=self.opened | {EDGES: (sample.edge_exponent, None),
                                   FEATURES: (sample.features.exponent, None)},
            metrics=self.metrics or nothing, saturations=self._saturated)

    @property
    def opened(self) -> dict[Tensor, tuple[int, int | None]]:
        """Exponent and peak of every entry that they opened, or others did."""
        entries = self._chip.entries()
        return {name: entries[name] for name in self._stored | self._shared}
