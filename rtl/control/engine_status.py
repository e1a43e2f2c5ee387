# SPDX-License-Identifier: BSD-2-Clause
"""What all cores' engines do, seen from the controller."""

from collections.abc import Callable, Sequence

from amaranth.hdl import Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hypercast.rtl.config import Config
from hypercast.rtl.isa import WAITS_WIDTH, Engine
from hypercast.rtl.lib.extremes import maximum
from hypercast.rtl.limits import ERROR_WIDTH, PEAK_WIDTH

__all__ = ["REPORT_LATENCY", "EngineStatus"]

#: Longest time from an instruction's issue until its cores' ``busy`` arrives here, in cycles.
REPORT_LATENCY = 6
#: Values combined per register stage.
_FAN_IN = 4


def _combine(function: Callable[[Value, Value], Value], values: Sequence[Value]) -> Value:
    """Balanced tree of two-input functions."""
    if len(values) == 1:
        return values[0]
    half = len(values) // 2
    return function(_combine(function, values[:half]), _combine(function, values[half:]))


def _either(a: Value, b: Value) -> Value:
    return a | b


class EngineStatus(wiring.Component):
    """Reduces the cores' reports, and covers the time until a new instruction shows in them.

    Parameters
    ----------
    config : Config
        Configuration.

    Attributes
    ----------
    shadow : int
        Cycles for which a started engine is held busy: ``REPORT_LATENCY`` and the cycles the
        reduction takes, one per factor of four in the number of cores (8 for 16 cores).

    Members
    -------
    core_busy, core_peak : In(WAITS_WIDTH), In(PEAK_WIDTH), one each per core
    core_error, core_progress : In(ERROR_WIDTH), In(1), one each per core
        The cores' reports: engines busy (bits as ``Engine``), bit length of the vector
        instruction's magnitude (valid when VECTOR is idle), errors (bits as in ``Core``), and that
        something moved.
    start : In(WAITS_WIDTH)
        Engines an instruction starts; issue is one cycle later.
    busy : Out(WAITS_WIDTH)
        Engines busy in any core, or just started (from one cycle after ``start``).
    peak : Out(PEAK_WIDTH)
        The largest of the cores'; valid when bit VECTOR of ``busy`` is low.
    error : Out(ERROR_WIDTH)
        Any core's.
    progress : Out(1)
        Any core's.
    """

    def __init__(self, config: Config) -> None:
        self._stages = max(1, (config.dimensions + 1) // 2)
        self.shadow = REPORT_LATENCY + self._stages
        super().__init__({
            "core_busy": In(WAITS_WIDTH).array(config.cores),
            "core_peak": In(PEAK_WIDTH).array(config.cores),
            "core_error": In(ERROR_WIDTH).array(config.cores),
            "core_progress": In(1).array(config.cores),
            "start": In(WAITS_WIDTH),
            "busy": Out(WAITS_WIDTH),
            "peak": Out(PEAK_WIDTH),
            "error": Out(ERROR_WIDTH),
            "progress": Out(1),
        })

    def _reduce(self, m: Module, function: Callable[[Value, Value], Value],
                values: Sequence[Value]) -> Value:
        """Combine all values, ``_stages`` cycles later."""
        for _ in range(self._stages):
            groups = [values[first:first + _FAN_IN] for first in range(0, len(values), _FAN_IN)]
            values = [Signal.like(group[0]) for group in groups]
            for value, group in zip(values, groups, strict=True):
                m.d.sync += value.eq(_combine(function, group))
        return values[0]

    def elaborate(self, platform: object) -> Module:
        m = Module()
        started = Signal(WAITS_WIDTH)
        for engine in Engine:
            remaining = Signal(range(self.shadow + 1), name=f"{engine.name.lower()}_shadow")
            with m.If(self.start[engine]):
                m.d.sync += remaining.eq(self.shadow)
            with m.Elif(remaining != 0):
                m.d.sync += remaining.eq(remaining - 1)
            m.d.comb += started[engine].eq(remaining != 0)
        m.d.comb += [
            self.busy.eq(self._reduce(m, _either, list(self.core_busy)) | started),
            self.peak.eq(self._reduce(m, maximum, list(self.core_peak))),
            self.error.eq(self._reduce(m, _either, list(self.core_error))),
            self.progress.eq(self._reduce(m, _either, list(self.core_progress))),
        ]
        return m
