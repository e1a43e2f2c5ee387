# SPDX-License-Identifier: BSD-2-Clause
"""A device that trains alone: an epoch of samples as a step, shown to a check."""

from types import SimpleNamespace
from unittest.mock import Mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypercast.host.runtime.comparison import Comparison
from hypercast.host.runtime.single_device import SingleDevice
from hypercast.reference.metrics import Metrics


class Recorded:
    """A device that notes what it is told; step ``n`` has a loss of ``n``, and saturates as often.
    """

    chip = None

    def __init__(self):
        self.taken, self.recorded, self.saturations = [], [], 0

    def take(self, *samples):
        self.taken.append(samples)

    def train_step(self, *, record=False):
        self.recorded.append(record)
        self.saturations = count = len(self.recorded)
        return Metrics(*(np.full(4, count) for _ in range(4)), 1.0)


def epochs(count):
    return SimpleNamespace(sizes=[1] * count, steps=lambda: ([number] for number in range(count)),
                           judge=Mock(), logits=Mock(), after_epochs=Mock(), go_on_from=Mock())


@given(st.integers(1, 6), st.booleans(), st.booleans())
def test_an_epoch_is_a_step(count, record, checked):
    """Each sample comes with the next two; the last step alone is recorded; metrics add up."""
    device, check = Recorded(), Mock(words=Comparison(1, 2)) if checked else None
    single = SingleDevice(device, epochs(count), check)
    metrics = single.train_step(record=record)
    assert device.taken == [tuple(range(number, min(number + 3, count)))
                            for number in range(count)]
    assert device.recorded == [False] * (count - 1) + [record]
    assert metrics.loss.tolist() == [sum(range(count + 1))] * 4
    assert single.saturations == sum(range(count + 1))
    if check:
        assert [call.args for call in check.take.call_args_list] == [(n,) for n in range(count)]
        assert check.compare_step.call_count == count
    assert single.words == (Comparison(1, 2) if checked else Comparison())
    single.train_step()
    assert single.saturations == sum(range(count + 1, 2 * count + 1))  # of this epoch alone


@pytest.mark.parametrize("record", [False, True])
def test_a_whole_graph_is_one_step(record):
    device = Recorded()
    single = SingleDevice(device)
    assert single.train_step(record=record).loss.tolist() == [1] * 4
    assert device.taken == [] and device.recorded == [record] and single.saturations == 1


def test_samples_are_evaluated_by_the_judge_and_count_epochs():
    device, source, check = Mock(), epochs(3), Mock()
    single = SingleDevice(device, source, check)
    assert single.evaluate() is source.judge.return_value
    source.judge.assert_called_once_with(device.state.return_value)
    assert single.logits() is source.logits.return_value
    assert single.state() is source.after_epochs.return_value
    single.load_state("state")
    source.go_on_from.assert_called_once_with("state")
    for one in (device, check):
        one.load_state.assert_called_once_with(source.go_on_from.return_value)


def test_a_whole_graph_is_evaluated_by_the_device():
    device = Mock()
    single = SingleDevice(device)
    assert single.evaluate() is device.evaluate.return_value
    assert single.logits() is device.logits.return_value
    assert single.state() is device.state.return_value
    single.load_state("state")
    device.load_state.assert_called_once_with("state")
