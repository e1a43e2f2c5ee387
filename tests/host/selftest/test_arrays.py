"""The test of arrays on a chip of which two processing elements are broken."""

from amaranth.hdl import Signal

from hypercast.host.driver import Driver
from hypercast.host.selftest.arrays import check_arrays
from hypercast.rtl.array import systolic_array
from hypercast.rtl.config import Config
from hypercast.sim.pysim_transport import PysimTransport

ONE_CORE = Config(dimensions=0, lanes=2, planes=1, accumulator_rows=16, weight_rows=16,
                  channel_words=64, operand_words=16, program_rows=16, tensors=8, read_buffer=4)


def test_broken_processing_elements(monkeypatch):
    """Of element (0, 1) the multiplier takes another weight, of (1, 0) the adder has a stuck bit.

    The sums of a whole column pass the adder.
    """
    made = []

    class Broken(systolic_array.ProcessingElement):
        """Elements are made row by row."""

        def elaborate(self, platform):
            m = super().elaborate(platform)
            place = divmod(made.index(self), ONE_CORE.lanes)
            if place == (0, 1):
                product = Signal.like(self.right)
                m.d.sync += [product.eq(self.right), self.sum.eq(self.sum_above + product)]
            elif place == (1, 0):
                m.d.sync += self.sum[3].eq(1)
            return m

        def __init__(self, config):
            super().__init__(config)
            made.append(self)

    monkeypatch.setattr(systolic_array, "ProcessingElement", Broken)
    found = list(check_arrays(Driver(PysimTransport(ONE_CORE), ONE_CORE)))
    assert {finding.part for finding in found} == {
        "multiplier (0, 1) of the array of core 0", "column 0 of the array of core 0"}
