# SPDX-License-Identifier: BSD-2-Clause
"""Devices that are described: what evaluates, and what is kept of it."""

import pytest

from hypercast.host.description.conversion import DescriptionError
from hypercast.host.description.device import Device


def test_the_host_evaluates_if_nothing_is_said():
    assert Device("rtl").evaluate_on == "host"
    assert "evaluate_on" not in Device("rtl", evaluate_on="host").values()


def test_a_device_that_evaluates():
    """It is kept with the run; another device, such as one that a run is looked at on, does not."""
    device = Device("rtl", preset="tiny", lanes=4, evaluate_on="device")
    assert device.values() == {
        "name": "rtl", "preset": "tiny", "evaluate_on": "device", "lanes": 4}
    assert Device(**device.values()).evaluate_on == "device"
    assert device.on("reference").evaluate_on == "host"


@pytest.mark.parametrize("value", ["chip", "x ", 1])
def test_there_is_no_such_evaluator(value):
    with pytest.raises(DescriptionError, match=r"\[device\] evaluate_on must be ") as error:
        Device("rtl", evaluate_on=value)
    assert repr(value) in str(error.value)
    assert (error.value.section, error.value.key) == ("device", "evaluate_on")


def test_bits_of_elements_that_are_given_twice():
    assert Device(elements=8, element_width=8).config.element_width == 8
    with pytest.raises(DescriptionError, match=r"elements is 8, but element_width.* is 16"):
        Device(elements=8, element_width=16)
