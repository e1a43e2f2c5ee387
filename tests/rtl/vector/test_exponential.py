# SPDX-License-Identifier: BSD-2-Clause
"""Tests of the exponential, through the only function of the reference that has it."""

import numpy as np
import pytest

from hypercast.reference import arithmetic
from hypercast.rtl.config import PRESETS
from hypercast.rtl.isa import LOSS_SHIFT
from hypercast.rtl.vector.exponential import Exponential
from tests.bench import run
from tests.rtl.flips import check_tables, parity_memories  # noqa: F401


def _expected(distances, shift):
    bits = (distances * arithmetic.LOG2_E << 8) >> shift
    table = np.array(arithmetic.EXP_TABLE)
    index, rest = (bits >> 6) & 63, bits & 63
    values = table[index] - (((table[index] - table[index + 1]) * rest) >> 6)
    return bits, values >> np.minimum(bits >> 12, 31)


@pytest.mark.parametrize("element_width", [8, 16])
def test_matches_reference(element_width):
    config = PRESETS["tiny"].replace(element_width=element_width)
    rng = np.random.default_rng(element_width)
    limit = 1 << element_width
    dut = Exponential(config.lanes, config.element_width)

    async def bench(ctx):
        for shift in (*range(0, 40, 3), 22, 63):
            distances = rng.integers(limit, size=(40, config.lanes)) >> rng.integers(
                element_width, size=(40, config.lanes))
            distances[0] = [0, limit - 1]
            # With a shift of 22 just 2^-16, of which one bit is left.
            distances[1] = min(45427, limit - 1)
            bits, powers = _expected(distances, shift)
            ctx.set(dut.shift, shift)
            for step in range(len(distances) + dut.LATENCY):
                if step < len(distances):
                    ctx.set(dut.i, distances[step].tolist())
                _, _, got_bits, got_powers = await ctx.tick().sample(dut.bits, dut.o)
                if 0 <= step - dut.BITS_LATENCY < len(distances):
                    assert list(got_bits) == bits[step - dut.BITS_LATENCY].tolist()
                if step >= dut.LATENCY:
                    assert list(got_powers) == powers[step - dut.LATENCY].tolist()

    run(dut, bench)
    assert element_width == 8 or _expected(np.array([45427]), 22) == (1 << 16, 1)


def test_is_close_to_the_exponential():
    distances = np.arange(0, 5000)
    _, powers = _expected(distances, LOSS_SHIFT + 9)  # an exponent of -9
    np.testing.assert_allclose(powers / 65536, np.exp(-distances / 512), atol=5e-4)


def test_depth_of_the_pipeline():
    """A deeper one computes the same, but all cycles that were measured change."""
    assert Exponential.LATENCY == 7


def test_a_changed_table_is_reported(parity_memories):  # noqa: F811
    check_tables(Exponential(3, 8), parity_memories, 3)
