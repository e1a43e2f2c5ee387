# SPDX-License-Identifier: BSD-2-Clause
"""FrameTransmitter against the host's encoder."""

import numpy as np
import pytest

from hypercast.host.runtime.serial.frames import encode
from hypercast.rtl.serial.frame_transmitter import FrameTransmitter
from tests.bench import get, put, run


@pytest.mark.parametrize(("idle", "stall"), [(0.0, 0.0), (0.4, 0.0), (0.0, 0.6), (0.5, 0.5)])
def test_frames(idle, stall):
    rng = np.random.default_rng(3)
    frames = [[0x7E7D7E7D], [0], [0xFFFFFFFF, 0x7D], *(
        rng.choice([0, 0x7E7E7D7D, 1 << 31, 77], rng.integers(1, 9)).tolist() for _ in range(20))]
    expected = b"".join(map(encode, frames))
    words = [{"data": word, "last": index == len(frame) - 1}
             for frame in frames for index, word in enumerate(frame)]
    dut = FrameTransmitter()

    async def receiver(ctx):
        assert bytes(await get(ctx, dut.o, len(expected), rng, stall)) == expected

    run(dut, lambda ctx: put(ctx, dut.i, words, rng, idle), receiver)
