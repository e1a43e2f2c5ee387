# SPDX-License-Identifier: BSD-2-Clause
"""``hypercast train --run`` and ``--trace``, and ``hypercast report``."""

import pytest

from hypercast.rtl.config import PRESETS
from tests.host.test_cli import refused, run
from tests.system.chips import WIDE


def test_run_and_report(tmp_path):
    folder, output = tmp_path / "runs" / "one", tmp_path / "page.html"
    run("train", "karate", "--epochs", 3, "--hidden", 2, "--run", folder)
    assert f"{output}: " in run("report", folder, "-o", output).stdout
    text = output.read_text()
    assert text.startswith("<!DOCTYPE html>") and "karate on reference" in text


def test_report_of_no_run(tmp_path):
    assert "holds no run" in refused("report", tmp_path, "-o", tmp_path / "page.html")
    assert not (tmp_path / "page.html").exists()


@pytest.mark.parametrize(("arguments", "message"), [
    (["--trace", "trace.json"], "the reference has no cycles to trace; add --device rtl"),
    (["--trace-step", "2"], "the reference has no cycles to trace; add --device rtl"),
    (["--device", "rtl", "--trace-step", "1"], "give one of them"),
    (["--device", "rtl", "--epochs", "3", "--trace", "trace.json", "--trace-step", "4"],
     "--trace-step 4 is beyond the last of 3 epochs; raise --epochs"),
])
def test_what_cannot_be_traced(arguments, message):
    assert message in refused("train", "karate", *arguments, status=2)


def test_the_chip_is_traced(tmp_path, monkeypatch):
    monkeypatch.setitem(PRESETS, "tiny", WIDE)  # which other tests have compiled
    folder, trace = tmp_path / "run", tmp_path / "trace.json"
    run("train", "karate", "--preset", "tiny", "--device", "rtl", "--epochs", 3, "--hidden", 2,
        "--run", folder, "--trace", trace, "--trace-step", 2)
    assert trace.read_text() == (folder / "trace.json").read_text()
    run("report", folder, "-o", tmp_path / "page.html")
    assert "<th>recorded step<td>epoch 2: " in (tmp_path / "page.html").read_text()


def test_a_run_on_the_chip_goes_on_without_being_asked_for_a_trace(tmp_path, monkeypatch):
    monkeypatch.setitem(PRESETS, "tiny", WIDE)
    folder, trace = tmp_path / "run", tmp_path / "trace.json"
    run("train", "karate", "--preset", "tiny", "--device", "rtl", "--epochs", 2, "--hidden", 2,
        "--run", folder)
    kept = {path: path.read_bytes() for path in folder.iterdir()}
    run("train", "--resume", "--run", folder)
    after = {path: path.read_bytes() for path in folder.iterdir()}
    assert after == kept
    message = refused("train", "--resume", "--run", folder, "--trace", trace, status=2)
    assert "epoch 2 is to be recorded, but the checkpoint is of epoch 2; raise --epochs" in message
    message = refused("train", "--resume", "--run", folder, "--trace", trace, "--trace-step", 1,
                      status=2)
    assert "epoch 1 is to be recorded, but the checkpoint is of epoch 2; give a later" in message
    assert not trace.exists()
    assert {path: path.read_bytes() for path in folder.iterdir()} == kept
    run("train", "--resume", "--run", folder, "--epochs", 3)
    assert '"number": 3' in (folder / "step.json").read_text()
