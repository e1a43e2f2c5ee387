"""Tests of LOSS's stages one by one, with random idles and back-pressure on every stream.

Rows are of one class (softmax) or of several labels (sigmoids), and have loss weights.
"""

import numpy as np
import pytest

from hypercast.reference import arithmetic
from hypercast.rtl.config import PRESETS
from hypercast.rtl.isa import Split
from hypercast.rtl.limits import group_size
from hypercast.rtl.vector.exponentials import Exponentials
from hypercast.rtl.vector.loss_gradient import LossGradient
from hypercast.rtl.vector.maximum import Maximum
from hypercast.rtl.vector.normalizer import Normalizer
from tests.bench import get, put, run
from tests.rtl.vector.vector_bench import pack

_CONFIG = PRESETS["test"].replace(lanes=8)
_ROWS, _GROUPS = 30, 3
_LANES = group_size(_CONFIG)
_CLASSES = _GROUPS * _LANES - 2
_AUX_SHIFT, _SHIFT = 22, 18


class _Rows:
    """Random rows, and what every stage makes of them, from the reference's formulas."""

    def __init__(self, seed, sigmoid=False):
        rng = self.rng = np.random.default_rng(seed)
        self.logits = rng.integers(-1 << 15, 1 << 15, size=(_ROWS, _GROUPS * _LANES))
        self.logits[::4] //= 4096  # ties
        counted = self.logits[:, :_CLASSES]
        self.labels = rng.integers(_CLASSES, size=_ROWS)
        self.splits = rng.integers(4, size=_ROWS)
        self.used = self.splits != Split.NONE
        self.trained = self.splits == Split.TRAIN
        self.weights = rng.integers(1 << 16, size=_ROWS)
        self.label_bits = np.zeros(self.logits.shape, dtype=bool)
        if sigmoid:
            self.label_bits = rng.integers(2, size=self.logits.shape) > 0  # any beyond the classes
        targets = self.label_bits[:, :_CLASSES]
        self.result = arithmetic.sigmoid_gradient(
            counted, targets, _AUX_SHIFT, self.weights) if sigmoid else arithmetic.softmax_gradient(
            counted, self.labels, _AUX_SHIFT, self.weights)
        self.maximum = counted.max(axis=1)
        self.hits = counted.argmax(axis=1) == self.labels
        self.correct, self.wrong = self.hits.astype(int), np.zeros(_ROWS, dtype=int)
        self.subtracted = np.zeros(self.logits.shape, dtype=bool)
        self.subtracted[np.arange(_ROWS), self.labels] = True
        self.negative = np.zeros(self.logits.shape, dtype=bool)
        distances = self.maximum[:, None] - counted
        if sigmoid:
            distances = abs(counted)
            self.negative = self.logits > 0
            self.subtracted[:, :_CLASSES] = (counted > 0) != targets
            self.subtracted[:, _CLASSES:] = False
            self.correct = np.sum((counted > 0) & targets, axis=1)
            self.wrong = self.subtracted.sum(axis=1)
        bits = (distances * arithmetic.LOG2_E << 8) >> _AUX_SHIFT
        table = np.array(arithmetic.EXP_TABLE)
        index, rest = (bits >> 6) & 63, bits & 63
        powers = (table[index] - (((table[index] - table[index + 1]) * rest) >> 6)
                  ) >> np.minimum(bits >> 12, 31)
        self.powers = np.zeros_like(self.logits)
        self.powers[:, :_CLASSES] = powers
        if sigmoid:
            self.total = (self.result_of_ones(counted, targets).loss
                          - (bits * self.subtracted[:, :_CLASSES]).sum(axis=1))
            self.n = self.reciprocal = np.zeros(_ROWS, dtype=int)
        else:
            self.total = powers.sum(axis=1)
            self.n = np.array([int(total).bit_length() - 17 for total in self.total])
            self.reciprocal = (self.weights << (18 + self.n)) // self.total
        self.own = (bits * self.subtracted[:, :_CLASSES]).sum(axis=1)

    @staticmethod
    def result_of_ones(counted, targets):
        """What the reference makes of several labels if all weights are one."""
        return arithmetic.sigmoid_gradient(counted, targets, _AUX_SHIFT)

    def entries(self, chosen):
        """Packed groups of exponentials of the chosen rows."""
        entries = self.powers | self.subtracted * 1 << 17 | self.negative * 1 << 18
        return self.words(entries, 19, chosen)

    def labelled_logits(self, chosen):
        """Packed groups of logits and label bits of the chosen rows."""
        return [logits | bits << 16 * _LANES for logits, bits in zip(
            self.words(self.logits, 16, chosen), self.words(self.label_bits, 1, chosen),
            strict=True)]

    def words(self, matrix, width, chosen):
        """Packed groups of the chosen rows."""
        return [pack(group, width) for row in matrix[chosen]
                for group in row.reshape(_GROUPS, _LANES)]


def _configure(ctx, dut, **values):
    for name, value in {"groups": _GROUPS, "classes": _CLASSES, "train": 1, **values}.items():
        if hasattr(dut, name):
            ctx.set(getattr(dut, name), value)


_everything = np.ones(_ROWS, dtype=bool)
_pressure = pytest.mark.parametrize("idle, stall", [(0.0, 0.0), (0.4, 0.1), (0.1, 0.6)])


_either = pytest.mark.parametrize("sigmoid", [False, True], ids=["softmax", "sigmoid"])


@_pressure
@_either
def test_maximum(idle, stall, sigmoid):
    rows = _Rows(1, sigmoid)
    dut = Maximum(_CONFIG)
    labels = [{"label": int(label), "split": int(split), "weight": int(weight)}
              for label, split, weight in zip(rows.labels, rows.splits, rows.weights, strict=True)]

    async def configure(ctx):
        _configure(ctx, dut)

    async def logits(ctx):
        expected = rows.labelled_logits(rows.used)
        got = await get(ctx, dut.logits, len(expected), rows.rng, stall)
        assert [group.as_bits() for group in got] == expected

    async def results(ctx):
        got = await get(ctx, dut.o, _ROWS, rows.rng, stall)
        for index, row in enumerate(got):
            assert (row.label, row.split, row.weight) == (
                rows.labels[index], rows.splits[index], rows.weights[index])
            assert not rows.used[index] or (row.maximum, row.hit) == (
                rows.maximum[index], rows.hits[index])

    run(dut, configure, logits, results,
        lambda ctx: put(ctx, dut.i, rows.labelled_logits(_everything), rows.rng, idle),
        lambda ctx: put(ctx, dut.labels, labels, rows.rng, idle), cycles=5000)


@_pressure
@_either
@pytest.mark.parametrize("train", [0, 1])
def test_exponentials(idle, stall, train, sigmoid):
    rows = _Rows(2, sigmoid)
    dut = Exponentials(_CONFIG)
    inputs = [{"label": int(rows.labels[i]), "split": int(rows.splits[i]),
               "weight": int(rows.weights[i]), "maximum": int(rows.maximum[i]),
               "hit": int(rows.hits[i])} for i in range(_ROWS)]

    async def configure(ctx):
        _configure(ctx, dut, shift=_AUX_SHIFT, train=train, sigmoid=sigmoid)

    async def powers(ctx):
        expected = rows.entries(rows.trained & bool(train))
        got = await get(ctx, dut.powers, len(expected), rows.rng, stall)
        assert [word.as_bits() for word in got] == expected

    async def results(ctx):
        got = await get(ctx, dut.o, _ROWS, rows.rng, stall)
        for index, row in enumerate(got):
            assert (row.split, row.weight) == (rows.splits[index], rows.weights[index])
            assert not rows.used[index] or (row.correct, row.wrong, row.total, row.own) == (
                rows.correct[index], rows.wrong[index], rows.total[index], rows.own[index])

    run(dut, configure, powers, results,
        lambda ctx: put(ctx, dut.i, inputs, rows.rng, idle),
        lambda ctx: put(ctx, dut.logits, rows.labelled_logits(rows.used), rows.rng, idle),
        cycles=5000)


@_pressure
@_either
def test_normalizer(idle, stall, sigmoid):
    rows = _Rows(3, sigmoid)
    dut = Normalizer(_CONFIG)
    inputs = [{"split": int(rows.splits[i]), "weight": int(rows.weights[i]),
               "correct": int(rows.correct[i]), "wrong": int(rows.wrong[i]),
               "total": int(rows.total[i]), "own": int(rows.own[i])} for i in range(_ROWS)]
    losses = []

    async def configure(ctx):
        _configure(ctx, dut, sigmoid=sigmoid)

    async def watch(ctx):
        while True:
            _, _, valid, *loss = await ctx.tick().sample(
                dut.loss_valid, dut.loss, dut.split, dut.correct, dut.wrong)
            if valid:
                losses.append(tuple(loss))

    async def results(ctx):
        got = await get(ctx, dut.o, _ROWS, rows.rng, stall)
        for index, row in enumerate(got):
            assert row.trained == rows.trained[index]
            assert not row.trained or (row.weight, row.n) == (rows.weights[index], rows.n[index])
            assert sigmoid or not row.trained or row.reciprocal == rows.reciprocal[index]
        await ctx.tick()
        assert losses == [(rows.result.loss[i], rows.splits[i], rows.correct[i], rows.wrong[i])
                          for i in np.flatnonzero(rows.used)]

    run(dut, configure, results, lambda ctx: put(ctx, dut.i, inputs, rows.rng, idle),
        background=[watch], cycles=5000)


@_pressure
@_either
def test_gradient(idle, stall, sigmoid):
    rows = _Rows(4, sigmoid)
    dut = LossGradient(_CONFIG)
    inputs = [{"trained": int(rows.trained[i]), "n": int(rows.n[i]),
               "weight": int(rows.weights[i]), "reciprocal": int(rows.reciprocal[i])}
              for i in range(_ROWS)]
    gradient = np.zeros_like(rows.logits)
    gradient[:, :_CLASSES] = np.where(rows.trained[:, None], rows.result.gradient, 0)
    expected, saturated = arithmetic.requantize(gradient, _SHIFT, 16)
    seen = {"magnitude": 0, "saturations": 0}

    async def configure(ctx):
        _configure(ctx, dut, shift=_SHIFT, sigmoid=sigmoid)

    async def watch(ctx):
        while True:
            _, _, magnitude, saturations = await ctx.tick().sample(dut.magnitude, dut.saturations)
            seen["magnitude"] |= magnitude
            seen["saturations"] += saturations

    async def results(ctx):
        got = await get(ctx, dut.o, _ROWS * _GROUPS, rows.rng, stall)
        assert [list(group) for group in got] == expected.reshape(-1, _LANES).tolist()
        assert seen == {"magnitude": arithmetic.magnitude(gradient), "saturations": saturated}

    run(dut, configure, results, lambda ctx: put(ctx, dut.i, inputs, rows.rng, idle),
        lambda ctx: put(ctx, dut.powers, rows.entries(rows.trained), rows.rng, idle),
        background=[watch], cycles=5000)
