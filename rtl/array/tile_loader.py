# SPDX-License-Identifier: BSD-2-Clause
"""Loads tiles of weights into the systolic array's shadow registers."""

from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hypercast.rtl.config import Config
from hypercast.rtl.isa import BASE_WIDTH, PANELS_WIDTH
from hypercast.rtl.layouts import WeightPort

__all__ = ["TileLoader"]


class TileLoader(wiring.Component):
    """Reads each tile's ``P`` rows, the last row first, as soon as the array may be loaded.

    A tile is ready ``P + 1`` cycles after the one before it was taken, and one more for every cycle
    in which the weight bank serves others.

    Parameters
    ----------
    config : Config
        Configuration.

    Members
    -------
    start : In(1)
        Begins; not while tiles of an earlier start are left.
    weights, stride : In(BASE_WIDTH)
        Weight bank row of tile 0's row 0, valid with ``start``, and rows from tile to tile,
        constant until the last tile is taken.
    tiles : In(PANELS_WIDTH)
        How many tiles to load; valid with ``start``.
    port : Out(WeightPort(config))
        Access to the weight bank.
    load : Out(1)
        The array is to shift ``port.data`` in.
    ready : Out(1)
        The tile is loaded, or its last row is being loaded.
    take : In(1)
        The array's ``first``: the tile is in use and the next may be loaded. Only while ``ready``.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        super().__init__({
            "start": In(1),
            "weights": In(BASE_WIDTH),
            "stride": In(BASE_WIDTH),
            "tiles": In(PANELS_WIDTH),
            "port": Out(WeightPort(config)),
            "load": Out(1),
            "ready": Out(1),
            "take": In(1),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        lanes = self._config.lanes
        base = Signal.like(self.weights)
        row = Signal(range(lanes), init=lanes - 1)
        tiles = Signal.like(self.tiles)
        request, reading = self.port.request, Signal()
        m.d.comb += [
            request.valid.eq((tiles != 0) & ~self.ready),
            request.payload.eq(base + row),
            reading.eq(request.valid & request.ready),
        ]
        m.d.sync += self.load.eq(reading)

        with m.If(self.start):
            m.d.sync += [base.eq(self.weights), tiles.eq(self.tiles)]
        with m.Elif(reading):
            m.d.sync += row.eq(row - 1)  # wraps after row 0
            with m.If(row == 0):
                m.d.sync += [self.ready.eq(1), base.eq(base + self.stride), tiles.eq(tiles - 1)]

        with m.If(self.take):
            m.d.sync += self.ready.eq(0)
        return m
