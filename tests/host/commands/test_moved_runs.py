# SPDX-License-Identifier: BSD-2-Clause
"""Runs whose graph is in files: moved, renamed, reached by links, from any folder."""

import json
import shutil
import tomllib

import numpy as np
import pytest

from hypercast import Graph, Trainer
from hypercast.host.description.source import Source
from hypercast.host.training.checkpoint import CheckpointError
from hypercast.host.training.run_folder import RunError
from tests.host.test_cli import refused, run

SHORT = ("--hidden", 3, "--epochs", 1, "--order", "combine_first")


def write_graph(path, seed=0):
    """A file of the karate club, with random features."""
    graph = Graph.load("karate")
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez(path, edges=np.argwhere(np.triu(graph.edges.toarray())),
             features=np.random.default_rng(seed).random((34, 4), dtype=np.float32),
             labels=graph.labels, train=np.arange(10), validation=np.arange(10, 20),
             test=np.arange(20, 34))
    return path


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A folder with a graph and a run, which was made in it by relative paths."""
    folder = tmp_path / "project"
    write_graph(folder / "data" / "graph.npz")
    monkeypatch.chdir(folder)
    run("train", "data/graph.npz", *SHORT, "--split", "50/25/25", "--run", "build/run")
    monkeypatch.chdir(tmp_path)
    return folder


def source(folder):
    return tomllib.loads((folder / "run.toml").read_text())["graph"]["source"]


def use(folder, tmp_path, *options):
    """Every command on a run; what it is evaluated as."""
    found = json.loads(run("evaluate", folder, "--json", *options).stdout)
    run("predict", folder, "-o", tmp_path / "p.csv", *options)
    run("export", folder, "-o", tmp_path / "w.safetensors", *options)
    run("numbers", folder, *options)
    run("report", folder, "-o", tmp_path / "report.html")
    return found


def test_a_project_that_is_moved(project, tmp_path):
    before = use(project / "build" / "run", tmp_path)
    assert source(project / "build" / "run") == "../../data/graph.npz"
    moved = tmp_path / "elsewhere" / "renamed"
    moved.parent.mkdir()
    project.rename(moved)
    assert use(moved / "build" / "run", tmp_path) == before
    run("train", "--resume", "--run", moved / "build" / "run", "--epochs", 2)
    run("train", moved / "build" / "run" / "run.toml", "--epochs", 1)
    assert source(moved / "build" / "run") == "../../data/graph.npz"
    assert json.loads((moved / "build" / "run" / "run.json").read_text())["facts"][
        "data set"] == str(moved / "data" / "graph.npz")


def test_a_run_that_is_moved_alone(project, tmp_path):
    before = use(project / "build" / "run", tmp_path)
    moved = tmp_path / "a" / "b" / "c" / "run"
    moved.parent.mkdir(parents=True)
    (project / "build" / "run").rename(moved)
    assert use(moved, tmp_path) == before
    run("train", "--resume", "--run", moved, "--epochs", 2)
    assert source(moved) == "../../../../project/data/graph.npz"


@pytest.mark.parametrize("place", ["a", "a/b/c/d"])
def test_runs_and_graphs_anywhere(project, tmp_path, monkeypatch, place):
    """From other folders, in the graph's folder, and with the graph in the run's."""
    graph = project / "data" / "graph.npz"
    for number, (working, given, folder, expected) in enumerate((
            (project / "data", "graph.npz", ".", "graph.npz"),
            (project / "data", "graph.npz", "run", "../graph.npz"),
            (tmp_path, "project/data/graph.npz", "run", "../project/data/graph.npz"),
            (tmp_path, graph, tmp_path / "other" / place, None))):
        monkeypatch.chdir(working)
        run("train", given, *SHORT, "--run", folder)
        if expected:
            assert source(working / folder) == expected, number
        monkeypatch.chdir("/")
        run("evaluate", working / folder)


def test_a_graph_elsewhere_on_the_machine(project, tmp_path):
    """What has only the root in common is not relative to the other."""
    path = str(project / "data" / "graph.npz")
    assert Source(source=path).relative_to("/var/none").source == path
    assert Source(source="karate").relative_to("/var/none").source == "karate"
    assert Source(source=f"{tmp_path}/karate").relative_to(tmp_path).source == "./karate"
    assert Source(source="./karate").with_full_paths(tmp_path).source == f"{tmp_path}/karate"


def test_a_graph_by_the_name_of_a_bundled_one(project, tmp_path, monkeypatch):
    write_graph(tmp_path / "karate.npz").rename(tmp_path / "karate")
    monkeypatch.chdir(tmp_path)
    run("train", "./karate", *SHORT, "--run", ".")
    assert source(tmp_path) == "./karate"
    assert "4-3-2 features" in run("train", "--resume", "--run", ".", "--epochs", 2).stdout


@pytest.mark.parametrize("kind", ["run", "data", "project"])
def test_links(project, tmp_path, monkeypatch, kind):
    """The run's folder, the graph, or the project is a link; and then it is moved."""
    real = tmp_path / "real" / "deep"
    real.mkdir(parents=True)
    path = {"run": project / "build" / "run", "data": project / "data" / "graph.npz",
            "project": project}[kind]
    path.rename(real / path.name)
    path.symlink_to(real / path.name)
    run("evaluate", project / "build" / "run")
    run("train", "--resume", "--run", project / "build" / "run", "--epochs", 2)
    run("evaluate", project / "build" / "run")
    if kind == "run":
        run("evaluate", real / "run")  # not by the link
    monkeypatch.chdir(project / "build" / "run")
    run("evaluate", ".")
    monkeypatch.chdir(tmp_path)
    project.rename(tmp_path / "moved")
    run("evaluate", tmp_path / "moved" / "build" / "run")


def test_a_graph_that_is_gone(project, tmp_path):
    folder, before = project / "build" / "run", use(project / "build" / "run", tmp_path)
    moved = (project / "data" / "graph.npz").rename(tmp_path / "moved.npz")
    contents = {path.name: path.read_bytes() for path in folder.iterdir()}
    for command in (["evaluate", folder], ["predict", folder], ["export", folder],
                    ["numbers", folder], ["train", "--resume", "--run", folder, "--epochs", 2]):
        message = refused(*command)
        assert f"{folder}/run.toml says that the graph is {project}/data/graph.npz" in message
        assert "by --data PATH" in message
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == contents
    with pytest.raises(RunError, match="graph=PATH"):
        Trainer.of_run(folder)
    assert use(folder, tmp_path, "--data", moved) == before
    for graph in (str(moved), moved):
        with Trainer.of_run(folder, graph=graph) as trainer:
            assert trainer.evaluate() == before
    split = Source(source=str(moved), split=(50, 25, 25)).load()
    with Trainer.of_run(folder, graph=split) as trainer:
        assert trainer.evaluate() == before
    run("train", "--resume", "--run", folder, "--epochs", 2, "--data", moved)
    assert source(folder) == "../../../moved.npz"
    run("evaluate", folder)


def test_another_graph_is_not_taken(project, tmp_path):
    """Neither one that is given, nor one that is where this one was."""
    folder = project / "build" / "run"
    other = write_graph(tmp_path / "other.npz", seed=1)
    assert "graph.sha256 is" in refused("evaluate", folder, "--data", other)
    with pytest.raises(CheckpointError, match=r"graph\.sha256 is"):
        Trainer.of_run(folder, graph=other)
    shutil.copy(other, project / "data" / "graph.npz")
    assert "graph.sha256 is" in refused("evaluate", folder)


def test_a_run_of_an_earlier_version(project, tmp_path):
    """It has a full path; and if that is gone, a remedy."""
    path = project / "build" / "run" / "run.toml"
    path.write_text(path.read_text().replace("../../data", f"{project}/data"))
    run("evaluate", path.parent)
    project.rename(tmp_path / "moved")
    folder = tmp_path / "moved" / "build" / "run"
    assert f"{folder}/run.toml says that the graph is {project}/data/graph.npz" in refused(
        "evaluate", folder)
    run("evaluate", folder, "--data", tmp_path / "moved" / "data" / "graph.npz")


@pytest.mark.parametrize(("arguments", "message"), [
    (("train", "karate", "--data", "DATA"), "--data says where the graph of a run is that"),
    (("train", "karate", "--data", "DATA", "--resume", "--run", "RUN"), "or DATASET alone"),
    (("evaluate", "RUN", "--data", "/nowhere"), "'/nowhere' does not exist"),
])
def test_options_that_make_no_sense(project, arguments, message):
    names = {"DATA": project / "data" / "graph.npz", "RUN": project / "build" / "run"}
    assert message in refused(*(names.get(one, one) for one in arguments))


def test_a_described_training_names_the_line(tmp_path):
    (tmp_path / "a.toml").write_text('[graph]\nsource = "none.npz"\n')
    assert f"{tmp_path}/a.toml, line 2: {tmp_path}/none.npz is neither a bundled" in refused(
        "train", tmp_path / "a.toml")
    assert f"{tmp_path}/a.toml, line 2: {tmp_path}/none.npz is neither a bundled" in refused(
        "plan", tmp_path / "a.toml", "--cluster", "u50-2")
