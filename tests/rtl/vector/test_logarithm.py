# SPDX-License-Identifier: BSD-2-Clause
"""Logarithm: as the reference's, and near the real one."""

import numpy as np

from hypercast.reference import arithmetic
from hypercast.rtl.vector.logarithm import Logarithm
from tests.bench import run

_ARGUMENTS = [*range(0, 65536, 509), *range(1024), 65535, 65536,
              *np.random.default_rng(0).integers(65537, size=500).tolist()]


def _logarithms():
    """The logarithms of all arguments, from the hardware."""
    dut = Logarithm()
    found = []

    async def bench(ctx):
        for argument in (*_ARGUMENTS, *[0] * dut.LATENCY):
            ctx.set(dut.i, argument)
            _, _, value = await ctx.tick().sample(dut.o)
            found.append(value)

    run(dut, bench)
    return np.array(found[dut.LATENCY:])


def test_logarithms():
    found, table = _logarithms(), np.array([*arithmetic.LOG_TABLE, 0])
    index, rest = np.divmod(_ARGUMENTS, 1 << 10)
    steps = table[index + 1] - table[index]
    np.testing.assert_array_equal(found, table[index] + (steps * rest >> 10))
    assert abs(found - 4096 * np.log2(1 + np.array(_ARGUMENTS) / 65536)).max() < 2
