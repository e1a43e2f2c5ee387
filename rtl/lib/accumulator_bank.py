# SPDX-License-Identifier: BSD-2-Clause
"""Two buffers of accumulators."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In

from hypercast.rtl.config import Config
from hypercast.rtl.layouts import AccumulatorPort, accumulator_row
from hypercast.rtl.lib.accumulator_memory import AccumulatorMemory

__all__ = ["AccumulatorBank"]


class AccumulatorBank(wiring.Component):
    """Adds rows to accumulators, one row per cycle, while another buffer is drained.

    Adding to a buffer that is being drained is the user's error, and gives wrong sums. All
    accumulators are zero when the device is configured, and after a reset of
    ``config.reset_cycles``.

    Parameters
    ----------
    config : Config
        Gives the number of rows and the width of a row.

    Members
    -------
    add_enable : In(1)
        High to add ``addend`` to row ``add_row`` of ``add_buffer``; a drain sees the sum if its
        ``enable`` comes two cycles later or more.
    add_buffer, add_row, addend : In
        Valid with ``add_enable``. Sums wrap at ``config.accumulator_width`` bits.
    drain : In(AccumulatorPort)
        Reads and clears rows; latency 2, one row per cycle.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        super().__init__({
            "add_enable": In(1),
            "add_buffer": In(1),
            "add_row": In(range(config.accumulator_rows)),
            "addend": In(accumulator_row(config)),
            "drain": In(AccumulatorPort(config, config.accumulator_rows)),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        drain, buffers = self.drain, []
        for number in range(2):
            buffer = AccumulatorMemory(self._config, self._config.accumulator_rows)
            m.submodules[f"buffer_{number}"] = buffer
            buffers.append(buffer)
            added = self.add_enable & (self.add_buffer == number)
            drained = drain.enable & (drain.buffer == number)
            m.d.comb += [
                buffer.enable.eq(added | drained),
                buffer.clear.eq(drained),
                buffer.row.eq(Mux(drained, drain.row, self.add_row)),
                buffer.addend.eq(self.addend),
            ]
        drained_buffer, drained = Signal(), Signal()
        m.d.sync += [
            drained_buffer.eq(drain.buffer),
            drained.eq(drain.enable),
            drain.valid.eq(drained),
        ]
        for element, *stored in zip(
                drain.data, *(buffer.data for buffer in buffers), strict=True):
            m.d.sync += element.eq(Mux(drained_buffer, stored[1], stored[0]))
        return m
