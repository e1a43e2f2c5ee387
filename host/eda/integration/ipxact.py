# SPDX-License-Identifier: BSD-2-Clause
"""The chip as an IP-XACT component (IEEE 1685-2014): ports, interfaces, memory map, files."""

from collections.abc import Sequence
from xml.etree import ElementTree

from hypercast.host.eda.integration.xml import add, document
from hypercast.rtl.config import INTERFACE_VERSION, Config
from hypercast.rtl.control.axi_lite import REGISTER_ADDRESS_WIDTH
from hypercast.rtl.export.export_options import DEFAULT_OPTIONS, ExportOptions
from hypercast.rtl.export.interfaces import (
    MEMORY_ADDRESS_WIDTH,
    STRIDE,
    Interface,
    Port,
    interfaces,
    ports,
)
from hypercast.rtl.registers import REGISTERS, Field, Register

__all__ = ["ipxact"]

_NAMESPACE = "http://www.accellera.org/XMLSchema/IPXACT/1685-2014"
_ACCESS = {"r": "read-only", "rw": "read-write"}
_MEMORY_MAP = "registers"
#: Bus definitions: most tools know the definitions of clock and reset. AMBA's are Arm's own.
_XILINX = {"vendor": "xilinx.com", "library": "signal", "version": "1.0"}
_ARM = {"vendor": "amba.com", "library": "AMBA4", "version": "r0p0"}
_BUSES = {"clock": _XILINX | {"name": "clock"}, "reset": _XILINX | {"name": "reset"},
          "axi4lite": _ARM | {"name": "AXI4-Lite"}, "axi4": _ARM | {"name": "AXI4"}}


def ipxact(config: Config, options: ExportOptions = DEFAULT_OPTIONS) -> str:
    """The component of a configuration, as text."""
    found = interfaces(config, external=options.external)
    component = ElementTree.Element("component", {"xmlns": _NAMESPACE})
    for name, text in (("vendor", "hypercast"), ("library", "accelerators"),
                       ("name", options.top), ("version", INTERFACE_VERSION)):
        add(component, name, text)
    buses = add(component, "busInterfaces")
    for interface in found:
        _add_interface(buses, interface)
    _add_address_spaces(component, [one.name for one in found if one.manager])
    _add_memory_map(component, config)
    _add_model(component, options, config)
    files = add(add(component, "fileSets"), "fileSet")
    add(files, "name", "files")
    for suffix, kind in (("v", "verilogSource"), ("h", "cSource")):
        add(files, "file", {"name": f"{options.top}.{suffix}", "fileType": kind})
    add(component, "description", "Trains graph convolutional networks on a hypercube of cores")
    parameters = add(component, "parameters")
    for name, value in {**config.to_dict(), "configuration_hash": f"{config.hash:#010x}"}.items():
        _add_parameter(parameters, name, int(value) if isinstance(value, bool) else value)
    if options.external:
        _add_parameter(parameters, STRIDE, config.channel_bytes)
    return document(component, config)


def _add_parameter(parent: ElementTree.Element, name: str, value: object) -> None:
    add(parent, "parameter", {"name": name, "value": value}, {"parameterId": name})


def _add_interface(parent: ElementTree.Element, interface: Interface) -> None:
    """A bus interface, with its logical ports mapped to the chip's."""
    element = add(parent, "busInterface")
    add(element, "name", interface.name)
    bus = _BUSES[interface.kind]
    add(element, "busType", attributes=bus)
    kind = add(add(element, "abstractionTypes"), "abstractionType")
    add(kind, "abstractionRef", attributes=bus | {"name": f"{bus['name']}_rtl"})
    maps = add(kind, "portMaps")
    for port in interface.ports:
        add(maps, "portMap", {"logicalPort": {"name": port.logical},
                               "physicalPort": {"name": port.name}})
    mode = add(element, "master" if interface.manager else "slave")
    if interface.manager:
        add(mode, "addressSpaceRef", attributes={"addressSpaceRef": interface.name})
    elif interface.kind == "axi4lite":
        add(mode, "memoryMapRef", attributes={"memoryMapRef": _MEMORY_MAP})
    parameters = add(element, "parameters")
    for key, value in interface.parameters.items():
        add(parameters, "parameter", {"name": key, "value": value})


def _add_address_spaces(component: ElementTree.Element, names: Sequence[str]) -> None:
    """Address spaces of the managers: all addresses that they can have."""
    spaces = add(component, "addressSpaces") if names else None
    for name in names:
        assert spaces is not None
        add(spaces, "addressSpace", {
            "name": name, "range": f"'h{1 << MEMORY_ADDRESS_WIDTH:x}", "width": 8})


def _add_memory_map(component: ElementTree.Element, config: Config) -> None:
    memory_map = add(add(component, "memoryMaps"), "memoryMap")
    add(memory_map, "name", _MEMORY_MAP)
    block = add(memory_map, "addressBlock", {
        "name": "control", "baseAddress": 0, "range": 1 << REGISTER_ADDRESS_WIDTH, "width": 32,
        "usage": "register", "access": "read-write"})
    for register in REGISTERS:
        _add_register(block, register, config)
    add(memory_map, "addressUnitBits", 8)


def _add_register(parent: ElementTree.Element, register: Register, config: Config) -> None:
    element = add(parent, "register", {
        "name": register.name, "description": register.description,
        "addressOffset": f"'h{register.offset:x}", "size": 32, "volatile": "true",
        "access": _ACCESS[register.access]})
    whole = Field(name="value", low=0, width=32, description=register.description)
    for field in register.fields or (whole,):
        reset = register.reset_value(config) >> field.low & (1 << field.width) - 1
        inner = add(element, "field", {
            "name": field.name, "description": field.description, "bitOffset": field.low,
            "resets": {"reset": {"value": f"'h{reset:x}"}}, "bitWidth": field.width})
        if field.values:
            values = add(inner, "enumeratedValues")
            for value in field.values:
                add(values, "enumeratedValue", {
                    "name": value.name.lower(), "description": value.description,
                    "value": int(value)})
        if register.ones_clear:
            add(inner, "modifiedWriteValue", "oneToClear")
        if register.read_acts:
            add(inner, "readAction", "modify")


def _add_model(component: ElementTree.Element, options: ExportOptions, config: Config) -> None:
    found: Sequence[Port] = ports(config, external=options.external)
    model = add(component, "model")
    add(model, "views", {"view": {"name": "verilog", "componentInstantiationRef": "verilog"}})
    module = add(add(model, "instantiations"), "componentInstantiation", {
        "name": "verilog", "language": "Verilog", "moduleName": options.top})
    if options.external:
        add(add(module, "moduleParameters"), "moduleParameter", {
            "name": STRIDE, "value": STRIDE}, {"parameterId": f"module_{STRIDE}"})
    add(module, "fileSetRef", {"localName": "files"})
    element = add(model, "ports")
    for port in found:
        wire: dict[str, object] = {"direction": "out" if port.output else "in"}
        if port.width > 1:
            wire["vectors"] = {"vector": {"left": port.width - 1, "right": 0}}
        add(element, "port", {"name": port.name, "wire": wire})
