# SPDX-License-Identifier: BSD-2-Clause
"""``hypercast train --device``: what is no device, and what a board cannot do."""

import pytest
from click.testing import CliRunner

from hypercast.host.cli import main
from hypercast.host.runtime.serial import discovery


@pytest.mark.parametrize(("arguments", "status", "message"), [
    (["--device", "fpga"], 2, "device 'fpga' is not of the form serial[:PORT][@BAUD]"),
    (["--device", "serial:/dev/nobody"], 1, "serial port /dev/nobody at 3000000 baud cannot"),
    (["--device", "serial"], 1, "this machine has no serial ports"),
    (["--device", "serial", "--trace", "t.json"], 2, "a board keeps no timeline; add --device rtl"),
    (["--device", "rtl", "--sampler", "neighbours", "--micro-batches", "2", "--trace", "t.json"], 2,
     "a step on several samples, or of several boards, is several programs, of which no timeline"),
    (["--device", "rtl,reference"], 2, "name has 2 devices, rtl,reference, but 1 board trains; "
                                       "name one for all boards, or one for each (--boards 2)"),
])
def test_errors(arguments, status, message, monkeypatch):
    monkeypatch.setattr(discovery.list_ports, "comports", lambda: [])
    result = CliRunner().invoke(main, ["train", "karate", *arguments])
    assert result.exit_code == status
    assert message in result.stderr.replace("\n", " ")
