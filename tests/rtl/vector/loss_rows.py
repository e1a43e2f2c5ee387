# SPDX-License-Identifier: BSD-2-Clause
"""Rows of LOSS, and what each of its stages makes of them.

Rows are of one class (softmax) or of several labels (sigmoids), and have loss weights.
"""

import numpy as np
import pytest

from hypercast.reference import arithmetic
from hypercast.rtl.config import PRESETS
from hypercast.rtl.isa import Split
from hypercast.rtl.limits import group_size
from tests.bench import get
from tests.rtl.vector.vector_bench import pack

__all__ = ["CONFIGS", "EITHER", "PRESSURE", "ROWS", "SHIFT", "Rows", "configure", "noting",
           "passes_until_room"]

ROWS, _GROUPS = 30, 3
#: Right shift of gradients.
SHIFT = 18
CONFIGS = pytest.mark.parametrize("config", [
    PRESETS["test"].replace(lanes=lanes, element_width=width)
    for lanes, width in ((8, 16), (2, 8), (4, 8), (16, 8))], ids=["8x16", "2x8", "4x8", "16x8"])
#: Chances that a source idles and that a sink stalls.
PRESSURE = pytest.mark.parametrize("idle, stall", [(0.0, 0.0), (0.4, 0.1), (0.1, 0.6)])
EITHER = pytest.mark.parametrize("sigmoid", [False, True], ids=["softmax", "sigmoid"])


class Rows:
    """Random rows, and what every stage makes of them, from the reference's formulas."""

    def __init__(self, seed, config, sigmoid=False):
        rng = self.rng = np.random.default_rng(seed)
        width = self.width = config.element_width
        lanes = self.lanes = group_size(config)
        classes = self.classes = _GROUPS * lanes - lanes // 2
        #: Right shift of distances.
        self.shift = 6 + width
        self.logits = rng.integers(-1 << width - 1, 1 << width - 1, size=(ROWS, _GROUPS * lanes))
        self.logits[::4] //= 1 << width - 4  # ties
        counted = self.logits[:, :classes]
        self.labels = rng.integers(classes, size=ROWS)
        self.splits = rng.integers(4, size=ROWS)
        self.used = self.splits != Split.NONE
        self.trained = self.splits == Split.TRAIN
        self.weights = rng.integers(1 << 16, size=ROWS)
        self.label_bits = np.zeros(self.logits.shape, dtype=bool)
        if sigmoid:
            self.label_bits = rng.integers(2, size=self.logits.shape) > 0  # any beyond the classes
        targets = self.label_bits[:, :classes]
        self.result = arithmetic.sigmoid_gradient(
            counted, targets, self.shift, self.weights) if sigmoid else arithmetic.softmax_gradient(
            counted, self.labels, self.shift, self.weights)
        self.maximum = counted.max(axis=1)
        self.hits = counted.argmax(axis=1) == self.labels
        self.correct, self.wrong = self.hits.astype(int), np.zeros(ROWS, dtype=int)
        self.subtracted = np.zeros(self.logits.shape, dtype=bool)
        self.subtracted[np.arange(ROWS), self.labels] = True
        self.negative = np.zeros(self.logits.shape, dtype=bool)
        distances = self.maximum[:, None] - counted
        if sigmoid:
            distances = abs(counted)
            self.negative = self.logits > 0
            self.subtracted[:, :classes] = (counted > 0) != targets
            self.subtracted[:, classes:] = False
            self.correct = np.sum((counted > 0) & targets, axis=1)
            self.wrong = self.subtracted.sum(axis=1)
        bits = (distances * arithmetic.LOG2_E << 8) >> self.shift
        table = np.array(arithmetic.EXP_TABLE)
        index, rest = (bits >> 6) & 63, bits & 63
        powers = (table[index] - (((table[index] - table[index + 1]) * rest) >> 6)
                  ) >> np.minimum(bits >> 12, 31)
        self.powers = np.zeros_like(self.logits)
        self.powers[:, :classes] = powers
        if sigmoid:
            self.total = (arithmetic.sigmoid_gradient(counted, targets, self.shift).loss
                          - (bits * self.subtracted[:, :classes]).sum(axis=1))
            self.n = self.reciprocal = np.zeros(ROWS, dtype=int)
        else:
            self.total = powers.sum(axis=1)
            self.n = np.array([int(total).bit_length() - 17 for total in self.total])
            self.reciprocal = (self.weights << (18 + self.n)) // self.total
        self.own = (bits * self.subtracted[:, :classes]).sum(axis=1)

    def entries(self, chosen):
        """Packed groups of exponentials of the chosen rows."""
        entries = self.powers | self.subtracted * 1 << 17 | self.negative * 1 << 18
        return self.words(entries, 19, chosen)

    def labelled_logits(self, chosen):
        """Packed groups of logits and label bits of the chosen rows."""
        return [logits | bits << self.width * self.lanes for logits, bits in zip(
            self.words(self.logits, self.width, chosen),
            self.words(self.label_bits, 1, chosen), strict=True)]

    def words(self, matrix, width, chosen):
        """Packed groups of the chosen rows."""
        return [pack(group, width) for row in matrix[chosen]
                for group in row.reshape(_GROUPS, self.lanes)]


def configure(ctx, dut, rows, **values):
    """Set what stays while rows are under way, as far as a stage has it."""
    for name, value in {"groups": _GROUPS, "classes": rows.classes, "train": 1, **values}.items():
        if hasattr(dut, name):
            ctx.set(getattr(dut, name), value)


def noting(signal, passed):
    """A background testbench that appends to ``passed`` in every cycle that ``signal`` is high."""
    async def watch(ctx):
        while True:
            _, _, high = await ctx.tick().sample(signal)
            if high:
                passed.append(high)
    return watch


async def passes_until_room(ctx, dut, streams, passed):
    """While nobody takes a stage's results, all groups of the next row pass, but for its last one.

    ``streams`` are the stage's inputs; ``passed`` has an element for every group that passed.
    """
    for stream in streams:
        ctx.set(stream.valid, 1)
    await ctx.tick().repeat(150)
    groups = ctx.get(dut.groups)
    assert len(passed) % groups == groups - 1
    for results in (1, 3, 1):
        passed.clear()
        await get(ctx, dut.o, results)
        await ctx.tick().repeat(20)
        assert len(passed) == groups * results
