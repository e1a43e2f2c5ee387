# SPDX-License-Identifier: BSD-2-Clause
"""Values for the tests of Adam's blocks, which are fed one element per cycle."""

import numpy as np

from hypercast.reference import adam

__all__ = ["feed", "moments", "rates", "signed_values"]


def rates(decay=33554, shift=25, epsilon=1 << 17, exponent=0):
    """Constants of which only Adam's own mean something."""
    return adam.AdamRates(0, 0, 0, 0, 0, decay, shift, epsilon, exponent)


def signed_values(rng, count):
    """Values of 32 bits of all lengths, and the extremes."""
    values = rng.integers(-1 << 31, 1 << 31, count) >> rng.integers(32, size=count)
    values[:6] = [-1 << 31, (1 << 31) - 1, 0, -1, 1, -(1 << 18)]
    return rng.permutation(values)


def moments(rng, count):
    """Packed second moments of all sizes, the smallest and the largest that can be among them."""
    exponent = rng.integers(0, 31, count)
    mantissa = rng.integers(1 << 24, 1 << 26, count)
    small = rng.random(count) < 0.2
    mantissa = np.where(small, mantissa >> rng.integers(27, size=count), mantissa)
    exponent = np.where(small, 0, exponent)
    mantissa[:3], exponent[:3] = [0, 1 << 24, (1 << 26) - 1], [0, 1, 30]
    return rng.permutation(adam.pack_second_moment(mantissa, exponent))


def _port_value(port, value):
    """A stored second moment as the port takes it."""
    if port in ("i", "second_moment"):
        mantissa, exponent = adam.unpack_second_moment(value)
        return {"mantissa": int(mantissa), "exponent": int(exponent)}
    return int(value)


async def feed(ctx, dut, latency, inputs, outputs):
    """Values of ``outputs`` for each element of ``inputs``, arrays by the ports' names."""
    count = len(next(iter(inputs.values())))
    results = []
    for step in range(count + latency):
        for port, values in inputs.items():
            ctx.set(getattr(dut, port), _port_value(port, values[min(step, count - 1)]))
        _, _, *found = await ctx.tick().sample(*outputs)
        results.append(found)
    return np.array(results[latency:]).T
