# SPDX-License-Identifier: BSD-2-Clause
"""StreamMerge under cocotb: nothing lost, doubled or reordered per input, under every pause."""

import random

import cocotb

from hypercast.rtl.lib.stream_merge import StreamMerge
from tests.cocotb.benches import PAUSES, Stream, simulate, sink, source, start

INPUTS = 3
TRANSFERS = 60


@cocotb.test(timeout_time=100, timeout_unit="us")
@cocotb.parametrize(source_pause=list(PAUSES), sink_pause=list(PAUSES))
async def merges(dut, source_pause, sink_pause):
    # Inputs that nobody drives are unknown, and would be stored as such when reset is over.
    dut.o__ready.value = 0
    for index in range(INPUTS):
        getattr(dut, f"i__{index}__valid").value = 0
    await start(dut)
    out = sink(dut, "o", sink_pause)
    sent = [[index << 14 | random.getrandbits(14) for _ in range(TRANSFERS)]
            for index in range(INPUTS)]
    for index, values in enumerate(sent):
        into = source(dut, f"i__{index}", source_pause)
        for value in values:
            into.send_nowait(Stream(payload=value))
    received = [int((await out.recv()).payload) for _ in range(INPUTS * TRANSFERS)]
    for index, values in enumerate(sent):
        assert [value for value in received if value >> 14 == index] == values


def test_stream_merge_under_icarus():
    simulate("icarus", StreamMerge(16, INPUTS), module=__name__)
