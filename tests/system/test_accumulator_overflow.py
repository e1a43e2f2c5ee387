# SPDX-License-Identifier: BSD-2-Clause
"""Sums over more vertices than accumulators are proved for: exact to the last, then an error."""

import numpy as np
import pytest

from hypercast.host.compiler.packing import pack_rows, unpack_rows
from hypercast.host.runtime.device_errors import DeviceError
from hypercast.host.runtime.driver import Driver
from hypercast.host.runtime.image import Block
from hypercast.host.selftest.program import HALT, load_program, set_exponents, set_rows
from hypercast.reference.arithmetic import requantize
from hypercast.rtl.isa import DrainSource, Opcode, encode
from hypercast.rtl.registers import CoreSpace, Space
from hypercast.sim.cxxrtl_transport import CxxrtlTransport
from tests.system.chips import SLOW_MEMORY, WIDE

ROWS, SHIFT = 16, 31
#: Row of the program's second half.
DRAIN = 2


class Sums:
    """A chip that adds products of ``ROWS`` rows of each core to sums, again and again."""

    def __init__(self, config):
        self.config = config
        self.transport = CxxrtlTransport(config)
        self.driver = driver = Driver(self.transport, config)
        self._owned = -(-config.lanes // config.cores)
        load_program(driver, [
            encode(Opcode.GRADIENT, row_limit=ROWS, panels=1, stride=ROWS, gradient_channel=1,
                   digits=config.digits), HALT,
            encode(Opcode.DRAIN, vertices=1, source=DrainSource.AGGREGATION, row_limit=self._owned,
                   address=ROWS, o=1), HALT])
        set_rows(driver, ROWS)
        set_exponents(driver, [0, SHIFT])
        for core in range(config.cores):
            driver.write(Block(core, Space.CORE, CoreSpace.ROWS + 1,
                               np.array([self._owned], dtype=np.uint32)))

    def add(self, left, right, times):
        for core in range(self.config.cores):
            for space, value in ((Space.FEATURES, left), (Space.GRADIENTS, right)):
                self.driver.write_words(core, space, 0, pack_rows(
                    np.full((ROWS, self.config.lanes), value), self.config))
        self.driver.run(0, repeat=times, limit=100 * ROWS)

    def drain(self):
        self.driver.run(DRAIN, limit=1000)
        parts = [unpack_rows(self.driver.read_words(core, Space.FEATURES, ROWS, self._owned),
                             self.config) for core in range(self.config.cores)]
        return np.concatenate(parts)[:self.config.lanes]


@pytest.mark.parametrize("config", [SLOW_MEMORY, WIDE])
@pytest.mark.parametrize("sign", [1, -1])
def test_the_first_sum_beyond_an_accumulator_is_an_error(config, sign):
    """Where flits reach several aggregators, their sum may be the first that does not fit."""
    left, right = -1 << 15, sign * ((1 << 15) - 1)
    one = ROWS * config.cores * left * right
    times = ((1 << 47) - 1) // abs(one)
    sums = Sums(config)
    sums.add(left, right, times)
    sums.add(left, -right, times - 3)  # what is left shows that nothing was lost
    expected, _ = requantize(np.array([3 * one]), SHIFT, 16)
    assert (sums.drain() == expected).all() and abs(expected) > 10
    with pytest.raises(DeviceError, match=r"ACCUMULATOR.*sum over the vertices took more bits"):
        sums.add(left, right, times + 1)
        sums.drain()
    sums.transport.close()
