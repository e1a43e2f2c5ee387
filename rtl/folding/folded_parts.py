# SPDX-License-Identifier: BSD-2-Clause
"""Converts the parts of a folded chip to RTLIL: the core, folded, and the control unit, paced."""

from typing import Any

from hypercast.rtl.config import Config
from hypercast.rtl.control.control_unit import ControlUnit
from hypercast.rtl.core import Core
from hypercast.rtl.folding.flat import convert_changed
from hypercast.rtl.folding.fold import fold
from hypercast.rtl.folding.folded_chip import FOLDED_CORE_MODULE, PACED_CONTROL_MODULE
from hypercast.rtl.folding.pace import pace

__all__ = ["folded_parts_to_rtlil"]


def folded_parts_to_rtlil(config: Config) -> dict[str, str]:
    """RTLIL texts of ``FoldedChip``'s parts, modules ``FOLDED_CORE_MODULE`` and
    ``PACED_CONTROL_MODULE``, by their names.

    Raises
    ------
    ToolError
        If Yosys fails; holds its message.
    """
    def fold_core(module: dict[str, Any]) -> None:
        fold(module, slots=config.cores, index="core", private={
            port for port in module["ports"] if port.startswith(("incoming__", "outgoing__"))})

    def pace_control(module: dict[str, Any]) -> None:
        pace(module, slots=config.cores)

    return {
        FOLDED_CORE_MODULE: convert_changed(Core(config), FOLDED_CORE_MODULE, fold_core),
        PACED_CONTROL_MODULE: convert_changed(
            ControlUnit(config), PACED_CONTROL_MODULE, pace_control),
    }
