# SPDX-License-Identifier: BSD-2-Clause
"""The crossbar of writes."""

from functools import partial

from amaranth.hdl import Assert, Assume, Cat, Module, Mux

from hypercast.proofs.configuration import small
from hypercast.proofs.proof import Proof
from hypercast.proofs.solver import Bench
from hypercast.proofs.words import is_held, past
from hypercast.rtl.memory.write_crossbar import WriteCrossbar

__all__ = ["PROOFS"]


def _bench(clients: int) -> Bench:
    """Each word goes to its channel, once, a cycle later, and stays until it is taken."""
    m = Module()
    m.submodules.dut = dut = WriteCrossbar(small(), clients)
    requests = [client.request for client in dut.clients]
    for client in dut.clients:
        m.d.comb += [
            Assume(is_held(m, client.request)),
            Assert(client.idle == (dut.channel_idle.all()
                                   & ~Cat(write.valid for write in dut.write).any())),
        ]
    for number, write in enumerate(dut.write):
        wanted = [request.valid & (request.p.channel == number) for request in requests]
        taken = [want & request.ready for want, request in zip(wanted, requests, strict=True)]
        payload = 0
        for one, request in zip(taken, requests, strict=True):
            payload |= Mux(one, Cat(request.p.address, request.p.data), 0)
        some, expected = past(m, Cat(taken).any()), past(m, payload)
        m.d.comb += [
            Assert(is_held(m, write)), Assert(sum(taken) <= 1),
            Assert(dut.written[number] == (write.valid & write.ready)),
            Assert(~some | (Cat(write.p.address, write.p.data) == expected)),
            Assert(write.valid == (some | past(m, write.valid & ~write.ready))),
            Assert(Cat(taken).any() == (Cat(wanted).any() & (~write.valid | write.ready))),
        ]
    inputs = [dut.channel_idle, *(write.ready for write in dut.write)]
    for request in requests:
        inputs += [request.valid, request.payload]
    return Bench(m, inputs, [Cat(write.valid & ~write.ready for write in dut.write).all()])


PROOFS = [
    Proof(block="write_crossbar", size=f"{clients} clients", bench=partial(_bench, clients),
          claim="each word goes to its channel once, at once if it is free, and is held")
    for clients in (1, 3)
]
