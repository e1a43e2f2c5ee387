# SPDX-License-Identifier: BSD-2-Clause
"""``--vcd`` and what belongs to it: ranges, cores, and devices that show no waveforms."""

import pytest
from click.testing import CliRunner

from hypercast.host.cli import main
from hypercast.sim.waves import Waves


@pytest.fixture
def opened(monkeypatch):
    """The waveforms that a chip was opened with, by a command that ends there."""
    found = []

    class Chip:
        def __init__(self, config, *, waves, progress):
            found.append(waves)
            raise ValueError("opened")

    monkeypatch.setattr("hypercast.sim.cxxrtl_transport.CxxrtlTransport", Chip)
    return found


def run(*arguments):
    return CliRunner().invoke(main, list(arguments))


def test_ranges_and_cores(opened, tmp_path):
    file = tmp_path / "a.vcd"
    run("selftest", "--vcd", str(file), "--wave-cycles", "5:70", "--wave-core", "1",
        "--wave-core", "0", "--wave-core", "1")
    run("selftest", "--vcd", str(file))
    run("selftest")
    assert opened == [Waves(file=file, first=5, last=70, cores=(1, 0)),
                      Waves(file=file, first=0, last=1000, cores=(0,)), None]


def test_compressed(opened, tmp_path):
    file = tmp_path / "a.fst"
    run("selftest", "--fst", str(file))
    assert opened == [Waves(file=file, compressed=True)]


def test_one_form_only(tmp_path):
    result = run("selftest", "--fst", str(tmp_path / "a.fst"), "--vcd", str(tmp_path / "a.vcd"))
    assert result.exit_code == 2 and "give one of them" in result.output


def test_cycles_of_a_training_are_those_of_the_recorded_step(opened, tmp_path):
    run("train", "karate", "--device", "rtl", "--preset", "demo", "--vcd", str(tmp_path / "a.vcd"))
    assert [waves.of_step for waves in opened] == [True]


@pytest.mark.parametrize("text", ["5", "5:", ":5", "5:5", "6:5", "-1:5", "a:b", "1:2:3",
                                  f"0:{1 << 63}"])
def test_ranges_that_are_none(text, tmp_path):
    result = run("selftest", "--vcd", str(tmp_path / "a.vcd"), f"--wave-cycles={text}")
    assert result.exit_code == 2
    assert f"'{text}' is no range of cycles FIRST:LAST, such as 0:1000" in " ".join(
        result.output.split())


@pytest.mark.parametrize("option", [("--wave-cycles", "0:5"), ("--wave-core", "0")])
def test_what_belongs_to_waveforms_needs_a_file(option):
    result = run("selftest", *option)
    assert result.exit_code == 2 and "--fst writes; give one of these as well" in result.output


@pytest.mark.parametrize(("device", "message"), [
    ("serial", "a board keeps no timeline; add --device rtl"),
    ("reference", "the reference has no cycles to trace; add --device rtl")])
def test_only_the_simulated_chip_shows_waveforms(device, message, tmp_path):
    result = run("train", "karate", "--device", device, "--vcd", str(tmp_path / "a.vcd"))
    assert result.exit_code == 2 and message in result.output
    result = run("selftest", "--device", "serial", "--vcd", str(tmp_path / "a.vcd"))
    assert result.exit_code and "a board, which shows no waveforms; leave out --vcd" in " ".join(
        result.output.split())
