# SPDX-License-Identifier: BSD-2-Clause
"""One corner of the hypercube network."""

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from hypercast.rtl.config import Config
from hypercast.rtl.layouts import Link, flit
from hypercast.rtl.network import deadlock, routing
from hypercast.rtl.network.age import FRAME_WIDTH
from hypercast.rtl.network.ejection_port import EjectionPort
from hypercast.rtl.network.input_buffer import InputBuffer
from hypercast.rtl.network.link_input import LinkInput
from hypercast.rtl.network.link_output import LinkOutput

__all__ = ["Router"]


class Router(wiring.Component):
    """Multicast router with one virtual channel per plane.

    There is an input buffer for every plane and incoming dimension, and one per plane for
    injection. The flit at the head of each is offered to its outputs, and served by each as that
    becomes free, older flits first (``age``); only paths that ``routing`` can use exist. A hop
    takes three cycles: arbitration, selection of what was granted, and the link. A credit is back
    in the fourth, so a single plane keeps a link full from ``buffer_depth`` 4 on. From ``inject``
    to ``eject`` of neighbours it is 6 cycles.

    Guaranteed, as long as every core goes on accepting what is ejected, is that every destination
    of a flit gets it exactly once, and flits of the same source and plane arrive in order. A core
    that stops accepting at a port holds up the flits for it in that port's planes, and in those
    planes whatever waits behind them; other planes keep moving. Injection is in order, so a core
    whose next flit belongs to a plane without room injects nothing until there is.

    Parameters
    ----------
    config : Config
        Configuration of the chip.

    Members
    -------
    inject : In(stream of flit)
        Flits to send: destinations relative to this core, which may be one of them (a flit
        without any is dropped), source 0. ``ready`` depends on the plane of the flit offered.
    eject : Out(stream of flit), one per ejection port
        Flits received; ``self XOR source`` sent them. Port ``e`` has flits of planes ``r`` with
        ``r mod config.eject = e``.
    outgoing, incoming : Link, one per dimension
        Links to and from the neighbour across each dimension; no input reaches an output in the
        same cycle.
    frame : In(FRAME_WIDTH)
        The present frame, the same in all routers; see ``age``.
    sent : Out(dimensions)
        Performance hook: bit ``d`` is high for one cycle per flit sent along dimension ``d``.
    faults : Out(dimensions)
        Bit ``d`` is high for one cycle when something wrong came over dimension ``d``; see
        ``LinkInput.fault``.

    Raises
    ------
    DeadlockError
        When elaborated, if the network could deadlock.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        super().__init__({
            "inject": In(stream.Signature(flit(config))),
            "eject": Out(stream.Signature(flit(config))).array(config.eject),
            "outgoing": Out(Link(config)).array(config.dimensions),
            "incoming": In(Link(config)).array(config.dimensions),
            "frame": In(FRAME_WIDTH),
            "sent": Out(config.dimensions),
            "faults": Out(config.dimensions),
        })

    def elaborate(self, platform: object) -> Module:
        config = self._config
        m = Module()
        inputs = {}
        for dimension in range(config.dimensions):
            m.submodules[f"input_{dimension}"] = inputs[dimension] = LinkInput(config)
            connect(m, flipped(self.incoming[dimension]), inputs[dimension].link)
            m.d.comb += self.faults[dimension].eq(inputs[dimension].fault)
        # What the deadlock check is about: where each buffer's flits can go, in the same plane.
        paths = {}
        # Requests by output: an ejection port ("eject", port) or a link ("link", dimension).
        requests: dict[tuple[str, int], list[tuple[int, InputBuffer, int]]] = {}
        for plane in range(config.planes):
            for arrival in routing.arrivals(config.dimensions):
                side = "inject" if arrival is None else arrival
                buffer = InputBuffer(config, plane, arrival)
                m.submodules[f"buffer_{plane}_{side}"] = buffer
                m.d.comb += buffer.frame.eq(self.frame)
                if arrival is None:
                    self._inject(m, buffer, plane)
                else:
                    self._receive(m, buffer, plane, inputs[arrival])
                paths[arrival, plane] = [(dimension, plane) for dimension in buffer.outputs]
                ejection = "eject", plane % config.eject
                ways = [ejection, *(("link", dimension) for dimension in buffer.outputs)]
                for number, way in enumerate(ways):
                    requests.setdefault(way, []).append((plane, buffer, number))

        deadlock.check(config.dimensions, paths)

        for (kind, number), requesters in requests.items():
            planes = [plane for plane, _, _ in requesters]
            if kind == "link":
                output = LinkOutput(config, number, planes)
                connect(m, output.link, flipped(self.outgoing[number]))
                m.d.comb += self.sent[number].eq(output.link.valid)
            else:
                output = EjectionPort(config, len(planes))
                connect(m, output.eject, flipped(self.eject[number]))
            m.submodules[f"{kind}_{number}"] = output
            m.d.comb += output.requests.eq(
                Cat(buffer.requests[bit] for _, buffer, bit in requesters))
            for index, (_, buffer, bit) in enumerate(requesters):
                m.d.comb += [
                    output.flits[index].eq(buffer.head),
                    output.ages[index].eq(buffer.age),
                    output.favoured[index].eq(buffer.favoured[bit]),
                    buffer.served[bit].eq(output.grants[index]),
                ]
        return m

    def _inject(self, m: Module, buffer: InputBuffer, plane: int) -> None:
        """Feed ``buffer`` from the injection port."""
        own = Signal(name=f"inject_{plane}")
        m.d.comb += [
            own.eq(self.inject.payload.plane == plane),
            buffer.write.eq(self.inject.valid & own & buffer.room),
            buffer.flit.eq(self.inject.payload),
            buffer.flit.frame.eq(self.frame),
        ]
        with m.If(own):
            m.d.comb += self.inject.ready.eq(buffer.room)

    @staticmethod
    def _receive(m: Module, buffer: InputBuffer, plane: int, source: LinkInput) -> None:
        """Feed ``buffer`` from the receiving end of a link."""
        m.d.comb += [
            buffer.write.eq(source.write[plane]),
            buffer.flit.eq(source.flit),
            source.room[plane].eq(buffer.room),
            source.leaves[plane].eq(buffer.leaves),
        ]
