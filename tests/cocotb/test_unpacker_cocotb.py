# SPDX-License-Identifier: BSD-2-Clause
"""Unpacker under cocotb: every bit arrives, low bits first, under every pause."""

import random

import cocotb
import pytest

from hypercast.rtl.lib.unpacker import Unpacker
from tests.cocotb.benches import PAUSES, Stream, simulate, sink, source, start

BITS = 64 * 32


@cocotb.test(timeout_time=100, timeout_unit="us")
@cocotb.parametrize(source_pause=list(PAUSES), sink_pause=list(PAUSES))
async def unpacks(dut, source_pause, sink_pause):
    dut.flush.value = 0
    await start(dut)
    into, out = source(dut, "i", source_pause), sink(dut, "o", sink_pause)
    word, record = len(dut.i__payload), len(dut.o__payload)
    bits = random.getrandbits(BITS)
    for offset in range(0, BITS, word):
        into.send_nowait(Stream(payload=bits >> offset & (1 << word) - 1))
    for offset in range(0, BITS, record):
        assert int((await out.recv()).payload) == bits >> offset & (1 << record) - 1


@pytest.mark.parametrize("word, record", [(64, 16), (32, 32), (32, 64)])
def test_unpacker_under_icarus(word, record):
    simulate("icarus", Unpacker(word, record), module=__name__)
