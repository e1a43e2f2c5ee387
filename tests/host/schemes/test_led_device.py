# SPDX-License-Identifier: BSD-2-Clause
"""The leader tells all ranks what to do, until it has failed or is closed."""

import pytest

from hypercast.host.schemes.led_device import LedDevice, follow
from tests.host.processes.thread_group import on_ranks


class Device:
    """Counts what it is asked for."""

    TOGETHER = frozenset({"train_step", "load_state"})

    def __init__(self):
        self.asked = []

    def train_step(self):
        self.asked.append("train_step")

    def load_state(self, state):
        self.asked.append(f"load {state}")

    def state(self):
        self.asked.append("state")

    def close(self):
        self.asked.append("close")


def test_what_is_done_together_is_done_by_all():
    def run(group):
        device = Device()
        if group.rank:
            follow(device, group)
            return device.asked
        led = LedDevice(device, group)
        led.load_state("a")
        led.train_step()
        led.state()
        assert led.virtual_time() is None
        led.close()
        return device.asked

    leader, *others = on_ranks(3, run)
    assert leader == ["load a", "train_step", "state", "close"]
    assert others == [["load a", "train_step", "close"]] * 2


def test_a_leader_that_failed_waits_for_nobody():
    class Failing(Device):
        def train_step(self):
            raise ArithmeticError("too large")

    class Group:
        told = []

        def tell(self, value=None):
            self.told.append(value[0])

    led = LedDevice(Failing(), Group())
    with pytest.raises(ArithmeticError):
        led.train_step()
    led.close()
    assert Group.told == ["train_step"]


def test_no_timeline_of_several_boards():
    with pytest.raises(ValueError, match="several boards keep no timeline of a chip; train on one"):
        LedDevice(Device(), None).train_step(record=True)
