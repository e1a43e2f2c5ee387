# SPDX-License-Identifier: BSD-2-Clause
"""The chip with all cores folded into one. Wiring only."""

from amaranth.hdl import (
    Cat,
    ClockDomain,
    ClockSignal,
    DomainRenamer,
    Module,
    ResetSignal,
    Signal,
    Value,
)
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from hypercast.rtl.chip import Converted
from hypercast.rtl.config import Config
from hypercast.rtl.control.axi_lite import AxiLite
from hypercast.rtl.control.control_unit import control_signature
from hypercast.rtl.core import core_signature
from hypercast.rtl.folding.axi_pace import AxiPace
from hypercast.rtl.folding.fold import NEXT
from hypercast.rtl.folding.link_memory import LinkMemory
from hypercast.rtl.layouts import Link

__all__ = ["FOLDED_CORE_MODULE", "PACED_CONTROL_MODULE", "FoldedChip", "folded_core_members"]

#: Module names of the folded core and the paced control unit, which are converted on their own.
FOLDED_CORE_MODULE = "hypercast_folded_core"
PACED_CONTROL_MODULE = "hypercast_paced_control"


def folded_core_members(config: Config) -> dict[str, wiring.Member]:
    """Members of the folded core, by the names of its module's ports."""
    signature = wiring.Signature(core_signature(config))
    members = {"restart": In(1), "slot": Out(config.dimensions)}
    for path, member, value in signature.flatten(signature.create()):
        name, width = "__".join(str(step) for step in path), len(Value.cast(value))
        if name == "core":
            continue
        members[name] = member.flow(width)
        if member.flow == Out:
            members[f"{name}{NEXT}"] = Out(width)
    return members


class FoldedChip(wiring.Component):
    """``Chip`` in the area of one core: each of its cycles takes as many as there are cores.

    The core's logic is every core in turn, for a cycle each (its *slot*); see ``fold``. The control
    unit works in the last slot's cycle; see ``pace``. Bits, counters in cycles of the chip, and
    the configuration's hash are as in ``Chip``: no software knows the difference.

    Parameters
    ----------
    config : Config
        Configuration of the chip; at least three dimensions.

    Members
    -------
    axi : In(AxiLite)
        Host port.
    restart : In(1)
        High for a cycle or more once the clock is good; a reset follows or goes on.

    The reset must last ``config.cores`` times as long as the reset of ``Chip``.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        super().__init__({"axi": In(AxiLite()), "restart": In(1)})

    def elaborate(self, platform: object) -> Module:
        config = self._config
        m = Module()
        core_reset = Signal(init=1, reset_less=True)
        core = Converted(FOLDED_CORE_MODULE, folded_core_members(config), reset=core_reset)
        m.submodules.core = DomainRenamer("paced")(core)
        m.d.comb += core.restart.eq(self.restart)

        # The chip's clock ticks after the last slot; its reset covers whole cycles of the chip.
        coming, last = Signal(), Signal()
        m.d.comb += [coming.eq(core.slot == config.cores - 2),
                     last.eq(core.slot == config.cores - 1)]
        early_reset, reset = Signal(init=1, reset_less=True), Signal(init=1, reset_less=True)
        with m.If(coming):
            m.d.sync += early_reset.eq(ResetSignal())
        with m.If(last):
            m.d.sync += reset.eq(early_reset)
        m.domains.paced = paced = ClockDomain("paced", local=True)
        m.d.comb += [paced.clk.eq(ClockSignal()), paced.rst.eq(reset)]

        control = Converted(PACED_CONTROL_MODULE,
                            {**control_signature(config), "enable": In(1)})
        m.submodules.control = DomainRenamer("paced")(control)
        m.d.comb += control.enable.eq(last)
        with m.If(coming):  # the core takes it a slot later
            m.d.sync += core_reset.eq(ResetSignal() | control.reset)
        m.submodules.pace = pace = AxiPace()
        connect(m, flipped(self.axi), pace.manager)
        connect(m, pace.subordinate, control.axi)
        m.d.comb += pace.enable.eq(last & ~reset)

        for name in ("issue", "issue_valid", "clear", "request", "request_valid"):
            m.d.comb += getattr(core, name).eq(getattr(control, name))
        for name in ("busy", "peak", "error", "progress", "response", "response_valid"):
            for index, port in enumerate(getattr(control, name)):
                m.d.comb += port.eq(self._hold(m, core, name, index))

        members = Link(config).members
        for dimension in range(config.dimensions):
            sent = Cat(getattr(core, f"{'outgoing' if member.flow == Out else 'incoming'}"
                                     f"__{dimension}__{name}{NEXT}")
                       for name, member in members.items())
            received = Cat(getattr(core, f"{'incoming' if member.flow == Out else 'outgoing'}"
                                         f"__{dimension}__{name}")
                           for name, member in members.items())
            m.submodules[f"link_{dimension}"] = link = LinkMemory(
                dimension, config.dimensions, len(sent))
            m.d.comb += [link.slot.eq(core.slot), link.outgoing.eq(sent),
                         received.eq(link.incoming)]
        return m

    def _hold(self, m: Module, core: Converted, name: str, index: int) -> Value:
        """A core's output, in the last slot."""
        output = getattr(core, name)
        if index == self._config.cores - 1:
            return output
        held = Signal(len(output), name=f"{name}_{index}")
        with m.If(core.slot == index):
            m.d.sync += held.eq(output)
        return held
