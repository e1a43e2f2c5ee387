# SPDX-License-Identifier: BSD-2-Clause
"""The ports of the exported chip: their names, and the interfaces that they belong to."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from amaranth.hdl import Shape
from amaranth.lib.wiring import Member, Out

from hypercast.rtl.config import Config
from hypercast.rtl.control.axi_lite import REGISTER_ADDRESS_WIDTH, AxiLite
from hypercast.rtl.limits import BURST, OUTSTANDING
from hypercast.rtl.memory.axi4 import Axi4Read, Axi4Write, offset_width

__all__ = ["BASE", "CLOCK", "MEMORY_ADDRESS_WIDTH", "RESET", "STRIDE", "Interface", "Port",
           "interfaces", "ports"]

#: Names of clock and reset.
CLOCK, RESET = "aclk", "aresetn"
#: Parameter of the top module: bytes from one memory channel to the next in external memory.
STRIDE = "MEMORY_STRIDE"
#: Bits of a byte address in external memory.
MEMORY_ADDRESS_WIDTH = 64
_CONTROL = "s_axi"

#: What a memory controller may want to know besides: value and bits. ``cache`` says that a write
#: may be answered on its way, and that bursts may be joined and split; the others, that there is
#: nothing special about an access.
_TIED = {"lock": (0, 1), "cache": (0b0011, 4), "prot": (0, 3), "qos": (0, 4), "region": (0, 4)}


@dataclass(frozen=True, kw_only=True)
class Port:
    """A port of the exported chip.

    Parameters
    ----------
    name : str
        Name of the port.
    output : bool
        Whether it is an output.
    width : int
        Bits.
    logical : str
        Name of the port in the definition of its interface, such as ``AWADDR``; else empty.
    inner : str
        The port of the chip inside that it belongs to; empty if there is none.
    inner_width : int
        Bits of the port ``inner``.
    constant : int
        Value of an output without a port ``inner``.
    """

    name: str
    output: bool = False
    width: int = 1
    logical: str = ""
    inner: str = ""
    inner_width: int = 0
    constant: int = 0


@dataclass(frozen=True, kw_only=True)
class Interface:
    """Ports that belong together.

    Parameters
    ----------
    name : str
        Name of the interface, with which the names of its ports begin.
    kind : str
        ``clock``, ``reset``, ``axi4lite`` or ``axi4``.
    ports : tuple of Port
        Ports of the interface.
    parameters : dict
        Properties of the interface, by the names that Vivado gives them.
    manager : bool
        Whether the chip begins what happens there.
    """

    name: str
    kind: str
    ports: tuple[Port, ...]
    parameters: dict[str, object] = field(default_factory=dict)
    manager: bool = False


#: Where external memory begins.
BASE = Port(name="memory_base", width=MEMORY_ADDRESS_WIDTH)


def interfaces(config: Config, *, external: bool = False) -> list[Interface]:
    """The interfaces, clock and reset first; ``external`` as in ``Chip``."""
    control = Interface(name=_CONTROL, kind="axi4lite", ports=_control_ports(), parameters={
        "PROTOCOL": "AXI4LITE", "DATA_WIDTH": 32, "ADDR_WIDTH": REGISTER_ADDRESS_WIDTH})
    memory = [_memory(config, number) for number in range(2 * config.cores)] if external else []
    busses = ":".join(bus.name for bus in (control, *memory))
    return [
        Interface(name=CLOCK, kind="clock", ports=(Port(name=CLOCK, logical="CLK"),),
                  parameters={"ASSOCIATED_BUSIF": busses, "ASSOCIATED_RESET": RESET}),
        Interface(name=RESET, kind="reset", ports=(Port(name=RESET, logical="RST"),),
                  parameters={"POLARITY": "ACTIVE_LOW"}),
        control, *memory,
    ]


def ports(config: Config, *, external: bool = False) -> list[Port]:
    """All ports, in the order of the top module."""
    found = [port for one in interfaces(config, external=external) for port in one.ports]
    return [*found[:2], BASE, *found[2:]] if external else found


def _port(interface: str, name: str, member: Member, inner: str, *, manager: bool) -> Port:
    """The port for a member of a signature that is seen from the manager."""
    width = Shape.cast(member.shape).width
    return Port(name=f"{interface}_{name}", output=(member.flow == Out) == manager, width=width,
                logical=name.upper(), inner=inner, inner_width=width)


def _control_ports() -> tuple[Port, ...]:
    return tuple(_port(_CONTROL, name, member, f"axi__{name}", manager=False)
                 for name, member in AxiLite().members.items())


def _memory(config: Config, number: int) -> Interface:
    """The manager of a memory channel."""
    interface = f"m_axi_{number:02}"
    return Interface(
        name=interface, kind="axi4", manager=True,
        ports=tuple(_memory_ports(config, interface, f"memory__{number}")),
        parameters={
            "PROTOCOL": "AXI4", "DATA_WIDTH": config.word_width,
            "ADDR_WIDTH": MEMORY_ADDRESS_WIDTH, "ID_WIDTH": 1, "MAX_BURST_LENGTH": BURST,
            "NUM_READ_OUTSTANDING": OUTSTANDING, "NUM_WRITE_OUTSTANDING": OUTSTANDING,
            "SUPPORTS_NARROW_BURST": 0})


def _memory_ports(config: Config, interface: str, inner: str) -> Iterator[Port]:
    widths = offset_width(config), config.word_width
    for half, signature in (("write", Axi4Write(*widths)), ("read", Axi4Read(*widths))):
        address = f"a{half[0]}"
        for name, member in signature.members.items():
            port = _port(interface, name, member, f"{inner}__{half}__{name}", manager=True)
            yield replace(port, width=MEMORY_ADDRESS_WIDTH) if name == f"{address}addr" else port
            if name == f"{address}burst":
                for rest, (value, width) in _TIED.items():
                    yield Port(name=f"{interface}_{address}{rest}", output=True, width=width,
                               logical=f"{address}{rest}".upper(), constant=value)
