# SPDX-License-Identifier: BSD-2-Clause
"""A device beside the reference: what is compared, and when."""

from hypercast.host.runtime.check import Check
from hypercast.host.runtime.reference_device import ReferenceDevice
from hypercast.host.runtime.single_device import SingleDevice
from tests.host.models import small_model


def checked():
    own, reference = (ReferenceDevice(small_model()) for _ in range(2))
    return SingleDevice(own, check=Check(reference, 2)), own


def test_every_step_is_compared():
    device, _ = checked()
    device.train_step()
    words = device.words.words
    assert words
    for step in range(2, 4):
        device.train_step()
        assert device.words.words == device.words.equal == step * words


def test_the_reference_goes_on_from_the_same_state():
    (device, _), other = checked(), ReferenceDevice(small_model())
    other.train_step()
    device.load_state(other.state())
    device.train_step()
    assert device.words.words and device.words.equal == device.words.words


def test_a_difference_is_found():
    device, own = checked()
    kept = own.oracle.kept["W1"]
    kept["master"] = kept["master"] + (1 << 20)
    device.train_step()
    assert device.words.equal < device.words.words
    assert device.words.first_difference
