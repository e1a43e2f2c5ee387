# SPDX-License-Identifier: BSD-2-Clause
"""``hypercast train --resume``: killed at any time, a training ends in the same bits."""

import hashlib
import json
import random
import signal
import subprocess
import sys
import time

import pytest

from hypercast.host.training.checkpoint_file import load_checkpoint
from tests.host.test_cli import refused, run

TRAINING = ("karate", "--hidden", "4", "--seed", "3")


def weights(folder):
    """Hash of everything a run has trained."""
    state = load_checkpoint(folder / "checkpoint.safetensors").state
    digest = hashlib.sha256(repr((state.step, sorted(state.exponents.items()))).encode())
    for name, arrays in sorted(state.parameters.items()):
        for kind, values in sorted(arrays.items()):
            digest.update(f"{name}.{kind}".encode() + values.tobytes())
    return digest.hexdigest()


def metrics(folder):
    return [json.loads(line) for line in (folder / "epochs.jsonl").read_text().splitlines()]


def start(*arguments):
    command = [sys.executable, "-c", "from hypercast.host.cli import main; main()", "train",
               *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def recorded(folder):
    """How many epochs a run has recorded; none while there is no file, or no longer one."""
    try:
        return len((folder / "epochs.jsonl").read_bytes().splitlines())
    except FileNotFoundError:
        return 0


def kill_after(process, folder, epochs):
    """Kill a training some time after it has recorded ``epochs`` epochs."""
    deadline = time.monotonic() + 60
    while process.poll() is None and recorded(folder) <= epochs:
        assert time.monotonic() < deadline, "no epoch in a minute"
    time.sleep(random.random() * 0.01)
    process.send_signal(signal.SIGKILL)
    _, errors = process.communicate()
    assert process.returncode == -signal.SIGKILL, errors.decode()


@pytest.mark.parametrize("options", [
    pytest.param((), marks=pytest.mark.slow), ("--every", "7", "--patience", "400")],
                         ids=["every epoch", "every seventh, with the best one"])
def test_a_killed_training_ends_in_the_same_bits(tmp_path, options):
    epochs = 60
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    arguments = (*TRAINING, "--epochs", epochs, *options)
    run("train", *arguments, "--run", whole)
    process = start(*arguments, "--run", killed)
    done = 0
    for _ in range(2):
        kill_after(process, killed, done + random.randrange(5, 20))
        done = len(metrics(killed))
        process = start("--resume", "--run", killed)
    _, errors = process.communicate()
    assert process.returncode == 0, errors.decode()
    assert weights(killed) == weights(whole)
    assert metrics(killed) == metrics(whole)


def test_more_epochs(tmp_path):
    whole, longer = tmp_path / "whole", tmp_path / "longer"
    run("train", *TRAINING, "--epochs", 9, "--run", whole)
    run("train", *TRAINING, "--epochs", 4, "--run", longer)
    assert "going on after epoch 4" in run(
        "train", "--resume", "--run", longer, "--epochs", 9).stdout
    assert weights(longer) == weights(whole)
    assert metrics(longer) == metrics(whole)


def test_resuming_what_has_not_begun(tmp_path):
    """As after a kill before the first checkpoint."""
    run("train", *TRAINING, "--epochs", 3, "--run", tmp_path)
    before = weights(tmp_path)
    (tmp_path / "checkpoint.safetensors").unlink()
    run("train", "--resume", "--run", tmp_path)
    assert weights(tmp_path) == before


@pytest.mark.parametrize(("arguments", "message"), [
    (["--seed", 4], "is of another training: recipe.seed is 3 there, 4 here; go on with what it"),
    (["--hidden", 5], "network.layers.1.features_out is 4 there, 5 here; network.layers.2."),
    (["--elements", 8], "recipe.element_width is 16 there, 8 here"),
    (["--split", "50/25/25"], "graph.sha256 is "),
    (["blocks", *TRAINING[1:]], "graph.vertices is 34 there, 256 here; graph.edges is 156 there"),
])
def test_another_training_is_refused(tmp_path, arguments, message):
    run("train", *TRAINING, "--epochs", 2, "--run", tmp_path)
    before = (tmp_path / "epochs.jsonl").read_text()
    assert message in refused("train", *arguments, "--resume", "--run", tmp_path, status=2)
    assert (tmp_path / "epochs.jsonl").read_text() == before


def test_what_cannot_be_resumed(tmp_path):
    assert "give that as well" in refused("train", "--resume", status=2)
    assert "holds no run (there is no run.toml)" in refused(
        "train", "--resume", "--run", tmp_path, status=2)
    run("train", *TRAINING, "--epochs", 2, "--run", tmp_path)
    path = tmp_path / "checkpoint.safetensors"
    content = path.read_bytes()
    path.write_bytes(content[:-5])
    assert f"{path} is damaged or no checkpoint" in refused(
        "train", "--resume", "--run", tmp_path, status=2)
    path.write_bytes(content)
    records = tmp_path / "epochs.jsonl"
    written = records.read_text()
    records.write_text(written.replace('"epoch": 0', '"epoch": 1'))
    assert f"{records} has changed since {path} was written" in refused(
        "train", "--resume", "--run", tmp_path, status=2)
    records.write_text("")
    assert "is of epoch 2, but only 0 epochs are recorded in" in refused(
        "train", "--resume", "--run", tmp_path, status=2)
    records.unlink()
    assert f"{records} does not exist; check the path" in refused(
        "train", "--resume", "--run", tmp_path, status=2)
