# SPDX-License-Identifier: BSD-2-Clause
"""Each board has a run of layers and the whole graph, whose chunks follow each other through them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from hypercast.host.processes.group import Group
from hypercast.host.runtime.training_device import TrainingDevice
from hypercast.host.schedules.turns import all_forward_all_backward
from hypercast.host.schemes.chunk_rows import GraphInChunks
from hypercast.host.schemes.layers_in_pipeline import LayersInPipeline
from hypercast.reference.initial_model import InitialModel
from hypercast.reference.metrics import Metrics
from hypercast.reference.rows import Older
from hypercast.reference.sample import Sample
from hypercast.reference.tensor import Tensor
from hypercast.reference.training_state import TrainingState

__all__ = ["ChunksInPipeline"]


class ChunksInPipeline(LayersInPipeline):
    """One of several devices, each a run of layers, which compute what ``StaleChunks`` says.

    All chunks go forward, then all go back, the last one first. In the first step of a training
    there are no older rows, so the graph passes as a whole.

    Parameters
    ----------
    device : TrainingDevice
        Has this rank's layers: a ``StageDevice`` that takes the whole graph and its chunks.
    model : InitialModel
        The whole model; its sample's ``place`` is ``GraphInChunks``.
    group, runs
        As of ``LayersInPipeline``.
    chunks : sequence of Sample
        The chunks, as of ``chunks_of``.
    """

    def __init__(self, device: TrainingDevice, model: InitialModel, group: Group,
                 runs: Sequence[range], chunks: Sequence[Sample]) -> None:
        super().__init__(device, model, group, runs)
        assert isinstance(model.sample.place, GraphInChunks)
        self._rows = model.sample.place
        self._chunks = chunks
        self._begun = model.state.step > 0

    def train_step(self, *, record: bool = False) -> Metrics:
        if self._begun and not record:
            return self.train_on(self._chunks)
        self._begun = True
        return super().train_step(record=record)

    def load_state(self, state: TrainingState) -> None:
        super().load_state(state)
        self._begun = state.step > 0

    def _turns(self, count: int) -> Iterator[tuple[bool, int]]:
        return all_forward_all_backward(count)

    def state(self) -> TrainingState:
        """The state, with the rows that chunks take next; only the leader has all of them."""
        older: dict[Tensor, Older] = {}
        for rows in self._group.gather(self._rows.kept):
            older |= rows
        return replace(super().state(), older=older)
