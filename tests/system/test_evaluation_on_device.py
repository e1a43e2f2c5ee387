# SPDX-License-Identifier: BSD-2-Clause
"""``hypercast train --evaluate-on device``: what is measured, and all that follows, is as on the
host."""

import json

import pytest
from click.testing import CliRunner

from hypercast.host.cli import main
from hypercast.host.training.run_folder import RunFolder
from tests.system.chips import WIDE

CHIP = ["--device", "rtl", "--no-check",
        *(f"-P{name}={value}" for name, value in WIDE.to_dict().items())]
SAMPLES = ["blocks", "--sampler", "neighbours", "--fan-outs", "2", "--hidden", "4"]


def train(*arguments):
    """What a training prints, which succeeds."""
    result = CliRunner().invoke(main, ["train", *arguments])
    assert result.exit_code == 0, result.output
    return result.stdout


def measured(lines):
    """Records of epochs, without cycles of evaluations.

    What edge buffers hold when a step begins depends on the program before it, so cycles of steps
    are nearly the same.
    """
    kept = ("training_loss", "train_loss", "validation_loss", "test_accuracy")
    found = [json.loads(line) for line in lines.splitlines() if line.startswith("{")]
    return [{key: record[key] for key in kept}
            | {"train_cycles": pytest.approx(record["train_cycles"], rel=0.01)}
            for record in found if "seconds" not in record]


def test_between_epochs_of_steps_that_work_ahead():
    arguments = *SAMPLES, *CHIP, "--batch", "2", "--order", "aggregate_first", "--dropout", "0", \
        "--epochs", "2", "--json"
    assert measured(train(*arguments, "--evaluate-on", "device")) == measured(train(*arguments))


def test_a_run_that_is_gone_on_with(tmp_path):
    """It is still evaluated on the device; steps are in pieces."""
    folder = tmp_path / "run"
    arguments = *SAMPLES, *CHIP, "--batch", "40", "--micro-batches", "2", "--model", "sage"
    expected = measured(train(*arguments, "--epochs", "2", "--json"))
    output = train(*arguments, "--epochs", "1", "--run", str(folder), "--evaluate-on", "device")
    assert output.count("compiling the evaluation of the whole graph") == 1
    assert RunFolder(folder).description().device.evaluate_on == "device"
    train("--epochs", "2", "--run", str(folder), "--resume")
    lines = (folder / "epochs.jsonl").read_text()
    assert measured(lines) == expected and len(expected) == 2
    first, second = (json.loads(line)["evaluate_cycles"] for line in lines.splitlines())
    assert 0 < first < second
