# SPDX-License-Identifier: BSD-2-Clause
"""Answers of the driver's program, good and bad ones, by a program of that name."""

import pytest

from hypercast.benches import nvidia_smi

CARD = "12345678-9abc-def0-1234-56789abcdef0"


@pytest.fixture
def program(tmp_path, monkeypatch):
    """Puts a program of the driver's name first in the path, which is a line of shell."""
    def make(line):
        path = tmp_path / "nvidia-smi"
        path.write_text(f"#!/bin/sh\n{line}\n")
        path.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    return make


@pytest.mark.parametrize("uuid", [CARD, f"GPU-{CARD}"])
def test_power_is_that_of_the_card(program, uuid):
    program(f'[ "$1" = --id=GPU-{CARD} ] && [ "$2" = --query-gpu=power.draw ] '
            '&& [ "$3" = --format=csv,noheader,nounits ] && echo 213.57')
    assert nvidia_smi.read_watts(uuid) == 213.57


def test_the_version_is_that_of_the_first_card(program):
    program('[ "$1" = --query-gpu=driver_version ] && printf "580.65.06\\n580.65.06\\n"')
    assert nvidia_smi.read_driver() == "580.65.06"


@pytest.mark.parametrize("line", [
    "echo '[N/A]'", "echo '[Not Supported]'", "echo", "exit 0", "echo 200; exit 6", "kill -9 $$"])
def test_power_that_is_not_told_is_none(program, line):
    program(line)
    assert nvidia_smi.read_watts(CARD) is None


@pytest.mark.parametrize("line", ["exit 0", "echo 'NVIDIA-SMI has failed'; exit 9"])
def test_a_version_that_is_not_told_is_none(program, line):
    program(line)
    assert nvidia_smi.read_driver() is None


def test_a_driver_that_does_not_answer_is_not_waited_for(program, monkeypatch):
    monkeypatch.setattr(nvidia_smi, "_PATIENCE", 0.1)
    program("exec sleep 5")
    assert nvidia_smi.read_watts(CARD) is None


def test_without_the_program_nothing_is_told(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert nvidia_smi.read_watts(CARD) is None and nvidia_smi.read_driver() is None
    (tmp_path / "nvidia-smi").write_text("no program")
    (tmp_path / "nvidia-smi").chmod(0o755)
    assert nvidia_smi.read_driver() is None
