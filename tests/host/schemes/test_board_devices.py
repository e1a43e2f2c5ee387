# SPDX-License-Identifier: BSD-2-Clause
"""Which device a board has that trains with others, and whether it is that of a cluster."""

import pickle
from types import SimpleNamespace
from unittest.mock import Mock

import pytest

from hypercast.benches.steps import synthetic_graph
from hypercast.host.cluster.assignment import Assignment
from hypercast.host.cluster.description import load_cluster
from hypercast.host.description.conversion import DescriptionError
from hypercast.host.description.device import Device
from hypercast.host.runtime.reference_device import ReferenceDevice
from hypercast.host.schemes import board_devices
from hypercast.host.schemes.board_devices import BoardDevices
from hypercast.host.schemes.share import graph_shares
from hypercast.host.training.prepare import prepare
from hypercast.reference.network import Network
from hypercast.reference.recipe import Recipe

BOARD = load_cluster("vcu128-2").boards[1]


def test_one_for_all_or_one_for_each():
    one, each = BoardDevices(Device("rtl")), BoardDevices(Device("reference,rtl"))
    assert [one.name(rank) for rank in range(2)] == ["rtl", "rtl"]
    assert [each.is_chip(rank) for rank in range(2)] == [False, True]
    assert not BoardDevices().is_chip(3)


@pytest.mark.parametrize(("device", "message"), [
    (Device("reference", preset="tiny"), None),
    (Device("rtl", preset="vcu128", channel_words=4096, program_rows=4096), None),
    (Device("rtl", preset="tiny"), "board 1 is a chip whose dimensions is 1, but on the cluster it "
                                   "is vcu128-1, of 4"),
    (Device("rtl", preset="vcu128", dimensions=3),
     "whose dimensions is 3, but .* of 4; give --preset"),
])
def test_chips_of_a_cluster(device, message):
    """A chip whose cycles would not be those of the board is refused; how much fits is its own."""
    devices = BoardDevices(device)
    if message is None:
        devices.check_board(1, BOARD)
        return
    with pytest.raises(DescriptionError, match=message):
        devices.check_board(1, BOARD)


def cluster_of(tmp_path, *devices):
    path = tmp_path / "cluster.toml"
    path.write_text("".join(
        f"[boards.b{number}]\nboard = 'vcu128'\n" + (f"device = '{device}'\n" if device else "")
        for number, device in enumerate(devices)) + "[links.ethernet]\ngigabits = 100\n")
    return load_cluster(str(path))


def test_devices_of_a_clusters_file(tmp_path):
    found = BoardDevices().on(cluster_of(tmp_path, "rtl", "", "xdma:/dev/xdma0"))
    assert found.names == ("rtl", "reference", "xdma:/dev/xdma0")
    plain = BoardDevices(Device("rtl"))
    assert plain.on(cluster_of(tmp_path, "", "")) is plain
    assert plain.on(None) is plain
    with pytest.raises(DescriptionError, match="name is rtl, but the cluster's file says which"):
        plain.on(cluster_of(tmp_path, "rtl"))


@pytest.mark.parametrize("device", ["rtx", "rtl,rtl"])
def test_no_device_of_a_clusters_file(tmp_path, device):
    message = rf"\[boards.b0\] device must be one .*, not '{device}'"
    with pytest.raises(DescriptionError, match=message):
        cluster_of(tmp_path, device)


@pytest.mark.parametrize("rank", [0, 2])
def test_boards_without_a_chip_compute_as_the_reference(rank):
    """Nothing is compiled for them: not even room on a chip is asked for."""
    graph = synthetic_graph(30, 60, 5, 3)
    model = prepare(graph, Network.of_widths((5, 4, 3)), Recipe(epochs=1))
    devices = BoardDevices(Device("reference,rtl,reference", preset="tiny"))
    group, capacity = SimpleNamespace(rank=rank), Mock(side_effect=AssertionError)
    part = devices.of_layers(model, group, range(2, 3), capacity)
    assert type(part) is ReferenceDevice
    samples = devices.of_samples(model, group, Mock(return_value=Mock()))
    assert type(samples) is ReferenceDevice


@pytest.mark.parametrize("rank", [0, 1])
def test_parts_of_a_graph_are_joined_on_chips_and_references(rank, monkeypatch):
    """Both exchange rows with the group; only for a chip are programs compiled."""
    names = "ChipDevice", "compile_pieces", "open_transport"
    made = {name: Mock() for name in names}
    for name in names:
        monkeypatch.setattr(board_devices, name, made[name])
    model = prepare(synthetic_graph(30, 60, 5, 3), Network.of_widths((5, 4, 3)), Recipe(epochs=1))
    _, *parts = graph_shares(model, Assignment(scheme="graph"), None, 2)
    part, group = pickle.loads(parts[rank]), SimpleNamespace(rank=rank)
    device = BoardDevices(Device("reference,rtl", preset="tiny")).of_rows(part, group)
    assert part.sample.rows_here.others._group is group
    if rank:
        assert device is made["ChipDevice"].return_value
        assert made["open_transport"].call_args.args[0] == "rtl"
        assert made["ChipDevice"].call_args.args[1] is made["compile_pieces"].return_value
    else:
        assert type(device) is ReferenceDevice
        assert not any(made[name].called for name in names)
