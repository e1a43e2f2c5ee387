# SPDX-License-Identifier: BSD-2-Clause
"""The whole board, UART pins included: trainings over a line with faults, and what breaks them."""

import json
import random

import numpy as np
import pytest
from click.testing import CliRunner

from hypercast.benches.trainings import BenchTraining, compare_training
from hypercast.host.cli import main
from hypercast.host.compiler.compiler import compile_job
from hypercast.host.runtime.alone_chip import AloneChip
from hypercast.host.runtime.device_errors import MismatchError
from hypercast.host.runtime.driver import Driver
from hypercast.host.runtime.reference_device import ReferenceDevice
from hypercast.host.runtime.serial.discovery import discover
from hypercast.host.runtime.serial.serial_transport import SerialTransport
from hypercast.host.transport.transport import BytePort, TransportError
from hypercast.rtl.config import PRESETS
from hypercast.rtl.registers import Control, Space, Status, register
from hypercast.sim.line_faults import FaultyLine
from hypercast.sim.serial_board import BYTE_CYCLES, SimulatedSerialBoard
from hypercast.sim.serial_terminal import SerialTerminal

TINY = PRESETS["tiny"]
TRAINING = BenchTraining(dataset="karate", config=TINY, epochs=2, hidden=(2,))
#: So slow that no time-out expires, however busy the machine is.
BAUD = 300


@pytest.fixture
def board():
    board = SimulatedSerialBoard(TINY)
    yield board
    board.close()


def open_chip(line, model, **options):
    transport = SerialTransport(line, **options)
    transport.reset()
    return AloneChip(transport, compile_job(model, TINY), model)


def test_the_command_line_through_a_pseudo_terminal(board):
    with SerialTerminal(board) as terminal:
        [found] = discover(BAUD, ports=[terminal.name])
        assert found.config_hash == TINY.hash
        result = CliRunner().invoke(main, [
            "train", "karate", "--preset", "tiny", "--hidden", "2", "--epochs", "2", "--json",
            "--device", f"serial:{terminal.name}@{BAUD}"])
    summary = json.loads(result.stdout.splitlines()[-1])
    assert result.exit_code == 0
    assert summary["words"] == summary["equal_words"] > 0


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_training_over_a_bad_line(board, seed):
    line = FaultyLine(board, random.Random(seed), 0.001)
    words, _, _ = compare_training(
        TRAINING, lambda model: open_chip(line, model, attempts=40))
    assert words.equal == words.words > 0
    assert line.injected.total() > 5


def test_throughput(board):
    """Nine tenths of the line's bits are data, both ways, and every word arrives."""
    transport = SerialTransport(board)
    driver = Driver(transport, TINY)
    values = np.random.default_rng(1).integers(1 << 32, size=(2000, 1), dtype=np.uint32)
    start = board.cycles
    driver.write_words(0, Space.FEATURES, 0, values)
    transport.flush()
    written = board.cycles
    assert np.array_equal(driver.read_words(0, Space.FEATURES, 0, 2000), values)
    for cycles in (written - start, board.cycles - written):
        assert values.nbytes * BYTE_CYCLES / cycles > 0.9


def test_a_refused_access(board):
    transport = SerialTransport(board)
    transport.write(register("core"), TINY.cores)
    transport.write(register("space"), Space.FEATURES)
    transport.write(register("data"), 1)
    with pytest.raises(TransportError, match="write at 0x44 was refused by the chip"):
        transport.flush()
    with pytest.raises(TransportError, match="read at 0x7c was refused by the chip"):
        transport.read(0x7C)
    assert transport.read(register("config_hash")) == TINY.hash


def test_another_bitstream(board):
    with pytest.raises(MismatchError, match="the device was built for another configuration"):
        Driver(SerialTransport(board), TINY.replace(buffer_depth=8))


def start_forever(board):
    """Let the board train and train; returns the device."""
    transport, model = SerialTransport(board), TRAINING.model()
    transport.reset()
    device = AloneChip(transport, compile_job(model, TINY), model)
    transport.write(register("entry"), device.job.starts["train"])
    transport.write(register("repeat"), 1000)
    transport.write(register("control"), Control.START)
    assert Status(transport.read(register("status"))) & Status.RUNNING
    return device


def check_training(device):
    oracle = ReferenceDevice(TRAINING.model())
    expected, found = oracle.train_step(), device.train_step()
    assert np.array_equal(found.loss[1:], expected.loss[1:])
    found = device.snapshot()
    for name, expected in oracle.snapshot().items():
        assert np.array_equal(found[name], expected), name


@pytest.mark.parametrize("cycles", [
    777, *(pytest.param(cycles, marks=pytest.mark.slow) for cycles in (0, 5000))])
def test_a_reset_by_the_host_in_mid_run(board, cycles):
    """Whatever the chip was doing, the next training gives the same bits."""
    start_forever(board)
    board.advance(cycles, 1 << 30)
    check_training(open_chip(board, TRAINING.model()))


@pytest.mark.parametrize("cycles", [pytest.param(0, marks=pytest.mark.slow), 1234])
def test_the_reset_button_in_mid_run(board, cycles):
    """The host notices, does not go on, and can begin anew."""
    device = start_forever(board)
    board.advance(cycles, 1 << 30)
    board.press_reset()
    with pytest.raises(TransportError, match="the board was reset"):
        device.train_step()
    check_training(open_chip(board, TRAINING.model()))


class Cable(BytePort):
    """A port that can be unplugged."""

    def __init__(self, port):
        self.port, self.plugged = port, True

    def send(self, data):
        if self.plugged:
            self.port.send(data)

    def receive(self):
        data = self.port.receive()
        return data if self.plugged else b""


def test_the_cable_is_unplugged(board):
    cable = Cable(board)
    device = open_chip(cable, TRAINING.model(), attempts=3)
    device.train_step()
    cable.plugged = False
    with pytest.raises(TransportError, match="the board did not answer 3 times"):
        device.train_step()


@pytest.mark.parametrize("seed", range(6))
def test_any_bytes(board, seed):
    """Whatever comes, in whatever shape, the board answers the next host that asks."""
    rng = random.Random(seed)
    SerialTransport(board)
    for _ in range(20):
        board.send(rng.choice([b"\x7e", b"\x7d", b""]) + rng.randbytes(rng.randrange(300)))
        board.advance(rng.randrange(20_000), 1 << 30)
    board.take()
    assert SerialTransport(board).read(register("config_hash")) == TINY.hash
