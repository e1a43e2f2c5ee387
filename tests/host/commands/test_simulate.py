# SPDX-License-Identifier: BSD-2-Clause
"""``hypercast simulate --pty``: a chip that other programs train on, and how it ends."""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time

import pytest
from click.testing import CliRunner

from hypercast.host.cli import main
from hypercast.host.runtime.serial.discovery import discover
from hypercast.host.runtime.serial.frames import encode
from hypercast.rtl.config import PRESETS
from hypercast.rtl.serial.protocol import FrameKind, header_word

#: So slow that no time-out expires, however busy the machine is.
BAUD = 300
COMMAND = [sys.executable, "-c", "from hypercast.host.cli import main; main()"]


@contextlib.contextmanager
def simulation(*options):
    """A running simulation of ``tiny``, and the line that it has printed."""
    process = subprocess.Popen(
        [*COMMAND, "simulate", "--pty", "--preset", "tiny", "--json", *map(str, options)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        yield process, json.loads(process.stdout.readline())
    finally:
        process.kill()
        process.communicate()


def train(port):
    result = CliRunner().invoke(main, [
        "train", "karate", "--preset", "tiny", "--hidden", "2", "--epochs", "1", "--json",
        "--device", f"serial:{port}@{BAUD}"])
    assert result.exit_code == 0, result.output
    summary = json.loads(result.stdout.splitlines()[-1])
    assert summary["words"] == summary["equal_words"] > 0


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_clients_come_and_go_until_it_is_ended(ending, tmp_path):
    link = tmp_path / "chip"
    link.symlink_to("/dev/pts/none")  # as a simulation leaves it that was killed
    with simulation("--link", link) as (process, told):
        assert told["port"] == str(link)
        assert told["device"].startswith(f"serial:{link}@")
        assert int(told["configuration_hash"], 0) == PRESETS["tiny"].hash
        train(link)
        leave_in_mid_frame(link)
        train(link)
        process.send_signal(ending)
        assert process.wait(timeout=60) == 0
        # A slow machine says what takes long before the chip is there.
        assert not re.sub(r"\d+ s: (converting|compiling) .*\n", "", process.stderr.read())
    assert not os.path.lexists(link)


def leave_in_mid_frame(port):
    """A client that asks much, takes hardly an answer, sends half a frame and goes."""
    file = os.open(port, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
    opening = encode([header_word(FrameKind.OPEN, 0, 7)])
    with contextlib.suppress(BlockingIOError):
        for _ in range(10_000):
            os.write(file, opening)
    deadline = time.monotonic() + 60
    while True:  # until the simulation has read some, for which it may need room for its answers
        with contextlib.suppress(BlockingIOError):
            os.write(file, opening[:5])
            break
        with contextlib.suppress(BlockingIOError):
            os.read(file, 1 << 10)
        assert time.monotonic() < deadline
        time.sleep(0.05)
    os.close(file)


def test_the_port_is_gone_with_the_simulation():
    with simulation() as (process, told):
        [found] = discover(BAUD, ports=[told["port"]])
        assert found.config_hash == PRESETS["tiny"].hash
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=60)
        [found] = discover(BAUD, ports=[told["port"]])
        assert found.config_hash is None


@pytest.mark.parametrize(("arguments", "message"), [
    ([], "simulate needs to know how the chip is to be reached; add --pty"),
    (["--pty", "--link", "taken"], "--link taken is there already, and no link to a terminal"),
    (["--pty", "--link", "none/chip"], "no folder none"),
    (["--pty", "-P", "lanes=3"], "lanes must be one of"),
])
def test_what_is_refused(arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "taken").write_text("mine")
    result = CliRunner().invoke(main, ["simulate", *arguments])
    assert result.exit_code == 2
    assert message in result.stderr
    assert (tmp_path / "taken").read_text() == "mine"
