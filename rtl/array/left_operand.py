# SPDX-License-Identifier: BSD-2-Clause
"""Brings the left operand of an instruction, dense or word-sparse, from memory or the buffer."""

from amaranth.hdl import Module
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from hypercast.rtl.array.array_job import ArrayJob
from hypercast.rtl.array.dense_panels import DensePanels
from hypercast.rtl.array.left_word import left_word
from hypercast.rtl.array.operand_buffer import OperandBuffer
from hypercast.rtl.array.sparse_panels import SparsePanels
from hypercast.rtl.config import Config
from hypercast.rtl.isa import OperandSource
from hypercast.rtl.layouts import BypassPort, ReadPort
from hypercast.rtl.lib.burst_reader import BurstReader, WordSource

__all__ = ["LeftOperand"]


class LeftOperand(wiring.Component):
    """``OperandBuffer``, fed by ``SparsePanels`` if the job is ``sparse``, else ``DensePanels``.

    Parameters
    ----------
    config : Config
        Configuration.

    Members
    -------
    start, job, o, index
        As in ``SparsePanels`` and ``DensePanels``; ``start`` only if there are rows.
    port : Out(ReadPort(config))
        Memory access for the words.
    bypass : In(BypassPort(config))
        What the vector unit stores in the buffer.
    fault : Out(1)
        The ``fault`` of ``OperandBuffer``.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        super().__init__({
            "start": In(1),
            "job": In(ArrayJob),
            "o": Out(stream.Signature(left_word(config))),
            "port": Out(ReadPort(config)),
            "index": Out(WordSource(config)),
            "bypass": In(BypassPort(config)),
            "fault": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        job = self.job
        m.submodules.reader = reader = BurstReader(self._config)
        m.submodules.dense = dense = DensePanels(self._config)
        m.submodules.sparse = sparse = SparsePanels(self._config)
        m.submodules.buffer = buffer = OperandBuffer(self._config)
        wiring.connect(m, reader.port, wiring.flipped(self.port))
        wiring.connect(m, sparse.index, wiring.flipped(self.index))
        wiring.connect(m, buffer.o, wiring.flipped(self.o))
        wiring.connect(m, wiring.flipped(self.bypass), buffer.bypass)
        m.d.comb += [buffer.start.eq(self.start), buffer.job.eq(job), self.fault.eq(buffer.fault)]

        read = self.start & (job.operand != OperandSource.BUFFER)
        for panels, chosen in ((dense, ~job.sparse), (sparse, job.sparse)):
            m.d.comb += [panels.start.eq(read & chosen), panels.job.eq(job)]
            with m.If(chosen):
                for source, target in ((panels.commands, reader.command), (reader.o, panels.words),
                                       (panels.o, buffer.i)):
                    m.d.comb += [
                        target.valid.eq(source.valid),
                        target.payload.eq(source.payload),
                        source.ready.eq(target.ready),
                    ]
        return m
