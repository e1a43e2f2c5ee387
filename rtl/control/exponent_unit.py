# SPDX-License-Identifier: BSD-2-Clause
"""Tensor exponents: chooses them, and the shifts that follow from them."""

from amaranth.hdl import Module, Mux, Signal, Value, signed
from amaranth.lib import data, enum, wiring
from amaranth.lib.wiring import In, Out

from hypercast.rtl import layouts
from hypercast.rtl.config import Config
from hypercast.rtl.control.exponent_file import ExponentEntry, ExponentFile
from hypercast.rtl.isa import (
    EXPONENT_WIDTH,
    GRADIENT_ZEROS,
    INSTRUCTION_WIDTH,
    LONGEST_SHIFT,
    LOSS_EXPONENT,
    LOSS_SHIFT,
    MASTER_EXPONENT,
    MAXIMUM_EXPONENT,
    MINIMUM_EXPONENT,
    SHIFT_WIDTH,
    TENSORS,
    Engine,
    Opcode,
    opcodes_of,
)
from hypercast.rtl.layouts import HostRequest
from hypercast.rtl.lib.extremes import maximum, minimum
from hypercast.rtl.limits import PEAK_WIDTH

__all__ = ["ExponentUnit"]

#: Lowest peak that can be stored.
_LEAST_PEAK = -1 << EXPONENT_WIDTH - 1
#: Any sum or difference of three exponents.
_SUM = signed(EXPONENT_WIDTH + 2)

_TENSORS = data.StructLayout({name: signed(-width) if width < 0 else width
                              for name, width in TENSORS})


class _Step(enum.Enum):
    """What arrives from the exponent file, or is computed, in this cycle."""

    IDLE = 0
    A = 1       #: Entry of factor ``a`` arrives.
    B = 2       #: Entry of factor ``b`` arrives.
    BIAS = 3    #: Entry of the bias arrives.
    FOLD = 4    #: The last vector instruction's peak is still to be folded in.
    PEAK = 5    #: Entry of the tensor whose peak counts arrives.
    RESULT = 6  #: Entry of the result arrives.
    CHOOSE = 7  #: The result's exponent is chosen.
    SHIFT = 8   #: Its shift is computed.
    READY = 9   #: All outputs are valid.


class ExponentUnit(wiring.Component):
    """Applies the exponent rules of ``docs/instructions.md`` to vector instructions.

    Factors are looked up while the instruction still waits; the result's exponent is chosen once
    the previous vector instruction's peak has been folded in. Without one to fold, ``ready`` is
    high 8 cycles after ``prepare``.

    A stored peak is never below -128. That loses nothing: an exponent is at least
    ``MINIMUM_EXPONENT`` anyway. Upwards, exponents of at most ``MAXIMUM_EXPONENT`` keep peaks in
    8 bits.

    Parameters
    ----------
    config : Config
        Configuration.

    Members
    -------
    instruction : In(INSTRUCTION_WIDTH)
        The instruction; it must not change from ``prepare`` to ``commit``. For one that is not
        the vector unit's, ``ready`` and what is valid with it mean nothing.
    first : In(1)
        Low if the instruction's ``open`` does not count; it changes as ``instruction`` does.
    prepare : In(1)
        High for one cycle to begin with ``instruction``, dropping any other that was begun.
    ready : Out(1)
        High from when the shifts and errors are valid until ``commit`` or ``prepare``.
    shift, aux_shift : Out(SHIFT_WIDTH), Out(signed(EXPONENT_WIDTH))
        As in ``layouts.Issue``; valid with ``ready``.
    exponent_error, alignment_error : Out(1)
        Bits of ``registers.Error``; valid with ``ready``.
    commit : In(1)
        The instruction starts: keep the exponent chosen. Only while ``ready``, without errors.
    vector_busy : In(1)
        The vector unit is at work in any core; high from the cycle after ``commit``.
    peak : In(PEAK_WIDTH)
        Bit length of its magnitude over all cores; valid while ``vector_busy`` is low.
    pending : Out(1)
        High from ``commit`` until the instruction's peak has been folded in.
    request, request_valid, response, response_valid, fault
        The ports of ``ExponentFile``.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        super().__init__({
            "instruction": In(INSTRUCTION_WIDTH),
            "first": In(1),
            "prepare": In(1),
            "ready": Out(1),
            "shift": Out(SHIFT_WIDTH),
            "aux_shift": Out(signed(EXPONENT_WIDTH)),
            "exponent_error": Out(1),
            "alignment_error": Out(1),
            "commit": In(1),
            "vector_busy": In(1),
            "peak": In(PEAK_WIDTH),
            "pending": Out(1),
            "request": In(HostRequest),
            "request_valid": In(1),
            "response": Out(32),
            "response_valid": Out(1),
            "fault": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.file = file = ExponentFile(self._config)
        m.d.comb += [
            file.request.eq(self.request), file.request_valid.eq(self.request_valid),
            self.response.eq(file.response), self.response_valid.eq(file.response_valid),
            self.fault.eq(file.fault),
        ]
        tensors = self._tensors(m)
        step = Signal(_Step)
        base, result = Signal(_SUM), Signal(ExponentEntry)
        self._sequence(m, file, tensors, step)
        self._factors(m, file.read_entry, step, base)
        self._result(m, file.read_entry, tensors, step, base, result)
        self._fold(m, file, tensors, base, result)
        return m

    def _view(self, opcode: Opcode) -> data.View:
        return layouts.OPERANDS[opcode](self.instruction)

    def _opcode(self) -> Value:
        return layouts.CONTROL(self.instruction[:layouts.CONTROL.size]).opcode

    def _tensors(self, m: Module) -> data.View:
        """The tensor operands, wherever the opcode has them."""
        tensors = Signal(_TENSORS)
        with m.Switch(self._opcode()):
            for opcode in opcodes_of(Engine.VECTOR):
                with m.Case(opcode):
                    view = self._view(opcode)
                    m.d.comb += [
                        *(tensors[name].eq(view[name]) for name, _ in _TENSORS),
                        tensors.open.eq(view.open & self.first),
                    ]
        return tensors

    def _sequence(self, m: Module, file: ExponentFile, tensors: data.View, step: Value) -> None:
        """One entry per cycle: in each step, read what the next one uses."""
        m.d.comb += [file.read_tensor.eq(tensors.o), self.ready.eq(step == _Step.READY)]
        with m.Switch(step):
            with m.Case(_Step.A):
                m.d.comb += file.read_tensor.eq(tensors.b)
                m.d.sync += step.eq(_Step.B)
            with m.Case(_Step.B):
                m.d.comb += file.read_tensor.eq(self._view(Opcode.DRAIN).bias_tensor)
                m.d.sync += step.eq(_Step.BIAS)
            with m.Case(_Step.BIAS, _Step.FOLD):
                m.d.comb += file.read_tensor.eq(tensors.peak_of)
                m.d.sync += step.eq(Mux(self.pending, _Step.FOLD, _Step.PEAK))
            with m.Case(_Step.PEAK):
                m.d.sync += step.eq(_Step.RESULT)
            with m.Case(_Step.RESULT):
                m.d.sync += step.eq(_Step.CHOOSE)
            with m.Case(_Step.CHOOSE):
                m.d.sync += step.eq(_Step.SHIFT)
            with m.Case(_Step.SHIFT):
                m.d.sync += step.eq(_Step.READY)
            with m.Case(_Step.READY), m.If(self.commit):
                m.d.sync += step.eq(_Step.IDLE)
        with m.If(self.prepare):
            m.d.comb += file.read_tensor.eq(tensors.a)
            m.d.sync += step.eq(_Step.A)

    def _factors(self, m: Module, entry: ExponentEntry, step: Value, base: Signal) -> None:
        """``base``, valid from the step after BIAS, and from it ``aux_shift`` two cycles later."""
        first, bias = Signal(signed(EXPONENT_WIDTH)), Signal(signed(EXPONENT_WIDTH))
        factors, offset = Signal(signed(EXPONENT_WIDTH + 1)), Signal(_SUM)
        with m.Switch(step):
            with m.Case(_Step.A):
                m.d.sync += first.eq(entry.exponent)
            with m.Case(_Step.B):
                m.d.sync += factors.eq(first + entry.exponent)
            with m.Case(_Step.BIAS):
                m.d.sync += bias.eq(entry.exponent)

        drain, update = self._view(Opcode.DRAIN), self._view(Opcode.UPDATE)
        limit = self._config.accumulator_width - self._config.element_width - 1
        m.d.sync += self.alignment_error.eq(0)
        with m.Switch(self._opcode()):
            with m.Case(Opcode.DRAIN):
                m.d.sync += [
                    base.eq(factors + drain.exponent_bias),
                    offset.eq(bias - base),
                    self.aux_shift.eq(maximum(offset, -LONGEST_SHIFT)),
                    self.alignment_error.eq(drain.bias & (offset > limit)),
                ]
            with m.Case(Opcode.LOSS):
                m.d.sync += [
                    base.eq(LOSS_EXPONENT),
                    offset.eq(LOSS_SHIFT - first),
                    self.aux_shift.eq(offset),
                    self.alignment_error.eq((offset < 0) | (offset > LONGEST_SHIFT)),
                ]
            with m.Case(Opcode.UPDATE):
                m.d.sync += [
                    base.eq(MASTER_EXPONENT),
                    offset.eq(update.momentum_exponent + GRADIENT_ZEROS - factors),
                    self.aux_shift.eq(minimum(offset, LONGEST_SHIFT)),
                    self.alignment_error.eq(offset < 0),
                ]

    def _result(self, m: Module, entry: ExponentEntry, tensors: data.View, step: Value,
                base: Signal, result: ExponentEntry) -> None:
        """``result`` with its exponent chosen, valid from SHIFT, and the shift to it."""
        # As wide as any wish, so that an exponent out of range is seen before it is stored.
        peak = Signal(ExponentEntry)
        wanted, floor, chosen, difference = (
            Signal(_SUM, name=name) for name in ("wanted", "floor", "chosen", "difference"))
        largest = self._config.element_width - 1  # bit length of the largest mantissa
        m.d.comb += difference.eq(chosen - base)
        with m.Switch(step):
            with m.Case(_Step.PEAK):
                m.d.sync += peak.eq(entry)
            with m.Case(_Step.RESULT):
                m.d.sync += [
                    result.peak.eq(entry.peak),
                    result.valid.eq(entry.valid & ~tensors.open),
                    floor.eq(maximum(base, MINIMUM_EXPONENT)),
                    wanted.eq(Mux(tensors.open & peak.valid,
                                  peak.peak + tensors.headroom - largest, entry.exponent)),
                ]
            with m.Case(_Step.CHOOSE):
                m.d.sync += chosen.eq(Mux(tensors.open & (floor > wanted), floor, wanted))
            with m.Case(_Step.SHIFT):
                m.d.sync += [
                    result.exponent.eq(chosen),
                    self.shift.eq(minimum(difference, LONGEST_SHIFT)),
                    self.exponent_error.eq((chosen > MAXIMUM_EXPONENT) | (difference < 0)),
                ]

    def _fold(self, m: Module, file: ExponentFile, tensors: data.View, base: Signal,
              result: ExponentEntry) -> None:
        """Stores the result at ``commit``, and again with the peak when the vector unit is done."""
        last_tensor, last_base, last = (
            Signal.like(tensors.o), Signal.like(base), Signal(ExponentEntry))
        found, bound, least = Signal(), Signal(_SUM), Signal(signed(EXPONENT_WIDTH))
        folding, folded = Signal(), Signal(ExponentEntry)
        m.d.comb += [
            least.eq(Mux(last.valid, last.peak, _LEAST_PEAK)),
            folded.exponent.eq(last.exponent),
            folded.peak.eq(maximum(bound, least)),
            folded.valid.eq(1),
            file.write.eq(self.commit | (folding & found)),
            file.write_tensor.eq(Mux(folding, last_tensor, tensors.o)),
            file.write_entry.eq(Mux(folding, folded, result)),
        ]
        m.d.sync += [found.eq(self.peak != 0), bound.eq(last_base + self.peak)]
        # ``commit`` comes late in its cycle: these follow what it may commit, enabled without it.
        with m.If(~self.pending):
            m.d.sync += [last_tensor.eq(tensors.o), last_base.eq(base), last.eq(result)]
        with m.If(self.commit):
            m.d.sync += self.pending.eq(1)
        with m.Elif(folding):
            m.d.sync += [folding.eq(0), self.pending.eq(0)]
        with m.Elif(self.pending & ~self.vector_busy):
            m.d.sync += folding.eq(1)
