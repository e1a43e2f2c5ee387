"""Each board has a run of layers and the whole graph, whose chunks follow each other through them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from hypercast.host.cluster.chunk_rows import GraphInChunks, chunks_of
from hypercast.host.cluster.group import Group
from hypercast.host.cluster.layers_in_pipeline import LayersInPipeline
from hypercast.host.cluster.reference_stage import ReferenceStage
from hypercast.host.schedules.turns import all_forward_all_backward
from hypercast.reference.initial_model import InitialModel
from hypercast.reference.metrics import Metrics
from hypercast.reference.rows import Older
from hypercast.reference.stale_rows import StaleChunks
from hypercast.reference.tensor import Tensor
from hypercast.reference.training_state import TrainingState

__all__ = ["ChunksInPipeline"]


class ChunksInPipeline(LayersInPipeline):
    """One of several devices, each a run of layers, which compute what ``StaleChunks`` says.

    All chunks go forward, then all go back, the last one first. In the first step of a training
    there are no older rows, so the graph passes as a whole.

    Parameters
    ----------
    model : InitialModel
        The whole model; its sample's ``place`` is ``StaleChunks``.
    group, runs
        As of ``LayersInPipeline``.
    """

    def __init__(self, model: InitialModel, group: Group, runs: Sequence[range]) -> None:
        sample = model.sample
        assert isinstance(sample.place, StaleChunks)
        self._rows = GraphInChunks(sample.place.parts, sample.edges[0], sample.element_width)
        sample = replace(sample, place=self._rows)
        model = model.with_sample(sample)
        self._reference = ReferenceStage(model, runs[group.rank])
        super().__init__(self._reference, model, group, runs)
        self._chunks = list(chunks_of(sample, self._rows))

    def train_step(self, *, record: bool = False) -> Metrics:
        if not self._reference.oracle.step:
            metrics = super().train_step(record=record)
        else:
            metrics = self.train_on(self._chunks)
        self._rows.end_step()
        return metrics

    def _turns(self, count: int) -> Iterator[tuple[bool, int]]:
        return all_forward_all_backward(count)

    def state(self) -> TrainingState:
        """The state, with the rows that chunks take next; only the leader has all of them."""
        older: dict[Tensor, Older] = {}
        for rows in self._group.gather(self._rows.kept):
            older |= rows
        return replace(super().state(), older=older)
