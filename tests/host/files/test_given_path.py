# SPDX-License-Identifier: BSD-2-Clause
"""Paths that Python code gives: taken, or refused with a reason before anything is done."""

from pathlib import Path

import pytest

from hypercast import Graph, Model, Trainer
from hypercast.errors import HypercastError, InputError
from hypercast.host.files.given_path import as_output_errors, given_folder, given_path

NONE = [None, 3, 0.5, b"x", [], object(), "", "a\0b"]


@pytest.mark.parametrize("value", ["a/b", Path("a/b")])
def test_paths(value):
    assert given_path(value, "x") == given_folder(value, "x") == Path("a/b")


@pytest.mark.parametrize("value", NONE, ids=map(repr, range(len(NONE))))
def test_what_is_no_path(value):
    for function in (given_path, given_folder):
        with pytest.raises(InputError, match="x must be a path, not "):
            function(value, "x")


def test_folders(tmp_path):
    file = tmp_path / "file"
    file.touch()
    assert given_folder(tmp_path / "new" / "er", "x") == tmp_path / "new" / "er"
    for path in (file, file / "below", file / "far" / "below"):
        with pytest.raises(InputError, match=f"x is {path}, but {file} is no folder; give another"):
            given_folder(path, "x")


def test_files_that_cannot_be_written(tmp_path):
    with pytest.raises(InputError, match=r"for there is no folder .*none; make it, or give anot"), \
            as_output_errors(tmp_path / "none" / "x"):
        pass
    with pytest.raises(InputError, match=r"x cannot be written \(Is a directory\); check the p"), \
            as_output_errors(tmp_path / "x"):
        raise IsADirectoryError(21, "Is a directory")


@pytest.mark.parametrize("path", [None, b"x.pt", "a\0.pt", "none/w.safetensors",
                                  f"{'x' * 300}.safetensors"])
def test_weights_are_saved_or_a_reason_is_given(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with Trainer(Graph.load("karate"), Model(hidden=2), epochs=1) as trainer:
        with pytest.raises(HypercastError, match=r"; |must be"):
            trainer.save_weights(path)
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize("value", [None, b"run", 3])
def test_runs_are_folders(value, tmp_path):
    with pytest.raises(HypercastError, match="folder must be a path"):
        Trainer.of_run(value)
    with pytest.raises(HypercastError, match="graph must be a path"):
        Trainer.of_run(tmp_path, graph=b"x")
