# SPDX-License-Identifier: BSD-2-Clause
"""Writes DRAIN's words, and masks between them."""

from amaranth.hdl import Module, Signal, unsigned
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from hypercast.rtl.config import Config
from hypercast.rtl.isa import STRIP_WIDTH
from hypercast.rtl.vector.mask_packer import MaskPacker
from hypercast.rtl.vector.ports import write_request

__all__ = ["DrainWriter", "drained_row"]


def drained_row(config: Config) -> data.StructLayout:
    """Layout of a row on its way to memory: its word and its mask bits."""
    return data.StructLayout({
        "word": unsigned(config.data_width), "mask": unsigned(config.lanes)})


class DrainWriter(wiring.Component):
    """Writes rows to consecutive words, one per cycle, and each word of masks as it fills.

    Parameters
    ----------
    config : Config
        Configuration.

    Members
    -------
    start : In(1)
        High for a cycle to begin; only while not ``busy``.
    count : In(STRIP_WIDTH)
        Rows; valid with ``start``.
    channel : In(1), masked : In(1)
        Where rows go, and whether masks are written; held while ``busy``.
    address : In(address_width), mask_address : In(address_width)
        Where rows and masks (in channel 1) begin; valid with ``start``.
    i : In(stream of drained_row(config))
        The rows.
    write : Out(stream of writes)
        To memory.
    written : Out(1)
        A row's word is accepted.
    busy : Out(1)
        High from the cycle after ``start`` until the last write is accepted.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        super().__init__({
            "start": In(1),
            "count": In(STRIP_WIDTH),
            "channel": In(1),
            "masked": In(1),
            "address": In(config.address_width),
            "mask_address": In(config.address_width),
            "i": In(stream.Signature(drained_row(config))),
            "write": Out(write_request(config)),
            "written": Out(1),
            "busy": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.packer = packer = MaskPacker(self._config)
        left = Signal.like(self.count)
        address, mask_address = Signal.like(self.address), Signal.like(self.mask_address)
        m.d.comb += [
            self.written.eq(self.i.valid & self.i.ready),
            packer.i.eq(self.i.p.mask),
            packer.push.eq(self.written & self.masked),
            packer.last.eq(left == 1),
            packer.o.ready.eq(self.write.ready),
            self.write.valid.eq(packer.o.valid | self.i.valid),
            self.busy.eq((left != 0) | packer.o.valid),
        ]
        with m.If(packer.o.valid):
            m.d.comb += [
                self.write.p.channel.eq(1),
                self.write.p.address.eq(mask_address),
                self.write.p.data.eq(packer.o.payload),
            ]
            with m.If(self.write.ready):
                m.d.sync += mask_address.eq(mask_address + 1)
        with m.Else():
            m.d.comb += [
                self.write.p.channel.eq(self.channel),
                self.write.p.address.eq(address),
                self.write.p.data.eq(self.i.p.word),
                self.i.ready.eq(self.write.ready),
            ]
        with m.If(self.written):
            m.d.sync += [address.eq(address + 1), left.eq(left - 1)]
        with m.If(self.start):
            m.d.sync += [
                left.eq(self.count),
                address.eq(self.address),
                mask_address.eq(self.mask_address),
            ]
        return m
