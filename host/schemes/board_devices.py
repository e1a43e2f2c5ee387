# SPDX-License-Identifier: BSD-2-Clause
"""Opens the device of a board that trains with others: a reference, or a chip."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Self

from hypercast.host.cluster.board import Board
from hypercast.host.cluster.description import Cluster
from hypercast.host.compiler.compiled_edges import CompiledEdges
from hypercast.host.compiler.compiler import compile_sampled
from hypercast.host.compiler.pieces import Pieces, compile_pieces
from hypercast.host.compiler.sample_capacity import Capacity
from hypercast.host.description.conversion import DescriptionError
from hypercast.host.description.device import Device
from hypercast.host.processes.group import Group
from hypercast.host.runtime.chip_device import ChipDevice
from hypercast.host.runtime.chip_transport import open_transport
from hypercast.host.runtime.part_device import PartDevice
from hypercast.host.runtime.reference_device import ReferenceDevice
from hypercast.host.schemes.halo_exchange import HaloExchange
from hypercast.host.schemes.part_rows import PartRows
from hypercast.host.transport.transport import Transport
from hypercast.reference.initial_model import InitialModel
from hypercast.reference.network import AGGREGATE_FIRST
from hypercast.reference.sample import Mantissas, Sample
from hypercast.reference.tensor import FEATURES
from hypercast.rtl.config import Config

__all__ = ["BoardDevices", "open_part"]

REFERENCE = "reference"
#: Fields of a configuration that change no cycle: how much there is room for.
_ROOM = ("channel_words", "program_rows", "weight_rows", "tensors")


class BoardDevices:
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
        """These devices, or the devices that the file of a cluster names.

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
        """Refuse a chip that differs from the chip of the cluster's board that it stands for.

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
                   capacity: Callable[[], Capacity]) -> PartDevice:
        """A device with the whole network, that takes samples."""
        return open_part(
            model, self._device.config, capacity, progress=self._progress,
            transport=partial(self._transport, group.rank) if self.is_chip(group.rank) else None)

    def of_layers(self, model: InitialModel, group: Group, layers: range,
                  capacity: Callable[[], Capacity] | None,
                  chunks: Sequence[Sample] = ()) -> PartDevice:
        """A device with a run of layers, that takes the graph, samples, or chunks of the graph."""
        if not self.is_chip(group.rank):
            return ReferenceDevice(model, layers=layers)

        def compiled(model: InitialModel) -> Pieces:
            return compile_pieces(model, self._device.config, layers=layers,
                                  capacity=capacity() if capacity else None)

        if not chunks:
            return self._chip(model, group, compiled(model))
        whole, *others = (
            compiled(_with_other_features(model, one)) for one in (model.sample, *chunks))
        return self._chip(model, group, whole, tuple(zip(chunks, others, strict=True)))

    def of_rows(self, model: InitialModel, group: Group) -> PartDevice:
        """A device with some rows of a graph, and the whole network; all ranks call this."""
        rows_here = model.sample.rows_here
        assert isinstance(rows_here, PartRows) and isinstance(rows_here.others, HaloExchange)
        rows_here.others.connect(group)
        with_others = _with_other_features(model, model.sample)
        if not self.is_chip(group.rank):
            return ReferenceDevice(model)
        return self._chip(model, group, compile_pieces(with_others, self._device.config))

    def _chip(self, model: InitialModel, group: Group, pieces: Pieces,
              programs: Sequence[tuple[Sample, Pieces]] = ()) -> ChipDevice:
        return ChipDevice(self._transport(group.rank), pieces, model, programs=programs,
                          progress=self._progress)

    def _transport(self, rank: int) -> Transport:
        return open_transport(self.name(rank), self._device.config, progress=self._progress)


def _with_other_features(model: InitialModel, sample: Sample) -> InitialModel:
    """The model of a part of its graph, with the features of others that a first layer sums."""
    features = sample.features
    if AGGREGATE_FIRST in model.network.feature_orders:
        features = Mantissas(sample.rows_here.with_neighbours(
            features.values, transposed=False, name=FEATURES, exponent=features.exponent),
            features.exponent)
    return model.with_sample(replace(sample, features=features))


def open_part(model: InitialModel, config: Config, capacity: Callable[[], Capacity],
              edges: CompiledEdges | None = None, *,
              transport: Callable[[], Transport] | None = None,
              progress: Callable[[str], None] = lambda text: None) -> PartDevice:
    """A device with the whole network, that takes samples.

    Parameters
    ----------
    model : InitialModel
        The model that is trained.
    config : Config
        Configuration of a chip.
    capacity : callable
        Gives the ``Capacity`` of the samples, for a chip.
    edges : CompiledEdges, optional
        The model's, if they have been compiled.
    transport : callable, optional
        Opens a chip; without it, the device is the reference.
    progress : callable
        Called with a line of text before each slow step.

    Raises
    ------
    CapacityError
        If the job does not fit the configuration.
    TransportError
        If there is no such board.
    """
    if transport is None:
        return ReferenceDevice(model)
    job = compile_sampled(model, config, capacity(), edges, ahead=False, pieces=True)
    return ChipDevice(transport(), Pieces.of_steps(job), model, progress=progress)
