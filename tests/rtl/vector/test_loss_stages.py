"""Tests of LOSS's stages one by one, with random idles and back-pressure on every stream."""

import numpy as np
import pytest

from hypercast.reference import arithmetic
from hypercast.rtl.config import PRESETS
from hypercast.rtl.isa import Split
from hypercast.rtl.vector.exponentials import Exponentials
from hypercast.rtl.vector.loss_gradient import LossGradient
from hypercast.rtl.vector.maximum import Maximum
from hypercast.rtl.vector.normalizer import Normalizer
from tests.bench import get, put, run
from tests.rtl.vector.vector_bench import pack, unpack

_CONFIG = PRESETS["test"]
_ROWS, _PANELS = 30, 3
_CLASSES = _PANELS * _CONFIG.lanes - 2
_AUX_SHIFT, _SHIFT = 22, 18


class _Rows:
    """Random rows, and what every stage makes of them, from the reference's formulas."""

    def __init__(self, seed):
        rng = self.rng = np.random.default_rng(seed)
        self.logits = rng.integers(-1 << 15, 1 << 15, size=(_ROWS, _PANELS * _CONFIG.lanes))
        self.logits[::4] //= 4096  # ties
        counted = self.logits[:, :_CLASSES]
        self.labels = rng.integers(_CLASSES, size=_ROWS)
        self.splits = rng.integers(4, size=_ROWS)
        self.used = self.splits != Split.NONE
        self.trained = self.splits == Split.TRAIN
        self.result = arithmetic.softmax_gradient(counted, self.labels, _AUX_SHIFT)
        self.maximum = counted.max(axis=1)
        self.hits = self.result.predicted == self.labels
        bits = ((self.maximum[:, None] - counted) * arithmetic.LOG2_E << 8) >> _AUX_SHIFT
        table = np.array(arithmetic.EXP_TABLE)
        index, rest = (bits >> 6) & 63, bits & 63
        powers = (table[index] - (((table[index] - table[index + 1]) * rest) >> 6)
                  ) >> np.minimum(bits >> 12, 31)
        self.powers = np.zeros_like(self.logits)
        self.powers[:, :_CLASSES] = powers
        self.total = powers.sum(axis=1)
        self.own = bits[np.arange(_ROWS), self.labels]
        self.n = np.array([int(total).bit_length() - 17 for total in self.total])
        self.reciprocal = (1 << (33 + self.n)) // self.total

    def words(self, matrix, width, chosen):
        """Packed panels of the chosen rows."""
        return [pack(panel, width) for row in matrix[chosen]
                for panel in row.reshape(_PANELS, _CONFIG.lanes)]


def _configure(ctx, dut, **values):
    for name, value in {"panels": _PANELS, "classes": _CLASSES, "train": 1, **values}.items():
        if hasattr(dut, name):
            ctx.set(getattr(dut, name), value)


_everything = np.ones(_ROWS, dtype=bool)
_pressure = pytest.mark.parametrize("idle, stall", [(0.0, 0.0), (0.4, 0.1), (0.1, 0.6)])


@_pressure
def test_maximum(idle, stall):
    rows = _Rows(1)
    dut = Maximum(_CONFIG)
    records = [label | split << 13 for label, split in zip(rows.labels, rows.splits, strict=True)]

    async def configure(ctx):
        _configure(ctx, dut)

    async def logits(ctx):
        expected = rows.words(rows.logits, 16, rows.used)
        assert await get(ctx, dut.logits, len(expected), rows.rng, stall) == expected

    async def results(ctx):
        got = await get(ctx, dut.o, _ROWS, rows.rng, stall)
        assert [row.label for row in got] == rows.labels.tolist()
        assert [row.split for row in got] == rows.splits.tolist()
        for row, used, maximum, hit in zip(got, rows.used, rows.maximum, rows.hits, strict=True):
            assert not used or (row.maximum, row.hit) == (maximum, hit)

    run(dut, configure, logits, results,
        lambda ctx: put(ctx, dut.words, rows.words(rows.logits, 16, _everything), rows.rng, idle),
        lambda ctx: put(ctx, dut.labels, records, rows.rng, idle), cycles=5000)


@_pressure
@pytest.mark.parametrize("train", [0, 1])
def test_exponentials(idle, stall, train):
    rows = _Rows(2)
    dut = Exponentials(_CONFIG)
    inputs = [{"label": int(label), "split": int(split), "maximum": int(maximum), "hit": int(hit)}
              for label, split, maximum, hit in zip(
                  rows.labels, rows.splits, rows.maximum, rows.hits, strict=True)]

    async def configure(ctx):
        _configure(ctx, dut, shift=_AUX_SHIFT, train=train)

    async def powers(ctx):
        expected = rows.words(rows.powers, 17, rows.trained & bool(train))
        got = await get(ctx, dut.powers, len(expected), rows.rng, stall)
        assert [pack(word, 17) for word in got] == expected

    async def results(ctx):
        got = await get(ctx, dut.o, _ROWS, rows.rng, stall)
        for index, row in enumerate(got):
            assert (row.label, row.split) == (rows.labels[index], rows.splits[index])
            assert not rows.used[index] or (row.hit, row.total, row.own) == (
                rows.hits[index], rows.total[index], rows.own[index])

    run(dut, configure, powers, results,
        lambda ctx: put(ctx, dut.i, inputs, rows.rng, idle),
        lambda ctx: put(ctx, dut.logits, rows.words(rows.logits, 16, rows.used), rows.rng, idle),
        cycles=5000)


@_pressure
def test_normalizer(idle, stall):
    rows = _Rows(3)
    dut = Normalizer(_CONFIG)
    inputs = [{"label": int(rows.labels[i]), "split": int(rows.splits[i]),
               "hit": int(rows.hits[i]), "total": int(rows.total[i]), "own": int(rows.own[i])}
              for i in range(_ROWS)]
    losses = []

    async def configure(ctx):
        _configure(ctx, dut)

    async def watch(ctx):
        while True:
            _, _, valid, *loss = await ctx.tick().sample(
                dut.loss_valid, dut.loss, dut.split, dut.hit)
            if valid:
                losses.append(tuple(loss))

    async def results(ctx):
        got = await get(ctx, dut.o, _ROWS, rows.rng, stall)
        for index, row in enumerate(got):
            assert row.trained == rows.trained[index]
            assert not row.trained or (row.label, row.n, row.reciprocal) == (
                rows.labels[index], rows.n[index], rows.reciprocal[index])
        await ctx.tick()
        assert losses == [(rows.result.loss[i], rows.splits[i], rows.hits[i])
                          for i in np.flatnonzero(rows.used)]

    run(dut, configure, results, lambda ctx: put(ctx, dut.i, inputs, rows.rng, idle),
        background=[watch], cycles=5000)


@_pressure
def test_gradient(idle, stall):
    rows = _Rows(4)
    dut = LossGradient(_CONFIG)
    inputs = [{"label": int(rows.labels[i]), "trained": int(rows.trained[i]), "n": int(rows.n[i]),
               "reciprocal": int(rows.reciprocal[i])} for i in range(_ROWS)]
    gradient = np.zeros_like(rows.logits)
    gradient[:, :_CLASSES] = np.where(rows.trained[:, None], rows.result.gradient, 0)
    expected, saturated = arithmetic.requantize(gradient, _SHIFT, 16)
    seen = {"magnitude": 0, "saturations": 0}

    async def configure(ctx):
        _configure(ctx, dut, shift=_SHIFT)

    async def watch(ctx):
        while True:
            _, _, magnitude, saturations = await ctx.tick().sample(dut.magnitude, dut.saturations)
            seen["magnitude"] |= magnitude
            seen["saturations"] += saturations

    async def results(ctx):
        got = await get(ctx, dut.o, _ROWS * _PANELS, rows.rng, stall)
        lanes = _CONFIG.lanes
        assert [unpack(word, 16, lanes) for word in got] == expected.reshape(-1, lanes).tolist()
        assert seen == {"magnitude": arithmetic.magnitude(gradient), "saturations": saturated}

    run(dut, configure, results, lambda ctx: put(ctx, dut.i, inputs, rows.rng, idle),
        lambda ctx: put(ctx, dut.powers, rows.words(rows.powers, 17, rows.trained), rows.rng,
                        idle),
        background=[watch], cycles=5000)
