# SPDX-License-Identifier: BSD-2-Clause
"""The chip: cores on a hypercube and one control unit. Wiring only."""

from amaranth.hdl import (
    ClockSignal,
    Const,
    Instance,
    Module,
    ResetInserter,
    ResetSignal,
    Signal,
    Value,
)
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from hypercast.rtl.config import Config
from hypercast.rtl.control.axi_lite import AxiLite
from hypercast.rtl.control.bulk_burst import BulkAxi
from hypercast.rtl.control.control_unit import ControlUnit, control_signature
from hypercast.rtl.core import Core, core_signature
from hypercast.rtl.debug_tap import DebugTap
from hypercast.rtl.layouts import Link
from hypercast.rtl.memory.axi4 import Axi4, offset_width
from hypercast.rtl.network.topology import links, neighbour

__all__ = ["CONTROL_MODULE", "CORE_MODULE", "Chip", "Converted", "wires"]

#: Module names of the parts when they are converted on their own.
CORE_MODULE = "hypercast_core"
CONTROL_MODULE = "hypercast_control"


class Converted(wiring.Component):
    """Stands in for a part that was converted on its own: an instance of its module.

    Converting the core once instead of once per instance keeps the netlist and its compilation
    ``2 ** dimensions`` times smaller.

    Parameters
    ----------
    module : str
        Name of the module.
    members : dict
        The part's signature members.
    reset : Value, optional
        The part's reset, instead of the domain's reset.
    """

    def __init__(self, module: str, members: dict[str, wiring.Member], *,
                 reset: Value | None = None) -> None:
        self._module = module
        self._reset = ResetSignal() if reset is None else reset
        super().__init__(members)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        ports = {}
        for path, member, value in self.signature.flatten(self):
            prefix = "o" if member.flow == Out else "i"
            ports[f"{prefix}_{'__'.join(str(part) for part in path)}"] = value
        m.submodules.part = Instance(
            self._module, ("i", "clk", ClockSignal()), ("i", "rst", self._reset), **ports)
        return m


def wires(config: Config, *,
          bulk: bool = False) -> list[tuple[tuple[int | str, str], tuple[int | str, str]]]:
    """All wires between the parts, as (source, destination) pairs of (part, port) names.

    A part is ``"control"`` or a core's number; ports are named as in the converted modules. Each
    core's ``core`` port holds its number besides. Both ends of every wire are registers' outputs
    on one side and read by registers only on the other, so that a simulator may exchange them
    once per cycle. Besides, the control unit resets the cores, and asks memories outside to finish.
    ``bulk`` is as in ``Chip``.
    """
    answers = ["busy", "peak", "error", "progress", "response", "response_valid",
               *(("taken", "settled") if bulk else ())]
    pairs: list[tuple[tuple[int | str, str], tuple[int | str, str]]] = []
    for core in range(config.cores):
        pairs += [(("control", port), (core, port))
                  for port in ("issue", "issue_valid", "clear", "request", "request_valid")]
        pairs += [((core, port), ("control", f"{port}__{core}"))
                  for port in answers]
    for core, dimension in links(config.dimensions):
        for name, member in Link(config).members.items():
            sender = core, f"outgoing__{dimension}__{name}"
            receiver = neighbour(core, dimension), f"incoming__{dimension}__{name}"
            pairs.append((sender, receiver) if member.flow == Out else (receiver, sender))
    return pairs


class Chip(wiring.Component):
    """``2 ** dimensions`` cores, and the control unit with the AXI4-Lite port, and a bulk port.

    Parameters
    ----------
    config : Config
        Configuration of the chip.
    converted : bool
        Whether to refer to modules ``CORE_MODULE`` and ``CONTROL_MODULE`` that are converted
        separately, instead of containing the parts.
    external : bool
        Whether the memory channels are outside of the chip.
    prefix : str
        Prefix of the names of ``CORE_MODULE`` and ``CONTROL_MODULE``.
    debug : bool
        Whether to contain a ``DebugTap``.
    bulk : bool
        Whether to have a bulk port.

    Members
    -------
    axi : In(AxiLite)
        Host port.
    bulk : In(BulkAxi)
        Bulk port, if there is one.
    memory : Out(Axi4), two per core
        If external: memory of channel ``c`` of core ``n`` at ``2 * n + c``. Byte addresses are
        offsets in the channel.

    Raises
    ------
    DeadlockError
        If the routers' channel dependencies have a cycle (when the cores are elaborated).
    """

    def __init__(self, config: Config, *, converted: bool = False, external: bool = False,
                 prefix: str = "", debug: bool = False, bulk: bool = False) -> None:
        self._config = config
        self._bulk = bulk
        self._converted = converted
        self._debug = debug
        self._external = external
        self._prefix = prefix
        memory = {
            "memory": Out(Axi4(offset_width(config), config.word_width)).array(2 * config.cores),
        } if external else {}
        port = {"bulk": In(BulkAxi())} if bulk else {}
        super().__init__({"axi": In(AxiLite()), **port, **memory})

    def _core(self, reset: Signal) -> wiring.Component:
        if self._converted:
            return Converted(f"{self._prefix}{CORE_MODULE}",
                             core_signature(self._config, external=self._external,
                                            bulk=self._bulk), reset=reset)
        return ResetInserter(reset)(
            Core(self._config, external=self._external, bulk=self._bulk))

    def elaborate(self, platform: object) -> Module:
        config = self._config
        m = Module()
        m.submodules.control = control = Converted(
            f"{self._prefix}{CONTROL_MODULE}", control_signature(config, bulk=self._bulk)) \
            if self._converted else ControlUnit(config, bulk=self._bulk)
        connect(m, flipped(self.axi), control.axi)
        if self._bulk:
            connect(m, flipped(self.bulk), control.bulk)
        parts: dict[int | str, wiring.Component] = {"control": control}
        for index in range(config.cores):
            # Each has a register for its reset, which many wires lead to.
            reset = Signal(init=1, name=f"reset_{index}")
            m.d.sync += reset.eq(control.reset)
            parts[index] = core = self._core(reset)
            m.submodules[f"core_{index}"] = core
            m.d.comb += core.core.eq(Const(index, config.dimensions))
        for (source, output), (destination, port) in wires(config, bulk=self._bulk):
            m.d.comb += _port(parts[destination], port).eq(_port(parts[source], output))
        if self._debug:
            m.submodules.debug_tap = tap = DebugTap(config, bulk=self._bulk)
            m.d.comb += [getattr(tap, name).eq(getattr(control, name)) for name in (
                "issue", "issue_valid", "clear", "request", "request_valid")]
            for index in range(config.cores):
                m.d.comb += [getattr(tap, name)[index].eq(getattr(parts[index], name))
                             for name in ("busy", "error", "progress")]
        if self._external:
            for index in range(config.cores):
                m.d.comb += [parts[index].quiesce.eq(control.quiesce),
                             control.unfinished[index].eq(parts[index].unfinished)]
            cores = [parts[index] for index in range(config.cores)]
            for index, memory in enumerate(memory for core in cores for memory in core.memory):
                connect(m, memory, flipped(self.memory[index]))
        return m


def _port(part: wiring.Component, name: str) -> Value:
    """The member of a part that is called ``name`` in its converted module."""
    for step in name.split("__"):
        part = part[int(step)] if step.isdigit() else getattr(part, step)
    return part
