# SPDX-License-Identifier: BSD-2-Clause
"""A chip that has the rows of some vertices of a graph; others have the rest."""

from collections.abc import Callable

from hypercast.host.compiler.piece_program import BACKWARD, EVALUATE, FORWARD
from hypercast.host.compiler.pieces import Pieces
from hypercast.host.runtime.row_transfer import read_rows, write_rows
from hypercast.host.runtime.state_transfer import read_sums
from hypercast.host.runtime.stepped_chip import SteppedChip
from hypercast.host.schemes.piece_parts import run_parts
from hypercast.host.schemes.shared_rows import SharedRows
from hypercast.host.transport.transport import Transport
from hypercast.reference.array_types import IntArray
from hypercast.reference.initial_model import InitialModel
from hypercast.reference.metrics import Metrics
from hypercast.reference.step_sums import StepSums
from hypercast.reference.tensor import EDGES, FEATURES, Tensor
from hypercast.reference.training_state import TrainingState

__all__ = ["PartChip"]


class PartChip(SteppedChip):
    """A chip with some rows of every matrix, and all weights.

    Its programs end before each sum over neighbours. The host reads the rows that others need,
    writes those of others below, and starts the next program.

    Parameters
    ----------
    transport : Transport
        How to reach it.
    pieces : Pieces
        What it runs.
    model : InitialModel
        The model they were compiled from; the sample's place is ``SharedRows`` that are connected.
    progress : callable
        Called with a line of text before each slow step.
    """

    def __init__(self, transport: Transport, pieces: Pieces, model: InitialModel, *,
                 progress: Callable[[str], None] = lambda text: None) -> None:
        self._pieces = pieces
        place = model.sample.place
        assert isinstance(place, SharedRows)
        self._place = place
        super().__init__(transport, pieces.job, model, progress=progress)

    def load_state(self, state: TrainingState) -> None:
        super().load_state(state)
        self._place.keep(state.older)

    def step_sums(self) -> StepSums:
        """The ``StepSums`` of the rows here, from where the step began."""
        sample = self._model.sample
        self.driver.set_entries(self.job, self._begun | {
            EDGES: (sample.edge_exponent, None), FEATURES: (sample.features.exponent, None)})
        metrics, forward = self._through(FORWARD)
        _, backward = self._through(BACKWARD)
        return StepSums(
            gradients=read_sums(self.driver, self.job, self._model.state),
            entries=self.driver.exponent_file(self.job), metrics=metrics,
            saturations=forward + backward)

    def evaluate(self) -> Metrics:
        metrics, _ = self._through(EVALUATE)
        return metrics

    def _through(self, piece: str) -> tuple[Metrics, int]:
        """All parts of a piece; returns the last one's metrics, and saturations of all."""
        return run_parts(self, self._pieces, piece, lambda _, name: self._cross(
            name, transposed=piece == BACKWARD))

    def _cross(self, name: Tensor, *, transposed: bool) -> None:
        """Rows of a tensor go to those who need them, and theirs come."""
        driver, job = self.driver, self.job

        def rows_of(rows: IntArray) -> IntArray:
            return read_rows(driver, job, name, rows)

        entry = self._model.network.exponent_entry(name)
        found = self._place.brought(
            rows_of, job.regions[name].columns, transposed=transposed, name=name,
            exponent=driver.exponent_entry(job, entry)[0])
        write_rows(driver, job, name, found, first=len(self._place.ranks))
