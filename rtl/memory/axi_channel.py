# SPDX-License-Identifier: BSD-2-Clause
"""A memory channel in external memory, through AXI4."""

from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hypercast.errors import InputError
from hypercast.rtl.config import Config
from hypercast.rtl.layouts import Channel
from hypercast.rtl.memory.axi4 import Axi4
from hypercast.rtl.memory.axi_reader import AxiReader
from hypercast.rtl.memory.axi_writer import AxiWriter

__all__ = ["AxiChannel"]


class AxiChannel(wiring.Component):
    """``config.channel_words`` words of external memory behind a ``Channel``.

    A word is a beat, full and aligned: nothing is read to be written back. Bursts have at most 16
    beats and do not cross 4 KiB, so ports of AXI3 serve as well, such as the ports of AMD's HBM
    controller (PG276, 256 bits: a word at ``lanes`` 16).

    Parameters
    ----------
    config : Config
        Configuration.
    address_width : int
        Bits of a byte address, up to 64.

    Members
    -------
    channel : In(Channel(config))
        The channel. A read adds two cycles to the memory's latency.
    base : In(address_width)
        Byte address of word 0, a multiple of the channel's size (lower bits are ignored); does not
        change.
    axi : Out(Axi4(address_width, config.word_width))
        The memory. All outputs come straight from registers.
    fault : Out(1)
        High for a cycle after a response other than OKAY to a read or a write.
    quiesce : In(1)
        From then on no burst is begun, and what is read is dropped; stays until the reset.
    unfinished : Out(1)
        Bursts are under way. The memory would answer to them after a reset, too.

    Raises
    ------
    InputError
        If addresses are too narrow for the channel, or wider than 64 bits.
    """

    def __init__(self, config: Config, address_width: int) -> None:
        size = config.channel_bytes
        least = size.bit_length() - 1
        if not least <= address_width <= 64:
            raise InputError(f"address_width must be {least} to 64 for a channel of {size} bytes, "
                             f"not {address_width}")
        self._config = config
        self._address_width = address_width
        super().__init__({
            "channel": In(Channel(config)),
            "base": In(address_width),
            "axi": Out(Axi4(address_width, config.word_width)),
            "fault": Out(1),
            "quiesce": In(1),
            "unfinished": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.reader = reader = AxiReader(self._config, self._address_width)
        m.submodules.writer = writer = AxiWriter(self._config, self._address_width)
        channel = wiring.flipped(self.channel)
        wiring.connect(m, channel.read_request, reader.request)
        wiring.connect(m, reader.data, channel.read_data)
        wiring.connect(m, channel.write, writer.write)
        wiring.connect(m, reader.axi, wiring.flipped(self.axi.read))
        wiring.connect(m, writer.axi, wiring.flipped(self.axi.write))
        m.d.comb += [
            reader.base.eq(self.base),
            writer.base.eq(self.base),
            self.channel.idle.eq(writer.idle),
            self.fault.eq(reader.fault | writer.fault),
            reader.quiesce.eq(self.quiesce),
            writer.quiesce.eq(self.quiesce),
            self.unfinished.eq(reader.unfinished | writer.unfinished),
        ]
        return m
