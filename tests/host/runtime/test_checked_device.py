# SPDX-License-Identifier: BSD-2-Clause
"""A device beside the reference: what is compared, and when."""

from hypercast.host.runtime.checked_device import CheckedDevice
from hypercast.host.runtime.reference_device import ReferenceDevice
from tests.host.models import small_model


def checked():
    return CheckedDevice(ReferenceDevice(small_model()), ReferenceDevice(small_model()), 2)


def test_every_step_is_compared():
    device = checked()
    device.train_step()
    words = device.words.words
    assert words
    for step in range(2, 4):
        device.train_step()
        assert device.words.words == device.words.equal == step * words


def test_the_reference_goes_on_from_the_same_state():
    device, other = checked(), ReferenceDevice(small_model())
    other.train_step()
    device.load_state(other.state())
    device.train_step()
    assert device.words.words and device.words.equal == device.words.words


def test_a_difference_is_found():
    device = checked()
    kept = device.oracle.kept["W1"]
    kept["master"] = kept["master"] + (1 << 20)
    device.train_step()
    assert device.words.equal < device.words.words
    assert device.words.first_difference
