# SPDX-License-Identifier: BSD-2-Clause
"""A chip of one core with broken processing elements, in Amaranth's simulator."""

from hypercast.host.runtime.driver import Driver
from hypercast.rtl.array import systolic_array
from hypercast.rtl.config import Config
from hypercast.sim.pysim_transport import PysimTransport

__all__ = ["ONE_CORE", "broken_chip"]

ONE_CORE = Config(dimensions=0, lanes=2, planes=1, accumulator_rows=16, weight_rows=16,
                  channel_words=64, operand_words=16, program_rows=16, tensors=8, read_buffer=4)


def broken_chip(monkeypatch, damage):
    """The driver of a chip whose processing elements are damaged.

    Parameters
    ----------
    damage : callable
        Called with module, element, row and column of each; adds statements that override its own.
    """
    made = []

    class Damaged(systolic_array.ProcessingElement):
        """Elements are made row by row."""

        def __init__(self, config):
            super().__init__(config)
            made.append(self)

        def elaborate(self, platform):
            m = super().elaborate(platform)
            damage(m, self, *divmod(made.index(self), ONE_CORE.lanes))
            return m

    monkeypatch.setattr(systolic_array, "ProcessingElement", Damaged)
    return Driver(PysimTransport(ONE_CORE), ONE_CORE)
