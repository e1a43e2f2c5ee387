# SPDX-License-Identifier: BSD-2-Clause
"""A core's end of the host's window and of the bulk port."""

from amaranth.hdl import Cat, Module, Mux, Signal, ValueLike
from amaranth.lib import data, wiring
from amaranth.lib.fifo import SyncFIFO
from amaranth.lib.wiring import In, Out

from hypercast.rtl.config import Config
from hypercast.rtl.control.core_host import space_members
from hypercast.rtl.layouts import bulk_request, bulk_width
from hypercast.rtl.registers import COUNTERS, CoreSpace, Space

__all__ = ["ROOM", "BulkHost"]

#: Requests that a core has room for.
ROOM = 16
#: Cycles from one word to the next in a channel that is being read.
_DISTANCE = 4
#: No space.
_NOWHERE = 7


class BulkHost(wiring.Component):
    """Carries out the requests to this core, one after the other; in place of ``CoreHost``.

    A memory word, or a row of weights, is ``config.chunks`` pieces of 32 bits, low piece first.
    Writes are gathered, and the word is written with its last piece: write all of a word's pieces
    in order. Requests to other cores alone, and addresses outside their space, get no answer.

    A write of the bulk port takes a cycle, a word of a memory channel as many as it has parts of
    ``bulk_width`` bits, in both directions. A read begins when all writes before it are visible.

    Bursts may write to memory channels while a program runs, but come after what engines write:
    what an engine waits for must become visible, and moves first. So a channel is given no word
    while it is held. Words that engines read do not hold it, as they would leave little time. A
    word written may take a cycle from them, so it is given one in ``_DISTANCE`` cycles at most
    while they read. Striped bursts take a cycle of each core in turn.

    Parameters
    ----------
    config : Config
        Configuration.

    Members
    -------
    core : In(dimensions)
        This core's address.
    request, request_valid : In(bulk_request(config)), In(1)
        Request to a core, valid with ``request_valid``; at most ``ROOM`` to this one that were not
        ``taken``. The window has at most one, and no read of the bulk port is then under way.
    taken : Out(1)
        High for a cycle for each request that leaves room, except requests to all cores.
        Registered, as are the outputs below.
    settled : Out(1)
        What was written by all requests that were ``taken`` is visible.
    response : Out(bulk_width)
        What was read (after a write, anything); zero while ``response_valid`` is low.
    response_valid : Out(1)
        High for one cycle when an access of the window is complete, and for each part read by the
        bulk port. Writes of the bulk port get no response.
    hold : In(2)
        Bit ``c``: channel ``c`` is to be given no word.
    shared : In(2)
        Bit ``c``: channel ``c`` is being read by others.
    read, write, weights, weights_write, rows_*, counter_*
        What it gives access to; see ``core_host.space_members``.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        super().__init__({
            "core": In(config.dimensions),
            "request": In(bulk_request(config)),
            "request_valid": In(1),
            "taken": Out(1),
            "settled": Out(1),
            "response": Out(bulk_width(config)),
            "response_valid": Out(1),
            "hold": In(2),
            "shared": In(2),
            **space_members(config),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        config = self._config
        width = bulk_width(config)
        piece_bits, chunk_bits = (width // 32 - 1).bit_length(), (config.chunks - 1).bit_length()
        place_bits = (max(config.channel_words, config.weight_rows) - 1).bit_length()

        # Room for requests; a request to an address that is not there becomes one to no space.
        address_bits = max(place_bits + chunk_bits, (2 * CoreSpace.COUNTERS - 1).bit_length())
        queued = data.StructLayout({"all_cores": 1, "space": 3, "address": address_bits,
                                    "write": 1, "bulk": 1, "data": width})
        m.submodules.queue = queue = SyncFIFO(width=queued.size, depth=ROOM)
        arrived, arrived_valid, there = Signal(bulk_request(config)), Signal(), Signal()
        entry, request = data.View(queued, queue.w_data), data.View(queued, queue.r_data)
        waiting = queue.r_rdy
        m.d.sync += [
            arrived.eq(self.request),
            arrived_valid.eq(self.request_valid & (self.request.all_cores
                                                   | (self.request.core == self.core))),
        ]
        m.d.comb += [
            there.eq(arrived.address < Mux(
                arrived.space == Space.WEIGHTS, config.weight_rows * config.chunks,
                Mux(arrived.space == Space.CORE, 2 * CoreSpace.COUNTERS,
                    config.channel_words * config.chunks))),
            *(getattr(entry, name).eq(getattr(arrived, name))
              for name in ("all_cores", "address", "write", "bulk", "data")),
            entry.space.eq(Mux(there, arrived.space, _NOWHERE)),
            queue.w_en.eq(arrived_valid),
        ]

        # A word's address, its part of ``bulk_width`` bits, and that part's piece of 32 bits.
        part = request.address[piece_bits:chunk_bits]
        row = request.address[chunk_bits:]
        last = Mux(request.bulk, part, request.address[:chunk_bits]) == Mux(
            request.bulk, config.word_width // width - 1, config.chunks - 1)

        # A word on its way to a memory; its parts are gathered when the one before has gone.
        gathered, place = Signal(config.word_width), Signal(place_bits)
        free, visible, written = Signal(), Signal(), Signal()
        write, weights_write = self.write.request, self.weights_write
        m.d.comb += [
            write.payload.address.eq(place),
            write.payload.data.eq(gathered),
            weights_write.payload.index.eq(place),
            weights_write.payload.payload.eq(gathered),
            free.eq((~write.valid | write.ready) & (~weights_write.valid | weights_write.ready)),
            visible.eq(~write.valid & ~weights_write.valid & (~written | self.write.idle)),
        ]
        # Others' writes do not matter: once idle, what was written here has arrived.
        with m.If(write.valid & write.ready):
            m.d.sync += written.eq(1)
        with m.Elif(self.write.idle):
            m.d.sync += written.eq(0)
        with m.If(write.ready):
            m.d.sync += write.valid.eq(0)
        with m.If(weights_write.ready):
            m.d.sync += weights_write.valid.eq(0)

        def gather() -> None:
            for chunk in range(config.chunks):
                named = request.address[:chunk_bits] == chunk
                in_part = part == chunk // (width // 32)
                with m.If(Mux(request.bulk, in_part, named)):
                    piece = request.data.word_select(chunk % (width // 32), 32)
                    m.d.sync += gathered.word_select(chunk, 32).eq(piece)

        bank, channel = request.space == Space.WEIGHTS, request.space == Space.GRADIENTS
        m.d.comb += [
            self.read.request.payload.channel.eq(channel),
            self.read.request.payload.address.eq(row),
            self.read.request.payload.length.eq(1),
            self.weights.request.payload.eq(row),
            self.rows_index.eq(request.address - CoreSpace.ROWS),
            self.rows_write_data.eq(request.data),
            self.counter_address.eq(request.address - CoreSpace.COUNTERS),
        ]
        held, pause = Signal(), Signal(range(_DISTANCE))
        with m.If(pause != 0):
            m.d.sync += pause.eq(pause - 1)
        m.d.comb += held.eq(self.hold.bit_select(channel, 1)
                            | (self.shared.bit_select(channel, 1) & (pause != 0)))
        taken, idle, single = Signal(), Signal(), Signal()
        m.d.sync += [self.response.eq(0), self.response_valid.eq(0)]
        m.d.comb += queue.r_en.eq(taken)

        def answer(value: ValueLike = 0) -> None:
            m.d.sync += [self.response_valid.eq(1), self.response.eq(value)]

        def end() -> None:
            m.d.comb += taken.eq(1)
            m.next = "IDLE"

        # Words that were asked for: all their parts, or the one that a request names.
        words, sent = self.read.data, Signal.like(part)
        with m.If(words.valid):
            answer(words.payload.word_select(Mux(single, part, sent), width))
            with m.If(single | (sent == config.word_width // width - 1)):
                m.d.comb += words.ready.eq(1)
                m.d.sync += sent.eq(0)
            with m.Else():
                m.d.sync += sent.eq(sent + 1)

        whole = request.bulk & (request.data[:5] != 0)
        with m.If(whole):
            m.d.comb += self.read.request.payload.length.eq(request.data[:5])
        with m.FSM():
            with m.State("IDLE"):
                m.d.comb += idle.eq(1)
                with m.If(waiting):
                    with m.Switch(request.space):
                        with m.Case(Space.FEATURES, Space.GRADIENTS, Space.WEIGHTS):
                            with m.If(request.write & free
                                      & (bank | ~held)):
                                gather()
                                m.d.sync += [place.eq(row), write.payload.channel.eq(channel)]
                                with m.If(last):
                                    m.d.sync += pause.eq(_DISTANCE - 1)
                                    m.d.sync += Cat(write.valid, weights_write.valid).eq(1 << bank)
                                with m.If(last & ~request.bulk):
                                    m.next = "VISIBLE"
                                with m.Else():
                                    end()
                                    with m.If(~request.bulk):
                                        answer()
                            with m.Elif(~request.write & visible):
                                with m.If(bank):
                                    m.next = "READ_WEIGHTS"
                                with m.Else():
                                    m.d.sync += self.read.request.valid.eq(1)
                                    m.next = "READ"
                        with m.Case(Space.CORE):
                            with m.If(request.address < CoreSpace.ROWS + config.row_counts):
                                m.d.comb += self.rows_write.eq(request.write)
                                m.next = "ROWS"
                            with m.Elif((request.address >= CoreSpace.COUNTERS) & ~request.write
                                        & (request.address < CoreSpace.COUNTERS + len(COUNTERS))):
                                m.next = "COUNTER"
                            with m.Else():
                                end()
                        with m.Default():
                            end()

            with m.State("READ"), m.If(self.read.request.ready):
                m.d.sync += self.read.request.valid.eq(0)
                with m.If(whole):
                    end()
                with m.Else():
                    m.next = "WORD"
            with m.State("WORD"):
                m.d.comb += single.eq(1)
                with m.If(words.valid):
                    end()
            with m.State("VISIBLE"), m.If(visible):
                answer()
                end()
            with m.State("READ_WEIGHTS"):
                m.d.comb += self.weights.request.valid.eq(1)
                with m.If(self.weights.request.ready):
                    m.next = "WEIGHTS"
            with m.State("WEIGHTS"):
                answer(self.weights.data.word_select(part, width))
                end()
            with m.State("ROWS"):
                answer(self.rows_data)
                end()
            with m.State("COUNTER"):
                answer(self.counter_data)
                end()
        m.d.sync += [
            self.taken.eq(taken & ~request.all_cores),
            self.settled.eq(visible & idle & ~waiting & ~arrived_valid),
        ]
        return m
