# SPDX-License-Identifier: BSD-2-Clause
"""One core: engines, memory channels, router, and the wires between them."""

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from hypercast.rtl import isa
from hypercast.rtl.aggregation.receiver import Receiver
from hypercast.rtl.aggregation.sender import Sender
from hypercast.rtl.array.array_engine import ArrayEngine
from hypercast.rtl.config import Config
from hypercast.rtl.control.bulk_host import BulkHost
from hypercast.rtl.control.core_host import CoreHost
from hypercast.rtl.control.counters import Counters
from hypercast.rtl.control.row_table import RowTable
from hypercast.rtl.isa import WAITS_WIDTH
from hypercast.rtl.layouts import (
    CONTROL,
    OPERANDS,
    HostRequest,
    Issue,
    Link,
    bulk_request,
    bulk_width,
    flit,
)
from hypercast.rtl.lib.stream_merge import StreamMerge
from hypercast.rtl.limits import ERROR_WIDTH, PEAK_WIDTH
from hypercast.rtl.memory.axi4 import Axi4, offset_width
from hypercast.rtl.memory.axi_channel import AxiChannel
from hypercast.rtl.memory.read_crossbar import ReadCrossbar
from hypercast.rtl.memory.simulated_channel import memory_channel
from hypercast.rtl.memory.weight_bank import WeightBank
from hypercast.rtl.memory.write_crossbar import WriteCrossbar
from hypercast.rtl.network.age import FrameCounter
from hypercast.rtl.network.router import Router
from hypercast.rtl.vector.vector_unit import VectorUnit

__all__ = ["Core", "core_signature"]

#: What the memory channels are called after.
_CHANNELS = ("features", "gradients")


def core_signature(config: Config, *, external: bool = False,
                   bulk: bool = False) -> dict[str, wiring.Member]:
    """Members of ``Core``, for whoever stands in for it."""
    host = {
        "request": In(bulk_request(config)), "request_valid": In(1),
        "response": Out(bulk_width(config)), "response_valid": Out(1),
        "taken": Out(1), "settled": Out(1),
    } if bulk else {
        "request": In(HostRequest), "request_valid": In(1),
        "response": Out(32), "response_valid": Out(1),
    }
    memory = {
        "memory": Out(Axi4(offset_width(config), config.word_width)).array(2),
        "quiesce": In(1),
        "unfinished": Out(1),
    } if external else {}
    return {
        "core": In(config.dimensions),
        "outgoing": Out(Link(config)).array(config.dimensions),
        "incoming": In(Link(config)).array(config.dimensions),
        "issue": In(Issue),
        "issue_valid": In(1),
        "clear": In(1),
        "busy": Out(WAITS_WIDTH),
        "peak": Out(PEAK_WIDTH),
        "error": Out(ERROR_WIDTH),
        "progress": Out(1),
        **host,
        **memory,
    }


class Core(wiring.Component):
    """One core of the hypercube, with its two private memory channels.

    All cores are the same module; a core learns its address from ``core``. Every output comes from
    a register, and no input reaches an output in the same cycle.

    Parameters
    ----------
    config : Config
        Configuration of the chip.
    external : bool
        Whether the channels' memory is outside of the chip.
    bulk : bool
        Whether the chip has a bulk port.

    Members
    -------
    core : In(dimensions)
        This core's address; constant.
    outgoing, incoming : Link, one per dimension
        Links to and from the neighbour across each dimension.
    issue, issue_valid : In
        Instruction broadcast; ``issue`` is valid in the cycle ``issue_valid`` is high.
    clear : In(1)
        High for one cycle when a program starts: clears the performance counters and the network's
        clock.
    busy : Out(WAITS_WIDTH)
        Engines at work, bits as in ``isa.Engine``.
    peak : Out(PEAK_WIDTH)
        Bit length of the largest magnitude the vector unit's last instruction requantized; valid
        while its busy bit is low.
    error : Out(ERROR_WIDTH)
        Bit 0 is high for a cycle when a flit arrived that no instruction announced, bit 1 when
        something wrong came over a link, bit 2 when a memory failed or a word in it had changed,
        bit 3 when a sum did not fit an accumulator.
    progress : Out(1)
        High for a cycle when a flit, a memory word or an operand of the array moved.
    request, request_valid : In
        Window access by the host, valid with ``request_valid``.
    response, response_valid : Out
        The answer to an access, zero unless this core was meant.
    taken, settled : Out(1), Out(1)
        With a bulk port, see ``BulkHost``; ``request`` and ``response`` are then as there, too.
    memory : Out(Axi4), one per channel
        If external: the channel's memory. Byte addresses are offsets in the channel.
    quiesce, unfinished : In(1), Out(1)
        If external: from ``quiesce`` on, until the reset, the memory is asked for nothing more, and
        ``unfinished`` tells, three cycles later, whether it still has something to answer.
    """

    def __init__(self, config: Config, *, external: bool = False, bulk: bool = False) -> None:
        self._config = config
        self._external = external
        self._bulk = bulk
        super().__init__(core_signature(config, external=external, bulk=bulk))

    def elaborate(self, platform: object) -> Module:
        config = self._config
        m = Module()
        m.submodules.router = router = Router(config)
        m.submodules.frames = frames = FrameCounter()
        m.submodules.sender = sender = Sender(config)
        m.submodules.receiver = receiver = Receiver(config)
        m.submodules.array = array = ArrayEngine(config)
        m.submodules.vector = vector = VectorUnit(config)
        m.submodules.weights = weights = WeightBank(config)
        m.submodules.rows = rows = RowTable(config)
        m.submodules.host = host = BulkHost(config) if self._bulk else CoreHost(config)
        m.submodules.counters = counters = Counters(config)

        # Links.
        for dimension in range(config.dimensions):
            connect(m, router.outgoing[dimension], flipped(self.outgoing[dimension]))
            connect(m, router.incoming[dimension], flipped(self.incoming[dimension]))
        m.submodules.injection = injection = StreamMerge(flit(config), 3)
        for index, flits in enumerate((sender.flits, array.flits, vector.flits)):
            connect(m, flits, injection.i[index])
        connect(m, injection.o, router.inject)
        for port in range(config.eject):
            connect(m, router.eject[port], receiver.flits[port])

        # Memory.
        both = (0, 1)
        readers = ((sender.data, both), (sender.list, (1,)), (receiver.edges, (1,)),
                   (array.left, both), (array.right, both), (array.index, (1,)),
                   (vector.primary, both), (vector.secondary, (1,)), (host.read, both))
        m.submodules.reads = reads = ReadCrossbar(config, [channels for _, channels in readers])
        for index, (port, _) in enumerate(readers):
            connect(m, port, reads.clients[index])
        faults = {"weights_faults": weights.fault,
                  "buffer_faults": array.fault | sender.fault | vector.fault | rows.fault}
        m.submodules.writes = writes = WriteCrossbar(config, 2)
        connect(m, vector.write, writes.clients[0])
        connect(m, host.write, writes.clients[1])
        channels = []
        for index, name in enumerate(_CHANNELS):
            memory = AxiChannel(config, offset_width(config)) if self._external \
                else memory_channel(config, seed=index + 1)
            m.submodules[f"channel_{index}"] = memory
            connect(m, reads.read_request[index], memory.channel.read_request)
            connect(m, memory.channel.read_data, reads.read_data[index])
            connect(m, writes.write[index], memory.channel.write)
            m.d.comb += writes.channel_idle[index].eq(memory.channel.idle)
            faults[f"{name}_faults"] = memory.fault
            if self._external:
                connect(m, memory.axi, flipped(self.memory[index]))
                channels.append(memory)
        if self._external:
            quiesce = Signal()
            m.d.sync += [quiesce.eq(self.quiesce),
                         self.unfinished.eq(Cat(one.unfinished for one in channels).any())]
            m.d.comb += [one.quiesce.eq(quiesce) for one in channels]

        # What the vector unit writes, for the engines that read it next.
        for target, port in ((isa.Bypass.LEFT, array.bypass_left),
                             (isa.Bypass.RIGHT, array.bypass_right),
                             (isa.Bypass.SEND, sender.bypass)):
            connect(m, vector.bypass[target], port)

        # Accumulators and weights.
        connect(m, vector.array, array.drain)
        connect(m, vector.aggregation, receiver.drain)
        for reader, port in zip((vector, host, array), weights.reads, strict=True):
            connect(m, reader.weights, port)
        connect(m, host.weights_write, weights.host)
        for port in range(config.eject):
            connect(m, receiver.weights[port], weights.arrivals[port])

        # The host's window.
        m.d.comb += [
            host.request.eq(self.request),
            host.request_valid.eq(self.request_valid),
            self.response.eq(host.response),
            self.response_valid.eq(host.response_valid),
            rows.host_index.eq(host.rows_index),
            rows.host_write.eq(host.rows_write),
            rows.host_data.eq(host.rows_write_data),
            host.rows_data.eq(rows.host_rows),
            counters.address.eq(host.counter_address),
            host.counter_data.eq(counters.data),
        ]
        if self._bulk:
            m.d.comb += [self.taken.eq(host.taken), self.settled.eq(host.settled)]
            # Engines that write go first: a channel that they wanted a cycle ago is theirs.
            wanted = vector.write.request
            for number in both:
                m.d.sync += [
                    host.hold[number].eq(
                        vector.finishing | (wanted.valid & (wanted.p.channel == number))),
                    host.shared[number].eq(
                        reads.read_request[number].valid | reads.read_words[number]),
                ]

        # Instructions: registered once, then each engine sees its own.
        issue = Signal(Issue)
        valid = Signal()
        m.d.sync += [issue.eq(self.issue), valid.eq(self.issue_valid)]
        header = CONTROL(issue.instruction[:CONTROL.size])
        aggregate = OPERANDS[isa.Opcode.AGGREGATE](issue.instruction)
        update = OPERANDS[isa.Opcode.UPDATE](issue.instruction)

        def starts(engine: isa.Engine) -> Value:
            return valid & Cat(header.opcode == opcode for opcode in isa.opcodes_of(engine)).any()

        m.d.comb += [
            # Read while the instruction is registered.
            rows.index.eq(OPERANDS[isa.Opcode.AGGREGATE](self.issue.instruction).vertices),
            sender.start.eq(starts(isa.Engine.AGGREGATE) & ~aggregate.prefetch),
            receiver.start.eq(starts(isa.Engine.AGGREGATE)),
            receiver.reduce_start.eq(starts(isa.Engine.REDUCTION)),
            array.start.eq(starts(isa.Engine.ARRAY)),
            vector.start.eq(starts(isa.Engine.VECTOR)),
            weights.expect_valid.eq(starts(isa.Engine.WEIGHTS)),
            weights.expect.eq(Mux(update.keep, 0, update.rows)),
        ]
        for engine in (sender, receiver, array, vector):
            m.d.comb += engine.issue.eq(issue)
        for engine in (sender, array, vector):
            m.d.comb += engine.rows.eq(rows.rows)
        for engine in (receiver, array, vector, host):
            m.d.comb += engine.core.eq(self.core)

        # Status.
        sent = injection.o.valid & injection.o.ready
        received = Cat(port.valid & port.ready for port in router.eject)
        busy = {
            isa.Engine.AGGREGATE: sender.busy | receiver.busy,
            isa.Engine.ARRAY: array.busy,
            isa.Engine.VECTOR: vector.busy,
            isa.Engine.REDUCTION: receiver.reduction_busy,
            isa.Engine.WEIGHTS: weights.busy,
        }
        m.d.sync += [
            *(self.busy[engine].eq(value) for engine, value in busy.items()),
            self.peak.eq(vector.peak),
            self.error.eq(Cat(receiver.error | weights.error, router.faults.any(),
                              Cat(faults.values()).any(), receiver.overflow)),
            self.progress.eq(Cat(
                sent, received, router.sent, reads.read_words, writes.written,
                array.words).any()),
        ]

        # Counters.
        clear = Signal()
        m.d.sync += clear.eq(self.clear)
        m.d.comb += [
            counters.clear.eq(clear),
            receiver.clear.eq(clear),
            vector.clear.eq(clear),
            frames.clear.eq(clear),
            router.frame.eq(frames.frame),
        ]
        counted = {
            "sent": sent,
            "link_faults": router.faults.any(),
            **faults,
            "send_blocked": injection.o.valid & ~injection.o.ready,
            "edges": receiver.edge_count,
            "edge_starved": receiver.starved,
            "array_words": array.words,
            "array_starved": array.starved,
            "array_blocked": array.blocked,
            "vector_words": vector.words,
            "vector_starved": vector.starved,
            "vector_blocked": vector.blocked,
            "saturations": vector.saturations,
            **{f"{name}_read": reads.read_words[index] for index, name in enumerate(_CHANNELS)},
            **{f"{name}_written": writes.written[index] for index, name in enumerate(_CHANNELS)},
            **{f"link_{dimension}": router.sent[dimension]
               for dimension in range(config.dimensions)},
        }
        assert counted.keys() == counters.increments.signature.members.keys()
        m.d.comb += [getattr(counters.increments, name).eq(value)
                     for name, value in counted.items()]
        for split in range(3):
            m.d.comb += [
                counters.losses[split].eq(vector.losses[split]),
                counters.hits[split].eq(vector.hits[split]),
                counters.misses[split].eq(vector.misses[split]),
            ]
        return m
