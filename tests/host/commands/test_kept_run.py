# SPDX-License-Identifier: BSD-2-Clause
"""``hypercast evaluate``, ``predict`` and ``export``, on a run that was kept."""

import csv
import json

import numpy as np
import pytest
from safetensors.numpy import load_file

from hypercast import Graph
from tests.host.test_cli import refused, run


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """A run's folder, and the summary of its training."""
    folder = tmp_path_factory.mktemp("runs") / "karate"
    result = run("train", "karate", "--epochs", 12, "--hidden", 4, "--run", folder, "--json")
    return folder, json.loads(result.stdout.splitlines()[-1])


def test_evaluate(kept):
    folder, summary = kept
    found = json.loads(run("evaluate", folder, "--json").stdout)
    assert found == {name: summary[name] for name in found} and len(found) == 6
    assert "validation" in run("evaluate", folder).stdout


def test_predict(kept, tmp_path):
    folder, summary = kept
    run("predict", folder, "-o", tmp_path / "p.npz")
    found = np.load(tmp_path / "p.npz")
    graph = Graph.load("karate")
    right = found["classes"][graph.splits == 3] == graph.labels[graph.splits == 3]
    assert right.mean() == summary["test_accuracy"]
    run("predict", folder, "-o", tmp_path / "p.csv")
    with (tmp_path / "p.csv").open() as file:
        header, *rows = csv.reader(file)
    assert header == ["vertex", "classes", "logit 0", "logit 1"]
    assert [int(row[1]) for row in rows] == found["classes"].tolist()
    assert np.array_equal(np.array([row[2:] for row in rows], dtype=float), found["logits"])


def test_export_and_train_on(kept, tmp_path):
    folder, _ = kept
    path = tmp_path / "w.safetensors"
    run("export", folder, "-o", path)
    assert load_file(path)["convs.0.lin.weight"].shape == (4, 34)
    run("train", "karate", "--epochs", 1, "--hidden", 4, "--weights", path)
    assert "give weights of the same model, layers and widths" in refused(
        "train", "karate", "--epochs", 1, "--hidden", 5, "--weights", path, status=2)


def test_a_run_has_its_initial_weights(kept, tmp_path):
    """So it does not need the file it was begun with."""
    path, folder = tmp_path / "w.safetensors", tmp_path / "run"
    run("export", kept[0], "-o", path)
    run("train", "karate", "--epochs", 2, "--hidden", 4, "--weights", path, "--run", folder)
    path.unlink()
    moved = folder.rename(tmp_path / "moved")
    before = run("evaluate", moved, "--json").stdout
    run("train", "--resume", "--run", moved, "--epochs", 3)
    assert json.loads(run("evaluate", moved, "--json").stdout) != json.loads(before)
    run("train", moved / "run.toml", "--epochs", 2, "--run", moved)
    assert run("evaluate", moved, "--json").stdout == before


def test_numbers(kept):
    folder, _ = kept
    found = json.loads(run("numbers", folder, "--json").stdout)
    assert {tensor["name"] for tensor in found} >= {"A", "X", "W1", "H1", "Z2", "dZ1"}
    assert found == json.loads((folder / "numbers.json").read_text())
    assert "training step 13" in run("numbers", folder).stdout
    assert "error against float64" in (folder / "report.html").read_text()


@pytest.mark.parametrize(("arguments", "message"), [
    (["evaluate", "/nowhere"], "/nowhere holds no run (there is no run.toml); make one by"),
    (["predict", "RUN", "-o", "p.txt"], "p.txt must end in .npz or .csv"),
    (["export", "RUN", "-o", "w.bin"], "w.bin must end in one of"),
])
def test_refusals(kept, arguments, message):
    arguments = [str(kept[0]) if argument == "RUN" else argument for argument in arguments]
    assert message in refused(*arguments, status=2)


def test_a_run_without_a_graph_is_named(tmp_path):
    (tmp_path / "run.toml").write_text("")
    assert "run.toml names no graph, as that was made in Python" in refused("evaluate", tmp_path)
    assert "run.toml names no graph, as that was made in Python" in refused(
        "train", "--run", tmp_path, "--resume")
