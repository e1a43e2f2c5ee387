# SPDX-License-Identifier: BSD-2-Clause
"""The registers as a CMSIS SVD file (version 1.3), as debuggers and generators read it."""

from xml.etree import ElementTree

from hypercast.host.eda.integration.xml import add, document
from hypercast.rtl.config import INTERFACE_VERSION, Config
from hypercast.rtl.control.axi_lite import REGISTER_ADDRESS_WIDTH
from hypercast.rtl.export.export_options import DEFAULT_OPTIONS, ExportOptions
from hypercast.rtl.registers import REGISTERS, Register

__all__ = ["svd"]

_ACCESS = {"r": "read-only", "rw": "read-write"}


def svd(config: Config, options: ExportOptions = DEFAULT_OPTIONS) -> str:
    """The SVD file of a configuration, as text.

    The one peripheral is at address 0: a system adds the address of its AXI4-Lite port.
    """
    device = ElementTree.Element("device", {"schemaVersion": "1.3"})
    add(device, "name", options.top.upper())
    add(device, "version", INTERFACE_VERSION)
    add(device, "description", "Trains graph convolutional networks on a hypercube of cores")
    add(device, "addressUnitBits", 8)
    add(device, "width", 32)
    add(device, "size", 32)
    peripheral = add(add(device, "peripherals"), "peripheral", {
        "name": options.top.upper(),
        "description": "Control registers and the window into programs, memories and counters",
        "baseAddress": 0,
        "addressBlock": {"offset": 0, "size": f"{1 << REGISTER_ADDRESS_WIDTH:#x}",
                         "usage": "registers"},
    })
    registers = add(peripheral, "registers")
    for register in REGISTERS:
        _add_register(registers, register, config)
    return document(device, config)


def _add_register(parent: ElementTree.Element, register: Register, config: Config) -> None:
    element = add(parent, "register", {
        "name": register.name,
        "description": register.description,
        "addressOffset": f"{register.offset:#x}",
        "access": _ACCESS[register.access],
        "resetValue": f"{register.reset_value(config):#x}",
    })
    if register.ones_clear:
        add(element, "modifiedWriteValues", "oneToClear")
    if register.read_acts:
        add(element, "readAction", "modify")
    if not register.fields:
        return
    fields = add(element, "fields")
    for field in register.fields:
        inner = add(fields, "field", {
            "name": field.name, "description": field.description,
            "bitOffset": field.low, "bitWidth": field.width})
        if field.values:
            values = add(inner, "enumeratedValues")
            for value in field.values:
                add(values, "enumeratedValue", {
                    "name": value.name.lower(), "description": value.description,
                    "value": int(value)})
