# SPDX-License-Identifier: BSD-2-Clause
"""Trainings that a signal ends say which, and how to go on."""

import os
import shlex
import signal
import subprocess
import time

import pytest
from click.testing import CliRunner

from hypercast.host.cli import main
from hypercast.host.commands.interruption import Resumption
from hypercast.host.training.run_folder import RunFolder
from hypercast.host.training.trainer import Trainer
from hypercast.safe_path import PYTHON


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


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("seconds", [0.0, 0.05, 0.2])
def test_a_command_that_is_about_to_begin(number, seconds, tmp_path):
    """A module that it imports waits, for as long as it takes the signal to come."""
    (tmp_path / "numpy.py").write_text("print('here', flush=True)\nimport time\ntime.sleep(60)\n")
    # It may be ignored here, as by nohup, and children would ignore it, too.
    code = f"import signal, sys; signal.signal({number:d}, signal.SIG_DFL); " \
           f"sys.path.insert(0, {str(tmp_path)!r}); from hypercast.__main__ import main; main()"
    process = subprocess.Popen([*PYTHON, "-c", code, "doctor"], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "here\n"
    time.sleep(seconds)
    process.send_signal(number)
    errors = process.communicate(timeout=60)[1]
    assert errors == f"error: ended by signal {number} ({number.name}); nothing was begun\n"
    assert process.returncode == 128 + number


@pytest.mark.parametrize("closed", [(1,), (0, 1), (2,), (0, 1, 2)])
def test_a_command_without_standard_files(closed, tmp_path):
    """As services and cron start it; no file of ours takes their place."""
    command = f"exec {shlex.join([*PYTHON, '-m', 'hypercast'])} train karate --hidden 2 " \
              f"--epochs 1 --run {shlex.quote(str(tmp_path / 'run'))} " + " ".join(
                  f"{number}>&-" for number in closed)
    found = subprocess.run(["sh", "-c", command], capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    assert "accuracy" in found.stdout or 1 in closed
    assert len(RunFolder(tmp_path / "run").records()) == 1


def test_help_that_nothing_takes():
    with open("/dev/full", "w") as full:
        found = subprocess.run([*PYTHON, "-m", "hypercast", "--help"], stdout=full,
                               stderr=subprocess.PIPE, text=True)
    assert (found.returncode, found.stderr.count("\n")) == (1, 1)
    assert found.stderr.startswith("error: No space left on device; check")
