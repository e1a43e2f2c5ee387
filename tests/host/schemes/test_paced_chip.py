# SPDX-License-Identifier: BSD-2-Clause
"""PacedChip: the group is told of a step, and of the cycles of its programs, in order."""

from unittest.mock import Mock, call

from hypercast.host.schemes.paced_chip import PacedChip


def test_what_the_group_is_told():
    both = Mock()

    def ran():
        both.device.spent("step_sums", 123)
        return "sums"

    both.device.step_sums.side_effect = ran
    chip = PacedChip(both.device, both.group)
    chip.begin_step()
    for sample in ("one", "other"):
        chip.take(sample)
        assert chip.step_sums() == "sums"
    chip.update("total")
    passes = [(call.device.take(sample), call.device.step_sums(),
               call.group.spend("step_sums", 123)) for sample in ("one", "other")]
    assert both.mock_calls == [
        call.group.begin_step(), call.device.begin_step(), *passes[0], *passes[1],
        call.device.update("total"), call.group.end_step()]
