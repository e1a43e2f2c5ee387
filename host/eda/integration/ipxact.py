"""The chip as an IP-XACT component (IEEE 1685-2014): ports, bus interface, memory map, files."""

from collections.abc import Mapping, Sequence
from typing import Any
from xml.etree import ElementTree

from hypercast.host.eda.integration.xml import add, document
from hypercast.rtl.config import INTERFACE_VERSION, Config
from hypercast.rtl.control.axi_lite import ADDRESS_WIDTH
from hypercast.rtl.export.manifest import manifest
from hypercast.rtl.registers import REGISTERS, Field, Register

__all__ = ["ipxact"]

_NAMESPACE = "http://www.accellera.org/XMLSchema/IPXACT/1685-2014"
_ACCESS = {"r": "read-only", "rw": "read-write"}
_MEMORY_MAP = "registers"
#: Files of the component, and what they are to IP-XACT.
_FILES = {"hypercast.v": "verilogSource", "hypercast.h": "cSource"}


def ipxact(config: Config) -> str:
    """The component of a configuration, as text."""
    ports = manifest(config)["ports"]
    component = ElementTree.Element("component", {"xmlns": _NAMESPACE})
    for name, text in (("vendor", "hypercast"), ("library", "accelerators"),
                       ("name", "hypercast"), ("version", INTERFACE_VERSION)):
        add(component, name, text)
    interfaces = add(component, "busInterfaces")
    _add_axi(interfaces, ports)
    _add_wire(interfaces, "clk", "clock", "CLK", {"ASSOCIATED_BUSIF": "axi",
                                                  "ASSOCIATED_RESET": "rst"})
    _add_wire(interfaces, "rst", "reset", "RST", {"POLARITY": "ACTIVE_HIGH"})
    _add_memory_map(component, config)
    _add_model(component, ports)
    files = add(add(component, "fileSets"), "fileSet")
    add(files, "name", "files")
    for name, kind in _FILES.items():
        add(files, "file", {"name": name, "fileType": kind})
    add(component, "description", "Trains graph convolutional networks on a hypercube of cores")
    parameters = add(component, "parameters")
    for name, value in {**config.to_dict(), "configuration_hash": f"{config.hash:#010x}"}.items():
        _add_parameter(parameters, name, int(value) if isinstance(value, bool) else value)
    return document(component, config)


def _add_parameter(parent: ElementTree.Element, name: str, value: object) -> None:
    add(parent, "parameter", {"name": name, "value": value}, {"parameterId": name})


def _add_interface(parent: ElementTree.Element, name: str, bus: dict[str, str],
                   abstraction: dict[str, str], ports: Mapping[str, str]) -> ElementTree.Element:
    """A bus interface up to its abstraction, with logical ports mapped to ``ports``."""
    interface = add(parent, "busInterface")
    add(interface, "name", name)
    add(interface, "busType", attributes=bus)
    kind = add(add(interface, "abstractionTypes"), "abstractionType")
    add(kind, "abstractionRef", attributes=abstraction)
    maps = add(kind, "portMaps")
    for logical, physical in ports.items():
        add(maps, "portMap", {"logicalPort": {"name": logical},
                               "physicalPort": {"name": physical}})
    return interface


def _add_axi(parent: ElementTree.Element, ports: Sequence[Mapping[str, Any]]) -> None:
    arm = {"vendor": "amba.com", "library": "AMBA4", "version": "r0p0"}
    names = [port["name"] for port in ports if port["name"].startswith("axi__")]
    interface = _add_interface(
        parent, "axi", arm | {"name": "AXI4-Lite"}, arm | {"name": "AXI4-Lite_rtl"},
        {name.removeprefix("axi__").upper(): name for name in names})
    add(add(interface, "slave"), "memoryMapRef", attributes={"memoryMapRef": _MEMORY_MAP})


def _add_wire(parent: ElementTree.Element, name: str, kind: str, logical: str,
              parameters: Mapping[str, str]) -> None:
    """A clock or reset, by the bus definitions that most tools know."""
    signal = {"vendor": "xilinx.com", "library": "signal", "version": "1.0"}
    interface = _add_interface(parent, name, signal | {"name": kind},
                               signal | {"name": f"{kind}_rtl"}, {logical: name})
    add(interface, "slave")
    element = add(interface, "parameters")
    for key, value in parameters.items():
        add(element, "parameter", {"name": key, "value": value})


def _add_memory_map(component: ElementTree.Element, config: Config) -> None:
    memory_map = add(add(component, "memoryMaps"), "memoryMap")
    add(memory_map, "name", _MEMORY_MAP)
    block = add(memory_map, "addressBlock", {
        "name": "control", "baseAddress": 0, "range": 1 << ADDRESS_WIDTH, "width": 32,
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


def _add_model(component: ElementTree.Element, ports: Sequence[Mapping[str, Any]]) -> None:
    model = add(component, "model")
    add(model, "views", {"view": {"name": "verilog", "componentInstantiationRef": "verilog"}})
    add(add(model, "instantiations"), "componentInstantiation", {
        "name": "verilog", "language": "Verilog", "moduleName": "hypercast",
        "fileSetRef": {"localName": "files"}})
    element = add(model, "ports")
    for port in ports:
        wire: dict[str, object] = {"direction": {"input": "in", "output": "out"}[port["direction"]]}
        if port["width"] > 1:
            wire["vectors"] = {"vector": {"left": port["width"] - 1, "right": 0}}
        add(element, "port", {"name": port["name"], "wire": wire})
