# SPDX-License-Identifier: BSD-2-Clause
"""The boards with HBM: what differs between them."""

from dataclasses import dataclass

from hypercast.errors import InputError
from hypercast.rtl.config import Config, ConfigurationError

__all__ = ["CLOCK", "HBM_BOARDS", "PCIE_LANES", "REFERENCE_CLOCK", "Flash", "HbmBoard", "check"]

#: Frequency in Hz of the chip, and of the HBM's ports.
CLOCK = 250_000_000
#: Frequency in Hz of the boards' oscillators and of PCIe's reference clock.
REFERENCE_CLOCK = 100_000_000
#: Lanes of PCIe that are used: registers need no more.
PCIE_LANES = 4

#: Bits of an HBM port, and words of such a port in a pseudo-channel of 256 MiB.
_WIDTH = 256
_WORDS = 1 << 23


@dataclass(frozen=True, kw_only=True)
class Flash:
    """The flash memory from which a board's FPGA is configured, by four wires of SPI.

    Parameters
    ----------
    part : str
        Vivado's name of it.
    size : int
        MiB.
    offset : int
        Address of the bitstream. Alveo cards keep an image of their own before it, which is locked.
    rate : str
        MHz at which the FPGA reads it.
    """

    part: str
    size: int
    offset: int
    rate: str


#: The flash memory of the Alveo cards.
_ALVEO_FLASH = Flash(part="mt25qu01g-spi-x1_x2_x4", size=128, offset=0x0100_2000, rate="63.8")


@dataclass(frozen=True, kw_only=True)
class HbmBoard:
    """A board whose FPGA has two stacks of HBM2 of 4 GB: 32 pseudo-channels, on die 0.

    Pins are taken from the cards' public constraints and board files; the tests compare them with a
    second source and name both.

    Parameters
    ----------
    title : str
        The maker's name for it.
    part : str
        FPGA, package and speed grade.
    fpga : str
        The FPGA in ``FPGAS``.
    dies : tuple of int
        Number of cores on each die (super logic region), in the order of their addresses. Shares
        that are powers of two, the largest first, are subcubes: the links of few dimensions cross
        dies.
    clock : tuple of str
        Pins of the oscillator, positive and negative.
    clock_standard : str
        I/O standard of the clock's pins.
    pcie_clock : tuple of str
        Pins of PCIe's reference clock, positive and negative.
    pcie_reset, pcie_reset_standard : str
        Pin of PCIe's reset, active low, and its I/O standard.
    pcie_quad, pcie_block : str
        Transceivers of the lanes 0 to 3, and the PCIe block that goes with them.
    overheated : str or None
        Pin over which the board wants to know that the HBM is too hot, active high.
    flash : Flash
        What the FPGA is configured from.
    preset : str
        Configuration unless another is asked for.
    """

    title: str
    part: str
    fpga: str
    dies: tuple[int, ...]
    clock: tuple[str, str]
    clock_standard: str
    pcie_clock: tuple[str, str]
    pcie_reset: str
    flash: Flash
    pcie_reset_standard: str = "LVCMOS18"
    pcie_quad: str = "GTY_Quad_227"
    pcie_block: str = "PCIE4C_X1Y0"
    overheated: str | None = None
    preset: str = "vcu128"

    @property
    def cores(self) -> int:
        """Number of cores."""
        return sum(self.dies)

    @property
    def stacks(self) -> int:
        """Stacks of HBM in use: one per eight cores."""
        return self.cores // 8

    def die(self, core: int) -> int:
        """Die of a core."""
        for die, share in enumerate(self.dies):
            if core < share:
                return die
            core -= share
        raise InputError(f"core must be 0 to {self.cores - 1}")


#: The boards by name.
HBM_BOARDS = {
    "u280": HbmBoard(
        title="AMD Alveo U280", part="xcu280-fsvh2892-2L-e", fpga="XCU280", dies=(8, 4, 4),
        clock=("BJ43", "BJ44"), clock_standard="LVDS",
        pcie_clock=("AR15", "AR14"), pcie_reset="BH26", overheated="D32",
        flash=_ALVEO_FLASH),
    "u50": HbmBoard(
        title="AMD Alveo U50", part="xcu50-fsvh2104-2-e", fpga="XCU50", dies=(4, 4),
        clock=("BB18", "BC18"), clock_standard="LVDS",
        pcie_clock=("AB9", "AB8"), pcie_reset="AW27", overheated="J18",
        flash=_ALVEO_FLASH, preset="u50"),
    "vcu128": HbmBoard(
        title="AMD VCU128", part="xcvu37p-fsvh2892-2L-e", fpga="XCVU37P", dies=(8, 4, 4),
        clock=("BH51", "BJ51"), clock_standard="DIFF_SSTL12",
        pcie_clock=("AR15", "AR14"), pcie_reset="BF41", pcie_reset_standard="LVCMOS12",
        flash=Flash(part="mt25qu02g-spi-x1_x2_x4", size=256, offset=0, rate="63.8")),
}


def check(board: HbmBoard, config: Config) -> None:
    """Refuse what does not fit the ports of the HBM.

    Raises
    ------
    ConfigurationError
        If the chip has not two channels of 256 bits, of at most 256 MiB, for each core.
    """
    for name, value, wanted in (
            ("cores", config.cores, board.cores), ("word_width", config.word_width, _WIDTH)):
        if value != wanted:
            raise ConfigurationError(
                f"the {board.title} needs {name} {wanted}, not {value}; choose dimensions "
                f"{board.cores.bit_length() - 1}, lanes 16 and element_width 16, as in preset "
                f"{board.preset}")
    if config.channel_words > _WORDS:
        raise ConfigurationError(
            f"channel_words must be at most {_WORDS}, the words of a pseudo-channel of HBM, not "
            f"{config.channel_words}")
