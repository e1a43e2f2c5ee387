# SPDX-License-Identifier: BSD-2-Clause
"""Trainings that a signal ends say which, and how to go on."""

import os
import signal

import pytest
from click.testing import CliRunner

from hypercast.host.cli import main
from hypercast.host.commands.interruption import Resumption
from hypercast.host.training.trainer import Trainer


@pytest.fixture
def train(monkeypatch):
    """Trains until a signal comes in some epoch; exit status, and the last line of errors."""
    def run(number, epoch, *arguments):
        step = Trainer.step

        def interrupted(trainer):
            if trainer.epoch == epoch:
                os.kill(os.getpid(), number)
            return step(trainer)

        monkeypatch.setattr(Trainer, "step", interrupted)
        before = signal.signal(number, signal.default_int_handler)  # it may be ignored
        try:
            found = CliRunner().invoke(main, ["train", "karate", "--hidden=4", "--epochs=9",
                                              *map(str, arguments)])
            assert signal.getsignal(number) == signal.default_int_handler
        finally:
            signal.signal(number, before)
            monkeypatch.setattr(Trainer, "step", step)
        return found.exit_code, found.stderr.splitlines()[-1]
    return run


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_run_that_is_kept_goes_on(train, tmp_path, number):
    folder = tmp_path / "a run"
    begins = f"error: ended by signal {number:d} ({number.name}); "
    status, line = train(number, 0, "--run", folder)
    assert status == 128 + number
    assert line == f"{begins}no checkpoint was in {folder} yet, so train again"
    status, line = train(number, 2, "--run", folder)
    goes_on = f"hypercast train --resume --run '{folder}' goes on from the last checkpoint"
    assert (status, line) == (128 + number, begins + goes_on)
    assert train(number, 2, "--run", folder, "--resume")[1] == begins + goes_on
    # What is there is of an earlier training.
    assert train(number, 0, "--run", folder, "--seed=1")[1].endswith(" yet, so train again")
    assert train(number, 1)[1] == (
        f"{begins}nothing was kept, so train again; --run FOLDER keeps what --resume goes on from")


def test_a_signal_that_is_ignored_stays_so(monkeypatch):
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        step = Trainer.step
        monkeypatch.setattr(Trainer, "step", lambda trainer: (
            os.kill(os.getpid(), signal.SIGHUP), step(trainer))[1])
        assert CliRunner().invoke(main, ["train", "karate", "--epochs=1"]).exit_code == 0
    finally:
        signal.signal(signal.SIGHUP, before)


def test_another_command_is_ended_by_one_line(monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("hypercast.host.commands.doctor.print_json", interrupted, raising=False)
    monkeypatch.setattr("hypercast.host.commands.diagnosis.examine", interrupted)
    found = CliRunner().invoke(main, ["doctor"])
    assert (found.exit_code, found.stderr) == (130, "error: ended by signal 2 (SIGINT)\n")


def test_a_folder_that_is_not_there(tmp_path):
    assert "yet, so train again" in Resumption(tmp_path / "none", resume=True)()
