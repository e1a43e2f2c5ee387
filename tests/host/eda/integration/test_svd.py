# SPDX-License-Identifier: BSD-2-Clause
"""The SVD file: valid by its schema, and with every register as it is."""

import pytest
from cmsis_svd.parser import SVDParser

from hypercast.host.eda.integration.svd import svd
from hypercast.rtl.config import PRESETS
from hypercast.rtl.registers import REGISTERS, Space

CONFIG = PRESETS["tiny"]


@pytest.fixture(scope="module")
def registers(tmp_path_factory):
    """What a reader of SVD files finds, by name."""
    path = tmp_path_factory.mktemp("svd") / "hypercast.svd"
    path.write_text(svd(CONFIG))
    [peripheral] = SVDParser.for_xml_file(path).get_device().peripherals
    assert len(peripheral.registers) == len(REGISTERS)
    return {register.name: register for register in peripheral.registers}


def test_schema():
    valid, reason = SVDParser.validate_xml_str(
        svd(CONFIG).encode(), schema_version="1.3.9", schema_version_detection=False)
    assert valid, reason


@pytest.mark.parametrize("expected", REGISTERS, ids=lambda register: register.name)
def test_register(registers, expected):
    found = registers[expected.name]
    assert found.address_offset == expected.offset
    assert found.size == 32
    assert found.reset_value == expected.reset_value(CONFIG)
    assert found.access.value == {"r": "read-only", "rw": "read-write"}[expected.access]
    assert (found.read_action is not None) == expected.read_acts
    assert (found.modified_write_values is not None) == expected.ones_clear
    assert [(field.name, field.bit_offset, field.bit_width) for field in found.fields] == [
        (field.name, field.low, field.width) for field in expected.fields]


def test_spaces(registers):
    [field] = registers["space"].fields
    [values] = field.enumerated_values
    assert {value.name: value.value for value in values.enumerated_values} == {
        space.name.lower(): int(space) for space in Space}
