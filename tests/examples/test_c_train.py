# SPDX-License-Identifier: BSD-2-Clause
"""The example program in C: its transports, and that everything that can go wrong ends with why."""

import contextlib
import errno
import fcntl
import os
import shutil
import subprocess
import threading
import time

import numpy as np
import pytest

from hypercast.host.compiler.compiler import compile_job
from hypercast.host.eda.integration.c_header import c_header
from hypercast.host.runtime.image import write_image
from hypercast.host.runtime.serial.bridged_chip import BridgedChip
from hypercast.reference.fixed_gnn import FixedGnn
from hypercast.rtl.registers import Error, Status, register
from hypercast.sim.pseudo_terminal import PseudoTerminal
from hypercast.sim.serial_terminal import SerialTerminal
from tests.examples.c_driver import FLAGS, SOURCES, PolledChip, compile_c
from tests.host.models import SMALL, small_model
from tests.host.runtime.other_files import FILES, left_alone

#: So slow that no time-out expires, however busy the machine is; and so fast that all do at once.
PATIENT, HASTY = 1200, 3_000_000
JOB = compile_job(small_model(), SMALL)
OTHER = SMALL.replace(buffer_depth=8)


class Chip(PolledChip):
    """A chip that can be reset, but keeps what it says."""

    def reset(self):
        for name in ("status", "cycles_low", "cycles_high", "error"):
            self[name] = 0


class EndlessChip(Chip):
    """A chip whose programs do not end."""

    def wait(self, cycles):
        self["cycles_high"] += 1


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    folder = tmp_path_factory.mktemp("program")
    (folder / "hypercast.h").write_text(c_header(SMALL))
    return compile_c(folder / "train", *sorted(SOURCES.glob("*.c")),
                     options=["-DHYPERCAST_SERIAL_ATTEMPTS=3"])


@pytest.fixture(scope="module")
def lenient(tmp_path_factory):
    """One that takes a file for a device."""
    folder = tmp_path_factory.mktemp("lenient")
    (folder / "hypercast.h").write_text(c_header(SMALL))
    return compile_c(folder / "train", *sorted(SOURCES.glob("*.c")),
                     options=["-DHYPERCAST_IS_DEVICE(status)=((void)(status),1)"])


@pytest.fixture(scope="module")
def image(tmp_path_factory):
    path = tmp_path_factory.mktemp("image") / "job.image"
    write_image(path, JOB, small_model())
    return path


@pytest.fixture
def train(program):
    """Runs it: exit status and what it says."""
    def run(*arguments, timeout=120, program=program):
        result = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True,
                                timeout=timeout)
        return result.returncode, result.stdout + result.stderr
    return run


def on(chip):
    return SerialTerminal(BridgedChip(chip))


def parameters(path):
    """(elements, exponent) by line."""
    for line in path.read_text().splitlines():
        rows, columns, exponent, *elements = map(int, line.split())
        yield np.array(elements).reshape(rows, columns), exponent


def test_a_serial_port(train, image, tmp_path):
    chip = Chip(SMALL)
    with on(chip) as terminal:
        status, said = train(f"serial:{terminal.name}@{PATIENT}", image, tmp_path / "parameters")
    assert status == 0, said
    assert said.count(" cycles, ") == small_model().recipe.epochs
    tensors = FixedGnn(small_model()).tensors  # of which this chip changes none
    for (elements, exponent), name in zip(
            parameters(tmp_path / "parameters"), JOB.weights, strict=True):
        assert np.array_equal(elements, np.atleast_2d(tensors[name])), name
        assert exponent == JOB.exponents[name]


@pytest.mark.parametrize(("chip", "message"), [
    (Chip(OTHER), "chip, image and hypercast.h are not of one configuration"),
    (Chip(SMALL, version=9), "chip and image are of different versions"),
    (Chip(SMALL, magic=0), "there is no Hypercast at this address"),
    (Chip(SMALL, error=Error.NETWORK), "stopped with an error (register error: 0x"),
    (EndlessChip(SMALL), "the chip did not end a program, though it should have stopped it"),
    (Chip(SMALL, endless=True), "the chip's reset does not end, because a memory"),
])
def test_chips_that_are_refused(train, image, chip, message):
    with on(chip) as terminal:
        status, said = train(f"serial:{terminal.name}@{PATIENT}", image)
    assert status == 1
    assert said.startswith("error: ") and message in said


def test_a_cut_image(train, image, tmp_path):
    cut = tmp_path / "cut.image"
    cut.write_bytes(image.read_bytes()[:-100])
    chip = Chip(SMALL)
    with on(chip) as terminal:
        status, said = train(f"serial:{terminal.name}@{PATIENT}", cut)
    assert (status, said) == (1, "error: this is no image, or only a part of one, or was changed; "
                                 "write it again\n")
    assert not chip.writes


@contextlib.contextmanager
def peer(act):
    """A serial port with somebody else at its other end; ``act(terminal, came)`` again and again.
    """
    terminal, closing = PseudoTerminal(), threading.Event()

    def serve():
        while not closing.is_set():
            act(terminal, terminal.exchange(0.01))

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield terminal
    finally:
        closing.set()
        thread.join()
        terminal.close()


@pytest.mark.parametrize("act", [
    lambda terminal, came: None,
    lambda terminal, came: terminal.send(came),
    lambda terminal, came: None if terminal.full else terminal.send(os.urandom(1000)),
    lambda terminal, came: terminal.send(b"\x55") or time.sleep(0.05),
], ids=["silence", "echo", "garbage", "trickle"])
def test_nobody_who_answers(act, train, image):
    with peer(act) as terminal:
        assert train(f"serial:{terminal.name}@{HASTY}", image, timeout=60) == (
            1, "error: the chip does not answer; check that the board is on, its cable, and the "
               "baud rate or, on PCIe, load its bitstream again and rescan the bus\n")


def test_unplugged_in_mid_run(train, image):
    """The port goes away while a program runs."""
    chip = Chip(SMALL)
    terminal = on(chip)

    def unplug(cycles):
        terminal._closing.set()  # the port is closed as soon as this command is answered

    chip.wait = unplug
    thread = threading.Thread(target=lambda: (terminal.serve(), terminal.close()))
    thread.start()
    assert train(f"serial:{terminal.name}@{PATIENT}", image) == (
        1, "error: an access to a register failed; check the connection\n")
    thread.join()


def test_a_board_that_is_reset_in_mid_run(train, image):
    chip = Chip(SMALL)
    board = BridgedChip(chip)
    chip.wait = lambda cycles: board._bridge.press_reset()
    with SerialTerminal(board) as terminal:
        status, said = train(f"serial:{terminal.name}@{PATIENT}", image)
    assert status == 1
    assert "the board was reset, or another program opened it" in said


def test_a_port_that_another_program_has(train, image):
    with on(Chip(SMALL)) as terminal, open(terminal.name, "rb+", buffering=0) as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        status, said = train(f"serial:{terminal.name}", image)
    assert (status, said) == (1, f"error: {terminal.name}: {os.strerror(errno.EBUSY)}\n")


def registers(folder, **values):
    """A file with registers, as a board behind a file has them."""
    content = bytearray(4096)
    for name, value in values.items():
        content[register(name):register(name) + 4] = value.to_bytes(4, "little")
    path = folder / "registers"
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("kind", ["mapped", "xdma"])
def test_files_of_registers(kind, train, lenient, image, tmp_path):
    chip = Chip(SMALL)
    found = {name: chip[name] for name in ("magic", "version", "config_hash")}

    def said(**values):
        status, text = train(f"{kind}:{registers(tmp_path, **values)}", image, program=lenient)
        assert status == 1
        return text

    assert "there is no Hypercast at this address" in said()
    assert "not of one configuration" in said(**{**found, "config_hash": 1})
    assert "different versions" in said(**{**found, "version": 1})
    assert "the chip is at work" in said(**found, busy=1)
    assert "reset does not end" in said(**found, status=Status.RESETTING)
    # All is written into one register after the other, and nothing happens.
    assert "other training steps than it was to do" in said(**found, step_key=5)


@pytest.mark.parametrize(("device", "message"), [
    ("mapped:{folder}/none", os.strerror(errno.ENOENT)),
    ("mapped:{folder}/short", os.strerror(errno.ENXIO)),
    ("mapped:{folder}/registers@4096", os.strerror(errno.ENXIO)),
    ("mapped:{folder}/registers@1", os.strerror(errno.ENXIO)),
    ("xdma:{folder}/none", os.strerror(errno.ENOENT)),
    ("xdma:{folder}/short", "an access to a register failed"),
    ("serial:{folder}/none", os.strerror(errno.ENOENT)),
    ("serial:{folder}/short", os.strerror(errno.ENOTTY)),
    ("serial:{folder}/registers@7", os.strerror(errno.EINVAL)),
])
def test_devices_that_cannot_be_opened(device, message, train, lenient, image, tmp_path):
    registers(tmp_path)
    (tmp_path / "short").write_bytes(bytes(2))
    status, said = train(device.format(folder=tmp_path), image, program=lenient)
    assert status == 1
    assert said.startswith("error: ") and message in said


@pytest.mark.parametrize("kind", ["serial", "xdma", "mapped"])
@pytest.mark.parametrize("make", FILES)
def test_what_is_no_device_is_left_alone(kind, make, train, image, tmp_path):
    with left_alone(tmp_path, make) as path:
        status, said = train(f"{kind}:{path}", image, timeout=20)
    assert status == 1
    assert said.startswith(f"error: {path}: ")


@pytest.mark.parametrize("kind", ["serial", "xdma", "mapped"])
@pytest.mark.parametrize("device", ["/dev/null", "/dev/zero", "/dev/full"])
def test_other_devices_are_none_of_ours(kind, device, train, image):
    status, said = train(f"{kind}:{device}", image, timeout=20)
    assert status == 1 and said.startswith("error: ")


@pytest.mark.parametrize("arguments", [
    ["usb:1", "{image}"], ["serial:/dev/null@fast", "{image}"], ["mapped:/dev/null@", "{image}"],
    ["serial:/dev/null"], []])
def test_arguments_that_are_refused(arguments, train, image):
    status, said = train(*(one.format(image=image) for one in arguments))
    assert status == 2
    assert said.startswith(("error: ", "usage: "))


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("standard", ["c99", "gnu17"])
def test_every_compiler_is_content(compiler, standard, tmp_path):
    if not shutil.which(compiler):
        pytest.skip(f"there is no {compiler}")
    (tmp_path / "hypercast.h").write_text(c_header(SMALL))
    compile_c(tmp_path / "train", *sorted(SOURCES.glob("*.c")), compiler=compiler,
              options=[f"-std={standard}", "-Wshadow", "-Wsign-conversion"])


@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_the_headers_are_cplusplus_too(compiler, tmp_path):
    if not shutil.which(compiler):
        pytest.skip(f"there is no {compiler}")
    source = tmp_path / "all.cpp"
    source.write_text("".join(f'#include "{path.name}"\n' for path in sorted(SOURCES.glob("*.h")))
                      + "int main() { return 0; }\n")
    subprocess.run([compiler, *FLAGS[1:], f"-I{SOURCES}", "-c", source, "-o", tmp_path / "all.o"],
                   check=True)
