# SPDX-License-Identifier: BSD-2-Clause
"""The steps that evaluate a module for a group of cores at once, in order, part by part."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from hypercast.sim.gates import Bits, Gate, GateNetlist, MemoryPort
from hypercast.sim.limbs import BITWISE, Limb, cut

__all__ = ["KEPT", "GroupSteps", "Step"]

#: Kinds of gates that keep their values until the next clock cycle.
KEPT = ("register", "fetch")


@dataclass(eq=False)
class Step:
    """A step of a function: a gate's limb, or a port of a memory that is read or written."""

    operands: list[Bits]
    gives: list[Limb]
    gate: Gate | None = None
    write: MemoryPort | None = None


class GroupSteps:
    """The steps of a module's parts.

    Parameters
    ----------
    netlist : GateNetlist
        The module.
    parts : sequence of str
        Parts of the module.
    wires : iterable
        (output, input) pairs of names of ports that wires join, so that both are cut alike.
    watched : iterable of str
        Names of nets that have values even if nothing reads them.

    Attributes
    ----------
    places : dict
        Bit of a net to its ``Limb`` and place there.
    limbs : list of list of Limb
        The limbs of each gate and input that has any.
    watched : set of Limb
        The limbs of the nets that are watched.
    by_part : dict
        Part to its steps: each after those that it depends on, writing memories last.
    """

    def __init__(self, netlist: GateNetlist, parts: Sequence[str],
                 wires: Iterable[tuple[str, str]], watched: Iterable[str]) -> None:
        self._netlist = netlist
        inputs = [Gate("input", "", [bit for bit in bits if isinstance(bit, int)], [])
                  for direction, bits in netlist.ports.values() if direction == "input"]
        # Wires are cut like a gate that passes bits on.
        joined = [Gate("register", "", [bit for bit in netlist.ports[end][1]
                                        if isinstance(bit, int)], [netlist.ports[begin][1]])
                  for begin, end in wires]
        self.places = cut([*inputs, *netlist.gates], [
            bits for port in self._writes() for bits in (port.address, port.data)], joined)
        self._limbs: dict[int, list[Limb]] = defaultdict(list)
        for limb in dict.fromkeys(limb for limb, _ in self.places.values()):
            self._limbs[id(limb.gate)].append(limb)
        self.limbs = list(self._limbs.values())
        self.watched = set(self.limbs_of(bit for name in watched for bit in netlist.names[name]))
        self.by_part = {part: self._order(part) for part in parts}

    def _writes(self) -> Iterator[MemoryPort]:
        for memory in self._netlist.memories:
            yield from memory.writes

    def limbs_of(self, bits: Iterable[object]) -> list[Limb]:
        """The limbs that have some bits, each once."""
        return list(dict.fromkeys(self.places[bit][0] for bit in bits if bit in self.places))

    def _step_of(self, limb: Limb) -> Step:
        gate = limb.gate
        if gate.kind in BITWISE:
            operands = [bits[limb.first:limb.first + limb.width]
                        if len(bits) == len(gate.bits) else bits for bits in gate.operands]
            if gate.kind == "mux":
                operands[2] = gate.operands[2]
            return Step(operands, [limb], gate)
        return Step(gate.operands, self._limbs[id(gate)], gate)

    def seen_limbs(self) -> set[Limb]:
        """Limbs that are seen outside of their part."""
        seen = set(self.limbs_of(bit for direction, bits in self._netlist.ports.values()
                                   if direction == "output" for bit in bits))
        for gate in self._netlist.gates:
            seen |= {limb for bits in gate.operands for limb in self.limbs_of(bits)
                     if limb.gate.part != gate.part}
        for port in self._writes():
            seen |= {limb for bits in (port.address, port.enable, port.data)
                     for limb in self.limbs_of(bits) if limb.gate.part != port.memory.part}
        return seen

    def _order(self, part: str) -> list[Step]:
        """The steps of a part: each after the steps that it depends on, writing memories last."""
        found: list[Step] = []
        done: set[int] = set()

        def visit(step: Step) -> None:
            stack = [(step, iter(self._before(step, part)))]
            while stack:
                current, before = stack[-1]
                for limb in before:
                    if limb.number not in done:
                        done.add(limb.number)
                        earlier = self._step_of(limb)
                        done.update(given.number for given in earlier.gives)
                        stack.append((earlier, iter(self._before(earlier, part))))
                        break
                else:
                    stack.pop()
                    found.append(current)

        wanted = [limb for limb in sorted(self.seen_limbs() | self.watched,
                                          key=lambda limb: limb.number) if limb.gate.part == part]
        for gate in self._netlist.gates:
            if gate.part == part and gate.kind in KEPT:
                limbs = self._limbs[id(gate)]
                for step in ([self._step_of(limb) for limb in limbs]
                             if gate.kind in BITWISE else [self._step_of(limbs[0])]):
                    visit(step)
        for limb in wanted:
            if limb.gate.kind not in KEPT and limb.number not in done:
                step = self._step_of(limb)
                done.update(given.number for given in step.gives)
                visit(step)
        for port in self._writes():
            if port.memory.part == part:
                visit(Step([port.address, port.enable, port.data], [], write=port))
        return [step for step in found if not step.write] + [step for step in found if step.write]

    def _before(self, step: Step, part: str) -> list[Limb]:
        return [limb for bits in step.operands for limb in self.limbs_of(bits)
                if limb.gate.part == part and limb.gate.kind not in KEPT]

    def readers(self) -> dict[int, set[str]]:
        """Parts that each limb is read in, by its number."""
        found: dict[int, set[str]] = defaultdict(set)
        for part, steps in self.by_part.items():
            for step in steps:
                for bits in step.operands:
                    for limb in self.limbs_of(bits):
                        found[limb.number].add(part)
        return found
