# SPDX-License-Identifier: BSD-2-Clause
"""Opens the device of a board that trains with others: a reference, or a chip."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Self

from hypercast.host.cluster.board import Board
from hypercast.host.cluster.description import Cluster
from hypercast.host.compiler.compiler import compile_sampled
from hypercast.host.compiler.pieces import Pieces, compile_pieces
from hypercast.host.compiler.sample_plan import Capacity
from hypercast.host.description.conversion import DescriptionError
from hypercast.host.description.device import Device
from hypercast.host.processes.group import Group
from hypercast.host.runtime.chip_transport import open_transport
from hypercast.host.runtime.reference_device import ReferenceDevice
from hypercast.host.runtime.stepped_chip import SteppedChip
from hypercast.host.runtime.training_device import TrainingDevice
from hypercast.host.schemes.chunk_chip import ChunkChip
from hypercast.host.schemes.older_weights_chip import OlderWeightsChip
from hypercast.host.schemes.older_weights_stage import OlderWeightsReference
from hypercast.host.schemes.paced_chip import PacedChip
from hypercast.host.schemes.paced_gnn import PacedGnn
from hypercast.host.schemes.part_chip import PartChip
from hypercast.host.schemes.reference_stage import ReferenceStage
from hypercast.host.schemes.shared_rows import SharedRows
from hypercast.host.schemes.stage_chip import StageChip
from hypercast.host.transport.transport import Transport
from hypercast.reference.initial_model import InitialModel
from hypercast.reference.network import AGGREGATE_FIRST
from hypercast.reference.sample import Mantissas, Sample

__all__ = ["SharedDevices"]

REFERENCE = "reference"
#: Fields of a configuration that change no cycle: how much there is room for.
_ROOM = ("channel_words", "program_rows", "weight_rows", "tensors")


class SharedDevices:
    """The devices of boards that train together.

    Parameters
    ----------
    device : Device
        Names one for all ranks, or one for each; and their configuration.
    progress : callable
        Called with a line of text before each slow step.
    """

    def __init__(self, device: Device | None = None,
                 progress: Callable[[str], None] = lambda text: None) -> None:
        self._device = device or Device()
        self._progress = progress
        #: One for all ranks, or one for each.
        self.names: tuple[str, ...] = self._device.names

    def on(self, cluster: Cluster | None) -> Self:
        """These devices, or those that the file of a cluster names.

        Raises
        ------
        DescriptionError
            If it names some, and the description of the training does, too.
        """
        if not cluster or all(board.device is None for board in cluster.boards):
            return self
        if self.names != (REFERENCE,):
            raise DescriptionError(
                f"[device] name is {self._device.name}, but the cluster's file says which device "
                f"each board is; leave one of the two out", "device", "name")
        found = type(self)(self._device, self._progress)
        found.names = tuple(board.device or REFERENCE for board in cluster.boards)
        return found

    def name(self, rank: int) -> str:
        """Name of a rank's device."""
        return self.names[rank % len(self.names)]

    def is_chip(self, rank: int) -> bool:
        """Whether a rank's device is a chip."""
        return self.name(rank) != REFERENCE

    def check_board(self, rank: int, board: Board) -> None:
        """Refuse a chip that is not that of the cluster's board which it stands for.

        Raises
        ------
        DescriptionError
            If it would take other cycles.
        """
        if not self.is_chip(rank):
            return
        own, other = self._device.config, board.config
        rooms = {name: getattr(own, name) for name in _ROOM}
        for name, value in own.to_dict().items():
            if value != getattr(other.replace(**rooms), name):
                raise DescriptionError(
                    f"board {rank} is a chip whose {name} is {value}, but on the cluster it is "
                    f"{board.name}, of {getattr(other, name)}; give --preset and -P as that board "
                    f"has them, or another --cluster", "device", name)

    def of_samples(self, model: InitialModel, group: Group,
                   capacity: Callable[[], Capacity]) -> TrainingDevice:
        """A device with the whole model, whose steps are in pieces."""
        if not self.is_chip(group.rank):
            return ReferenceDevice(model, PacedGnn(model, group))
        config = self._device.config
        job = compile_sampled(model, config, capacity(), ahead=False, pieces=True)
        return PacedChip(SteppedChip(self._transport(group), job, model, progress=self._progress),
                         group)

    def of_layers(self, model: InitialModel, group: Group, layers: range,
                  capacity: Callable[[], Capacity] | None) -> TrainingDevice:
        """A device with a run of layers: a ``StageDevice``."""
        if not self.is_chip(group.rank):
            return ReferenceStage(model, layers)
        pieces = self._pieces(model, layers, capacity)
        chip = StageChip(self._transport(group), pieces, model, progress=self._progress)
        chip.spent = group.spend
        return chip

    def of_older_weights(self, model: InitialModel, group: Group, layers: range,
                         capacity: Callable[[], Capacity] | None,
                         staleness: Sequence[int]) -> TrainingDevice:
        """A device with a run of layers, and older weights: an ``OlderWeightsStage``."""
        if not self.is_chip(group.rank):
            return OlderWeightsReference(model, layers, staleness)
        pieces = self._pieces(model, layers, capacity)
        chip = OlderWeightsChip(self._transport(group), pieces, model, staleness,
                                progress=self._progress)
        chip.spent = group.spend
        return chip

    def of_chunks(self, model: InitialModel, group: Group, layers: range,
                  chunks: Sequence[Sample]) -> TrainingDevice:
        """A device with a run of layers, that takes chunks of a graph: a ``StageDevice``."""
        if not self.is_chip(group.rank):
            return ReferenceStage(model, layers)
        chip = ChunkChip(self._transport(group), model, self._device.config, layers, chunks,
                         progress=self._progress)
        chip.spent = group.spend
        return chip

    def _pieces(self, model: InitialModel, layers: range,
                capacity: Callable[[], Capacity] | None) -> Pieces:
        return compile_pieces(model, self._device.config, layers=layers,
                              capacity=capacity() if capacity else None)

    def of_rows(self, model: InitialModel, group: Group) -> TrainingDevice:
        """A device with some rows of a graph, whose steps are in pieces; all ranks call this."""
        sample, features = model.sample, model.sample.features
        assert isinstance(sample.place, SharedRows)
        sample.place.connect(group)
        if AGGREGATE_FIRST in model.network.feature_orders:
            features = Mantissas(sample.place.bring_features(features.exponent),
                                 features.exponent)
        if not self.is_chip(group.rank):
            return ReferenceDevice(model, PacedGnn(model, group))
        pieces = compile_pieces(model.with_sample(replace(sample, features=features)),
                                self._device.config)
        return PacedChip(PartChip(self._transport(group), pieces, model, progress=self._progress),
                         group)

    def _transport(self, group: Group) -> Transport:
        return open_transport(self.name(group.rank), self._device.config, progress=self._progress)
