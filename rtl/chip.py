"""The chip: cores on a hypercube, one controller, one host port. Wiring only."""

from amaranth.hdl import Cat, ClockSignal, Const, Instance, Module, ResetSignal, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from hypercast.rtl.control.axi_lite import AxiLite
from hypercast.rtl.control.controller import Controller
from hypercast.rtl.control.host_port import HostPort
from hypercast.rtl.core import Core, core_signature
from hypercast.rtl.network.deadlock import check

__all__ = ["Chip", "CoreInstance"]


class CoreInstance(wiring.Component):
    """A core that was converted on its own, as an instance of Verilog module ``hypercast_core``.

    Same ports as ``Core``; converting the core once instead of once per instance keeps the
    netlist and its compilation ``2 ** dimensions`` times smaller.

    Parameters
    ----------
    config : Config
        Configuration of the chip.
    """

    def __init__(self, config):
        super().__init__(core_signature(config))

    def elaborate(self, platform):
        m = Module()
        ports = {}
        for path, member, value in self.signature.flatten(self):
            prefix = "o" if member.flow == Out else "i"
            ports[f"{prefix}_{'__'.join(str(part) for part in path)}"] = value
        m.submodules.core = Instance(
            "hypercast_core", ("i", "clk", ClockSignal()), ("i", "rst", ResetSignal()), **ports)
        return m


class Chip(wiring.Component):
    """``2 ** dimensions`` cores, the controller, and the AXI4-Lite port.

    Parameters
    ----------
    config : Config
        Configuration of the chip.
    core : callable
        Makes a core from the configuration: ``Core``, or ``CoreInstance`` to refer to a core
        converted separately.

    Members
    -------
    axi : In(AxiLite)
        Host port.

    Raises
    ------
    DeadlockError
        If the routing's channel dependencies have a cycle (at elaboration).
    """

    def __init__(self, config, core=Core):
        self._config = config
        self._core = core
        super().__init__({"axi": In(AxiLite())})

    def elaborate(self, platform):
        config = self._config
        check(config.dimensions, config.planes)
        m = Module()
        m.submodules.host = host = HostPort(config)
        m.submodules.controller = controller = Controller(config)
        connect(m, flipped(self.axi), host.axi)
        connect(m, host.control, controller.host)

        cores = [self._core(config) for _ in range(config.cores)]
        for index, core in enumerate(cores):
            m.submodules[f"core_{index}"] = core
            m.d.comb += [
                core.core.eq(Const(index, config.dimensions)),
                core.issue.eq(controller.issue),
                core.issue_valid.eq(controller.issue_valid),
                core.clear.eq(controller.clear),
                controller.busy[index].eq(core.busy),
                controller.peak[index].eq(core.peak),
                controller.error[index].eq(core.error),
                core.request.eq(host.request),
                core.request_valid.eq(host.request_valid),
            ]
            for dimension in range(config.dimensions):
                connect(m, core.outgoing[dimension],
                        cores[index ^ (1 << dimension)].incoming[dimension])

        response = Signal(32)
        combined = Const(0, 32)
        for core in cores:
            combined = combined | core.response
        m.d.sync += [
            response.eq(combined),
            host.response_valid.eq(Cat(core.response_valid for core in cores).any()),
        ]
        m.d.comb += host.response.eq(response)
        return m
