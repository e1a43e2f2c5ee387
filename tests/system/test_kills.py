# SPDX-License-Identifier: BSD-2-Clause
"""A training that is killed again and again, also between two writes, ends in the same bits."""

import json
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from hypercast.host.training.run_folder import RunError, RunFolder
from hypercast.rtl.config import PRESETS
from tests.host.test_cli import run
from tests.system.chips import WIDE

ROOT = Path(__file__).parents[2]
SEED = 3
#: Seconds after which a training that nothing kills hangs, on a busy machine too.
WATCHDOG = 500
#: ``hypercast`` on the chip of other tests, which kills itself before the n-th of the calls that
#: put something on the disk for good; 0 for never.
CHILD = """
import os, signal, sys
from hypercast.host.cli import main
from hypercast.rtl.config import PRESETS
from tests.system.chips import WIDE

PRESETS["tiny"] = WIDE
left = int(sys.argv.pop(1))

def counted(original):
    def call(*arguments, **options):
        global left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return original(*arguments, **options)
    return call

for name in ("fsync", "replace", "unlink"):
    setattr(os, name, counted(getattr(os, name)))
main()
"""


def begun(folder):
    """Whether the folder holds the training, not an earlier one, or none."""
    try:
        return RunFolder(folder).description().recipe.seed == SEED
    except RunError:
        return False


def kept_epochs(folder):
    """Epochs that a resumed training would not do again."""
    kept = RunFolder(folder)
    return kept.load_checkpoint().state.step if begun(folder) and kept.has_checkpoint else 0


def killed(folder, arguments, kill=None):
    """Whether a training was killed before it ended.

    Parameters
    ----------
    kill : int or float, optional
        The call before which it is, or, not whole, the seconds after which it is.
    """
    seconds = kill if isinstance(kill, float) else None
    calls = kill if isinstance(kill, int) else 0
    line = [sys.executable, "-c", CHILD, calls, "train",
            *(["--resume"] if begun(folder) else arguments), "--run", folder]
    with subprocess.Popen([str(word) for word in line], stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, cwd=ROOT) as process:
        try:
            _, errors = process.communicate(timeout=seconds or WATCHDOG)
        except subprocess.TimeoutExpired:
            process.kill()
            _, errors = process.communicate()
            assert seconds, f"it hangs: {errors.decode()}"
    assert process.returncode in (0, -signal.SIGKILL), errors.decode()
    return process.returncode != 0


def results(folder):
    """All that a training ends in: its checkpoint, and records without the cycles of arbiters."""
    records = [json.loads(line) for line in (folder / "epochs.jsonl").read_text().splitlines()]
    for record in records:
        for name in ("train_cycles", "evaluate_cycles"):
            record.pop(name, None)
    return records


def train_through_kills(tmp_path, arguments, kills):
    """Train undisturbed, and again over an earlier run with kills; both end in the same."""
    whole, folder = tmp_path / "whole", tmp_path / "killed"
    arguments = ["karate", "--hidden", 4, "--seed", SEED, *arguments]
    run("train", *arguments, "--run", whole)
    run("train", "karate", "--hidden", 4, "--seed", SEED + 1, "--epochs", 2, "--run", folder)
    kept = 0
    for number, kill in enumerate(kills, 1):
        assert killed(folder, arguments, kill), f"it ended before kill {number}; make it longer"
        before, kept = kept, kept_epochs(folder)
        assert kept >= before, "epochs were lost"
    assert not killed(folder, arguments)
    assert results(folder) == results(whole)
    found, expected = (RunFolder(each).load_checkpoint() for each in (folder, whole))
    assert found.identity == expected.identity
    for mine, other in ((found.state, expected.state), (found.best, expected.best)):
        if other is None:
            assert mine is None
            continue
        assert (mine.step, mine.exponents, mine.momentum_exponents) == (
            other.step, other.exponents, other.momentum_exponents)
        assert {name: {kind: values.tobytes() for kind, values in arrays.items()}
                for name, arrays in mine.parameters.items()} == {
            name: {kind: values.tobytes() for kind, values in arrays.items()}
            for name, arrays in other.parameters.items()}


def random_kills(count, calls):
    """Kills before one of so many calls, or at a time."""
    generator = random.Random(count)
    return [generator.choice([generator.randint(1, calls), generator.uniform(0.5, 2.5)])
            for _ in range(count)]


#: While an earlier run is removed; while three files are written anew, after the first; and when an
#: epoch has been recorded, before the checkpoint is on the disk, in its place, and there for sure.
MOMENTS = [6, 30, 4, 11, 12, 13]


def test_a_few_kills(tmp_path):
    train_through_kills(tmp_path, ["--epochs", 20, "--patience", 40], MOMENTS)


@pytest.mark.slow
def test_kills_on_the_chip(tmp_path, monkeypatch):
    monkeypatch.setitem(PRESETS, "tiny", WIDE)
    train_through_kills(
        tmp_path, ["--epochs", 8, "--device", "rtl", "--preset", "tiny"], [40, 15])


@pytest.mark.slow
@pytest.mark.parametrize(("epochs", "options"), [
    (6000, []), (20000, ["--every", 7, "--patience", 20000]),
    (6000, ["--optimiser", "adam", "--dropout", 0.5]),
], ids=["every epoch", "every seventh, with the best one", "adam, dropout"])
def test_many_kills(tmp_path, epochs, options):
    train_through_kills(tmp_path, ["--epochs", epochs, *options], random_kills(30, 40))


@pytest.mark.slow
def test_many_kills_on_the_chip(tmp_path, monkeypatch):
    monkeypatch.setitem(PRESETS, "tiny", WIDE)
    train_through_kills(
        tmp_path, ["--epochs", 400, "--device", "rtl", "--preset", "tiny"], random_kills(6, 40))
