# SPDX-License-Identifier: BSD-2-Clause
"""SerialTransport: the driver's interface, over the model of the bridge."""

import random

import pytest

from hypercast.host.compiler.compiler import compile_job
from hypercast.host.runtime.device_errors import MismatchError
from hypercast.host.runtime.driver import Driver
from hypercast.host.runtime.serial.bridge_model import BridgeModel
from hypercast.host.runtime.serial.serial_transport import SerialTransport
from hypercast.host.transport.transport import TransportError
from hypercast.rtl.registers import Space, register
from hypercast.sim.line_faults import FaultyLine
from tests.host.models import SMALL, small_model
from tests.host.runtime.fake_chip import FakeChip


class RefusingChip(FakeChip):
    """A fake chip without some registers, that can be reset."""

    resets = 0

    def write(self, address, value):
        if address >= 0x100:
            raise TransportError("refused")
        super().write(address, value)

    def reset(self):
        self.resets += 1


@pytest.fixture
def chip():
    return RefusingChip(SMALL)


@pytest.mark.parametrize("rate", [0.0, 0.001])
def test_a_job_is_loaded_and_run(chip, rate):
    """What a chip without a link would hold, though the line garbles."""
    job = compile_job(small_model(), SMALL)
    plain = FakeChip(SMALL)
    line = FaultyLine(BridgeModel(chip), random.Random(5), rate)
    transport = SerialTransport(line, attempts=50)
    for through, waits in ((plain, plain), (transport, chip)):
        driver = Driver(through, SMALL)
        driver.load(job)
        waits.wait(1200)
        assert driver.exponents(job) == job.exponents
    assert chip.window == plain.window
    assert chip.writes == plain.writes
    assert bool(line.injected) == bool(rate)


def test_streams_longer_than_frames(chip):
    transport = SerialTransport(BridgeModel(chip))
    transport.write(register("space"), Space.FEATURES)
    values = list(range(5, 2005))
    transport.write_stream(register("data"), values)
    transport.write(register("address"), 0)
    assert transport.read_stream(register("data"), 2000) == values
    assert chip.window[0, Space.FEATURES][1999] == 2004


def test_a_refused_write_is_reported_at_the_next_read(chip):
    transport = SerialTransport(BridgeModel(chip))
    transport.write(register("entry"), 7)
    transport.write(0x104, 1)
    transport.write(register("entry"), 8)
    with pytest.raises(TransportError, match="write at 0x104 was refused by the chip"):
        transport.read(register("magic"))
    assert chip["entry"] == 7
    assert transport.read(register("entry")) == 7  # the link goes on


def test_waiting_sends_what_was_written(chip):
    transport = SerialTransport(BridgeModel(chip))
    transport.write(register("entry"), 7)
    assert chip["entry"] == 0
    transport.wait(1)
    assert chip["entry"] == 7


def test_reset(chip):
    transport = SerialTransport(BridgeModel(chip))
    transport.write(register("entry"), 7)
    transport.reset()
    assert (chip["entry"], chip.resets) == (7, 1)


def test_close(chip):
    port = BridgeModel(chip)
    transport = SerialTransport(port)
    transport.write(register("entry"), 7)
    transport.close()
    assert chip["entry"] == 7 and port.closed


def test_the_port_is_closed_even_if_the_board_is_gone(chip):
    port = BridgeModel(chip)
    transport = SerialTransport(port)
    transport.write(register("entry"), 7)
    port.press_reset()
    with pytest.raises(TransportError, match="the board was reset"):
        transport.close()
    assert port.closed


def test_a_wrong_bitstream_is_refused():
    chip = FakeChip(SMALL.replace(buffer_depth=8))
    with pytest.raises(MismatchError, match="the device was built for another configuration"):
        Driver(SerialTransport(BridgeModel(chip)), SMALL)
