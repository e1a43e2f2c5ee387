"""The boards with HBM: what differs between them."""

from dataclasses import dataclass

from hypercast.rtl.config import Config, ConfigurationError

__all__ = ["CLOCK", "HBM_BOARDS", "PCIE_LANES", "REFERENCE_CLOCK", "HbmBoard", "check"]

#: Frequency in Hz of the chip, and of the HBM's ports.
CLOCK = 250_000_000
#: Frequency in Hz of the boards' oscillators and of PCIe's reference clock.
REFERENCE_CLOCK = 100_000_000
#: Lanes of PCIe that are used: registers need no more.
PCIE_LANES = 4

#: Cores, bits of an HBM port, and words of such a port in a pseudo-channel of 256 MiB.
_CORES = 16
_WIDTH = 256
_WORDS = 1 << 23


@dataclass(frozen=True, kw_only=True)
class HbmBoard:
    """A board whose FPGA has two stacks of HBM2 of 4 GB: 32 pseudo-channels, on die 0.

    Parameters
    ----------
    title : str
        The maker's name for it.
    part : str
        FPGA, package and speed grade.
    dies : tuple of int
        Number of cores on each die (super logic region), in the order of their addresses. Shares
        that are powers of two, the largest first, are subcubes: the links of few dimensions cross
        dies.
    clock : tuple of str
        Pins of the oscillator, positive and negative.
    clock_standard : str
        Their I/O standard.
    pcie_clock : tuple of str
        Pins of PCIe's reference clock, positive and negative.
    pcie_reset : str
        Pin of PCIe's reset, active low.
    pcie_quad, pcie_block : str
        Transceivers of the lanes 0 to 3, and the PCIe block that goes with them.
    overheated : str or None
        Pin over which the board wants to know that the HBM is too hot, active high.
    preset : str
        Configuration unless another is asked for.
    """

    title: str
    part: str
    dies: tuple[int, ...]
    clock: tuple[str, str]
    clock_standard: str
    pcie_clock: tuple[str, str]
    pcie_reset: str
    pcie_quad: str = "GTY_Quad_227"
    pcie_block: str = "PCIE4C_X1Y0"
    overheated: str | None = None
    preset: str = "vcu128"

    def die(self, core: int) -> int:
        """Die of a core."""
        for die, share in enumerate(self.dies):
            if core < share:
                return die
            core -= share
        raise ValueError(f"core must be 0 to {sum(self.dies) - 1}")


#: The boards by name.
HBM_BOARDS = {
    "u280": HbmBoard(
        title="AMD Alveo U280", part="xcu280-fsvh2892-2L-e", dies=(8, 4, 4),
        clock=("BJ43", "BJ44"), clock_standard="LVDS",
        pcie_clock=("AR15", "AR14"), pcie_reset="BH26", overheated="D32"),
    "u50": HbmBoard(
        title="AMD Alveo U50", part="xcu50-fsvh2104-2-e", dies=(8, 8),
        clock=("BB18", "BC18"), clock_standard="LVDS",
        pcie_clock=("AB9", "AB8"), pcie_reset="AW27", overheated="J18"),
    "vcu128": HbmBoard(
        title="AMD VCU128", part="xcvu37p-fsvh2892-2L-e", dies=(8, 4, 4),
        clock=("BH51", "BJ51"), clock_standard="DIFF_SSTL12",
        pcie_clock=("AL15", "AL14"), pcie_reset="BF41"),
}


def check(config: Config) -> None:
    """Refuse what does not fit the ports of the HBM.

    Raises
    ------
    ConfigurationError
        If the chip has not two channels of 256 bits, of at most 256 MiB, for each of 16 cores.
    """
    for name, value, wanted in (
            ("cores", config.cores, _CORES), ("word_width", config.word_width, _WIDTH)):
        if value != wanted:
            raise ConfigurationError(
                f"a board with HBM needs {name} {wanted}, not {value}; choose dimensions 4, lanes "
                f"16 and element_width 16, as in preset vcu128")
    if config.channel_words > _WORDS:
        raise ConfigurationError(
            f"channel_words must be at most {_WORDS}, the words of a pseudo-channel of HBM, not "
            f"{config.channel_words}")
