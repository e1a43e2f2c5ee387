# SPDX-License-Identifier: BSD-2-Clause
"""The oracle of one of several boards tells its group of each pass in training."""

import numpy as np

from hypercast.host.schemes.paced_gnn import PacedGnn
from hypercast.reference.fixed_gnn import FixedGnn
from tests.host.models import small_model


class Told:
    """A group that keeps what it is told."""

    def __init__(self):
        self.calls = []

    def begin_step(self):
        self.calls.append("begin")

    def end_step(self):
        self.calls.append("end")

    def compute(self, sample, layers, *, forward):
        self.calls.append((sample, layers, forward))


def test_steps_and_layers_are_told_and_bits_stay():
    model, group = small_model(), Told()
    paced, plain = PacedGnn(model, group), FixedGnn(small_model())
    for gnn in (paced, plain):
        gnn.train_step()
        gnn.evaluate()  # which is no step
    layers = range(1, len(model.network.layers) + 1)
    assert group.calls == [
        "begin", *((model.sample, range(number, number + 1), True) for number in layers),
        *((model.sample, range(number, number + 1), False) for number in reversed(layers)), "end"]
    for name, tensor in plain.tensors.items():
        assert np.array_equal(_dense(paced.tensors[name]), _dense(tensor)), name


def _dense(values):
    return values.toarray() if hasattr(values, "toarray") else values
