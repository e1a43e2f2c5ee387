# SPDX-License-Identifier: BSD-2-Clause
"""FPGA families that Yosys knows: how it synthesises for them, and what their cells take."""

from dataclasses import dataclass, fields
from typing import Self

__all__ = ["FAMILIES", "Area", "Family"]


@dataclass(frozen=True, kw_only=True)
class Area:
    """The resources that a design takes, or one cell of it.

    Parameters
    ----------
    luts : int
        LUTs used as logic: with 4 inputs on ECP5 (LUTs of carry cells included), with up to 6 on
        AMD's FPGAs.
    shared_luts : int
        LUTs used as logic, on AMD's FPGAs, that share the place of another.
    ram_luts : int
        LUTs used as distributed RAM or shift registers, LUTs of the write ports included.
    flip_flops : int
        Flip-flops.
    carry_bits : int
        Bits of carry chains.
    block_rams : float
        Block RAMs, of 18 Kibit on ECP5 and 36 Kibit on AMD's FPGAs.
    ultra_rams : int
        UltraRAMs.
    dsps : int
        DSP multipliers.
    scattered_memories : int
        Memories that no kind of RAM fits, and that became flip-flops and multiplexers.
    """

    luts: int = 0
    shared_luts: int = 0
    ram_luts: int = 0
    flip_flops: int = 0
    carry_bits: int = 0
    block_rams: float = 0
    ultra_rams: int = 0
    dsps: int = 0
    scattered_memories: int = 0

    @property
    def lut_places(self) -> int:
        """Places that the LUTs take, those used as RAM included."""
        return self.luts + self.ram_luts - self.shared_luts

    @property
    def tally(self) -> dict[str, float]:
        """Counted resources of an FPGA, by kind."""
        return {"LUT": self.lut_places, "LUT as RAM": self.ram_luts, "flip-flop": self.flip_flops,
                "DSP": self.dsps, "block RAM": self.block_rams, "UltraRAM": self.ultra_rams}

    def __add__(self, other: Self) -> Self:
        return type(self)(**{field.name: getattr(self, field.name) + getattr(other, field.name)
                             for field in fields(self)})

    def __mul__(self, count: int) -> Self:
        return type(self)(**{field.name: getattr(self, field.name) * count
                             for field in fields(self)})


@dataclass(frozen=True, kw_only=True)
class Family:
    """How to synthesise for an FPGA family.

    Parameters
    ----------
    title : str
        The maker's name for it.
    command : str
        Yosys' command, for a design that is a part of a larger one.
    cells : dict
        Area of each cell it may use.
    small : frozenset of str
        Names of the LUT cells that share a place by two.
    systolic : str
        The family for which the systolic array is synthesised instead. It has the same DSP slices,
        and Yosys knows it better. The family itself, if empty.
    ultra_ram : bool
        Whether it has UltraRAM.
    """

    title: str
    command: str
    cells: dict[str, Area]
    small: frozenset[str] = frozenset()
    systolic: str = ""
    ultra_ram: bool = False


_LUT = Area(luts=1)
_FLIP_FLOP = Area(flip_flops=1)
_NOTHING = Area()
_DSP = Area(dsps=1)
#: LUTs of AMD's FPGAs with at most 3 inputs.
_SMALL = frozenset({"INV", "LUT1", "LUT2", "LUT3"})
_AMD_CELLS = {
    **dict.fromkeys((*_SMALL, "LUT4", "LUT5", "LUT6"), _LUT),
    "MUXF7": _NOTHING, "MUXF8": _NOTHING, "MUXF9": _NOTHING,
    "CARRY4": Area(carry_bits=4), "CARRY8": Area(carry_bits=8),
    "RAM32X1S": Area(ram_luts=1), "RAM64X1S": Area(ram_luts=1),
    "RAM32X1D": Area(ram_luts=2), "RAM32M": Area(ram_luts=4), "RAM32M16": Area(ram_luts=8),
    "RAM64X1D": Area(ram_luts=2), "RAM64M": Area(ram_luts=4), "RAM64M8": Area(ram_luts=8),
    "RAM128X1D": Area(ram_luts=4), "RAM256X1D": Area(ram_luts=8),
    "SRL16E": Area(ram_luts=1), "SRLC32E": Area(ram_luts=1),
    "FDRE": _FLIP_FLOP, "FDSE": _FLIP_FLOP, "FDCE": _FLIP_FLOP, "FDPE": _FLIP_FLOP,
}
_AMD_OPTIONS = "-flatten -noiopad -noclkbuf"

#: FPGA families by the names that commands take.
FAMILIES = {
    # With multiplexers between LUTs Yosys spends many more LUTs, and routing takes back the time.
    "ecp5": Family(title="ECP5", command="synth_ecp5 -nowidelut", cells={
        "LUT4": _LUT,
        "CCU2C": Area(luts=2, carry_bits=2),
        "TRELLIS_DPR16X4": Area(ram_luts=6),
        "TRELLIS_FF": _FLIP_FLOP,
        "DP16KD": Area(block_rams=1), "PDPW16KD": Area(block_rams=1),
        "MULT18X18D": _DSP,
        "TRELLIS_IO": _NOTHING, "EHXPLLL": _NOTHING, "FD1S3BX": _FLIP_FLOP,
    }),
    "7series": Family(title="7 series", command=f"synth_xilinx -family xc7 {_AMD_OPTIONS}", cells={
        **_AMD_CELLS,
        "RAMB18E1": Area(block_rams=0.5), "RAMB36E1": Area(block_rams=1), "DSP48E1": _DSP,
    }, small=_SMALL),
    "ultrascale+": Family(
        title="UltraScale+", command=f"synth_xilinx -family xcup -uram {_AMD_OPTIONS}",
        ultra_ram=True, cells={
            **_AMD_CELLS,
            "RAMB18E2": Area(block_rams=0.5), "RAMB36E2": Area(block_rams=1), "DSP48E2": _DSP,
            "URAM288": Area(ultra_rams=1),
        }, small=_SMALL, systolic="7series"),
}
