# SPDX-License-Identifier: BSD-2-Clause
"""The factors of sigmoids, through the only function of the reference that has them."""

import numpy as np

from hypercast.reference import arithmetic
from hypercast.rtl.vector.sigmoid_factor import SigmoidFactor
from tests.bench import run
from tests.rtl.flips import check_tables, parity_memories  # noqa: F401

_SHIFT = 20


def _exponentials(logits):
    """``exp`` of logits that are not positive, as the definition says."""
    bits = (-logits * arithmetic.LOG2_E << 8) >> _SHIFT
    table = np.array(arithmetic.EXP_TABLE)
    index, rest = (bits >> 6) & 63, bits & 63
    values = table[index] - (((table[index] - table[index + 1]) * rest) >> 6)
    return values >> np.minimum(bits >> 12, 31)


def test_matches_reference():
    """The gradient of a negative logit without a label is the exponential times the factor."""
    rng = np.random.default_rng(0)
    lanes, rows = 4, 200
    logits = -(rng.integers(1 << 15, size=(rows, lanes)) >> rng.integers(16, size=(rows, lanes)))
    weights = rng.integers(1 << 16, size=rows)
    weights[:3] = [0, 1, (1 << 16) - 1]
    logits[3] = 0
    exponentials = _exponentials(logits)
    dut = SigmoidFactor(lanes)
    factors = []

    async def bench(ctx):
        for row in range(rows + dut.LATENCY):
            ctx.set(dut.i, exponentials[row % rows].tolist())
            ctx.set(dut.weight, int(weights[row % rows]))
            _, _, factor = await ctx.tick().sample(dut.o)
            factors.append(list(factor))

    run(dut, bench)
    row = arithmetic.sigmoid_gradient(logits, np.zeros(logits.shape, bool), _SHIFT, weights)
    assert np.array_equal(exponentials * np.array(factors[dut.LATENCY:]), row.gradient)


def test_depth_of_the_pipeline():
    """A deeper one computes the same, but all cycles that were measured change."""
    assert SigmoidFactor.LATENCY == 4


def test_a_changed_table_is_reported(parity_memories):  # noqa: F811
    check_tables(SigmoidFactor(3), parity_memories, 3)
