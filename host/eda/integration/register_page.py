# SPDX-License-Identifier: BSD-2-Clause
"""The registers as a page of the documentation."""

from collections.abc import Iterable, Sequence

from hypercast.rtl.registers import COUNTERS, REGISTERS, CoreSpace, Space

__all__ = ["register_page"]

_HEAD = """\
# Registers

Written by `hypercast verilog` (`registers.md`) from `rtl/registers.py`; a test compares.

The AXI4-Lite port has 32-bit data and 12-bit byte addresses. Accesses are of 32 bits, with all
write strobes. An address without a register, a write to a read-only register and a refused access
to the window end with SLVERR, and such a read brings zeros.
"""

_WINDOW = """\
## Window

Registers `core`, `space` and `address` choose a place, and `data` reads or writes it; `address`
then moves on by one, so a block is written by writing `data` again and again. A memory word, or a
row of the weight bank, takes as many addresses as it has 32-bit pieces: write all of them in order.
While a program runs, only the space CORE is open: counters can be read, and row counts written that
the program does not name. With `core` at 0xFFFFFFFF, a read gives the sum over all cores and a
write goes to all of them, in the space CORE only.
"""


def register_page() -> str:
    """The page, as Markdown; the same for every configuration."""
    parts = [_HEAD, _table(("offset", "register", "access", "reset", "what"), (
        (f"`{register.offset:#04x}`", f"`{register.name}`", register.access,
         "hash" if register.reset is None else f"{register.reset:#x}",
         register.description) for register in REGISTERS))]
    for register in REGISTERS:
        if register.fields and register.name != "space":
            parts += [f"## Bits of `{register.name}`\n", _table(("bit", "name", "what"), (
                (field.low, f"`{field.name}`", field.description) for field in register.fields))]
    parts += [_WINDOW, _table(("space", "name", "what"), (
        (int(space), f"`{space.name.lower()}`", space.description) for space in Space))]
    parts += [f"## Space `{Space.CORE.name.lower()}`\n", _table(("address", "name", "what"), [
        (f"{int(CoreSpace.ROWS)} to {CoreSpace.COUNTERS - 1}", "row counts",
         CoreSpace.ROWS.description),
        *((CoreSpace.COUNTERS + index, f"`{name}`", counter.description)
          for index, (name, counter) in enumerate(COUNTERS.items())),
        (f"from {int(CoreSpace.CARRIES)}", "carries", CoreSpace.CARRIES.description)])]
    return "\n".join(parts)


def _table(head: Sequence[object], rows: Iterable[Sequence[object]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(str(cell) for cell in line)} |\n" for line in lines)
