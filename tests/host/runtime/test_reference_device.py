# SPDX-License-Identifier: BSD-2-Clause
"""The reference as a device that trains."""

import numpy as np
import pytest

from hypercast.host.runtime.passes import Message
from hypercast.host.runtime.reference_device import ReferenceDevice
from hypercast.host.schemes.layer_crossings import crossings
from hypercast.reference.fixed_gnn import FixedGnn
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


def test_passes_of_all_layers():
    model = small_model(hidden=(4, 5))
    runs = range(1, 3), range(3, 4)
    parts = [ReferenceDevice(model, layers=layers) for layers in runs]
    oracle = FixedGnn(model)
    for each in (oracle, *parts):
        each.begin_step()
    expected = oracle.step_sums()
    passes = [part.passes(model.sample, training=True) for part in parts]
    first, second = passes
    first.forward(Message())
    second.forward(first.message(crossings(model.network, runs, forward=True)))
    second.backward(Message())
    first.backward(second.message(crossings(model.network, runs, forward=False)))
    found = {}
    for one in passes:
        found |= one.sums().gradients
    assert found.keys() == expected.gradients.keys()
    for name, values in expected.gradients.items():
        np.testing.assert_array_equal(found[name], values)
    assert {name: entry for one in passes for name, entry in one.opened.items()}.items() \
        <= expected.entries.items()


def test_logits_are_those_of_the_last_evaluation():
    model = small_model(hidden=(4,))
    part, oracle = ReferenceDevice(model, layers=range(1, 3)), FixedGnn(model)
    for _ in range(2):
        part.passes(model.sample, training=False).forward(Message())
        oracle.evaluate()
        np.testing.assert_array_equal(part.logits()[0], oracle.tensors["Z2.eval"])
        oracle.train_step()
        part.train_step()
        part.evaluate()
        oracle.evaluate()
        np.testing.assert_array_equal(part.logits()[0], oracle.tensors["Z2.eval"])


class Told:
    """An observer that keeps what it is told."""

    def __init__(self):
        self.calls = []

    def compute(self, sample, layers, *, forward):
        self.calls.append((sample, layers, forward))


def test_an_observer_is_told_layers_of_a_step_and_bits_stay():
    model, told = small_model(), Told()
    part, plain = ReferenceDevice(model), ReferenceDevice(small_model())
    part.observe(told)
    for device in (part, plain):
        device.begin_step()
        device.update(device.step_sums(model.sample))
        device.evaluate()  # which is no step
    layers = [range(number, number + 1) for number in range(1, len(model.network.layers) + 1)]
    assert told.calls == [*((model.sample, layer, True) for layer in layers),
                          *((model.sample, layer, False) for layer in reversed(layers))]
    for name, values in plain.snapshot().items():
        np.testing.assert_array_equal(part.snapshot()[name], values)


def test_an_observer_is_told_runs_of_layers():
    model, told = small_model(hidden=(4, 5)), Told()
    part = ReferenceDevice(model, layers=range(1, 4))
    part.observe(told)
    part.begin_step()
    for training in (True, False):
        passes = part.passes(model.sample, training=training)
        passes.forward(Message())
        if training:
            passes.backward(Message())
    assert told.calls == [(model.sample, range(1, 4), True), (model.sample, range(1, 4), False)]
