# SPDX-License-Identifier: BSD-2-Clause
"""The register page: what is in the documentation is what is generated."""

from hypercast.host.eda.integration.register_page import register_page
from hypercast.rtl.registers import COUNTERS, REGISTERS
from tests.packaging.source_tree import ROOT


def test_documentation_is_up_to_date():
    page = ROOT / "docs" / "registers.md"
    assert page.read_text() == register_page(), (
        "run `hypercast verilog --preset tiny -o build/tiny` and copy build/tiny/registers.md to "
        "docs/")


def test_names():
    page = register_page()
    for register in REGISTERS:
        assert f"| `{register.offset:#04x}` | `{register.name}` | {register.access} |" in page
        for field in register.fields:
            assert field.description in page or register.name == "space"
    for name, counter in COUNTERS.items():
        assert f"`{name}` | {counter.description} |" in page
