# SPDX-License-Identifier: BSD-2-Clause
"""The chip as a module of LiteX, as text of a Python file that lies beside the Verilog."""

from collections.abc import Iterator

from hypercast.rtl.config import Config
from hypercast.rtl.control.axi_lite import REGISTER_ADDRESS_WIDTH
from hypercast.rtl.export.export_options import DEFAULT_OPTIONS, ExportOptions
from hypercast.rtl.export.interfaces import (
    BASE,
    CLOCK,
    MEMORY_ADDRESS_WIDTH,
    RESET,
    STRIDE,
    Interface,
    interfaces,
)
from hypercast.rtl.export.notice import notice

__all__ = ["litex_wrapper"]

_TEXT = '''\
"""Hypercast in a SoC of LiteX.

For example, in a SoC's constructor:

    self.hypercast = Hypercast(platform)
    self.bus.add_slave("hypercast", self.hypercast.bus,
                       SoCRegion(size=Hypercast.SIZE, cached=False))
{memory_example}"""

import os

from litex.gen import LiteXModule
from litex.soc.interconnect import axi
from migen import ClockSignal, Instance, ResetSignal, Signal

__all__ = ["Hypercast"]


class Hypercast(LiteXModule):
    """The chip, in one clock domain.

    Parameters
    ----------
    platform
        The platform, which gets the Verilog.
    clock_domain : str
        Clock domain of the chip and of its interfaces.
{memory_parameters}
    Attributes
    ----------
    bus : AXILiteInterface
        Registers.
{memory_attributes}    """

    #: Bytes that the registers take.
    SIZE = {size:#x}
{memory_constants}
    def __init__(self, platform, clock_domain="sys"{memory_arguments}):
        self.bus = bus = axi.AXILiteInterface(
            data_width=32, address_width=32, clock_domain=clock_domain)
{memory_objects}
        ports = {{
            "i_{clock}": ClockSignal(clock_domain),
            "i_{reset}": ~ResetSignal(clock_domain),
{control}
        }}
{memory_ports}        self.specials += Instance("{top}", **ports)
        platform.add_source(os.path.join(os.path.dirname(os.path.abspath(__file__)), "{top}.v"))
'''
_MEMORY_EXAMPLE = """\
    for number, memory in enumerate(self.hypercast.memories):
        self.bus.add_master(f"hypercast_{number}", memory)
    self.comb += self.hypercast.memory_base.eq(...)  # of Hypercast.MEMORY_SIZE bytes, aligned
"""
_MEMORY_PARAMETERS = """\
    address_width : int
        Bits of an address on the SoC's bus.
    memory_stride : int
        Bytes from the beginning of a memory channel to that of the next: a multiple of what a
        channel takes, which is the default.
"""
_MEMORY_ATTRIBUTES = """\
    memories : list of AXIInterface
        Managers of the memory channels: two for each core.
    memory_base : Signal
        Byte address of the memory of the first channel; the others follow. Constant.
"""
_MEMORY_OBJECTS = """\
        self.memory_base = Signal({width})
        self.memories = [axi.AXIInterface(
            data_width={data}, address_width=address_width, id_width=1,
            clock_domain=clock_domain) for _ in range({count})]
"""
_MEMORY_PORTS = """\
        ports["i_{base}"] = self.memory_base
        ports["p_{stride}"] = memory_stride
        for number, memory in enumerate(self.memories):
            awaddr, araddr = Signal({width}), Signal({width})
            self.comb += [memory.aw.addr.eq(awaddr), memory.ar.addr.eq(araddr)]
            ports.update({{
{ports}
            }})
"""


def litex_wrapper(config: Config, options: ExportOptions = DEFAULT_OPTIONS) -> str:
    """The Python file, ``NAME_litex.py``."""
    found = interfaces(config, external=options.external)
    [control] = (one for one in found if one.kind == "axi4lite")
    managers = [one for one in found if one.manager]
    count, size = len(managers), config.channel_bytes
    values = {"width": MEMORY_ADDRESS_WIDTH, "data": config.word_width, "count": count,
              "base": BASE.name, "stride": STRIDE}
    head = "".join(f"# {line}".rstrip() + "\n" for line in notice(config))
    return head + "\n" + _TEXT.format(
        top=options.top, clock=CLOCK, reset=RESET, size=1 << REGISTER_ADDRESS_WIDTH,
        control="\n".join(_lines(control, "bus", "            ")),
        memory_example=_MEMORY_EXAMPLE if managers else "",
        memory_attributes=_MEMORY_ATTRIBUTES if managers else "",
        memory_parameters=_MEMORY_PARAMETERS if managers else "",
        memory_arguments=f", address_width=32, memory_stride={size:#x}" if managers else "",
        memory_constants=f"    #: Bytes that all channels take.\n"
                         f"    MEMORY_SIZE = {count * size:#x}\n" if managers else "",
        memory_objects=_MEMORY_OBJECTS.format(**values) if managers else "",
        memory_ports=_MEMORY_PORTS.format(ports="\n".join(
            _lines(managers[0], "memory", "                ")), **values) if managers else "")


def _lines(interface: Interface, variable: str, indent: str) -> Iterator[str]:
    """Entries of a dictionary, from ports to LiteX' signals."""
    for port in interface.ports:
        channel = next(name for name in ("aw", "ar", "w", "b", "r")
                       if port.logical.lower().startswith(name))
        signal = port.logical.lower().removeprefix(channel)
        value = f"{variable}.{channel}.{signal}"
        if signal == "addr":
            value = port.logical.lower() if port.output else f"{value}[:{port.width}]"
        direction = "o" if port.output else "i"
        name = f'"{direction}_{port.name}"' if variable == "bus" else \
            f'f"{direction}_m_axi_{{number:02}}_{port.name.rpartition("_")[2]}"'
        yield f"{indent}{name}: {value},"
