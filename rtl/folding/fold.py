# SPDX-License-Identifier: BSD-2-Clause
"""Folds instances of a module into one, which is each of them in turn.

Time is divided: ``slots`` cycles of the clock are one cycle of all instances, and slot ``k`` is
instance ``k``'s. Combinational logic does not change. A register becomes a row of distributed RAM
with an entry for each instance, read a slot ahead into a flip-flop, so that nothing is slower; a
memory becomes ``slots`` times as deep. Registers that depend on nothing but what all instances
share stay registers. The principle is known from FAME-5 simulators (Tan et al., "A case for FAME",
ISCA 2010) and from C-slow retiming (Leiserson and Saxe, 1983).

The RAM's write enable is the register's. A reset is not written to it: a flag for each instance
tells that a group of registers has been reset and not written since, and keeps their flip-flops in
reset, so that neither enables nor resets take any logic.

Paths that are too long for a slot get two, see ``Stages``: a slot is when an instance's state is
read, and what comes of it may be written a slot later.

An asynchronous read port whose address comes from registers would need deep distributed RAM. Its
address is computed a slot early, by a copy of its logic, and its memory is read synchronously.

The reset goes everywhere, so it comes a slot early, and whatever it goes to has a flip-flop of its
own to take it.
"""

from collections import defaultdict
from collections.abc import Container
from dataclasses import replace
from typing import Any, TypeAlias

from hypercast.rtl.folding.dependencies import (
    FoldingError,
    NetlistReadPort,
    lookahead,
    read_ports,
    shared_registers,
)
from hypercast.rtl.folding.netlist import CONSTANTS, Bit, Netlist, number
from hypercast.rtl.folding.netlist_registers import NetlistRegister, registers, remove_controls
from hypercast.rtl.folding.slots import Slots
from hypercast.rtl.folding.stages import Stages

__all__ = ["NEXT", "fold"]

#: Suffix, after an output's name, of the port that has the output's value in its next cycle.
NEXT = "__next"
#: Least bits for which an enable or a reset of their own is better than logic.
_GROUP = 6
#: Most entries for which distributed RAM is better than block RAM.
_SMALL = 64
#: Most bits of a RAM that holds registers: simulators do not like thousands.
_RAM_WIDTH = 128
#: What registers that share RAM have in common: slots ahead, whether in the second stage, enable,
#: reset.
_Key: TypeAlias = tuple[int, bool, Bit, Bit]


def fold(module: dict[str, Any], *, slots: int, index: str, private: Container[str]) -> None:
    """Fold a module.

    Parameters
    ----------
    module : dict
        A flat module with one clock, ``clk``, as in Yosys' JSON, of combinational cells, registers
        (see ``registers.KINDS``) and ``$mem_v2``; it is changed in place.
    slots : int
        Number of instances, a power of two.
    index : str
        Input whose value is the instance's number; no longer a port.
    private : container of str
        Inputs, by name, that differ from instance to instance, to be given in their slots. All
        others are shared, and change only between the last slot and the first; ``rst``, the reset,
        a slot before them.

    The module gets an input ``restart``, see ``Slots``, an output ``slot``, the number of the
    instance it is, and for every other output ``NAME__next``: what it will be in its instance's
    next cycle, known in the slot after its own.

    Raises
    ------
    FoldingError
        If an output is no register, or an address that is needed early depends on an input, takes
        too long, or there are too few instances to compute it.
    """
    _Folding(module, slots, index, private).run()


class _Folding:
    def __init__(self, module: dict[str, Any], slots: int, index: str,
                 private: Container[str]) -> None:
        self._netlist = netlist = Netlist(module)
        self._slots = slots
        self._index = index
        self._shared_inputs = {
            name for name, port in netlist.ports.items()
            if port["direction"] == "input" and name != index and name not in private}
        self._ahead = lookahead(netlist, index)
        self._memories = [name for name, cell in netlist.cells.items()
                          if cell["type"] == "$mem_v2"]
        self._registers = registers(netlist)
        self._time = Slots(netlist, slots, index)
        self._stages = Stages(netlist)
        #: By slots ahead and delay: early, current, following.
        self._flags: dict[tuple[int, int], list[tuple[Bit, Bit, Bit]]] = defaultdict(list)

    def run(self) -> None:
        netlist = self._netlist
        replaced = list(self._registers)
        self._add_next_outputs()
        excluded = {name for name, register in self._registers.items()
                    if self._ahead[name] or register.late or self._stages.late(register.inputs)}
        shared = shared_registers(netlist, self._registers, self._shared_inputs, excluded)
        self._hold_shared(shared)
        for key, members in self._groups(shared).items():
            self._fold_registers(key, members)
        self._fold_flags()
        for name in self._memories:
            self._fold_memory(name)
        for name in replaced:
            del netlist.cells[name]
        if "rst" in netlist.ports:
            self._copy_reset(*netlist.ports["rst"]["bits"])
        del netlist.ports[self._index]
        netlist.add_port("slot", "output", self._time.number(0))

    def _copy_reset(self, reset: Bit) -> None:
        """Give each cell that takes the reset a flip-flop for it, which tools do not merge."""
        netlist = self._netlist
        for name, cell in list(netlist.cells.items()):
            taken = [port for port, bits in cell["connections"].items() if reset in bits]
            if not taken:
                continue
            [own] = netlist.nets(1)
            netlist.flip_flops(f"$reset${name}", [reset], [own], initial="1", keep=True)
            for port in taken:
                cell["connections"][port] = [own if bit == reset else bit
                                             for bit in cell["connections"][port]]

    def _add_next_outputs(self) -> None:
        netlist = self._netlist
        for name, port in list(netlist.ports.items()):
            if port["direction"] != "output":
                continue
            bits: list[Bit] = []
            for bit in port["bits"]:
                if bit not in CONSTANTS:
                    cell, _, place = netlist.drivers.get(bit, (None, None, 0))
                    if cell not in self._registers:
                        raise FoldingError(f"output {name} is no register")
                    register = remove_controls(netlist, self._second(self._registers[cell]))
                    self._registers[cell] = register
                    bit = register.data[place]
                bits.append(bit)
            netlist.add_port(f"{name}{NEXT}", "output", bits)

    def _second(self, register: NetlistRegister) -> NetlistRegister:
        """A register as it is in the second stage."""
        if register.late:
            return register
        second = self._stages.second
        [enable], [reset] = second([register.enable]), second([register.reset])
        return replace(register, data=second(register.data), held=second(register.held),
                       enable=enable, reset=reset, late=True)

    def _hold_shared(self, names: set[str]) -> None:
        """Registers that all instances share change after the last slot."""
        slot = self._time.number(0)
        last = self._netlist.gate("$reduce_and", A=slot)
        for name in sorted(names):  # a set's order differs from run to run
            register = remove_controls(self._netlist, self._registers[name])
            self._netlist.flip_flops(f"{name}$shared", register.data, register.output, enable=last,
                                     initial=self._time.initial(register.output))

    def _groups(self, shared: set[str]) -> dict[_Key, list[NetlistRegister]]:
        """Registers that are not shared, by slots ahead, stage, enable and reset."""
        groups: dict[_Key, list[NetlistRegister]] = defaultdict(list)
        for name, register in self._registers.items():
            if name in shared:
                continue
            if self._stages.late(register.inputs):
                register = self._second(register)
            key = self._ahead[name], register.late, register.enable, register.reset
            groups[key].append(register)
        for (ahead, late, enable, reset), members in list(groups.items()):
            small = sum(len(register.output) for register in members) < _GROUP
            if small and (enable, reset) != ("1", "0"):
                groups[ahead, late, "1", "0"] += [remove_controls(self._netlist, register)
                                                  for register in members]
                del groups[ahead, late, enable, reset]
        return groups

    def _fold_registers(self, key: _Key, members: list[NetlistRegister]) -> None:
        ahead, late, enable, reset = key
        flag = self._flag(ahead, late, enable, reset)
        bits = [bit for register in members for bit in zip(
            register.data, register.output, register.reset_value or "x" * len(register.output),
            strict=True)]
        for start in range(0, len(bits), _RAM_WIDTH):
            data, outputs, values = map(list, zip(*bits[start:start + _RAM_WIDTH], strict=True))
            self._time.state(f"registers_{ahead}_{late:d}_{enable}_{reset}_{start}", data, outputs,
                             ahead=ahead, delay=int(late), enable=enable, reset=flag,
                             reset_value="".join(values))

    def _flag(self, ahead: int, late: bool, enable: Bit, reset: Bit) -> Bit:
        """Whether registers have been reset and not written since, ``ahead + 1`` slots ahead."""
        if reset == "0":
            return "0"
        netlist = self._netlist
        early, current = netlist.nets(2)
        following = reset
        if enable != "1":
            kept = netlist.gate("$and", A=[current], B=[netlist.gate("$not", A=[enable])])
            following = netlist.gate("$or", A=[kept], B=[reset])
        self._flags[ahead, int(late)].append((early, current, following))
        return early

    def _fold_flags(self) -> None:
        for (ahead, delay), flags in self._flags.items():
            early, current, following = map(list, zip(*flags, strict=True))
            name, initial = f"flags_{ahead}_{delay}", "0" * len(flags)
            # To flip-flops and from them: enables and what is reset are all over the chip.
            written = self._netlist.nets(len(flags))
            self._netlist.flip_flops(f"${name}$written", following, written, initial=initial)
            self._time.ram(name, written, early, ahead=ahead + 1, delay=delay + 1,
                           initial=initial)
            for slots in range(ahead + delay, -1, -1):
                output = self._netlist.nets(len(flags)) if slots else current
                self._netlist.flip_flops(f"${name}${slots}", early, output, initial=initial)
                early = output

    def _fold_memory(self, name: str) -> None:
        netlist = self._netlist
        cell = netlist.cells[name]
        parameters = cell["parameters"]
        width, writes = number(parameters["WIDTH"]), number(parameters["WR_PORTS"])
        mask = parameters["RD_COLLISION_X_MASK"][::-1]
        addresses: list[Bit] = []
        outputs: list[Bit] = []
        collisions = ""
        ports = read_ports(name, cell)
        late = self._is_late(cell, ports)
        present = self._time.counter(-late)
        for place, port in enumerate(ports):
            ahead = self._ahead[port.key]
            if port.synchronous:
                address, enable, output = port.address, port.enable, netlist.nets(width)
                if late:
                    address, [enable] = self._stages.second(address), self._stages.second([enable])
                if enable not in CONSTANTS:
                    [delayed] = netlist.nets(1)
                    netlist.flip_flops(f"{name}$enable{place}", [enable], [delayed])
                    enable = delayed
                self._time.state(f"{name}_read_{place}", output, port.data, delay=1 + late,
                                 enable=enable, ahead=ahead)
                slot = present
                collisions += mask[place * writes:][:writes]
            else:
                if self._stages.late(port.address):
                    raise FoldingError(f"an address of memory {name}, which is read at once, "
                                       f"takes more than a slot to compute")
                address = [self._time.early(bit, ahead + 1) for bit in port.address]
                slot = self._time.counter(ahead + 1)
                output = self._time.delay(port.data, ahead)
                # No other instance writes where this one reads.
                collisions += "1" * writes
            addresses += [*address, *slot] if writes else address
            outputs += output
        cell["connections"].update(
            RD_ADDR=addresses, RD_DATA=outputs, RD_EN=["1"] * len(ports),
            RD_CLK=netlist.ports["clk"]["bits"] * len(ports), RD_ARST=["0"] * len(ports),
            RD_SRST=["0"] * len(ports))
        parameters.update(RD_CLK_ENABLE="1" * len(ports), RD_CLK_POLARITY="1" * len(ports),
                          RD_INIT_VALUE="x" * width * len(ports))
        if writes:
            parameters["RD_COLLISION_X_MASK"] = collisions[::-1]
            self._deepen(cell, late, present)

    def _is_late(self, cell: dict[str, Any], ports: list[NetlistReadPort]) -> bool:
        """Whether all that goes to a memory does so in the second stage.

        All or nothing, so that a read and a write of one cycle meet as they did.
        """
        nets = [bit for port in ("WR_ADDR", "WR_DATA", "WR_EN")
                for bit in cell["connections"][port]]
        for port in ports:
            nets += [*port.address, port.enable] if port.synchronous else []
        return self._stages.late(nets)

    def _deepen(self, cell: dict[str, Any], late: bool, slot: list[Bit]) -> None:
        """Give a memory room for all instances."""
        parameters, connections = cell["parameters"], cell["connections"]
        if late:
            for port in ("WR_ADDR", "WR_DATA", "WR_EN"):
                connections[port] = self._stages.second(connections[port])
        width, abits = number(parameters["WIDTH"]), number(parameters["ABITS"])
        entries = parameters["INIT"].rjust(width << abits, "x")
        depth = self._slots << abits
        parameters.update(INIT=entries * self._slots if {*entries} != {"x"} else "x",
                          SIZE=format(depth, "032b"), ABITS=format(abits + len(slot), "032b"))
        addresses = connections["WR_ADDR"]
        connections["WR_ADDR"] = [
            bit for start in range(0, len(addresses), abits)
            for bit in (*addresses[start:start + abits], *slot)]
        if depth <= _SMALL:
            cell["attributes"]["ram_style"] = "distributed"
