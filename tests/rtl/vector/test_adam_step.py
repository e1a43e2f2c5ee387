"""Tests of Adam's blocks against ``reference.adam``."""

import numpy as np
import pytest

from hypercast.reference import adam
from hypercast.rtl.vector.adam_direction import AdamDirection
from hypercast.rtl.vector.adam_step import AdamStep
from hypercast.rtl.vector.second_moment import SecondMomentUnit
from tests.bench import run


def _rates(decay=33554, shift=25, epsilon=1 << 17, exponent=0):
    return adam.AdamRates(0, 0, 0, 0, 0, decay, shift, epsilon, exponent)


def _signed(rng, count):
    """Values of all lengths, and the extremes."""
    values = rng.integers(-1 << 31, 1 << 31, count) >> rng.integers(32, size=count)
    values[:6] = [-1 << 31, (1 << 31) - 1, 0, -1, 1, -(1 << 18)]
    return rng.permutation(values)


def _moments(rng, count):
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


async def _feed(ctx, dut, latency, inputs, outputs):
    """Values of ``outputs`` for each element of ``inputs``, fed one per cycle."""
    count = len(next(iter(inputs.values())))
    results = []
    for step in range(count + latency):
        for port, values in inputs.items():
            ctx.set(getattr(dut, port), _port_value(port, values[min(step, count - 1)]))
        _, _, *found = await ctx.tick().sample(*outputs)
        results.append(found)
    return np.array(results[latency:]).T


@pytest.mark.parametrize(("decay", "shift"), [
    (33554, 25), (32768, 16), (32768, 28), (65535, 17), (52429, 19)])
def test_second_moment(decay, shift):
    rng = np.random.default_rng(decay)
    gradients, moments = _signed(rng, 1000), _moments(rng, 1000)
    dut = SecondMomentUnit()

    async def bench(ctx):
        ctx.set(dut.decay, decay)
        ctx.set(dut.decay_shift, shift)
        [found] = await _feed(ctx, dut, dut.LATENCY, {"gradient": gradients, "i": moments},
                              [dut.o.as_value()])
        np.testing.assert_array_equal(
            found, adam.next_second_moment(moments, gradients, _rates(decay, shift)))

    run(dut, bench)


@pytest.mark.parametrize(("epsilon", "epsilon_exponent"), [
    (1 << 17, 0), (161949, 1), (150000, 15), ((1 << 18) - 1, 31)])
def test_direction(epsilon, epsilon_exponent):
    rng = np.random.default_rng(epsilon)
    momenta, moments = _signed(rng, 1000), _moments(rng, 1000)
    # Most directions are neither near zero nor saturated.
    mantissa, exponent = adam.unpack_second_moment(moments)
    root = np.sqrt(mantissa * 4.0**exponent / 4096)
    usual = rng.random(1000) < 0.7
    momenta = np.where(usual, np.clip(root * rng.normal(size=1000), -1 << 31, (1 << 31) - 1),
                       momenta).astype(np.int64)
    dut = AdamDirection()

    async def bench(ctx):
        ctx.set(dut.epsilon, epsilon)
        ctx.set(dut.epsilon_exponent, epsilon_exponent)
        found, saturated = await _feed(
            ctx, dut, dut.LATENCY, {"momentum": momenta, "second_moment": moments},
            [dut.o, dut.saturated])
        expected, too_long = adam.direction(
            momenta, moments, _rates(epsilon=epsilon, exponent=epsilon_exponent))
        np.testing.assert_array_equal(found, expected)
        np.testing.assert_array_equal(saturated, too_long)
        assert too_long.any() == (epsilon_exponent < 31)

    run(dut, bench)


def test_both_belong_to_the_same_element():
    rng = np.random.default_rng(0)
    gradients, momenta, moments = _signed(rng, 200), _signed(rng, 200), _moments(rng, 200)
    dut = AdamStep()

    async def bench(ctx):
        for name, value in (("decay", 33554), ("decay_shift", 25), ("epsilon", 1 << 17),
                            ("epsilon_exponent", 3)):
            ctx.set(getattr(dut, name), value)
        direction, saturated, moment = await _feed(
            ctx, dut, dut.LATENCY,
            {"gradient": gradients, "momentum": momenta, "second_moment": moments},
            [dut.direction, dut.saturated, dut.new_second_moment.as_value()])
        rates = _rates(exponent=3)
        expected = adam.next_second_moment(moments, gradients, rates)
        np.testing.assert_array_equal(moment, expected)
        for found, wanted in zip((direction, saturated), adam.direction(momenta, expected, rates),
                                 strict=True):
            np.testing.assert_array_equal(found, wanted)

    run(dut, bench)
