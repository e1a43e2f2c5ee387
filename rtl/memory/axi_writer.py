# SPDX-License-Identifier: BSD-2-Clause
"""Combines a channel's writes into AXI4 bursts."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.fifo import SyncFIFO
from amaranth.lib.wiring import In, Out

from hypercast.rtl.config import Config
from hypercast.rtl.layouts import Channel
from hypercast.rtl.limits import BURST, OUTSTANDING
from hypercast.rtl.memory.axi4 import BOUNDARY, Axi4Write, Response, byte_address

__all__ = ["AxiWriter"]

#: Words that can wait: a burst is sent while the next one is gathered.
_DEPTH = 32
#: Cycles without a word after which a burst is sent as it is.
_PATIENCE = 16


class AxiWriter(wiring.Component):
    """Sends words of rising addresses in bursts of up to 16, none across a 4 KiB boundary.

    A burst ends with a word that does not continue it, or 16 cycles after its last word. One word
    moves per cycle, in bursts of any length; up to 64 bursts are under way.

    Parameters
    ----------
    config : Config
        Configuration.
    address_width : int
        Bits of a byte address.

    Members
    -------
    write, idle : In(stream), Out(1)
        As in ``Channel``: ``idle`` once the memory has acknowledged all writes.
    base : In(address_width)
        Byte address of word 0, a multiple of the channel's size; does not change.
    axi : Out(Axi4Write)
        The memory. All outputs come straight from registers.
    fault : Out(1)
        High for a cycle after a response other than OKAY.
    quiesce : In(1)
        From then on no burst is begun; stays until the reset.
    unfinished : Out(1)
        Bursts that were begun are not acknowledged.
    """

    def __init__(self, config: Config, address_width: int) -> None:
        self._config = config
        self._run = data.StructLayout({"start": config.address_width, "beats": range(BURST + 1)})
        channel = Channel(config).members
        super().__init__({
            "write": channel["write"].flip(),
            "idle": channel["idle"].flip(),
            "base": In(address_width),
            "axi": Out(Axi4Write(address_width, config.word_width)),
            "fault": Out(1),
            "quiesce": In(1),
            "unfinished": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.words = words = SyncFIFO(width=self._config.word_width, depth=_DEPTH)
        m.submodules.runs = runs = SyncFIFO(width=self._run.size, depth=_DEPTH)
        gathering = self._gather(m, words, runs)
        outstanding = self._send(m, words, runs)
        m.d.comb += [
            self.unfinished.eq(outstanding != 0),
            self.idle.eq(~gathering & ~runs.r_rdy & ~self.unfinished),
        ]
        return m

    def _gather(self, m: Module, words: SyncFIFO, runs: SyncFIFO) -> Signal:
        """Put words and finished runs into their queues; returns whether a run is unfinished.

        A run can always be put there: no more runs wait than words, and its own are among these.
        """
        write = self.write
        boundary = BOUNDARY * 8 // self._config.word_width  # in words, a power of two
        offset_width = boundary.bit_length() - 1
        run = Signal(self._run)
        following = Signal(self._config.address_width)  # address after the run
        age = Signal(range(_PATIENCE + 1))  # cycles since its last word
        gathering = Signal()
        full = Signal()
        continues = Signal()
        taken = Signal()
        ends = Signal()
        m.d.comb += [
            gathering.eq(run.beats != 0),
            full.eq((run.beats == BURST) | (following[:offset_width] == 0)),
            continues.eq(~full & (write.p.address == following)),
            ends.eq(gathering & Mux(write.valid, ~continues, full | (age == _PATIENCE))),
            write.ready.eq(words.w_rdy),
            taken.eq(write.valid & write.ready),
            words.w_en.eq(taken),
            words.w_data.eq(write.p.data),
            runs.w_en.eq(ends),
            runs.w_data.eq(run),
        ]
        m.d.sync += age.eq(Mux(taken, 0, age + (age != _PATIENCE)))
        with m.If(ends):
            m.d.sync += run.beats.eq(taken)
        with m.Else():
            m.d.sync += run.beats.eq(run.beats + taken)
        with m.If(taken):
            m.d.sync += following.eq(write.p.address + 1)
            with m.If(~gathering | ends):
                m.d.sync += run.start.eq(write.p.address)
        return gathering

    def _send(self, m: Module, words: SyncFIFO, runs: SyncFIFO) -> Signal:
        """Send finished runs; returns how many bursts are not acknowledged."""
        axi = self.axi
        run = data.View(self._run, runs.r_data)
        outstanding = Signal(range(OUTSTANDING + 1))
        left = Signal.like(run.beats)  # beats of the burst that ``wdata`` has not seen
        start = Signal()
        beat = Signal()
        m.d.comb += [
            beat.eq((left != 0) & (~axi.wvalid | axi.wready)),
            start.eq(runs.r_rdy & (left == beat) & (~axi.awvalid | axi.awready)
                     & (outstanding != OUTSTANDING) & ~self.quiesce),
            runs.r_en.eq(start),
            words.r_en.eq(beat),
            axi.bready.eq(1),
        ]
        with m.If(axi.awready):
            m.d.sync += axi.awvalid.eq(0)
        with m.If(start):
            m.d.sync += [
                axi.awvalid.eq(1),
                axi.awaddr.eq(byte_address(self._config, self.base, run.start)),
                axi.awlen.eq(run.beats - 1),
            ]
        with m.If(axi.wready):
            m.d.sync += axi.wvalid.eq(0)
        with m.If(beat):
            m.d.sync += [
                axi.wvalid.eq(1),
                axi.wdata.eq(words.r_data),
                axi.wlast.eq(left == 1),
            ]
        m.d.sync += [
            left.eq(Mux(start, run.beats, left - beat)),
            outstanding.eq(outstanding + start - axi.bvalid),
            self.fault.eq(axi.bvalid & (axi.bresp != Response.OKAY)),
        ]
        return outstanding
