# SPDX-License-Identifier: BSD-2-Clause
"""Trainings in PyTorch, where it is installed; the clock of epochs anywhere."""

import itertools
import sys
import time
from types import SimpleNamespace

import numpy as np
import pytest

from hypercast.benches import gpu_training
from hypercast.benches.gpu_training import FullBatchTraining, installed_ways, time_epochs
from hypercast.benches.power_law_edges import power_law_edges

PROCESSOR = SimpleNamespace(type="cpu")


def train(way, widths, steps=10):
    """Losses of a training, whose weights do not depend on the way."""
    torch = pytest.importorskip("torch")
    training = FullBatchTraining(way, power_law_edges(60, 401), widths, torch.device("cpu"))
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in sorted(training.parameters, key=lambda one: (one.ndim, one.shape)):
            parameter.normal_(std=0.3, generator=generator)
    return [float(training.step()) for _ in range(steps)]


def train_by_hand(widths, steps=10):
    """Losses by dense matrices, differentiated by PyTorch."""
    torch = pytest.importorskip("torch")
    matrix = power_law_edges(60, 401)
    dense = torch.zeros(60, 60)
    dense.index_put_(tuple(torch.from_numpy(np.int64(one)) for one in matrix.tocoo().coords),
                     torch.from_numpy(matrix.data), accumulate=True)
    draws = torch.Generator().manual_seed(0)
    features = torch.randn(60, widths[0], generator=draws)
    labels = torch.randint(widths[-1], (60,), generator=draws)
    shapes = [shape for pair in itertools.pairwise(widths)
              for shape in ((pair[1], pair[0]), (pair[1],))]
    parameters = [torch.empty(shape, requires_grad=True) for shape in shapes]
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in sorted(parameters, key=lambda one: (one.ndim, one.shape)):
            parameter.normal_(std=0.3, generator=generator)
    optimiser, losses = torch.optim.Adam(parameters, lr=0.01), []
    for _ in range(steps):
        rows = features
        for number in range(0, len(parameters), 2):
            rows = rows.relu() if number else rows
            rows = dense @ rows @ parameters[number].T + parameters[number + 1]
        loss = torch.nn.functional.cross_entropy(rows, labels)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(float(loss.detach()))
    return losses


@pytest.mark.parametrize("widths", [(12, 8, 5), (5, 16, 4), (6, 9, 7, 3)])
@pytest.mark.filterwarnings("ignore:Sparse")  # it is in beta
def test_every_way_trains_the_same(widths):
    pytest.importorskip("torch").set_num_threads(1)
    expected = train_by_hand(widths)
    assert expected[-1] < 0.99 * expected[0]
    for way in installed_ways():
        np.testing.assert_allclose(train(way, widths), expected, rtol=1e-4, err_msg=way)


def test_torch_alone_is_a_way(monkeypatch):
    monkeypatch.setattr(gpu_training.importlib.util, "find_spec", lambda name: None)
    assert installed_ways() == ["torch.sparse"]
    monkeypatch.setattr(gpu_training.importlib.util, "find_spec", lambda name: name)
    assert len(installed_ways()) == 3 and installed_ways()[-1] == "torch.sparse"


def test_epochs_are_timed_after_warming_up():
    calls = []

    def step():
        calls.append(0)
        time.sleep(0.02 if len(calls) <= 5 else 0.002)

    found = time_epochs(step, PROCESSOR, epochs=3, seconds=0)
    assert len(calls) == 8 and len(found.seconds) == 3 and found.watts == []
    assert 0.002 <= min(found.seconds) < 0.02
    assert time_epochs(step, PROCESSOR, epochs=2, seconds=0.02).seconds[-1] > 0
    assert len(calls) % 2 == 1 and len(calls) >= 8 + 5 + 2
    assert 0.02 <= sum(time_epochs(step, PROCESSOR, epochs=2, seconds=0.02).seconds) < 1


def test_power_is_read_while_epochs_are_timed(monkeypatch):
    monkeypatch.setattr(gpu_training, "_SETTLING", 0.05)
    monkeypatch.setattr(gpu_training, "_INTERVAL", 0.01)
    values = iter([None, 300.0, 310.0, None, 320.0, *[330.0] * 1_000])
    found = time_epochs(lambda: time.sleep(0.001), PROCESSOR, epochs=2, seconds=0.5,
                        read_watts=lambda: next(values))
    assert found.watts[:4] == [300, 310, 320, 330]
    left = len(list(values))
    time.sleep(0.05)
    assert left > 900  # none is read later
    # What takes less time than the driver needs has no power.
    assert time_epochs(lambda: None, PROCESSOR, epochs=2, seconds=0,
                       read_watts=lambda: 1.0).watts == []


def test_a_step_that_fails_ends_the_reading(monkeypatch):
    monkeypatch.setattr(gpu_training, "_SETTLING", 0.0)
    monkeypatch.setattr(gpu_training, "_INTERVAL", 0.01)
    reads, steps = [], iter(range(8))
    with pytest.raises(StopIteration):
        time_epochs(lambda: next(steps), PROCESSOR, epochs=2, seconds=9,
                    read_watts=lambda: reads.append(0))
    count = len(reads)
    time.sleep(0.05)
    assert len(reads) == count


def test_a_device_with_a_clock_of_its_own_is_asked_once_it_is_done(monkeypatch):
    clock = SimpleNamespace(queued=0.0, done=0.0)

    class Event:
        """The time at which the device comes by, which is known when it has."""

        def __init__(self, *, enable_timing):
            assert enable_timing

        def record(self):
            self.at = clock.queued

        def elapsed_time(self, end):
            assert end.at <= clock.done
            return end.at - self.at

    def synchronize(device):
        clock.done = clock.queued

    def step():
        clock.queued += 250  # milliseconds, and the host goes on at once

    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(
        cuda=SimpleNamespace(Event=Event, synchronize=synchronize)))
    found = time_epochs(step, SimpleNamespace(type="cuda"), epochs=4, seconds=2.5)
    assert found.seconds == [0.25] * 12
    assert clock.queued == 250 * (5 + 12)
