# SPDX-License-Identifier: BSD-2-Clause
"""Writes back optimiser state and sends out new weights."""

from amaranth.hdl import Module, Mux, Signal, signed
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from hypercast.rtl.config import Config
from hypercast.rtl.isa import ROWS_WIDTH
from hypercast.rtl.layouts import FlitKind, flit
from hypercast.rtl.vector.ports import write_request
from hypercast.rtl.vector.second_moment import SecondMoment

__all__ = ["UpdateWriter", "update_group"]


def update_group(config: Config) -> data.StructLayout:
    """Layout: updated elements whose master weights fill one word; if the chip can do Adam, with
    their second moments."""
    elements = config.word_width // 32
    return data.StructLayout({
        "master": data.ArrayLayout(signed(32), elements),
        "momentum": data.ArrayLayout(signed(32), elements),
        **({"second_moment": data.ArrayLayout(SecondMoment, elements)} if config.adam else {}),
        "operand": data.ArrayLayout(signed(config.element_width), elements)})


class UpdateWriter(wiring.Component):
    """Writes each group's two words, or Adam's three.

    After a row's last group, it sends the row of operands. With ``keep``, it writes two words to
    where a row's kept sums lie, and sends nothing.

    Parameters
    ----------
    config : Config
        Configuration.

    Members
    -------
    start : In(1)
        High for a cycle to begin; only while not ``busy``.
    rows : In(ROWS_WIDTH), address : In(address_width), index : In(index_width)
        Rows, the address of the first row's state in channel 1, and its row in the weight banks;
        valid with ``start``.
    core : In(dimensions)
        This core's address.
    adam : In(1)
        Second moments are part of the state; held while ``busy``.
    keep, kept : In(1)
        As in the instruction, not both; held while ``busy``. With either, a row begins with kept
        sums.
    i : In(stream of update_group(config))
        The groups.
    write : Out(stream of writes)
        New state.
    flits : Out(stream of flit(config))
        New rows of weights, to all cores, to every ``cores``-th row of the banks. The planes take
        turns, and cores begin with different ones.
    busy : Out(1)
        High from the cycle after ``start`` until the last flit is accepted.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        super().__init__({
            "start": In(1),
            "rows": In(ROWS_WIDTH),
            "address": In(config.address_width),
            "index": In(config.index_width),
            "core": In(config.dimensions),
            "adam": In(1),
            "keep": In(1),
            "kept": In(1),
            "i": In(stream.Signature(update_group(config))),
            "write": Out(write_request(config)),
            "flits": Out(stream.Signature(flit(config))),
            "busy": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        config = self._config
        groups = config.state_words
        left = Signal.like(self.rows)
        group = Signal(range(groups))
        address = Signal.like(self.address)  # of the group's master weights, or lower parts
        index = Signal.like(self.index)
        operands = Signal(config.data_width)

        m.d.comb += [
            self.busy.eq(left != 0),
            self.write.p.channel.eq(1),
            self.write.p.address.eq(address),
            self.write.p.data.eq(self.i.p.master),
            self.flits.p.destinations.eq((1 << config.cores) - 1),
            self.flits.p.plane.eq(left + self.core),
            self.flits.p.kind.eq(FlitKind.WEIGHT),
            self.flits.p.index.eq(index),
            self.flits.p.payload.eq(operands),
        ]

        with m.FSM():
            with m.State("MASTER"):
                m.d.comb += self.write.valid.eq(self.i.valid)
                with m.If(self.write.valid & self.write.ready):
                    m.next = "MOMENTUM"
                    if config.adam:
                        with m.If(self.adam & ~self.keep):
                            m.next = "SECOND MOMENT"
            if config.adam:
                with m.State("SECOND MOMENT"):
                    m.d.comb += [
                        self.write.valid.eq(1),
                        self.write.p.address.eq(address - groups),
                        self.write.p.data.eq(self.i.p.second_moment),
                    ]
                    with m.If(self.write.ready):
                        m.next = "MOMENTUM"
            with m.State("MOMENTUM"):
                m.d.comb += [
                    self.write.valid.eq(1),
                    self.write.p.address.eq(address + groups),
                    self.write.p.data.eq(self.i.p.momentum),
                    self.i.ready.eq(self.write.ready),
                ]
                with m.If(self.write.ready):
                    part = self.i.p.operand.as_value()
                    m.d.sync += [
                        operands.eq((operands >> len(part))
                                    | (part << config.data_width - len(part))),
                        address.eq(address + 1),
                        group.eq(group + 1),
                    ]
                    m.next = "MASTER"
                    with m.If(group == groups - 1):
                        m.d.sync += [
                            address.eq(address + 1 + Mux(self.adam, 2 * groups, groups)
                                       + Mux(self.keep | self.kept, 2 * groups, 0)),
                            group.eq(0),
                        ]
                        m.next = "SEND"
            with m.State("SEND"):
                m.d.comb += self.flits.valid.eq(~self.keep)
                with m.If(self.flits.ready | self.keep):
                    m.d.sync += [left.eq(left - 1), index.eq(index + config.cores)]
                    m.next = "MASTER"
        with m.If(self.start):
            m.d.sync += [
                left.eq(self.rows),
                address.eq(self.address + Mux(self.adam & ~self.keep, groups, 0)
                           + Mux(self.kept, 2 * groups, 0)),
                index.eq(self.index),
            ]
        return m
