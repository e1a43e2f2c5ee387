# SPDX-License-Identifier: BSD-2-Clause
"""The chip's clock, made of a board's oscillator by what the FPGA family has for that."""

from amaranth.hdl import Const, Instance, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.vendor import LatticeECP5Platform, XilinxPlatform

from hypercast.errors import InputError

__all__ = ["ClockGenerator"]

#: Frequencies in Hz at which the PLLs oscillate: 400 to 800 MHz on ECP5, from 800 MHz on 7 series.
_ECP5_OSCILLATOR = 600_000_000
_SERIES7_OSCILLATOR = 1_000_000_000


class ClockGenerator(wiring.Component):
    """Makes one clock of another.

    Parameters
    ----------
    source : int
        Frequency of ``oscillator`` in Hz.
    frequency : int
        Frequency of ``clk`` in Hz: ``source``, or on an ECP5 a multiple of it and a divisor of
        600 MHz; on Xilinx' 7 series both divide 1 GHz.

    Members
    -------
    oscillator : In(1)
        The board's clock.
    clk : Out(1)
        The chip's.
    locked : Out(1)
        High while ``clk`` is good; asynchronous.

    Raises
    ------
    InputError
        When elaborated, if the FPGA cannot make that frequency.
    """

    def __init__(self, source: int, frequency: int) -> None:
        self._source = source
        self._frequency = frequency
        super().__init__({"oscillator": In(1), "clk": Out(1), "locked": Out(1)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        if self._source == self._frequency:
            m.d.comb += [self.clk.eq(self.oscillator), self.locked.eq(1)]
        elif isinstance(platform, LatticeECP5Platform):
            m.submodules.pll = self._ecp5()
        elif isinstance(platform, XilinxPlatform):
            m.submodules.pll = self._series7(m)
        else:
            raise InputError(f"frequency must be {self._source}, the oscillator's, because there "
                             f"is no clock generator for this FPGA, not {self._frequency}")
        return m

    def _divide(self, dividend: int, divisor: int) -> int:
        """A ratio of the generator, which has to be whole."""
        ratio, rest = divmod(dividend, divisor)
        if rest or not ratio:
            raise InputError(f"frequency {self._frequency} cannot be made of {self._source}: "
                             f"{dividend} is no multiple of {divisor}")
        return ratio

    def _ecp5(self) -> Instance:
        """A PLL whose output is its feedback (Lattice FPGA-TN-02200)."""
        divider = self._divide(_ECP5_OSCILLATOR, self._frequency)
        # What ecppll of Project Trellis sets.
        return Instance(
            "EHXPLLL",
            a_FREQUENCY_PIN_CLKI=str(self._source / 1e6),
            a_FREQUENCY_PIN_CLKOP=str(self._frequency / 1e6),
            a_ICP_CURRENT="12", a_LPF_RESISTOR="8",
            a_MFG_ENABLE_FILTEROPAMP="1", a_MFG_GMCREF_SEL="2",
            p_PLLRST_ENA="DISABLED", p_INTFB_WAKE="DISABLED", p_STDBY_ENABLE="DISABLED",
            p_DPHASE_SOURCE="DISABLED", p_CLKI_DIV=1, p_FEEDBK_PATH="CLKOP",
            p_CLKFB_DIV=self._divide(self._frequency, self._source),
            p_CLKOP_ENABLE="ENABLED", p_CLKOP_DIV=divider,
            p_CLKOP_CPHASE=divider // 2 - 1, p_CLKOP_FPHASE=0,
            i_CLKI=self.oscillator, i_CLKFB=self.clk, i_RST=Const(0), i_STDBY=Const(0),
            i_PHASESEL0=Const(0), i_PHASESEL1=Const(0), i_PHASEDIR=Const(1),
            i_PHASESTEP=Const(1), i_PHASELOADREG=Const(1), i_PLLWAKESYNC=Const(0),
            i_ENCLKOP=Const(0), o_CLKOP=self.clk, o_LOCK=self.locked)

    def _series7(self, m: Module) -> Instance:
        """A PLL, and the buffer that takes its output to the clock network (AMD UG472)."""
        feedback, generated = Signal(), Signal()
        m.submodules.buffer = Instance("BUFG", i_I=generated, o_O=self.clk)
        return Instance(
            "PLLE2_BASE", p_CLKIN1_PERIOD=1e9 / self._source,
            p_CLKFBOUT_MULT=self._divide(_SERIES7_OSCILLATOR, self._source),
            p_CLKOUT0_DIVIDE=self._divide(_SERIES7_OSCILLATOR, self._frequency),
            i_CLKIN1=self.oscillator, i_CLKFBIN=feedback, i_RST=Const(0), i_PWRDWN=Const(0),
            o_CLKFBOUT=feedback, o_CLKOUT0=generated, o_LOCKED=self.locked)
