# SPDX-License-Identifier: BSD-2-Clause
"""Each board has a run of layers and the whole graph, whose chunks follow each other through them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from hypercast.host.schedules.turns import all_forward_all_backward
from hypercast.host.schemes.actions import Actions, Gather
from hypercast.host.schemes.chunk_rows import GraphInChunks
from hypercast.host.schemes.layers_in_pipeline import LayersInPipeline
from hypercast.host.schemes.scheme import Trained
from hypercast.reference.initial_model import InitialModel
from hypercast.reference.rows import Older
from hypercast.reference.sample import Sample
from hypercast.reference.tensor import Tensor
from hypercast.reference.training_state import TrainingState

__all__ = ["ChunksInPipeline"]


class ChunksInPipeline(LayersInPipeline):
    """Boards compute what ``StaleChunks`` says.

    All chunks go forward, then all go back, the last one first. In the first step of a training
    there are no older rows, so the graph passes as a whole.

    Parameters
    ----------
    model : InitialModel
        The whole model; its sample's ``rows_here`` is ``GraphInChunks``.
    rank, runs
        As of ``LayersInPipeline``.
    chunks : sequence of Sample
        The chunks, as of ``split_in_chunks``.
    """

    def __init__(self, model: InitialModel, rank: int, runs: Sequence[range],
                 chunks: Sequence[Sample]) -> None:
        super().__init__(model, rank, runs)
        assert isinstance(model.sample.rows_here, GraphInChunks)
        self._rows = model.sample.rows_here
        self._chunks = chunks
        self._begun = model.state.step > 0

    def step(self, samples: Sequence[Sample]) -> Actions[Trained]:
        units, self._begun = self._chunks if self._begun else samples, True
        return (yield from super().step(units))

    def _turns(self, count: int) -> Iterator[tuple[bool, int]]:
        return all_forward_all_backward(count)

    def state(self) -> Actions[TrainingState | None]:
        """The state, with the rows that chunks take next, on the leader."""
        older: dict[Tensor, Older] = {}
        for rows in (yield from Gather(self._rows.kept)):
            older |= rows
        state = yield from super().state()
        return None if state is None else replace(state, older=older)

    def load_state(self, state: TrainingState) -> Actions[None]:
        self._begun = state.step > 0
        yield from super().load_state(state)
