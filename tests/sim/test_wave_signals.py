# SPDX-License-Identifier: BSD-2-Clause
"""Values of signals from samples: runs of limbs, constants, repeated bits, and any width."""

import random

import numpy as np
import pytest

from hypercast.sim.wave_signals import changes, columns

ELEMENTS, CYCLES = 8, 50
#: Where a limb is, by bits of its elements.
OFFSETS = {64: 0, 8: 16, 16: 18, 32: 20}


@pytest.mark.parametrize("seed", range(20))
def test_values_and_changes(seed):
    rng = random.Random(seed)
    samples = np.zeros((CYCLES, 24 * ELEMENTS), dtype=np.uint8)
    samples[:] = np.random.default_rng(seed).integers(256, size=samples.shape[1])
    for row in range(1, CYCLES):
        samples[row] = samples[row - 1]
        if rng.random() < 0.5:
            samples[row, rng.randrange(samples.shape[1])] ^= 1 << rng.randrange(8)
    member = rng.randrange(ELEMENTS)
    places = []
    for _ in range(rng.choice((1, 1, 2, 5))):
        bits = rng.choice((8, 16, 32, 64))
        first = rng.randrange(bits)
        width = rng.randrange(1, bits - first + 1)
        places.append(rng.choice((
            [OFFSETS[bits], bits, first, width, 0], [0, 64, first, rng.randrange(1, 9), 1],
            [-1, 8, rng.getrandbits(width), width, 0])))
    expected = []
    for row in range(CYCLES):
        value, position = 0, 0
        for offset, bits, first, width, repeated in places:
            begin = offset * ELEMENTS + member * bits // 8
            number = int.from_bytes(samples[row, begin:begin + bits // 8].tobytes(), "little")
            part = first if offset < 0 else (number >> first & 1) * ((1 << width) - 1) \
                if repeated else number >> first & (1 << width) - 1
            value |= part << position
            position += width
        expected.append(value)
    found = changes(places, columns(samples, [places], ELEMENTS, member), CYCLES)
    seen = np.repeat(found.values.astype(object), np.diff([*found.rows, CYCLES]))
    assert found.rows[0] == 0 and seen.tolist() == expected
    again = [row for row in found.rows[1:].tolist() if expected[row] == expected[row - 1]]
    assert not again


@pytest.mark.parametrize("others", [[], [[-1, 8, 0, 64, 0]], [[-1, 8, 5, 3, 0], [0, 64, 8, 60, 0]]])
@pytest.mark.parametrize("width", [1, 2, 3, 8])
def test_a_repeated_bit_fills_its_width(width, others):
    """Where it is set, in values of at most 64 bits and in wider ones."""
    samples = np.zeros((4, 24 * ELEMENTS), dtype=np.uint8)
    samples[1:3, 0] = 1
    places = [*others, [0, 64, 0, width, 1]]
    position = sum(run[3] for run in others)
    found = changes(places, columns(samples, [places], ELEMENTS, 0), 4)
    assert found.rows.tolist() == [0, 1, 3]
    base = int(found.values[0])
    ones = (1 << width) - 1
    assert [int(value) for value in found.values] == [base, base | ones << position, base]
    assert base == (5 if len(others) == 2 else 0)
