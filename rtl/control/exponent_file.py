# SPDX-License-Identifier: BSD-2-Clause
"""Exponent file: what the controller knows about each tensor."""

from amaranth.hdl import Module, Mux, Signal, signed, unsigned
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from hypercast.rtl.config import Config
from hypercast.rtl.isa import EXPONENT_WIDTH
from hypercast.rtl.layouts import HostRequest
from hypercast.rtl.lib.parity_memory import ParityMemory
from hypercast.rtl.registers import Space

__all__ = ["ExponentEntry", "ExponentFile"]


class ExponentEntry(data.Struct):
    """Entry of the exponent file; ``Space.TENSORS`` describes its bits.

    Every value's magnitude was below ``2 ** peak`` if ``valid``.
    """

    exponent: signed(EXPONENT_WIDTH)
    peak: signed(EXPONENT_WIDTH)
    valid: unsigned(1)


class ExponentFile(wiring.Component):
    """``config.tensors`` entries, served to the window as ``Space.TENSORS``.

    Parameters
    ----------
    config : Config
        Configuration.

    Members
    -------
    read_tensor : In(log2 tensors)
        Entry to read.
    read_entry : Out(ExponentEntry)
        The entry, one cycle later; a write in the cycle of the read is not yet seen.
    fault : Out(1)
        High for a cycle after an entry was read that is not what was written, by the window, too.
    write : In(1)
        High to write ``write_entry``; never in the cycle of a request.
    write_tensor, write_entry : In(log2 tensors), In(ExponentEntry)
        What to write; valid with ``write``.
    request, request_valid : In(HostRequest), In(1)
        Window access, as in ``ControlPort``. ``read_tensor`` is not read in the cycle of a request.
    response, response_valid : Out(32), Out(1)
        Answer, two cycles after the request; both are zero otherwise.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        super().__init__({
            "read_tensor": In(range(config.tensors)),
            "read_entry": Out(ExponentEntry),
            "fault": Out(1),
            "write": In(1),
            "write_tensor": In(range(config.tensors)),
            "write_entry": In(ExponentEntry),
            "request": In(HostRequest),
            "request_valid": In(1),
            "response": Out(32),
            "response_valid": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.memory = memory = ParityMemory(
            ExponentEntry.as_shape().size, self._config.tensors)
        [read], write = memory.reads, memory.write

        request = self.request
        access, answer = Signal(), Signal()
        m.d.comb += [
            access.eq(self.request_valid & (request.space == Space.TENSORS)
                      & (request.address < self._config.tensors)),
            read.addr.eq(Mux(access, request.address, self.read_tensor)),
            read.en.eq(1),
            self.read_entry.as_value().eq(read.data),
            write.en.eq(self.write | (access & request.write)),
            write.addr.eq(Mux(access, request.address, self.write_tensor)),
            write.data.eq(Mux(access, request.data, self.write_entry.as_value())),
        ]
        m.d.sync += [
            self.fault.eq(read.fault),
            answer.eq(access),
            self.response_valid.eq(answer),
            self.response.eq(Mux(answer, read.data, 0)),
        ]
        return m
