# SPDX-License-Identifier: BSD-2-Clause
"""Shares a core's two memory channels among the clients that write."""

from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hypercast.errors import InputError
from hypercast.rtl.config import Config
from hypercast.rtl.layouts import Channel, WritePort
from hypercast.rtl.lib.stream_merge import StreamMerge

__all__ = ["WriteCrossbar"]


class WriteCrossbar(wiring.Component):
    """Takes words from the clients round robin, per channel; adds one cycle.

    Parameters
    ----------
    config : Config
        Configuration.
    clients : int
        Number of clients, at least 1.

    Members
    -------
    clients : array of In(WritePort(config))
        Clients.
    write : array of Out(stream)
        As in ``Channel``, for channels 0 and 1.
    channel_idle : In(2)
        ``idle`` of both channels.
    written : Out(2)
        Bit ``c`` is high in a cycle in which channel ``c`` takes a word.

    Raises
    ------
    InputError
        If there is no client.
    """

    def __init__(self, config: Config, clients: int) -> None:
        if clients < 1:
            raise InputError(f"WriteCrossbar needs at least one client, not {clients}")
        self._count = clients
        write = Channel(config).members["write"]
        self._shape = write.signature.members["payload"].shape
        super().__init__({
            "clients": In(WritePort(config)).array(clients),
            "write": write.array(2),
            "channel_idle": In(2),
            "written": Out(2),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        merges = [StreamMerge(self._shape, self._count) for _ in range(2)]
        idle = self.channel_idle.all()
        for number, merge in enumerate(merges):
            m.submodules[f"channel_{number}"] = merge
            write = self.write[number]
            wiring.connect(m, merge.o, wiring.flipped(write))
            m.d.comb += self.written[number].eq(write.valid & write.ready)
            idle &= ~merge.o.valid
            for client, target in zip(self.clients, merge.i, strict=True):
                request = client.request
                m.d.comb += [
                    target.p.address.eq(request.p.address),
                    target.p.data.eq(request.p.data),
                ]
                with m.If(request.p.channel == number):
                    m.d.comb += [target.valid.eq(request.valid), request.ready.eq(target.ready)]
        for client in self.clients:
            m.d.comb += client.idle.eq(idle)
        return m
