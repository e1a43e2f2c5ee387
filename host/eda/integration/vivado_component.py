# SPDX-License-Identifier: BSD-2-Clause
"""The chip as Vivado's IP catalog reads it: ``component.xml``, IP-XACT of IEEE 1685-2009.

Elements in name space ``xilinx`` are as AMD describes them in UG1118 and as Vivado writes them.
"""

from collections.abc import Iterable
from xml.etree import ElementTree

from hypercast.host.eda.integration.xml import add, document
from hypercast.rtl.config import INTERFACE_VERSION, Config
from hypercast.rtl.control.axi_lite import REGISTER_ADDRESS_WIDTH
from hypercast.rtl.export.export_options import DEFAULT_OPTIONS, ExportOptions
from hypercast.rtl.export.interfaces import (
    BASE,
    MEMORY_ADDRESS_WIDTH,
    STRIDE,
    Interface,
    Port,
    interfaces,
    ports,
)
from hypercast.rtl.export.top import BUSES
from hypercast.rtl.registers import REGISTERS, Register

__all__ = ["COMPONENT_FILE", "vivado_component"]

#: Name of the file: Vivado looks for no other.
COMPONENT_FILE = "component.xml"

_SPACES = {"xmlns:spirit": "http://www.spiritconsortium.org/XMLSchema/SPIRIT/1685-2009",
           "xmlns:xilinx": "http://www.xilinx.com"}
_TITLE = "Hypercast"
_DESCRIPTION = "Trains graph convolutional networks on a hypercube of cores"
_ACCESS = {"r": "read-only", "rw": "read-write"}
_VIEWS = ("synthesis", "simulation")
#: Families with block RAM, and DSPs that multiply 16 by 16 bits.
_FAMILIES = ("artix7", "artixuplus", "kintex7", "kintexu", "kintexuplus", "spartan7",
             "versal", "virtex7", "virtexu", "virtexuplus", "virtexuplusHBM", "zynq", "zynquplus",
             "zynquplusRFSOC")


def vivado_component(config: Config, options: ExportOptions = DEFAULT_OPTIONS) -> str:
    """The component of a configuration, as text."""
    found = interfaces(config, external=options.external)
    component = ElementTree.Element("component")
    for name, text in (("vendor", "hypercast"), ("library", "accelerators"),
                       ("name", options.top), ("version", f"{INTERFACE_VERSION}.0")):
        add(component, name, text)
    buses = add(component, "busInterfaces")
    for interface in found:
        _add_interface(buses, interface)
    if options.external:
        spaces = add(component, "addressSpaces")
        for interface in found:
            if interface.manager:
                add(spaces, "addressSpace", {
                    "name": interface.name, "range": 1 << MEMORY_ADDRESS_WIDTH,
                    "width": config.word_width})
    _add_memory_map(component, config)
    model = _add_model(component, options.top, ports(config, external=options.external))
    if options.external:
        _add_stride(add(model, "modelParameters"), "modelParameter", "generated", config)
    files = add(component, "fileSets")
    for view in _VIEWS:
        add(files, "fileSet", {
            "name": _files(view),
            "file": {"name": f"{options.top}.v", "fileType": "verilogSource"}})
    add(component, "description", f"{_DESCRIPTION}; configuration {config.hash:#010x}")
    parameters = add(component, "parameters")
    if options.external:
        _add_stride(parameters, "parameter", "user", config)
    parameter = add(parameters, "parameter")
    add(parameter, "name", "Component_Name")
    add(parameter, "value", f"{options.top}_0",
        {"resolve": "user", "id": "PARAM_VALUE.Component_Name"})
    _add_extensions(component, config)
    for element in component.iter():
        if ":" not in element.tag:
            element.tag = f"spirit:{element.tag}"
            element.attrib = {f"spirit:{name}": value for name, value in element.attrib.items()}
    component.attrib = dict(_SPACES)
    return document(component, config)


def _add_stride(parent: ElementTree.Element, kind: str, resolve: str, config: Config) -> None:
    """The top module's parameter: as a user sets it, and as Vivado hands it on."""
    parameter = add(parent, kind, attributes={"dataType": "std_logic_vector"}
                    if kind == "modelParameter" else {})
    add(parameter, "name", STRIDE)
    place = "MODELPARAM_VALUE" if kind == "modelParameter" else "PARAM_VALUE"
    add(parameter, "value", f"0x{config.channel_bytes:016X}",
        {"format": "bitString", "resolve": resolve, "id": f"{place}.{STRIDE}",
         "bitStringLength": str(MEMORY_ADDRESS_WIDTH)})


def _add_interface(parent: ElementTree.Element, interface: Interface) -> None:
    library, bus = BUSES[interface.kind]
    definition = {"vendor": "xilinx.com", "library": library, "version": "1.0"}
    element = add(parent, "busInterface")
    add(element, "name", interface.name)
    add(element, "busType", attributes=definition | {"name": bus})
    add(element, "abstractionType", attributes=definition | {"name": f"{bus}_rtl"})
    mode = add(element, "master" if interface.manager else "slave")
    if interface.manager:
        add(mode, "addressSpaceRef", attributes={"addressSpaceRef": interface.name})
    elif interface.kind == "axi4lite":
        add(mode, "memoryMapRef", attributes={"memoryMapRef": interface.name})
    maps = add(element, "portMaps")
    for port in interface.ports:
        add(maps, "portMap", {"logicalPort": {"name": port.logical},
                               "physicalPort": {"name": port.name}})
    parameters = add(element, "parameters")
    for name, value in interface.parameters.items():
        parameter = add(parameters, "parameter")
        add(parameter, "name", name)
        add(parameter, "value", value, {"id": f"BUSIFPARAM_VALUE.{interface.name.upper()}.{name}"})


def _add_memory_map(component: ElementTree.Element, config: Config) -> None:
    memory_map = add(add(component, "memoryMaps"), "memoryMap")
    add(memory_map, "name", "s_axi")
    block = add(memory_map, "addressBlock", {
        "name": "control", "baseAddress": 0, "range": 1 << REGISTER_ADDRESS_WIDTH, "width": 32,
        "usage": "register", "access": "read-write"})
    for register in REGISTERS:
        _add_register(block, register, config)


def _add_register(parent: ElementTree.Element, register: Register, config: Config) -> None:
    element = add(parent, "register", {
        "name": register.name, "description": register.description,
        "addressOffset": f"0x{register.offset:X}", "size": 32, "volatile": "true",
        "access": _ACCESS[register.access],
        "reset": {"value": f"0x{register.reset_value(config):X}"}})
    for field in register.fields:
        inner = add(element, "field", {
            "name": field.name, "description": field.description, "bitOffset": field.low,
            "bitWidth": field.width})
        if register.ones_clear:
            add(inner, "modifiedWriteValue", "oneToClear")
        if register.read_acts:
            add(inner, "readAction", "modify")


def _view(purpose: str) -> str:
    return f"xilinx_anylanguage{purpose}"


def _files(purpose: str) -> str:
    return f"{_view(purpose)}_view_fileset"


def _add_model(component: ElementTree.Element, top: str,
               found: Iterable[Port]) -> ElementTree.Element:
    model = add(component, "model")
    views = add(model, "views")
    for purpose in _VIEWS:
        add(views, "view", {
            "name": _view(purpose), "displayName": purpose.capitalize(),
            "envIdentifier": f":vivado.xilinx.com:{purpose}", "language": "Verilog",
            "modelName": top, "fileSetRef": {"localName": _files(purpose)}})
    element = add(model, "ports")
    for port in found:
        wire = add(add(element, "port", {"name": port.name}), "wire",
                   {"direction": "out" if port.output else "in"})
        if port.width > 1:
            add(wire, "vector", {"left": port.width - 1, "right": 0})
        kind = add(add(wire, "wireTypeDefs"), "wireTypeDef", {"typeName": "wire"})
        for purpose in _VIEWS:
            add(kind, "viewNameRef", _view(purpose))
        if port == BASE:
            add(wire, "driver", {"defaultValue": 0})
    return model


def _add_extensions(component: ElementTree.Element, config: Config) -> None:
    """Vivado's extensions of IP-XACT: the FPGAs that it is for, and how it is shown."""
    core = add(add(component, "vendorExtensions"), "xilinx:coreExtensions")
    families = add(core, "xilinx:supportedFamilies")
    for family in _FAMILIES:
        add(families, "xilinx:family", family, {"xilinx:lifeCycle": "Pre-Production"})
    add(core, "xilinx:taxonomies", {"xilinx:taxonomy": "/UserIP"})
    add(core, "xilinx:displayName", f"{_TITLE}, {config.cores} cores of {config.lanes} lanes")
    add(core, "xilinx:coreRevision", 1)
