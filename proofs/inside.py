# SPDX-License-Identifier: BSD-2-Clause
"""What a block keeps inside, for the invariants of inductions."""

from amaranth.hdl import Const, Elaboratable, Fragment, Module, Shape, Signal, Value, ValueLike

from hypercast.errors import InputError

__all__ = ["Inside"]


class _Elaborated(Elaboratable):
    """A block that is elaborated already."""

    def __init__(self, fragment: Fragment) -> None:
        self._fragment = fragment

    def elaborate(self, platform: object) -> Fragment:
        return self._fragment


class Inside:
    """Puts a block into a module, and finds what is inside by the names in its source.

    Parameters
    ----------
    m : Module
        The module; its submodule ``dut`` is the block.
    dut : Elaboratable
        The block.
    """

    def __init__(self, m: Module, dut: Elaboratable) -> None:
        self._m = m
        self._fragment = Fragment.get(dut, None)
        m.submodules.dut = _Elaborated(self._fragment)

    def _find(self, path: str) -> tuple[Fragment, str]:
        *blocks, name = path.split(".")
        fragment = self._fragment
        for block in blocks:
            fragment = self._part(fragment, block)
        return fragment, name

    @staticmethod
    def _part(fragment: Fragment, name: str) -> Fragment:
        [part] = (part for part, own, _ in fragment.subfragments if own == name)
        return part

    def signal(self, path: str) -> Signal:
        """A register of the block, or of a part of it, such as ``queue.level``.

        If there is none of that name, a signal that it drives otherwise.
        """
        fragment, name = self._find(path)
        for domain in ("sync", "comb"):
            driven = {id(signal): signal for statement in fragment.statements.get(domain, ())
                      for signal in statement._lhs_signals() if signal.name == name}
            if driven:
                [found] = driven.values()
                return found
        raise InputError(f"{path} is no signal of the block")

    def state(self, path: str, *names: str) -> Value:
        """Whether the state machine in a part (empty: the block) is in one of some states."""
        signal = self.signal(f"{path}.fsm_state" if path else "fsm_state")
        numbers = {signal.decoder(number).split("/")[0]: number
                   for number in range(signal.init, 1 << len(signal))
                   if _has_name(signal, number)}
        found = Const(0)
        for name in names:
            found = found | (signal == numbers[name])
        return found

    def states(self, path: str) -> Value:
        """Whether the state machine in a part is in any of its states."""
        signal = self.signal(f"{path}.fsm_state" if path else "fsm_state")
        return signal < sum(_has_name(signal, number) for number in range(1 << len(signal)))

    def word(self, path: str, address: ValueLike) -> Value:
        """The word at an address of a memory, as it is now."""
        fragment, name = self._find(path)
        memory = self._part(fragment, name)
        depth = memory._data.depth
        data = Signal(Shape.cast(memory._data.shape).width, name="word")
        where = Signal(range(depth), name="where")
        self._m.d.comb += where.eq(address)
        memory.read_port(domain="comb", addr=where, data=data, en=Const(1), transparent_for=())
        return data


def _has_name(signal: Signal, number: int) -> bool:
    try:
        signal.decoder(number)
    except KeyError:
        return False
    return True
