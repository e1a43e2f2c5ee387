# SPDX-License-Identifier: BSD-2-Clause
"""AxiChannel under cocotb: an independent AXI4 memory, with random latency and pauses on all five
channels, that refuses bursts across 4 KiB and fails where told to."""

import random
from collections import deque

import cocotb
import pytest
from amaranth.hdl import Const
from cocotb.triggers import ReadOnly, RisingEdge, Timer
from cocotbext.axi import AxiBus, AxiReadBus, AxiSlave, AxiWriteBus, MemoryRegion

from hypercast.rtl.config import Config
from hypercast.rtl.layouts import BURST, Channel
from hypercast.rtl.memory.axi_channel import AxiChannel
from tests.cocotb.benches import Stream, simulate, sink, source, start

#: Words of 32 and 256 bits; both channels span several times 4 KiB.
CONFIGS = {"32bit": Config(lanes=2, element_width=8, channel_words=4096),
           "256bit": Config(lanes=16, element_width=16, channel_words=512)}
BASE = 0x1_2000_0000
#: Probability, per cycle, that an AXI channel pauses.
PAUSES = [0.0, 0.3, 0.7]


class Memory(MemoryRegion):
    """Words at ``BASE``; those whose addresses are in ``broken`` cannot be read or written."""

    def __init__(self, config):
        self._word = config.word_width // 8
        self.broken = set()
        super().__init__(config.channel_words * self._word)

    async def read(self, address, length, **kwargs):
        self._check(address)
        return await super().read(address - BASE, length, **kwargs)

    async def write(self, address, data, **kwargs):
        self._check(address)
        await super().write(address - BASE, data, **kwargs)

    def _check(self, address):
        if (address - BASE) // self._word in self.broken:
            raise OSError(f"broken word at {address:#x}")


class Bench:
    """The design with its memory, and reads and writes of words."""

    def __init__(self, dut, pause):
        self._dut = dut
        self.config = CONFIGS[f"{len(dut.channel__read_data__payload)}bit"]
        self.memory = Memory(self.config)
        bus = AxiBus(AxiWriteBus.from_prefix(dut, "axi__write_"),
                     AxiReadBus.from_prefix(dut, "axi__read_"))
        self._slave = AxiSlave(bus, dut.clk, dut.rst, target=self.memory)
        write, read = self._slave.write_if, self._slave.read_if
        for channel in (write.aw_channel, write.w_channel, write.b_channel, read.ar_channel,
                        read.r_channel):
            channel.set_pause_generator(self._pauses(pause))

    @staticmethod
    def _pauses(probability):
        while True:
            if random.random() < probability / 10:  # a latency
                yield from [True] * random.randrange(60)
            yield random.random() < probability

    async def start(self, sink_pause="free"):
        self._dut.base.value = BASE
        self._dut.quiesce.value = 0
        await Timer(1, unit="step")  # ready depends on it
        self._requests = source(self._dut, "channel__read_request")
        self._writes = source(self._dut, "channel__write")
        self._data = sink(self._dut, "channel__read_data", sink_pause)
        await start(self._dut)

    def _pack(self, stream, **fields):
        layout = Channel(self.config).members[stream].signature.members["payload"].shape
        return Stream(payload=Const.cast(layout.const(fields)).value)

    def request(self, start, length):
        self._requests.send_nowait(self._pack("read_request", address=start, length=length))

    async def receive(self):
        return int((await self._data.recv()).payload)

    async def write(self, words):
        """Write ``(address, data)`` pairs, and wait for ``idle``."""
        for address, data in words:
            self._writes.send_nowait(self._pack("write", address=address, data=data))
        await self._writes.wait()
        await RisingEdge(self._dut.clk)
        await ReadOnly()
        while self._dut.channel__idle.value == 0:
            await RisingEdge(self._dut.clk)
            await ReadOnly()
        await RisingEdge(self._dut.clk)


def count_faults(dut):
    """A list that grows in every cycle with a fault."""
    faults = []

    async def watch():
        while True:
            await RisingEdge(dut.clk)
            if dut.fault.value:
                faults.append(True)

    cocotb.start_soon(watch())
    return faults


@cocotb.test(timeout_time=1000, timeout_unit="us")
@cocotb.parametrize(pause=PAUSES, sink_pause=["free", "paused"])
async def remembers(dut, pause, sink_pause):
    """Runs of writes and bursts of reads anywhere, by turns; every word is the last one written."""
    bench = Bench(dut, pause)
    await bench.start(sink_pause)
    faults = count_faults(dut)
    words = bench.config.channel_words
    contents = dict.fromkeys(range(words), 0)
    for _ in range(5):
        runs = []
        for _ in range(6):
            length = random.choice([1, 5, BURST, 40])
            first = random.randrange(words - length + 1)
            runs += [(address, random.getrandbits(bench.config.word_width))
                     for address in range(first, first + length)]
        await bench.write(runs)
        contents.update(runs)
        expected = deque()
        for address, _ in random.sample(runs, 12):
            length = random.randint(1, BURST)
            first = min(address, words - length)
            bench.request(first, length)
            expected.extend(contents[word] for word in range(first, first + length))
        while expected:
            assert await bench.receive() == expected.popleft()
    assert not faults


@cocotb.test(timeout_time=1000, timeout_unit="us")
@cocotb.parametrize(pause=PAUSES)
async def crosses_boundaries(dut, pause):
    """Runs of writes and bursts of reads around the first 4 KiB boundary; the memory asserts."""
    bench = Bench(dut, pause)
    await bench.start()
    page = 4096 * 8 // bench.config.word_width
    words = [(address, random.getrandbits(32)) for address in range(page - BURST, page + BURST)]
    await bench.write(words)
    for before in range(BURST + 1):
        bench.request(page - before, BURST)
        for _, data in words[BURST - before:][:BURST]:
            assert await bench.receive() == data


@cocotb.test(timeout_time=1000, timeout_unit="us")
@cocotb.parametrize(pause=PAUSES)
async def reports_errors(dut, pause):
    """SLVERR of one word is reported, in each direction, and hinders nothing."""
    bench = Bench(dut, pause)
    await bench.start()
    faults = count_faults(dut)
    bench.memory.broken = {20}
    await bench.write([(address, address) for address in range(16)])
    assert not faults
    await bench.write([(address, address) for address in range(16, 48)])
    assert len(faults) == 1
    for start_word in range(0, 48, BURST):
        bench.request(start_word, BURST)
        for address in range(start_word, start_word + BURST):
            assert await bench.receive() == (0 if address == 20 else address)
    assert len(faults) == 2


@pytest.mark.parametrize("name", [pytest.param("32bit", marks=pytest.mark.slow), "256bit"])
def test_axi_channel_under_icarus(name):
    simulate("icarus", AxiChannel(CONFIGS[name], 34), module=__name__)
