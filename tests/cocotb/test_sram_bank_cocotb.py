# SPDX-License-Identifier: BSD-2-Clause
"""SramBank under cocotb: reads see earlier writes, and only those, under every pause."""

import random

import cocotb
from amaranth.hdl import Const

from hypercast.rtl.config import PRESETS
from hypercast.rtl.layouts import BURST, Channel
from hypercast.rtl.memory.sram_bank import SramBank
from tests.cocotb.benches import PAUSES, Stream, simulate, sink, source, start

CONFIG = PRESETS["tiny"].replace(channel_words=64)
WORDS = CONFIG.channel_words
#: Words of the upper half, which is only read while the lower half is written.
HALF = WORDS // 2


def pack(stream, **fields):
    """The payload of one of the channel's streams, as the integer its Verilog port takes."""
    layout = Channel(CONFIG).members[stream].signature.members["payload"].shape
    return Stream(payload=Const.cast(layout.const(fields)).value)


@cocotb.test(timeout_time=100, timeout_unit="us")
@cocotb.parametrize(source_pause=list(PAUSES), sink_pause=list(PAUSES))
async def remembers(dut, source_pause, sink_pause):
    await start(dut)
    requests = source(dut, "channel__read_request", source_pause)
    writes = source(dut, "channel__write", source_pause)
    data = sink(dut, "channel__read_data", sink_pause)

    async def check(start, length):
        await requests.send(pack("read_request", address=start, length=length))
        for address in range(start, start + length):
            assert int((await data.recv()).payload) == contents[address], f"word {address}"

    contents = [random.getrandbits(CONFIG.word_width) for _ in range(WORDS)]
    for address in random.sample(range(WORDS), WORDS):
        await writes.send(pack("write", address=address, data=contents[address]))
    await writes.wait()

    for address in range(HALF):
        contents[address] = random.getrandbits(CONFIG.word_width)
        writes.send_nowait(pack("write", address=address, data=contents[address]))
    for _ in range(10):
        length = random.randint(1, BURST)
        await check(random.randint(HALF, WORDS - length), length)
    await writes.wait()
    for first in range(0, WORDS, BURST):
        await check(first, BURST)


def test_sram_bank_under_icarus():
    simulate("icarus", SramBank(CONFIG), module=__name__)
