# SPDX-License-Identifier: BSD-2-Clause
"""Tests of the requantizer against ``arithmetic.requantize``."""

import numpy as np
import pytest

from hypercast.reference import arithmetic
from hypercast.rtl.vector.requantizer import Requantizer
from tests.bench import run


def _ties(shift, width, rng):
    """Values at and next to the middle between two results, of either sign."""
    if not 0 < shift < width:
        return []
    odd = 2 * rng.integers(-3, 4, size=2) + 1
    middles = [int(value) << (shift - 1) for value in (*odd, 1, -1)]
    return [middle + offset for middle in middles for offset in (-1, 0, 1)]


def _cases(input_width, output_width, rng):
    """(shift, values) for every shift, extremes and ties included; each in input range."""
    low, high = -(1 << input_width - 1), (1 << input_width - 1) - 1
    for shift in range(64):
        edge = (1 << output_width - 1 << shift) - (1 << shift >> 1)
        values = [0, 1, -1, low, low + 1, high, high - 1, *_ties(shift, input_width, rng)]
        values += [sign * edge + offset for sign in (1, -1) for offset in (-1, 0, 1)]
        values += [-(1 << min(shift + step, input_width - 1)) for step in (-1, 0, 1) if shift]
        values += [int(rng.integers(low, high + 1)) >> int(rng.integers(input_width))
                   for _ in range(8)]
        yield shift, [value for value in values if low <= value <= high]


@pytest.mark.parametrize("lanes, input_width, output_width", [
    (4, 49, 16), (2, 41, 8), (3, 35, 16), (1, 47, 47), (2, 64, 34), (1, 32, 8), (1, 9, 8)])
def test_matches_reference(lanes, input_width, output_width):
    rng = np.random.default_rng(input_width)
    stimuli = []
    for shift, values in _cases(input_width, output_width, rng):
        values += [0] * (-len(values) % lanes)
        stimuli += [(shift, values[start:start + lanes])
                    for start in range(0, len(values), lanes)]
    rng.shuffle(stimuli)
    dut = Requantizer(lanes, input_width, output_width)

    async def bench(ctx):
        for step in range(len(stimuli) + dut.LATENCY):
            if step < len(stimuli):
                shift, values = stimuli[step]
                ctx.set(dut.shift, shift)
                ctx.set(dut.i, values)
            _, _, rounded, saturated = await ctx.tick().sample(dut.o, dut.saturated)
            if step >= dut.LATENCY:
                shift, values = stimuli[step - dut.LATENCY]
                expected = [arithmetic.requantize(value, shift, output_width)
                            for value in values]
                assert list(rounded) == [int(mantissa) for mantissa, _ in expected], (shift, values)
                assert saturated == sum(flag << lane for lane, (_, flag) in enumerate(expected))

    run(dut, bench)


def test_output_wider_than_input_is_refused():
    with pytest.raises(ValueError, match=r"output width 17 .* 16"):
        Requantizer(1, 16, 17)


def test_depth_of_the_pipeline():
    """A deeper one computes the same, but all cycles that were measured change."""
    assert Requantizer.LATENCY == 3
