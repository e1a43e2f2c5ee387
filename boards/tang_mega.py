# SPDX-License-Identifier: BSD-2-Clause
"""The platform of Sipeed's Tang Mega 138K Pro, for Amaranth 0.5."""

from typing import Any

from amaranth.build import Attrs
from amaranth_boards.resources import UARTResource
from amaranth_boards.tang_mega_138k_pro_dock import TangMega138kProDockPlatform

__all__ = ["TangMegaPlatform"]

#: UART and LEDs are on pins that configure the FPGA, and are free after that.
_SHARED_PINS = "ready", "done", "sspi", "cpu"


class TangMegaPlatform(TangMega138kProDockPlatform):
    """The board as amaranth-boards describes it, for Gowin's tools.

    But for the UART: its lines are the other way round there. LiteX and designs that run on the
    board transmit at P15 and receive at N16.
    """

    resources = [resource for resource in TangMega138kProDockPlatform.resources
                 if resource.name != "uart"] + [
        UARTResource(0, rx="N16", tx="P15", attrs=Attrs(PULL_MODE="UP", IO_TYPE="LVCMOS33"))]

    def parse_part(self) -> None:
        """Nothing: Amaranth 0.5 refuses names of Gowin's fifth generation, and does not need what
        they say but for other tools."""

    def toolchain_prepare(self, fragment: Any, name: str, **kwargs: Any) -> Any:
        options = [f"-top_module {name}", "-gen_text_timing_rpt 1",
                   *(f"-use_{pins}_as_gpio 1" for pins in _SHARED_PINS)]
        return super().toolchain_prepare(
            fragment, name, add_options="\n".join(f"set_option {option}" for option in options),
            **kwargs)
