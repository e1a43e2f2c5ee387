# SPDX-License-Identifier: BSD-2-Clause
"""RTLIL: the same text as Amaranth's, and the collector of cycles as it was."""

import gc

import pytest
from amaranth.back import rtlil

from hypercast.rtl.config import PRESETS
from hypercast.rtl.control.control_unit import ControlUnit
from hypercast.rtl.export.rtlil import to_rtlil


def test_text():
    config = PRESETS["tiny"]
    assert to_rtlil(ControlUnit(config), "control") == rtlil.convert(
        ControlUnit(config), name="control")


@pytest.mark.parametrize("enabled", [True, False])
def test_the_collector_is_left_as_it_was(enabled):
    was = gc.isenabled()
    (gc.enable if enabled else gc.disable)()
    try:
        with pytest.raises(TypeError):
            to_rtlil(object(), "nothing")
        assert gc.isenabled() == enabled
    finally:
        (gc.enable if was else gc.disable)()
