# SPDX-License-Identifier: BSD-2-Clause
"""A core's row counts, one for each set of vertices a program names."""

from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hypercast.rtl.config import Config
from hypercast.rtl.isa import ROWS_WIDTH
from hypercast.rtl.lib.parity_memory import ParityMemory

__all__ = ["RowTable"]


class RowTable(wiring.Component):
    """``config.row_counts`` row counts.

    Parameters
    ----------
    config : Config
        Configuration.

    Members
    -------
    index : In(VERTICES_WIDTH)
        Entry an instruction names (``vertices``).
    rows : Out(ROWS_WIDTH)
        The entry ``index``, in the next cycle.
    host_index : In(VERTICES_WIDTH)
        Entry the host reads or writes.
    host_rows : Out(ROWS_WIDTH)
        The entry ``host_index``, in the next cycle.
    host_write : In(1)
        High to set the entry ``host_index`` to ``host_data``.
    host_data : In(ROWS_WIDTH)
        Valid with ``host_write``.
    fault : Out(1)
        High in the cycle after ``rows`` was not what was written.
    """

    def __init__(self, config: Config) -> None:
        self._depth = config.row_counts
        super().__init__({
            "index": In(range(config.row_counts)),
            "rows": Out(ROWS_WIDTH),
            "host_index": In(range(config.row_counts)),
            "host_rows": Out(ROWS_WIDTH),
            "host_write": In(1),
            "host_data": In(ROWS_WIDTH),
            "fault": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.memory = memory = ParityMemory(ROWS_WIDTH, self._depth, reads=2)
        (read, host_read), write = memory.reads, memory.write
        m.d.sync += self.fault.eq(read.fault)
        m.d.comb += [
            read.addr.eq(self.index), self.rows.eq(read.data), read.en.eq(1),
            host_read.addr.eq(self.host_index), self.host_rows.eq(host_read.data),
            host_read.en.eq(1),
            write.addr.eq(self.host_index), write.data.eq(self.host_data),
            write.en.eq(self.host_write),
        ]
        return m
