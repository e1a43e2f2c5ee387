# SPDX-License-Identifier: BSD-2-Clause
"""A core's row counts, one for each set of vertices a program names."""

from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hypercast.rtl.config import Config
from hypercast.rtl.isa import ROWS_WIDTH
from hypercast.rtl.lib.parity_memory import ParityMemory
from hypercast.rtl.registers import ROW_TABLE

__all__ = ["RowTable"]



class RowTable(wiring.Component):
    """``registers.ROW_TABLE`` row counts, in distributed RAM.

    Parameters
    ----------
    config : Config
        Configuration.

    Members
    -------
    index : In(VERTICES_WIDTH)
        Entry an instruction names (``vertices``).
    rows : Out(ROWS_WIDTH)
        That entry, in the same cycle.
    host_index : In(VERTICES_WIDTH)
        Entry the host reads or writes.
    host_rows : Out(ROWS_WIDTH)
        That entry, in the same cycle.
    host_write : In(1)
        High to set the entry ``host_index`` to ``host_data``.
    host_data : In(ROWS_WIDTH)
        Valid with ``host_write``.
    fault : Out(1)
        High for a cycle after ``rows`` was not what was written.
    """

    def __init__(self, config: Config) -> None:
        super().__init__({
            "index": In(range(ROW_TABLE)),
            "rows": Out(ROWS_WIDTH),
            "host_index": In(range(ROW_TABLE)),
            "host_rows": Out(ROWS_WIDTH),
            "host_write": In(1),
            "host_data": In(ROWS_WIDTH),
            "fault": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.memory = memory = ParityMemory(ROWS_WIDTH, ROW_TABLE, reads=2, domain="comb")
        (read, host_read), write = memory.reads, memory.write
        m.d.sync += self.fault.eq(read.fault)
        m.d.comb += [
            read.addr.eq(self.index), self.rows.eq(read.data),
            host_read.addr.eq(self.host_index), self.host_rows.eq(host_read.data),
            write.addr.eq(self.host_index), write.data.eq(self.host_data),
            write.en.eq(self.host_write),
        ]
        return m
