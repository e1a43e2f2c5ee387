# SPDX-License-Identifier: BSD-2-Clause
"""Names of an exported chip: what follows from the options, and what is refused."""

import pytest

from hypercast.rtl.export.export_options import ExportOptions


@pytest.mark.parametrize("options, top", [
    ({}, "hypercast"), ({"prefix": "left_"}, "left_hypercast"), ({"top_name": "dut"}, "dut"),
    ({"prefix": "left_", "top_name": "dut"}, "dut"),
    ({"prefix": "left_", "top_name": "hypercast_core"}, "hypercast_core"),
])
def test_top(options, top):
    assert ExportOptions(**options).top == top


@pytest.mark.parametrize("options, message", [
    ({"prefix": "2"}, "with prefix '2', module '2hypercast' is no Verilog identifier"),
    ({"top_name": "a-b"}, "top module 'a-b' is no Verilog identifier"),
    ({"top_name": "wire"}, "top module 'wire' is a reserved word"),
    ({"top_name": "hypercast_core"}, "'hypercast_core' has the name of a part of the chip"),
    ({"top_name": "component"}, "'component' would have a file component.xml beside"),
    ({"top_name": "Component"}, "'Component' would have a file Component.xml beside"),
    ({"prefix": "a_", "top_name": "a_hypercast_chip"}, "has the name of a part of the chip"),
])
def test_refused(options, message):
    with pytest.raises(ValueError, match=message):
        ExportOptions(**options)
