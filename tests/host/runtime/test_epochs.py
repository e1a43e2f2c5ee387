# SPDX-License-Identifier: BSD-2-Clause
"""Epochs: which samples each step has, on which board, and where a training goes on."""

from itertools import chain
from unittest.mock import Mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypercast.host.runtime.epochs import Epochs
from hypercast.reference.tensor import Kind, Pass, Tensor
from hypercast.reference.training_state import TrainingState


class Numbered:
    """Samples that are pairs of epoch and number; keeps which were made."""

    def __init__(self, count):
        self._count = count
        self.first = (0, 0)
        self.made = []

    def __len__(self):
        return self._count

    def epoch(self, number, numbers=None):
        for one in range(self._count) if numbers is None else numbers:
            self.made.append((number, one))
            yield number, one


def state(step):
    return TrainingState(step=step, parameters={}, exponents={}, momentum_exponents={})


@given(st.integers(1, 9), st.integers(1, 5), st.integers(1, 3))
def test_each_sample_of_an_epoch_is_in_one_step(count, micro_batches, epochs):
    found = Epochs(Numbered(count), Mock(), micro_batches)
    assert sum(found.sizes) == count
    assert all(size == micro_batches for size in found.sizes[:-1])
    assert 1 <= found.sizes[-1] <= micro_batches
    for epoch in range(epochs):
        steps = list(found.steps())
        assert [len(step) for step in steps] == found.sizes
        assert [*chain(*steps)] == [(epoch, number) for number in range(count)]


@given(st.integers(1, 9), st.integers(1, 5), st.integers(1, 3))
def test_boards_make_their_own_samples_only(count, micro_batches, boards):
    """Together they have all of each step; a board that has none of a step still takes part."""
    sources = [Numbered(count) for _ in range(boards)]
    steps = [list(Epochs(source, Mock(), micro_batches).steps(
        lambda numbers, rank=rank: numbers[rank::boards])) for rank, source in enumerate(sources)]
    whole = list(Epochs(Numbered(count), Mock(), micro_batches).steps())
    assert [sorted(chain(*parts)) for parts in zip(*steps, strict=True)] == whole
    for source, own in zip(sources, steps, strict=True):
        assert source.made == [*chain(*own)]


def test_samples_are_made_when_their_step_comes():
    source = Numbered(6)
    steps = Epochs(source, Mock(), 2).steps()
    assert source.made == []
    next(steps)
    assert source.made == [(0, 0), (0, 1)]


@given(st.integers(1, 9), st.integers(1, 5), st.integers(0, 4))
def test_steps_of_a_device_are_epochs_outside(count, micro_batches, epoch):
    found = Epochs(Numbered(count), Mock(), micro_batches)
    inside = found.go_on_from(state(epoch))
    assert inside.step == epoch * len(found.sizes)
    assert found.after_epochs(inside).step == epoch
    assert next(found.steps())[0] == (epoch, 0)


def test_the_judge_is_made_once_when_it_is_asked_for():
    judge = Mock()
    make = Mock(return_value=judge)
    found = Epochs(Numbered(3), make)
    list(found.steps())
    assert make.call_count == 0
    assert found.judge(state(1)) is judge.judge.return_value
    found.judge(state(2))
    assert make.call_count == 1
    assert [call.args[0].step for call in judge.judge.call_args_list] == [1, 2]


@pytest.mark.parametrize("layers", [1, 3])
def test_logits_are_of_the_last_judgement(layers):
    name = Tensor(Kind.LOGITS, layers, Pass.EVALUATION)
    judge = Mock(network=Mock(layers=(None,) * layers), tensors={name: "mantissas"},
                 exponents={name: -7})
    assert Epochs(Numbered(1), lambda: judge).logits() == ("mantissas", -7)
