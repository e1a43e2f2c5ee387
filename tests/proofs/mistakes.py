# SPDX-License-Identifier: BSD-2-Clause
"""Mistakes to be put into blocks, and the claims that they break."""

import inspect
import types
from dataclasses import dataclass

from amaranth.lib import fifo as amaranth_fifo

from hypercast.proofs import aggregation, control, folding, lib, memory, network, vector
from hypercast.proofs import serial as link
from hypercast.proofs.catalogue import PROOFS
from hypercast.rtl.aggregation import row_requests
from hypercast.rtl.control import axi_lite, controller, instruction_fetch, watchdog, window
from hypercast.rtl.folding import fold, pace, slots
from hypercast.rtl.lib import (
    burst_reader,
    priority_arbiter,
    rank_reader,
    round_robin_arbiter,
    skid_buffer,
    stream_merge,
    unpacker,
)
from hypercast.rtl.memory import axi_reader, axi_writer, read_crossbar, write_crossbar
from hypercast.rtl.network import (
    ejection_port,
    input_buffer,
    link_output,
    request_queue,
    router,
)
from hypercast.rtl.serial import frame_buffer, session
from hypercast.rtl.vector import credit_fifo

__all__ = ["MISTAKES", "Mistake", "mistaken"]


def mistaken(module, old, new):
    """A copy of a Python module in whose text ``new`` stands for the first ``old``."""
    source = inspect.getsource(module)
    assert old in source
    copy = types.ModuleType("mistaken")
    copy.__package__ = module.__package__
    exec(compile(source.replace(old, new, 1), "mistaken", "exec"), copy.__dict__)
    return copy


@dataclass(frozen=True)
class Mistake:
    """A mistake in a module, and what is then no longer true.

    Parameters
    ----------
    block : str
        The block of which something is claimed.
    claim : str
        How the claim begins.
    user : module
        Module that uses the one with the mistake.
    name : str
        What it uses of it: a name in the module, or another for the module itself.
    module : module
        Where the mistake is.
    old, new : str
        Text that is right, and that stands in its place.
    slow : bool
        It takes more than a few seconds to find.
    """

    block: str
    claim: str
    user: types.ModuleType
    name: str
    module: types.ModuleType
    old: str
    new: str
    slow: bool = False

    @property
    def proofs(self):
        """The proofs of the claim, one for each size."""
        return [proof for proof in PROOFS
                if proof.block == self.block and proof.claim.startswith(self.claim)]

    def put_in(self, monkeypatch):
        """Let ``user`` use a copy of ``module`` with the mistake."""
        copy = mistaken(self.module, self.old, self.new)
        monkeypatch.setattr(self.user, self.name, getattr(copy, self.name, copy))


MISTAKES = [
    # Takes words when it is full; overwrites what was not taken.
    Mistake("fifo", "loses nothing, keeps the order, and its flags", lib.fifo, "SyncFIFO",
            amaranth_fifo, "self.w_rdy.eq(self.level != self.depth)", "self.w_rdy.eq(1)"),
    Mistake("fifo", "loses nothing, keeps the order, and refuses", lib.fifo, "SyncFIFOBuffered",
            amaranth_fifo, "inner_r_rdy & (~self.r_rdy | self.r_en)", "inner_r_rdy"),
    Mistake("skid_buffer", "loses", lib.skid_buffer, "SkidBuffer", skid_buffer,
            "spare.eq(payload_in)", "spare.eq(payload_out)"),
    # Gives credits for room that is promised already.
    Mistake("credit_fifo", "has room", vector.credit_fifo, "CreditFIFO", credit_fifo,
            "used != self._depth", "queue.w_rdy"),
    # Asks when there is no room; asks for more than was commanded.
    Mistake("burst_reader", "asks", lib.burst_reader, "BurstReader", burst_reader,
            "(reserved <= depth - burst)", "queue.w_rdy"),
    Mistake("burst_reader", "asks", lib.burst_reader, "BurstReader", burst_reader,
            "length.eq(Mux(last, todo.count, burst))", "length.eq(burst)"),
    # Begins a list with what is left of the word before; asks for a word too few.
    Mistake("rank_reader", "asks", lib.rank_reader, "RankReader", rank_reader,
            "unpacker.flush.eq(left == 1)", "unpacker.flush.eq(0)"),
    Mistake("rank_reader", "asks", lib.rank_reader, "RankReader", rank_reader,
            "(self.rows + (config.ranks_in_word - 1))", "self.rows"),
    # Forgets that the position moves on; asks for rows that nobody needs; loses what a row is for;
    # has room for one row less than the reader asks for.
    *(Mistake("row_requests", "asks", aggregation.row_requests, "RowRequests", row_requests,
              old, new) for old, new in (
        ("command.p.address + records.p.skip", "aggregate.address + records.p.skip"),
        ("command.valid.eq(has_destinations)", "command.valid.eq(1)"),
        ("queue.w_rdy & (~command.valid", "(~command.valid"),
    )),
    Mistake("row_requests", "holds up", aggregation.row_requests, "RowRequests", row_requests,
            "read_buffer + 3", "read_buffer + 2"),
    # Starves all but the first.
    Mistake("round_robin_arbiter", "grants", lib.round_robin_arbiter, "RoundRobinArbiter",
            round_robin_arbiter, "later[one] | ~later[other] if one < other else "
            "later[one] & ~later[other]", "one < other"),
    # Forgets who was granted; who is favoured; who is urgent.
    Mistake("priority_arbiter", "grants", lib.priority_arbiter, "PriorityArbiter",
            priority_arbiter, "(turn | passed) & ~granted", "turn"),
    Mistake("priority_arbiter", "grants", lib.priority_arbiter, "PriorityArbiter",
            priority_arbiter, "Mux(differ, self.favoured[one], turn)", "turn"),
    Mistake("priority_arbiter", "grants", lib.priority_arbiter, "PriorityArbiter",
            priority_arbiter, "~self._exceeds(other, one)", "1"),
    # Loses what was not taken; starves.
    Mistake("stream_merge", "holds", lib.stream_merge, "StreamMerge", stream_merge,
            "arbiter.enable.eq(free)", "arbiter.enable.eq(1)"),
    Mistake("stream_merge", "lets", stream_merge, "RoundRobinArbiter", round_robin_arbiter,
            "later[one] | ~later[other] if one < other else later[one] & ~later[other]",
            "one < other"),
    # Moves on though nobody took a record.
    Mistake("unpacker", "holds", lib.unpacker, "Unpacker", unpacker,
            "taken.eq(full & self.o.ready)", "taken.eq(full)"),
    # Leaves other cores among the destinations; starves.
    Mistake("ejection_port", "ejects", network.ejection_port, "EjectionPort", ejection_port,
            "output.i.payload.destinations.eq(1),", ""),
    Mistake("ejection_port", "ejects", ejection_port, "PriorityArbiter",
            priority_arbiter, "(turn | passed) & ~granted", "turn"),
    # Sends destinations along that lie on other branches; sends without credits.
    Mistake("link_output", "sends", network.link_output, "LinkOutput", link_output,
            " & routing.first_hops(plane, config.dimensions)[dimension]", ""),
    Mistake("link_output", "sends", network.link_output, "LinkOutput", link_output,
            "able[plane].eq(usable[0])", "able[plane].eq(1)"),
    # Loses the credits that come back.
    Mistake("link_output", "serves", network.link_output, "LinkOutput", link_output,
            "Mux(self.link.credit[plane], Cat(1, credits), credits)", "credits"),
    # Offers a flit again to an output that has served it; lets it go when the first one has.
    Mistake("input_buffer", "every", network.input_buffer, "InputBuffer", input_buffer,
            "queue.served.eq(self.served)", "queue.served.eq(0)"),
    Mistake("input_buffer", "every", input_buffer, "RequestQueue", request_queue,
            "~left.any()", "self.served.any()"),
    Mistake("router", "no flit is made", router, "LinkOutput", link_output,
            " & routing.first_hops(plane, config.dimensions)[dimension]", ""),
    Mistake("router", "no flit is made", router, "LinkOutput", link_output,
            "able[plane].eq(usable[0])", "able[plane].eq(1)"),
    Mistake("router", "no flit is made", router, "InputBuffer", input_buffer,
            "queue.served.eq(self.served)", "queue.served.eq(0)"),
    # A later flit comes to stand where an earlier one waits.
    Mistake("router", "flits", input_buffer, "SyncFIFO", amaranth_fifo,
            "w_port.addr.eq(produce)", "w_port.addr.eq(0)"),
    Mistake("router", "no flit is lost", input_buffer, "RequestQueue", request_queue,
            "~left.any()", "self.served.any()"),
    # Forgets what lies beyond a boundary; crosses one; counts words instead of bursts; does not see
    # every fault; loses a word.
    Mistake("axi_reader", "asks", memory.axi_reader, "AxiReader", axi_reader,
            "rest.eq(beyond)", "rest.eq(0)"),
    Mistake("axi_reader", "asks", memory.axi_reader, "AxiReader", axi_reader,
            "BOUNDARY * 8", "2 * BOUNDARY * 8"),
    Mistake("axi_reader", "has at most", memory.axi_reader, "AxiReader", axi_reader,
            "(arrived & axi.rlast)", "arrived"),
    Mistake("axi_reader", "has at most", memory.axi_reader, "AxiReader", axi_reader,
            "axi.rresp != Response.OKAY", "axi.rresp == Response.SLVERR"),
    Mistake("axi_reader", "when it", memory.axi_reader, "AxiReader", axi_reader,
            " & ~self.quiesce", ""),
    Mistake("axi_reader", "when it", memory.axi_reader, "AxiReader", axi_reader,
            "ResetInserter(self.quiesce)(words)", "words"),
    Mistake("axi_reader", "delivers", axi_reader, "SkidBuffer", skid_buffer,
            "spare.eq(payload_in)", "spare.eq(payload_out)"),
    # Joins words of any addresses; ends bursts a word early; does not wait for responses.
    Mistake("axi_writer", "writes", memory.axi_writer, "axi_writer", axi_writer,
            "(write.p.address == following)", "1"),
    Mistake("axi_writer", "writes", memory.axi_writer, "axi_writer", axi_writer,
            "axi.wlast.eq(left == 1)", "axi.wlast.eq(left == 2)", slow=True),
    Mistake("axi_writer", "writes", memory.axi_writer, "axi_writer", axi_writer,
            " & ~self.unfinished", "", slow=True),
    Mistake("axi_writer", "writes", memory.axi_writer, "axi_writer", axi_writer,
            " & ~self.quiesce", "", slow=True),
    # Lets a client change channels before its words have come; counts a burst's words wrong.
    Mistake("read_crossbar", "a client", memory.read_crossbar, "read_crossbar", read_crossbar,
            "((pending == 0) | (current == number))", "1"),
    Mistake("read_crossbar", "a client", memory.read_crossbar, "read_crossbar", read_crossbar,
            "arrived + 1 == tag.length", "arrived == tag.length"),
    # Writes to both channels.
    Mistake("write_crossbar", "each word", memory.write_crossbar, "WriteCrossbar", write_crossbar,
            "with m.If(request.p.channel == number):", "with m.If(1):"),
    # Gives a row again; works on strips before the first; ends a loop a turn early.
    Mistake("instruction_fetch", "gives each row", control.instruction_fetch, "InstructionFetch",
            instruction_fetch, "advance.eq(self.take | begins)", "advance.eq(begins)"),
    Mistake("instruction_fetch", "gives a body", control.instruction_fetch, "InstructionFetch",
            instruction_fetch, "(of_turn >= 0) & (of_turn < strips)", "of_turn < strips",
            slow=True),
    Mistake("instruction_fetch", "gives a body", control.instruction_fetch, "InstructionFetch",
            instruction_fetch, "last & (turn + 1 < last_turn)", "last & (turn + 2 < last_turn)",
            slow=True),
    # Issues an instruction again; issues one while its engine is busy; does not stop.
    Mistake("controller", "issues", control.controller, "controller", controller,
            "m.d.comb += [issuing.eq(1), load.eq(fetch.ready)]", "m.d.comb += issuing.eq(1)",
            slow=True),
    Mistake("controller", "issues", control.controller, "controller", controller,
            "decoded.needed.eq(control.waits | _mask([operation.engine]))",
            "decoded.needed.eq(control.waits)", slow=True),
    Mistake("controller", "issues", control.controller, "controller", controller,
            "with m.If(stopping | fatal):", "with m.If(fatal):", slow=True),
    # Waits for engines that never end; does not stop a runaway.
    Mistake("controller", "ends", control.controller, "controller", controller,
            "with m.If(idle | (host.error & (Error.STALLED | Error.RUNAWAY)).any()):",
            "with m.If(idle | (host.error & Error.STALLED).any()):"),
    Mistake("controller", "ends", control.controller, "controller", controller,
            "          | Error.STALLED | Error.MEMORY | Error.PROGRAM | Error.RUNAWAY",
            "          | Error.STALLED | Error.MEMORY | Error.PROGRAM"),
    # Forgets that something moved; counts cycles in which nothing does; goes on counting.
    Mistake("watchdog", "barks", control.watchdog, "watchdog", watchdog,
            "with m.If(~self.enable | self.progress):", "with m.If(~self.enable):"),
    Mistake("watchdog", "barks", control.watchdog, "watchdog", watchdog,
            "moved + self.progress", "moved + 1"),
    Mistake("watchdog", "barks", control.watchdog, "watchdog", watchdog,
            "        with m.If(~self.enable):", "        with m.If(0):"),
    # Starves reads; writes where some strobes are low; shows old data with an error.
    Mistake("axi_lite", "each", control.axi_lite, "AxiLiteSubordinate", axi_lite,
            "write_pending & ~(read_pending & bus.write)", "write_pending"),
    Mistake("axi_lite", "each", control.axi_lite, "AxiLiteSubordinate", axi_lite,
            "strobes.all()", "strobes.any()"),
    Mistake("axi_lite", "each", control.axi_lite, "AxiLiteSubordinate", axi_lite,
            "Mux(bus.error, 0, bus.result)", "bus.result"),
    # Writes to a running chip; does not answer what it refuses.
    Mistake("window", "each", control.window, "Window", window,
            "(~self.running | own)", "(~self.running | in_core)"),
    # Sums over memories of all cores.
    Mistake("window", "each", control.window, "Window", window,
            "own & (self.core == ALL_CORES)", "self.core == ALL_CORES"),
    Mistake("window", "each", control.window, "Window", window,
            "m.d.sync += [self.done.eq(1), self.error.eq(1)]", "m.d.sync += self.error.eq(1)"),
    # Carries a command out again if it comes again.
    Mistake("session", "a command", link.session, "Session", session,
            "self.sequence + 1", "self.sequence"),
    # Shows words whose frame may turn out to be bad.
    Mistake("frame_buffer", "shows", link.frame_buffer, "FrameBuffer", frame_buffer,
            "self.o.valid.eq(next_taken != good)", "self.o.valid.eq(next_taken != written)"),
    # A RAM that is read a slot late, and a reset that lasts too short.
    Mistake("fold", "a folded", fold, "Slots", slots,
            '"RD_ADDR": self.counter(ahead + 1)', '"RD_ADDR": self.counter(ahead)'),
    Mistake("fold", "a folded", fold, "Slots", slots, '"RD_SRST": [reset]', '"RD_SRST": ["0"]',
            slow=True),
    # An input that is cut; a register that changes, is reset, a memory that changes in any slot.
    Mistake("pace", "a paced", folding.pace, "pace_module", pace,
            "self._dependents(netlist.inputs)", "set()", slow=True),
    Mistake("pace", "a paced", folding.pace, "pace_module", pace,
            'cell["connections"][port] = [gate(bit)]', 'cell["connections"][port] = [bit]'),
    Mistake("pace", "a paced", folding.pace, "pace_module", pace,
            '("SRST", register.reset)][:1 + resettable]', "]"),
    Mistake("pace", "a paced", folding.pace, "pace_module", pace,
            "[gate(bit) for bit in", "[bit for bit in"),
]
