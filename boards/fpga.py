# SPDX-License-Identifier: BSD-2-Clause
"""What the boards' FPGAs have, by their makers' documents."""

from dataclasses import dataclass

__all__ = ["FPGAS", "Fpga", "Ram"]


@dataclass(frozen=True, kw_only=True)
class Ram:
    """A kind of RAM block with one write port and one read port.

    Parameters
    ----------
    name : str
        What the maker calls it.
    bits : int
        Bits of a block, those for parity included.
    shapes : tuple of (int, int)
        Words and bits per word that a block can have.
    """

    name: str
    bits: int
    shapes: tuple[tuple[int, int], ...]

    def blocks(self, words: int, width: int) -> int:
        """Blocks that a memory takes, all with the shape for which they are fewest."""
        return min(-(-words // depth) * -(-width // bits) for depth, bits in self.shapes)


def _shapes(words: int, widths: tuple[int, ...]) -> tuple[tuple[int, int], ...]:
    """The widths of a block, each with half as many words as the one before."""
    return tuple((words >> step, width) for step, width in enumerate(widths))


_EBR = Ram(name="block RAM (18 Kibit)", bits=18_432,
           shapes=_shapes(16_384, (1, 2, 4, 9, 18, 36)))
_RAMB36 = Ram(name="block RAM (36 Kibit)", bits=36_864,
              shapes=_shapes(32_768, (1, 2, 4, 9, 18, 36, 72)))
_M10K = Ram(name="M10K", bits=10_240, shapes=_shapes(8_192, (1, 2, 5, 10, 20, 40)))
_URAM = Ram(name="UltraRAM", bits=294_912, shapes=((4_096, 72),))


@dataclass(frozen=True, kw_only=True)
class Fpga:
    """An FPGA.

    Parameters
    ----------
    family : str
        Family of the FPGA.
    luts, flip_flops : int
        LUTs as the maker counts them (on Cyclone V an adaptive logic module is two), and flip-flops
        beside them.
    multipliers : int
        Multipliers of 16 by 16 bits in DSP blocks.
    rams : tuple of (Ram, int)
        Kinds of RAM blocks, and how many there are.
    distributed_bits : int
        Bits that LUTs can hold as RAM, if all of them do that can; 0 if the tools put no memory
        there that a block can hold, however few blocks are left.
    source : str
        The document that says so.
    """

    family: str
    luts: int
    flip_flops: int
    multipliers: int
    rams: tuple[tuple[Ram, int], ...]
    distributed_bits: int
    source: str


#: FPGAs by name.
FPGAS = {
    "5CSEBA6": Fpga(
        family="Cyclone V", luts=83_820, flip_flops=166_036, multipliers=224,
        rams=((_M10K, 553),), distributed_bits=621 * 1024,
        source="Intel CV-51001, Cyclone V SE: 41,910 ALMs, 112 DSP blocks of two multipliers each"),
    "GW5AST-138": Fpga(
        family="Gowin 5", luts=138_240, flip_flops=138_240, multipliers=298,
        rams=((_EBR, 340),), distributed_bits=1_080 * 1024,
        source="Gowin DS1104, GW5AST; the same figures in Sipeed's documents of the board"),
    "LFE5U-85F": Fpga(
        family="ECP5", luts=83_640, flip_flops=83_640, multipliers=156,
        rams=((_EBR, 208),), distributed_bits=0,  # with Yosys
        source="Lattice FPGA-DS-02012, table 1.1; nextpnr's report counts the same cells"),
    "XC7A100T": Fpga(
        family="7 series", luts=63_400, flip_flops=126_800, multipliers=240,
        rams=((_RAMB36, 135),), distributed_bits=1_188 * 1024,
        source="AMD DS180, table 4"),
    "XCK26": Fpga(
        family="UltraScale+", luts=117_120, flip_flops=234_240, multipliers=1_248,
        rams=((_RAMB36, 144), (_URAM, 64)), distributed_bits=3_500 * 1024,
        source="AMD DS987, table 1, and DS891 for the ZU5EV, which is the same silicon"),
    "XCU280": Fpga(
        family="UltraScale+", luts=1_303_680, flip_flops=2_607_360, multipliers=9_024,
        rams=((_RAMB36, 2_016), (_URAM, 960)), distributed_bits=37_600 * 1024,
        source="AMD DS963, and XMP103 for the VU37P, which is the same silicon"),
    "XCU50": Fpga(
        family="UltraScale+", luts=871_680, flip_flops=1_743_360, multipliers=5_952,
        rams=((_RAMB36, 1_344), (_URAM, 640)), distributed_bits=25_100 * 1024,
        source="AMD DS965, and XMP103 for the VU35P, which is the same silicon"),
    "XCVU37P": Fpga(
        family="UltraScale+", luts=1_303_680, flip_flops=2_607_360, multipliers=9_024,
        rams=((_RAMB36, 2_016), (_URAM, 960)), distributed_bits=37_600 * 1024,
        source="AMD XMP103, UltraScale+ FPGAs product tables"),
}
