"""Which device a board has that trains with others, and whether it is that of a cluster."""

import pytest

from hypercast.host.cluster.description import load_cluster
from hypercast.host.training.description.conversion import DescriptionError
from hypercast.host.training.description.device import Device
from hypercast.host.training.shared_devices import SharedDevices

BOARD = load_cluster("vcu128-2").boards[1]


def test_one_for_all_or_one_for_each():
    one, each = SharedDevices(Device("rtl")), SharedDevices(Device("reference,rtl"))
    assert [one.name(rank) for rank in range(2)] == ["rtl", "rtl"]
    assert [each.is_chip(rank) for rank in range(2)] == [False, True]
    assert not SharedDevices().is_chip(3)


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
    devices = SharedDevices(device)
    if message is None:
        devices.check_board(1, BOARD)
        return
    with pytest.raises(DescriptionError, match=message):
        devices.check_board(1, BOARD)
