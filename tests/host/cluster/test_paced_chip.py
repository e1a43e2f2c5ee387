"""PacedChip: the group is told of a step's passes, in order, and the chip does them."""

from unittest.mock import Mock, call

from hypercast.host.cluster.paced_chip import PacedChip
from hypercast.reference.network import Network


def test_what_the_group_is_told():
    both = Mock()
    both.device.step_sums.return_value = "sums"
    chip = PacedChip(both.device, Network.of_widths([5, 4, 3]), both.group)
    chip.begin_step()
    for sample in ("one", "other"):
        chip.take(sample)
        assert chip.step_sums() == "sums"
    chip.update("total")
    passes = [(call.device.take(sample), *(
        call.group.compute(sample, range(1, 3), forward=forward) for forward in (True, False)),
        call.device.step_sums()) for sample in ("one", "other")]
    assert both.mock_calls == [
        call.group.begin_step(), call.device.begin_step(), *passes[0], *passes[1],
        call.device.update("total"), call.group.end_step()]
