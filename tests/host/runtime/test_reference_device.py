# SPDX-License-Identifier: BSD-2-Clause
"""The reference as a device that trains."""

import numpy as np
import pytest

from hypercast.host.runtime.reference_device import ReferenceDevice
from tests.host.models import small_model


def test_evaluation_does_not_show_in_a_snapshot():
    """So one device may evaluate more often than the other one."""
    reference = ReferenceDevice(small_model())
    reference.train_step()
    before = reference.snapshot()
    for _ in range(2):
        reference.evaluate()
    after = reference.snapshot()
    assert before.keys() == after.keys()
    assert all(np.array_equal(before[name], after[name]) for name in before)


def test_there_is_nothing_to_record():
    with pytest.raises(ValueError, match="no timeline to record; train on a simulated chip"):
        ReferenceDevice(small_model()).train_step(record=True)


def test_it_is_no_chip():
    assert ReferenceDevice(small_model()).chip is None
