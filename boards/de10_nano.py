# SPDX-License-Identifier: BSD-2-Clause
"""The platform of Terasic's DE10-Nano, for Quartus: with a check of its timing."""

from typing import Any

from amaranth_boards.de10_nano import DE10NanoPlatform

from hypercast.boards.timing_checks import QUARTUS_CHECK

__all__ = ["De10NanoPlatform"]

_CHECK = "timing_check.tcl"


class De10NanoPlatform(DE10NanoPlatform):
    """The board as amaranth-boards describes it; the UART is on the Arduino header.

    The bitstream is made last, after the timing was analysed and checked.
    """

    quartus_file_templates = {**DE10NanoPlatform.quartus_file_templates, _CHECK: QUARTUS_CHECK}

    @property
    def command_templates(self) -> list[str]:
        analyse, fit, assemble, report = super().command_templates
        check = f"{{{{invoke_tool(\"quartus_sta\")}}}}\n    -t {_CHECK}"
        return [analyse, fit, report, check, assemble]

    def toolchain_prepare(self, fragment: Any, name: str, **kwargs: Any) -> Any:
        return super().toolchain_prepare(
            fragment, name, add_constraints="derive_clock_uncertainty", **kwargs)
