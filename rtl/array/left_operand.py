"""Reads the left operand of an instruction, dense or word-sparse."""

from amaranth.hdl import Module
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from hypercast.rtl.array.array_job import ArrayJob
from hypercast.rtl.array.dense_panels import DensePanels, left_word
from hypercast.rtl.array.panel_rows import place
from hypercast.rtl.array.sparse_panels import SparsePanels
from hypercast.rtl.layouts import ReadPort
from hypercast.rtl.lib.burst_reader import BurstReader

__all__ = ["LeftOperand"]


class LeftOperand(wiring.Component):
    """``SparsePanels`` if the job is ``sparse``, else ``DensePanels``, with one reader for both.

    Parameters
    ----------
    config : Config
        Configuration.

    Members
    -------
    start, job, o, places, index
        As those of ``SparsePanels`` and ``DensePanels``.
    port : Out(ReadPort(config))
        Memory access for the words.
    """

    def __init__(self, config):
        self._config = config
        super().__init__({
            "start": In(1),
            "job": In(ArrayJob),
            "o": Out(stream.Signature(left_word(config))),
            "places": Out(stream.Signature(place)),
            "port": Out(ReadPort(config)),
            "index": Out(ReadPort(config)),
        })

    def elaborate(self, platform):
        m = Module()
        m.submodules.reader = reader = BurstReader(self._config)
        m.submodules.dense = dense = DensePanels(self._config)
        m.submodules.sparse = sparse = SparsePanels(self._config)
        wiring.connect(m, reader.port, wiring.flipped(self.port))
        wiring.connect(m, sparse.index, wiring.flipped(self.index))
        for panels, chosen in ((dense, ~self.job.sparse), (sparse, self.job.sparse)):
            m.d.comb += [panels.start.eq(self.start & chosen), panels.job.eq(self.job)]
            with m.If(chosen):
                for source, target in ((panels.commands, reader.command), (reader.o, panels.words),
                                       (panels.o, self.o), (panels.places, self.places)):
                    m.d.comb += [
                        target.valid.eq(source.valid),
                        target.payload.eq(source.payload),
                        source.ready.eq(target.ready),
                    ]
        return m
