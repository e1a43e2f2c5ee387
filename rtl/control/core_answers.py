# SPDX-License-Identifier: BSD-2-Clause
"""Brings the cores' answers together: of one core, or the sum over all of them."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hypercast.rtl.config import Config
from hypercast.rtl.layouts import bulk_width

__all__ = ["CoreAnswers"]

#: Cores in a group: one cycle adds up each group's answers, the next one the groups' sums.
_GROUP = 4


class CoreAnswers(wiring.Component):
    """Passes on what a core answers, or adds up what all of them do.

    The sum is taken in two cycles, as chips are large and their clocks fast. Cores may answer in
    any order, each once.

    Parameters
    ----------
    config : Config
        Configuration.
    bulk : bool
        Whether the chip has a bulk port, whose answers are wider.

    Members
    -------
    responses, responses_valid : In(32, or bulk_width), In(1), one per core
        Answers; zero while not valid.
    gather : In(1)
        High for one cycle when all cores are asked; no other answer comes until theirs have.
    upper : In(1)
        Whether the sum's bits from 32 on are wanted; stays until the answer.
    end : In(1)
        Nobody waits for an answer any more: answers that have not come never will.
    response, response_valid : Out, Out(1)
        An answer, one cycle later, or 32 bits of the sum, two cycles after the last answer.
    """

    def __init__(self, config: Config, *, bulk: bool = False) -> None:
        self._config = config
        width = bulk_width(config) if bulk else 32
        super().__init__({
            "responses": In(width).array(config.cores),
            "responses_valid": In(1).array(config.cores),
            "gather": In(1),
            "upper": In(1),
            "end": In(1),
            "response": Out(width),
            "response_valid": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        cores = self._config.cores
        valid = Cat(self.responses_valid)
        one, one_valid = Signal.like(self.response), Signal()
        combined = self.responses[0]
        for response in self.responses[1:]:
            combined = combined | response
        m.d.sync += [one.eq(combined), one_valid.eq(valid.any())]

        gathering, came = Signal(), Signal(cores)
        total = Signal(32 + self._config.dimensions)
        groups = []
        for first in range(0, cores, _GROUP):
            members = [response[:32] for response in self.responses[first:first + _GROUP]]
            groups.append(Signal(range(len(members) * 0xFFFFFFFF + 1), name=f"group_{first}"))
            m.d.sync += groups[-1].eq(sum(members))
        complete = Signal()  # all have come, and are in ``total`` with the next cycle
        m.d.sync += [came.eq(came | valid), total.eq(total + sum(groups)),
                     complete.eq(gathering & came.all())]
        with m.If(self.gather):
            m.d.sync += [gathering.eq(1), came.eq(0), total.eq(0)]
            m.d.sync += [group.eq(0) for group in groups]
        with m.Elif(complete | self.end):
            m.d.sync += [gathering.eq(0), complete.eq(0)]
        m.d.comb += [
            self.response.eq(Mux(gathering, Mux(self.upper, total[32:], total[:32]), one)),
            self.response_valid.eq(Mux(gathering, complete, one_valid)),
        ]
        return m
