# SPDX-License-Identifier: BSD-2-Clause
"""Tests of LOSS, through the vector unit, against the reference's ``softmax_gradient`` and
``sigmoid_gradient``."""

import numpy as np
import pytest

from hypercast.reference import arithmetic
from hypercast.rtl.config import PRESETS
from hypercast.rtl.isa import LOSS_WEIGHT_ONE, Opcode, Split
from hypercast.rtl.limits import group_size
from hypercast.rtl.vector.loss import Loss
from tests.rtl.flips import check_tables, parity_memories  # noqa: F401
from tests.rtl.vector.vector_bench import VectorBench, pack, pack_list, sweep, unpack

_LOGITS = 5
_CONFIGS = {
    "2x16": PRESETS["tiny"].replace(channel_words=32768),
    "2x8": PRESETS["tiny"].replace(element_width=8, channel_words=32768),
    "4x16": PRESETS["test"],
    "8x8": PRESETS["test"].replace(lanes=8, element_width=8),
    "16x16": PRESETS["test"].replace(lanes=16),
}


class _LossBench(VectorBench):
    """Sets up LOSS instructions, runs them and checks everything they do."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self._losses = np.zeros(3, dtype=np.int64)
        self._hits = np.zeros(3, dtype=np.int64)
        self._misses = np.zeros(3, dtype=np.int64)
        self._saturations = 0

    def _store(self, channel, address, stride, logits):
        config = self.config
        rows, columns = logits.shape
        for panel in range(columns // config.lanes):
            part = logits[:, panel * config.lanes:(panel + 1) * config.lanes]
            start = address + panel * stride
            self.channels[channel][start:start + rows] = [
                pack(row, config.element_width) for row in part]

    def _load(self, address, stride, rows, panels):
        config = self.config
        words = [[self.channels[1][address + panel * stride + row] for panel in range(panels)]
                 for row in range(rows)]
        return np.array([
            [unpack(word, config.element_width, config.lanes) for word in row] for row in words],
            dtype=np.int64).reshape(rows, panels * config.lanes)

    def _label_list(self, labels, splits, weights, panels):
        """Words of the label list: blocks of records, weights if any, and bits if several."""
        config = self.config
        several = np.ndim(labels) == 2
        words = []
        for first in range(0, len(splits), config.info_rows):
            rows = slice(first, first + config.info_rows)
            classes = [0] * len(splits[rows]) if several else labels[rows]
            records = [label | split << 13
                       for label, split in zip(classes, splits[rows], strict=True)]
            words += pack_list(records, 16, config.word_width)
            if weights is not None:
                words += pack_list(weights[rows], 16, config.word_width)
            if several:
                bits = [pack(part, 1) for row in labels[rows] for part in np.split(row, panels)]
                found = pack_list(bits, 16, config.word_width)
                # The rest of the last block is never looked at.
                words += found + [-1] * (panels - len(found))
        return [word % (1 << config.word_width) for word in words]

    async def check(self, ctx, logits, labels, splits, *, aux_shift, shift, train=1, channel=0,
                    slack=0, weights=None):
        """Run LOSS on (rows, classes) ``logits``; returns the cycles it took.

        It is that of sigmoids if ``labels`` has a row of booleans per vertex.
        """
        config = self.config
        rows, classes = logits.shape
        panels = -(-classes // config.lanes)
        stride = rows + slack
        # Lanes beyond the classes hold anything.
        padded = self.rng.integers(-1 << config.element_width - 1, 1 << config.element_width - 1,
                                   size=(rows, panels * config.lanes))
        padded[:, :classes] = logits
        self._store(channel, _LOGITS, stride, padded)
        info = config.channel_words // 2
        several = np.ndim(labels) == 2
        if several:
            padded_labels = self.rng.integers(2, size=padded.shape)
            padded_labels[:, :classes] = labels
        packed = self._label_list(
            padded_labels if several else labels, splits, weights, panels)
        self.channels[1][info:info + len(packed)] = packed
        destination = info + len(packed)
        self.channels[1][destination:destination + panels * stride] = -1

        written = self.counters["words"]
        cycles, peak = await self.execute(
            ctx, Opcode.LOSS, local_rows=rows, shift=shift, aux_shift=aux_shift, channel=channel,
            address=_LOGITS, stride=stride, panels=panels, classes=classes, info=info,
            destination=destination, train=train, sigmoid=several, weighted=weights is not None)

        used = np.array(splits) != Split.NONE
        trained = np.array(splits) == Split.TRAIN
        expected = np.zeros((rows, panels * config.lanes), dtype=np.int64)
        expected_peak = 0
        if used.any():
            factors = LOSS_WEIGHT_ONE if weights is None else weights
            if several:
                row = arithmetic.sigmoid_gradient(logits, labels, aux_shift, factors)
                hits = np.sum(row.predicted & labels, axis=1)
                misses = np.sum(row.predicted != labels, axis=1)
            else:
                row = arithmetic.softmax_gradient(
                    logits, np.where(used, labels, 0), aux_shift, factors)
                hits, misses = row.predicted == labels, np.zeros(rows, dtype=int)
            for split in (Split.TRAIN, Split.VALIDATION, Split.TEST):
                chosen = np.array(splits) == split
                self._losses[split - 1] += row.loss[chosen].sum()
                self._hits[split - 1] += hits[chosen].sum()
                self._misses[split - 1] += misses[chosen].sum()
            if train:
                expected[trained, :classes], saturated = arithmetic.requantize(
                    row.gradient[trained], shift, config.element_width)
                expected_peak = arithmetic.bit_length(row.gradient[trained])
                self._saturations += saturated
        assert peak == expected_peak
        assert self.counters["saturations"] == self._saturations
        assert [ctx.get(port) for port in self.dut.losses] == self._losses.tolist()
        assert [ctx.get(port) for port in self.dut.hits] == self._hits.tolist()
        assert [ctx.get(port) for port in self.dut.misses] == self._misses.tolist()
        if train:
            np.testing.assert_array_equal(
                self._load(destination, stride, rows, panels), expected)
            assert self.counters["words"] - written == rows * panels
        else:
            assert self.counters["words"] == written
            assert (self.channels[1][destination:destination + panels * stride] == -1).all()
        return cycles

    def random_rows(self, rows, classes, spread, *, several=False):
        """Logits with ties, labels (in range where used) and splits."""
        width = min(spread, self.config.element_width)
        logits = self.rng.integers(-1 << width - 1, 1 << width - 1, size=(rows, classes))
        splits = self.rng.integers(4, size=rows)
        labels = self.rng.integers(classes, size=rows)
        labels[splits == Split.NONE] = 0x1FFF
        if several:
            labels = self.rng.random((rows, classes)) < 0.3
        return logits, labels, splits

    def random_weights(self, rows):
        """Loss weights, the extremes among them; or none."""
        weights = self.rng.integers(1 << 16, size=rows)
        weights[:2] = [0, (1 << 16) - 1][:rows]
        return self.rng.permutation(weights) if self.rng.integers(2) else None


@pytest.mark.parametrize("name, stall, latency, several", [
    *(pytest.param(name, 0.3, 20, number % 2 > 0, marks=sweep(name))
      for number, name in enumerate(_CONFIGS)),
    ("2x8", 0.0, 1, False), ("16x16", 0.0, 1, True)])
def test_random_instructions_back_to_back(name, stall, latency, several):
    config = _CONFIGS[name]
    bench = _LossBench(config, seed=latency, latency=latency, stall=stall)
    rng = bench.rng

    async def testbench(ctx):
        for rows, panels in ((0, 1), (20, 1), (11, 2), (1, 1), (7, 5), (13, 1)):
            classes = panels * config.lanes - int(rng.integers(config.lanes))
            # The other kind now and then, so that nothing of one is left for the other.
            rows_of_logits = bench.random_rows(
                rows, classes, int(rng.integers(2, 17)), several=several ^ (rows == 11))
            await bench.check(
                ctx, *rows_of_logits, aux_shift=int(rng.choice([0, 7, 14, 20, 24, 35, 63])),
                shift=int(rng.choice([0, 10, 18, 20, 33, 63])), train=int(rng.integers(4) > 0),
                channel=int(rng.integers(2)), slack=int(rng.integers(4)),
                weights=bench.random_weights(rows))

    bench.run(testbench)


@pytest.mark.parametrize("lanes, classes, several", [
    (2, 512, False), *(pytest.param(*case, marks=pytest.mark.slow) for case in (
        (2, 512, True), (16, 500, False), (16, 500, True)))])
def test_most_classes(lanes, classes, several):
    config = _CONFIGS["2x16"].replace(lanes=lanes)
    bench = _LossBench(config)

    async def testbench(ctx):
        logits, labels, _ = bench.random_rows(3, classes, 16, several=several)
        logits[1] = 5  # all equal: the largest sum of exponentials
        await bench.check(ctx, logits, labels if several else labels % classes,
                          [Split.TRAIN] * 3, aux_shift=18, shift=9)
        if several:  # as many right answers as there can be
            await bench.check(ctx, np.full((1, classes), 5), np.ones((1, classes), dtype=bool),
                              [Split.TRAIN], aux_shift=0, shift=9)
        # The largest loss there can be.
        logits = np.full((1, classes), -1 << 15)
        if not several:
            logits[0, 0] = (1 << 15) - 1
        labels = np.ones((1, classes), dtype=bool) if several else [classes - 1]
        await bench.check(ctx, logits, labels, [Split.TEST], aux_shift=0, shift=9,
                          weights=[(1 << 16) - 1])

    bench.run(testbench)


@pytest.mark.parametrize("name", ["4x16", "2x8"])
def test_extremes(name):
    config = _CONFIGS[name]
    bench = _LossBench(config)
    low, high = -(1 << config.element_width - 1), (1 << config.element_width - 1) - 1
    classes = 2 * config.lanes - 1

    async def testbench(ctx):
        logits = np.full((6, classes), low)
        logits[0, -1] = high  # certain, and right
        logits[1, 0] = high  # certain, and wrong
        logits[2, 1:] = high  # ties: the first of them counts
        logits[3] = 0
        logits[5] = high
        labels = np.array([classes - 1, classes - 1, 1, 0, classes - 1, 2])
        splits = [Split.TRAIN, Split.TRAIN, Split.VALIDATION, Split.TRAIN, Split.TEST, Split.TRAIN]
        for aux_shift in (0, 13, 63):
            await bench.check(ctx, logits, labels, splits, aux_shift=aux_shift, shift=3)

    bench.run(testbench)


@pytest.mark.parametrize("name", ["4x16", "2x8"])
def test_extremes_of_sigmoids(name):
    config = _CONFIGS[name]
    bench = _LossBench(config)
    low, high = -(1 << config.element_width - 1), (1 << config.element_width - 1) - 1
    values = [low, low + 1, -1, 0, 1, high]

    async def testbench(ctx):
        logits = np.array([values, values[::-1], values, values])
        labels = np.array([[0] * 6, [1] * 6, [0, 1] * 3, [1, 0] * 3], dtype=bool)
        splits = [Split.TRAIN, Split.TRAIN, Split.TEST, Split.TRAIN]
        for aux_shift in (0, 13, 18, 63):
            for weights in (None, [1, 0, 1 << 15, (1 << 16) - 1]):
                await bench.check(ctx, logits, labels, splits, aux_shift=aux_shift, shift=3,
                                  weights=weights)

    bench.run(testbench)


def test_clear():
    bench = _LossBench(_CONFIGS["4x16"])

    async def testbench(ctx):
        await bench.check(ctx, *bench.random_rows(20, 4, 10), aux_shift=20, shift=20)
        await bench.check(ctx, *bench.random_rows(20, 4, 10, several=True), aux_shift=20, shift=20)
        ctx.set(bench.dut.clear, 1)
        await ctx.tick()
        ctx.set(bench.dut.clear, 0)
        assert not any(ctx.get(port) for port in (
            *bench.dut.losses, *bench.dut.hits, *bench.dut.misses))

    bench.run(testbench)


@pytest.mark.grid
@pytest.mark.parametrize("name, read_buffer, latency", [
    pytest.param("16x16", 128, 64, marks=pytest.mark.slow), ("4x16", 32, 1)])
@pytest.mark.parametrize("panels", [1, 3])
@pytest.mark.parametrize("several, weighted", [(False, False), (True, False), (True, True)])
def test_takes_a_group_per_cycle(name, read_buffer, latency, panels, several, weighted):
    config = _CONFIGS[name].replace(read_buffer=read_buffer)
    bench = _LossBench(config, latency=latency)
    rows = 40

    async def testbench(ctx):
        logits, labels, mixed = bench.random_rows(
            rows, panels * config.lanes, 10, several=several)
        weights = bench.rng.integers(1 << 16, size=rows) if weighted else None
        for splits in ([Split.TRAIN] * rows, [Split.NONE] * rows, mixed):
            cycles = await bench.check(
                ctx, logits, labels if several else labels % logits.shape[1], splits,
                aux_shift=20, shift=20, weights=weights)
            # A round trip to read, another to write, the first block, a row in two stages, and
            # their pipelines.
            groups = panels * config.lanes // group_size(config)
            assert cycles <= rows * groups + 2 * (latency + groups) + 16 * panels + 50

    bench.run(testbench)


@pytest.mark.parametrize(("logits", "labels", "least", "most"), [
    (1, 1, 0, 40), (60, 60, 50, 250), (60, 1, 50, 250), (1, 60, 50, 250)])
def test_waiting_for_memory_is_counted(logits, labels, least, most):
    bench = VectorBench(PRESETS["test"], latency=logits, secondary_latency=labels)

    async def testbench(ctx):
        await bench.execute(ctx, Opcode.LOSS, local_rows=3, panels=1, classes=3, info=100)
        assert least <= bench.counters["starved"] < most

    bench.run(testbench)


def test_a_changed_table_is_reported(parity_memories):  # noqa: F811
    check_tables(Loss(PRESETS["test"]), parity_memories, 13)
