# SPDX-License-Identifier: BSD-2-Clause
"""All that the chip has once: host port and controller, facing the cores. Wiring only."""

from amaranth.hdl import Cat, Module, ResetInserter
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from hypercast.rtl.config import Config
from hypercast.rtl.control.axi_lite import AxiLite
from hypercast.rtl.control.bulk_burst import BulkAxi
from hypercast.rtl.control.bulk_port import BulkPort
from hypercast.rtl.control.controller import Controller
from hypercast.rtl.control.core_answers import CoreAnswers
from hypercast.rtl.control.host_port import HostPort
from hypercast.rtl.control.reset_sequence import ResetSequence
from hypercast.rtl.isa import WAITS_WIDTH
from hypercast.rtl.layouts import HostRequest, Issue, bulk_request, bulk_width
from hypercast.rtl.limits import ERROR_WIDTH, PEAK_WIDTH

__all__ = ["ControlUnit", "control_signature"]


def control_signature(config: Config, *, bulk: bool = False) -> dict[str, wiring.Member]:
    """Members of ``ControlUnit``, for whoever stands in for it."""
    port = {
        "bulk": In(BulkAxi()),
        "taken": In(1).array(config.cores),
        "settled": In(1).array(config.cores),
    } if bulk else {}
    return {
        "axi": In(AxiLite()),
        "issue": Out(Issue),
        "issue_valid": Out(1),
        "clear": Out(1),
        "busy": In(WAITS_WIDTH).array(config.cores),
        "peak": In(PEAK_WIDTH).array(config.cores),
        "error": In(ERROR_WIDTH).array(config.cores),
        "progress": In(1).array(config.cores),
        "request": Out(bulk_request(config) if bulk else HostRequest),
        "request_valid": Out(1),
        "response": In(bulk_width(config) if bulk else 32).array(config.cores),
        "response_valid": In(1).array(config.cores),
        "quiesce": Out(1),
        "unfinished": In(1).array(config.cores),
        "reset": Out(1),
        **port,
    }


class ControlUnit(wiring.Component):
    """Host port, controller, and what resets the cores.

    Parameters
    ----------
    config : Config
        Configuration of the chip.
    bulk : bool
        Whether the chip has a bulk port.

    Members
    -------
    axi : In(AxiLite)
        Host port.
    bulk : In(BulkAxi)
        Bulk port, if there is one.
    issue, issue_valid, clear, request, request_valid : Out
        To all cores; see ``Core``.
    busy, peak, error, progress, response, response_valid : In, one per core
        From the cores; see ``Core``.
    quiesce, unfinished : Out(1), In(1) per core
        To and from cores whose memory is external; see ``Core``.
    reset : Out(1)
        The cores' reset, besides the reset of this unit.
    taken, settled : In(1), In(1), one per core
        With a bulk port, from the cores; see ``Core``.

    Every output comes from a register, and no input reaches an output in the same cycle.
    """

    def __init__(self, config: Config, *, bulk: bool = False) -> None:
        self._config = config
        self._bulk = bulk
        super().__init__(control_signature(config, bulk=bulk))

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.host = host = HostPort(self._config, bulk=self._bulk)
        m.submodules.sequence = sequence = ResetSequence(self._config)
        controller = Controller(self._config)
        m.submodules.controller = ResetInserter(sequence.active)(controller)
        connect(m, flipped(self.axi), host.axi)
        connect(m, host.control, controller.host)
        m.d.comb += [
            self.issue.eq(controller.issue),
            self.issue_valid.eq(controller.issue_valid),
            self.clear.eq(controller.clear),
            sequence.trigger.eq(host.reset),
            host.resetting.eq(sequence.active),
            self.quiesce.eq(sequence.quiesce),
            self.reset.eq(sequence.reset),
        ]
        for index in range(self._config.cores):
            m.d.comb += [
                controller.busy[index].eq(self.busy[index]),
                controller.peak[index].eq(self.peak[index]),
                controller.error[index].eq(self.error[index]),
                controller.progress[index].eq(self.progress[index]),
            ]
        requests = BulkPort(self._config) if self._bulk else host
        m.submodules.answers = answers = CoreAnswers(self._config, bulk=self._bulk)
        m.d.comb += [
            self.request.eq(requests.request), self.request_valid.eq(requests.request_valid),
            *(to.eq(response) for to, response in zip(
                answers.responses, self.response, strict=True)),
            *(to.eq(valid) for to, valid in zip(
                answers.responses_valid, self.response_valid, strict=True)),
            answers.gather.eq(requests.request_valid & requests.request.all_cores),
            answers.upper.eq(host.request_upper),
            answers.end.eq(host.request_done),
            requests.response.eq(answers.response),
            requests.response_valid.eq(answers.response_valid),
        ]
        m.d.sync += sequence.unfinished.eq(Cat(self.unfinished).any())
        if self._bulk:
            m.submodules.bulk = requests
            connect(m, flipped(self.bulk), requests.axi)
            m.d.sync += [requests.taken.eq(sum(self.taken)),
                         requests.settled.eq(Cat(self.settled).all())]
            m.d.comb += [
                requests.running.eq(host.control.running),
                requests.resetting.eq(sequence.active),
                requests.window.eq(host.request),
                requests.window_valid.eq(host.request_valid),
                host.response.eq(requests.window_response),
                host.response_valid.eq(requests.window_response_valid),
            ]
        return m
