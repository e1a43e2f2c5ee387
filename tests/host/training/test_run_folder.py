# SPDX-License-Identifier: BSD-2-Clause
"""Folders of runs: one process writes, and what fails changes nothing."""

import json
import os
import shutil
import warnings

import pytest

from hypercast.host.description.model import Model
from hypercast.host.description.source import Source
from hypercast.host.graphs.graph import Graph
from hypercast.host.runtime.reference_device import ReferenceDevice
from hypercast.host.training.folder_lock import FolderLockError
from hypercast.host.training.run_folder import RunError, RunFolder, RunWarning
from hypercast.host.training.trainer import Trainer
from tests.host.commands.test_moved_runs import write_graph
from tests.host.test_cli import refused, run

KARATE = Graph.load("karate")
SOURCE = Source(source="karate").with_graph(KARATE)


def trainer(folder, **options):
    return Trainer(SOURCE, Model(hidden=4), run=folder, **{"epochs": 3, "seed": 3, **options})


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture
def kept(tmp_path):
    """A folder with a finished run."""
    with trainer(tmp_path) as found:
        found.fit()
    return tmp_path


def test_a_second_process_is_refused(kept):
    before = contents(kept)
    with trainer(kept, resume=True):
        for arguments in (["karate"], ["--resume"]):
            message = refused("train", *arguments, "--run", kept, status=2)
            assert f"{kept} is in use by process {os.getpid()}; wait until" in message
        with pytest.raises(FolderLockError):
            trainer(kept)
        run("evaluate", kept)  # who only reads may
    with trainer(kept, resume=True):
        assert contents(kept) == before


def test_a_refused_one_holds_nothing(kept):
    with pytest.raises(ValueError, match="is of another training"):
        trainer(kept, seed=4, resume=True)
    trainer(kept).close()


def test_a_first_epoch_that_fails_leaves_the_earlier_run(kept, monkeypatch):
    before = contents(kept)

    def fail(*_, **__):
        raise ArithmeticError("numbers grew too large")
    monkeypatch.setattr(ReferenceDevice, "train_step", fail)
    for options in ({"seed": 4}, {"epochs": 9, "resume": True}):
        with trainer(kept, **options) as found, pytest.raises(ArithmeticError):
            found.fit()
        assert contents(kept) == before


def test_an_earlier_run_is_replaced_by_the_first_epoch(kept):
    (kept / "report.html").touch()
    with trainer(kept, seed=4) as found:
        found.step()
        assert RunFolder(kept).description().recipe.seed == 4
        assert RunFolder(kept).load_checkpoint().state.step == 1
        assert len(RunFolder(kept).records()) == 1
    assert not (kept / "report.html").exists()


class Died(BaseException):
    """The process ended here."""


@pytest.mark.parametrize("seed", [3, 4], ids=["the same training", "another"])
@pytest.mark.parametrize("removed", [0, 1, 2])
def test_an_earlier_run_that_is_half_removed_is_not_taken_for_the_new_one(kept, seed, removed,
                                                                          monkeypatch):
    unlink, left = type(kept).unlink, [removed]

    def die(path, **options):
        if not left[0]:
            raise Died
        left[0] -= 1
        unlink(path, **options)

    with monkeypatch.context() as patched, trainer(kept, seed=seed) as found:
        patched.setattr(type(kept), "unlink", die)
        with pytest.raises(Died):
            found.step()
    if seed == 3 or not removed:
        run("train", "--resume", "--run", kept)
        assert RunFolder(kept).description().recipe.seed == 3
        assert len(RunFolder(kept).records()) == 3
    else:
        assert "holds no run" in refused("train", "--resume", "--run", kept, status=2)


@pytest.mark.parametrize("name", ["run.toml", "run.json", "checkpoint.safetensors", "trace.json",
                                  "report.html", "epochs.jsonl"])
def test_files_of_others_are_kept(name, tmp_path):
    (tmp_path / name).write_text("precious [")
    with pytest.raises(RunError, match=rf"{name} is there, which a run would replace.*; rename it"):
        trainer(tmp_path)
    assert contents(tmp_path) == {name: b"precious ["}


def test_a_run_that_has_no_lock_is_one(kept):
    (kept / "lock").unlink()  # as of version 0.2.0
    trainer(kept, resume=True).close()


@pytest.mark.parametrize("command", ["export", "report", "predict"])
def test_no_output_replaces_a_file_of_the_run(kept, command, tmp_path):
    before = contents(kept)
    suffix = {"export": "safetensors", "report": "html", "predict": "npz"}[command]
    link = tmp_path / f"link.{suffix}"
    link.symlink_to(kept / "checkpoint.safetensors")
    for path in (link, kept / "checkpoint.safetensors", kept / "run.toml"):
        message = refused(command, kept, "-o", path, status=2)
        assert f"{path} is a file of the run {kept}; give another" in message or "end in" in message
    assert {name: contents(kept)[name] for name in before} == before


@pytest.mark.parametrize("link", [False, True])
def test_a_run_without_its_checkpoint_is_not_begun_anew_in_silence(kept, link):
    path = RunFolder(kept).checkpoint_path
    path.unlink()
    if link:
        path.symlink_to(kept / "none")
    with pytest.warns(RunWarning, match=rf"{path} is not there, though 3 epochs were recorded"):
        trainer(kept, resume=True).close()
    with warnings.catch_warnings(action="error"):  # nothing was recorded, or it was not asked for
        trainer(kept).close()
        trainer(kept / "new", resume=True).close()


def test_weights_are_kept_beside_it(kept, tmp_path):
    weights = tmp_path / "some.safetensors"
    run("export", kept, "-o", weights)
    with trainer(kept) as found:
        network = found.network
    model = Model(hidden=4, weights=str(weights))
    for _ in range(2):  # the second time, over the first
        with Trainer(SOURCE, model, run=kept, epochs=1) as found:
            found.fit()
            assert found.network == network
    copy = kept / "initial_weights.safetensors"
    assert copy.read_bytes() == weights.read_bytes()
    shutil.move(weights, tmp_path / "elsewhere")
    run("train", "--resume", "--run", kept, "--epochs", 2)
    assert json.loads((kept / "epochs.jsonl").read_text().splitlines()[1])["epoch"] == 1


@pytest.mark.parametrize("name", ["run.toml", "sessions.json", "epochs.jsonl", "trace.json"])
def test_files_that_cannot_be_replaced_are_found_before_any_is_written(name, tmp_path):
    """A link that leads to itself is there for the system, though it leads to no file."""
    run = tmp_path / "run"
    run.mkdir()
    (run / name).symlink_to(name)
    with pytest.raises(OSError, match="leads back to itself") as error, \
            Trainer(Graph.load("karate"), epochs=1, run=run) as trainer:
        trainer.fit()
    assert error.value.filename == str(run / name)
    assert [path.name for path in run.iterdir() if path.name != "lock"] == [name]


def test_a_graph_that_is_no_more_there_is_wanted_only_where_it_is_needed(tmp_path):
    folder = tmp_path / "run"
    data = write_graph(tmp_path / "graph.npz")
    run("train", data, "--hidden", 4, "--epochs", 1, "--run", folder)
    kept = RunFolder(folder)
    assert kept.description().graph.path == str(data)
    data.rename(tmp_path / "elsewhere.npz")
    with pytest.raises(RunError, match=rf"the graph is {data}, but there is no such file"):
        kept.description()
    assert kept.description(required=False).graph.path == str(data)
    assert kept.description(data=tmp_path / "elsewhere.npz").graph.path == str(
        tmp_path / "elsewhere.npz")
