"""Folds instances of a module into one, which is each of them in turn.

Time is divided: ``slots`` cycles of the clock are one cycle of all instances, and slot ``k`` is
instance ``k``'s. Combinational logic stays as it is. A register becomes a row of distributed RAM
with an entry for each instance, read a slot ahead into a flip-flop, so that nothing is slower; a
memory becomes ``slots`` times as deep. Registers that depend on nothing but what all instances
share stay registers. The principle is that of FAME-5 simulators (Tan et al., "A case for FAME",
ISCA 2010) and of C-slow retiming (Leiserson and Saxe, 1983).

The RAM's write enable is the register's. A reset is not written to it: a flag for each instance
tells that a group of registers has been reset and not written since, and keeps their flip-flops in
reset, so that neither enables nor resets take any logic.

An asynchronous read port whose address comes from registers would need deep distributed RAM. Its
address is computed a slot early, by a copy of its logic, and its memory is read synchronously.
"""

from collections import defaultdict

from hypercast.rtl.folding.dependencies import (
    FoldingError,
    lookahead,
    read_ports,
    shared_registers,
)
from hypercast.rtl.folding.netlist import CONSTANTS, Netlist, number
from hypercast.rtl.folding.registers import registers, uncontrolled
from hypercast.rtl.folding.slots import Slots

__all__ = ["NEXT", "fold"]

#: Follows an output's name in that of the port with what the output will be in its next cycle.
NEXT = "__next"
#: Least bits for which an enable or a reset of their own is better than logic.
_GROUP = 6
#: Most entries for which distributed RAM is better than block RAM.
_SMALL = 64
#: Most bits of a RAM that holds registers: simulators do not like thousands.
_RAM_WIDTH = 128


def fold(module, *, slots, index, private):
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
        others are shared, and change only between the last slot and the first.

    The module gets an output ``slot``, the number of the instance it is, and for every other output
    ``NAME__next``: what it will be in this instance's next cycle, known now.

    Raises
    ------
    FoldingError
        If an output is no register, an address that is needed early depends on an input, or there
        are too few instances to compute it.
    """
    _Folding(module, slots, index, private).run()


class _Folding:
    def __init__(self, module, slots, index, private):
        self._netlist = netlist = Netlist(module)
        self._slots = slots
        self._index = index
        self._shared_inputs = {
            name for name, port in netlist.ports.items()
            if port["direction"] == "input" and name != index and name not in private}
        self._ahead = lookahead(netlist, slots, index)
        self._memories = [name for name, cell in netlist.cells.items()
                          if cell["type"] == "$mem_v2"]
        self._registers = registers(netlist)
        self._time = Slots(netlist, slots, index)
        self._flags = defaultdict(list)  # by slots ahead: early, current, following nets

    def run(self):
        netlist = self._netlist
        replaced = list(self._registers)
        self._add_next_outputs()
        shared = shared_registers(netlist, self._registers, self._shared_inputs, self._ahead)
        self._hold_shared(shared)
        for (ahead, enable, reset), members in self._groups(shared).items():
            self._fold_registers(ahead, enable, reset, members)
        self._fold_flags()
        for name in self._memories:
            self._fold_memory(name)
        for name in replaced:
            del netlist.cells[name]
        del netlist.ports[self._index]
        netlist.add_port("slot", "output", self._time.number(0))

    def _add_next_outputs(self):
        netlist = self._netlist
        for name, port in list(netlist.ports.items()):
            if port["direction"] != "output":
                continue
            bits = []
            for bit in port["bits"]:
                if bit not in CONSTANTS:
                    cell, _, place = netlist.drivers.get(bit, (None, None, 0))
                    if cell not in self._registers:
                        raise FoldingError(f"output {name} is no register")
                    register = uncontrolled(netlist, self._registers[cell])
                    self._registers[cell] = register
                    bit = register.data[place]
                bits.append(bit)
            netlist.add_port(f"{name}{NEXT}", "output", bits)

    def _hold_shared(self, names):
        """Registers that all instances share change after the last slot."""
        slot = self._time.number(0)
        last = self._netlist.gate("$reduce_and", A=slot)
        for name in names:
            register = uncontrolled(self._netlist, self._registers[name])
            self._time.flip_flops(f"{name}$shared", register.data, register.output, enable=last,
                                  initial=self._time.initial(register.output))

    def _groups(self, shared):
        """Registers that are not shared, by slots ahead, enable and reset."""
        groups = defaultdict(list)
        for name, register in self._registers.items():
            if name not in shared:
                groups[self._ahead[name], register.enable, register.reset].append(register)
        for (ahead, enable, reset), members in list(groups.items()):
            small = sum(len(register.output) for register in members) < _GROUP
            if small and (enable, reset) != ("1", "0"):
                groups[ahead, "1", "0"] += [uncontrolled(self._netlist, register)
                                            for register in members]
                del groups[ahead, enable, reset]
        return groups

    def _fold_registers(self, ahead, enable, reset, members):
        flag = self._flag(ahead, enable, reset)
        bits = [bit for register in members for bit in zip(
            register.data, register.output, register.reset_value or "x" * len(register.output),
            strict=True)]
        for start in range(0, len(bits), _RAM_WIDTH):
            data, outputs, values = map(list, zip(*bits[start:start + _RAM_WIDTH], strict=True))
            self._time.state(f"registers_{ahead}_{enable}_{reset}_{start}", data, outputs,
                             ahead=ahead, enable=enable, reset=flag, reset_value="".join(values))

    def _flag(self, ahead, enable, reset):
        """Whether registers have been reset and not written since, ``ahead + 1`` slots ahead."""
        if reset == "0":
            return "0"
        netlist = self._netlist
        early, current = netlist.nets(2)
        following = reset
        if enable != "1":
            kept = netlist.gate("$and", A=[current], B=[netlist.gate("$not", A=[enable])])
            following = netlist.gate("$or", A=[kept], B=[reset])
        self._flags[ahead].append((early, current, following))
        return early

    def _fold_flags(self):
        for ahead, flags in self._flags.items():
            early, current, following = map(list, zip(*flags, strict=True))
            initial = "0" * len(flags)
            self._time.ram(f"flags_{ahead}", following, early, ahead=ahead, initial=initial,
                           synchronous=False)
            for slots in range(ahead, -1, -1):
                output = self._netlist.nets(len(flags)) if slots else current
                self._time.flip_flops(f"$flags{ahead}${slots}", early, output, initial=initial)
                early = output

    def _fold_memory(self, name):
        netlist = self._netlist
        cell = netlist.cells[name]
        parameters = cell["parameters"]
        width, writes = number(parameters["WIDTH"]), number(parameters["WR_PORTS"])
        mask = parameters["RD_COLLISION_X_MASK"][::-1]
        addresses, outputs, collisions = [], [], ""
        ports = read_ports(name, cell)
        for place, port in enumerate(ports):
            ahead = self._ahead[port.key]
            if port.synchronous:
                early, output = 0, netlist.nets(width)
                enable = port.enable
                if enable not in CONSTANTS:
                    [enable] = netlist.nets(1)
                    self._time.flip_flops(f"{name}$enable{place}", [port.enable], [enable])
                self._time.state(f"{name}_read_{place}", output, port.data, delay=1,
                                 enable=enable, ahead=ahead)
                collisions += mask[place * writes:][:writes]
            else:
                early, output = ahead + 1, self._time.delay(port.data, ahead)
                # No other instance writes where this one reads.
                collisions += "1" * writes
            addresses += [self._time.early(bit, early) for bit in port.address]
            addresses += self._time.number(early) if writes else []
            outputs += output
        cell["connections"].update(
            RD_ADDR=addresses, RD_DATA=outputs, RD_EN=["1"] * len(ports),
            RD_CLK=netlist.ports["clk"]["bits"] * len(ports), RD_ARST=["0"] * len(ports),
            RD_SRST=["0"] * len(ports))
        parameters.update(RD_CLK_ENABLE="1" * len(ports), RD_CLK_POLARITY="1" * len(ports),
                          RD_INIT_VALUE="x" * width * len(ports))
        if writes:
            parameters["RD_COLLISION_X_MASK"] = collisions[::-1]
            self._deepen(cell)

    def _deepen(self, cell):
        """Give a memory room for all instances."""
        parameters, connections = cell["parameters"], cell["connections"]
        width, abits = number(parameters["WIDTH"]), number(parameters["ABITS"])
        slot = self._time.number(0)
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
