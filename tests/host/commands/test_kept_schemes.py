# SPDX-License-Identifier: BSD-2-Clause
"""Runs of boards, however they share a training, serve all that a run of one board does."""

import json
import shutil

import numpy as np
import pytest
from safetensors.numpy import load_file

from hypercast.host.cluster.assignment import Assignment
from hypercast.host.description.device import Device
from hypercast.host.description.model import Model
from hypercast.host.description.sampling import Sampling
from hypercast.host.description.source import Source
from hypercast.host.graphs.graph import Graph
from hypercast.host.training.checkpoint import CheckpointError
from hypercast.host.training.run_folder import RunFolder
from hypercast.host.training.trainer import Trainer
from hypercast.host.training.trainer_arguments import Sharing
from hypercast.rtl.isa import MASTER_EXPONENT
from tests.host.schemes.trainings import train_on
from tests.host.test_cli import refused, run

EPOCHS, LATER = 2, 3
SOME = Sampling(sampler="neighbours", batch=2, fan_outs=(2, 2, 2))
KARATE = Source(source="karate").with_graph(Graph.load("karate"))
MODEL = Model(hidden=(6, 5), order="combine_first")
CUT = Sampling(sampler="cut", parts=2)
#: How many boards, what they share, and what steps work on.
SCHEMES = {
    "samples": (2, Assignment(scheme="samples", micro_batches=(1, 3)), SOME),
    "graph": (3, Assignment(scheme="graph", parts=(1.0, 2.0, 1.0)), None),
    "vertex cut": (2, Assignment(scheme="samples"), CUT),
    "stale halos": (2, Assignment(scheme="graph", smoothing=0.0, parts=(1.0, 1.0)), None),
    "smoothed halos of uneven parts": (
        3, Assignment(scheme="graph", smoothing=0.3, parts=(3.0, 1.0, 2.0)), None),
    "two versions": (2, Assignment(scheme="layers", versions=2), None),
    "two versions, samples": (2, Assignment(scheme="layers", versions=2), SOME),
    "stashed weights": (2, Assignment(scheme="layers", stages=3), None),
    "stashed weights, planned": (
        2, Assignment(scheme="layers", stages=2, runs=(range(1, 2), range(2, 4))), None),
    "chunks": (3, Assignment(scheme="layers", chunks=4), None)}
STALE = [name for name, (_, assignment, _) in SCHEMES.items() if assignment.stale]


def train(name, boards, epochs, folder=None, **options):
    """What a training ends in; its run is kept in a folder."""
    _, assignment, sampling = SCHEMES[name]
    more = {"sampling": sampling, "micro_batches": 4 if sampling is SOME else 2} \
        if sampling else {}
    return train_on(boards, KARATE, MODEL, epochs=epochs, run=folder,
                    assignment=assignment, **more, **options)


@pytest.fixture(scope="module", params=SCHEMES)
def kept(request, tmp_path_factory):
    """The scheme, the folder of a run, and what the training ended in."""
    folder = tmp_path_factory.mktemp("kept") / "run"
    return request.param, folder, train(request.param, SCHEMES[request.param][0], EPOCHS, folder)


def tensors(state):
    return {f"{name}.{kind}": values.tolist() for name, arrays in state.parameters.items()
            for kind, values in arrays.items()}


def test_commands(kept, tmp_path):
    name, folder, (_, evaluated, _, _, _, parameters, *_) = kept
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert json.loads(run("evaluate", folder, "--json").stdout) == evaluated
    run("predict", folder, "-o", tmp_path / "p.npz")
    graph = Graph.load("karate")
    right = np.load(tmp_path / "p.npz")["classes"] == graph.labels
    assert right[graph.splits == 3].mean() == evaluated["test_accuracy"]
    run("export", folder, "-o", tmp_path / "w.safetensors")
    found = load_file(tmp_path / "w.safetensors")["convs.0.lin.weight"].T.astype(np.float64)
    assert np.allclose(found, np.ldexp(
        np.array(parameters["W1.master"], dtype=float), MASTER_EXPONENT), rtol=1e-6)
    if SCHEMES[name][2] is None:
        assert "W1" in {one["name"] for one in json.loads(run("numbers", folder, "--json").stdout)}
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_going_on(kept, tmp_path):
    """In one process, and on the same boards, with nothing said of what is older."""
    name, folder, _ = kept
    boards, assignment, _ = SCHEMES[name]
    whole = train(name, 1, LATER)
    shutil.copytree(folder, tmp_path / "run")
    run("train", "--resume", "--run", tmp_path / "run", "--epochs", LATER)
    state = RunFolder(tmp_path / "run").load_checkpoint().state
    assert tensors(state) == whole[5]
    assert {name: (rows.exponent, rows.values.tolist())
            for name, rows in state.older.items()} == whole[6]
    assert {name: [(one.exponent, one.values.tolist()) for one in versions]
            for name, versions in state.versions.items()} == whole[7]
    if assignment.stale:
        kept_assignment = RunFolder(folder).assignment()
        assert kept_assignment.stale
        shutil.copytree(folder, tmp_path / "boards")
        sampling = SCHEMES[name][2]
        more = {"sampling": sampling, "micro_batches": 4} if sampling else {}
        found = train_on(boards, KARATE, MODEL, epochs=LATER,
                         run=tmp_path / "boards", resume=True, assignment=kept_assignment, **more)
        assert found[2:] == whole[2:]


@pytest.mark.parametrize("name", STALE)
def test_a_chip_evaluates_what_it_cannot_go_on_with(name, tmp_path):
    """It has the parameters of one process; training on it would be of other bits."""
    train(name, 1, 1, tmp_path / "run")
    with Trainer.of_run(tmp_path / "run", "rtl") as trainer:
        with pytest.raises(ValueError, match="one process computes what boards with"):
            trainer.step()
    assert "one process computes what boards with" in refused(
        "train", "--resume", "--run", tmp_path / "run", "--epochs", 9, "--device", "rtl")


def test_another_scheme_is_named(tmp_path):
    train("chunks", 1, 1, tmp_path / "run")
    folder = RunFolder(tmp_path / "run")
    with pytest.raises(ValueError, match="trained with the scheme layers, which decides"):
        folder.assignment(Assignment(scheme="graph"))
    other = Assignment(scheme="layers", chunks=2)
    assert folder.assignment(other) == other
    with pytest.raises(CheckpointError, match=r"staleness.chunks is 4 there, 2 here"):
        Trainer(Graph.load("karate"), MODEL, run=tmp_path / "run", resume=True,
                boards=Sharing(assignment=other))


def test_stale_parts_need_their_boards(tmp_path):
    train("stale halos", 2, 1, tmp_path / "run")
    with pytest.raises(ValueError, match=r"rows of 2 parts of the graph .* but 3 boards would"):
        train_on(3, Graph.load("karate"), MODEL, run=tmp_path / "run", resume=True,
                 assignment=RunFolder(tmp_path / "run").assignment())


def test_the_devices_of_boards_are_one_here(tmp_path):
    """A run of several chips is used on one, or on the reference."""
    train_on(1, KARATE, MODEL, Device("reference"), epochs=1, run=tmp_path / "run")
    text = (tmp_path / "run" / "run.toml").read_text()
    (tmp_path / "run" / "run.toml").write_text(
        text.replace('name = "reference"', 'name = "rtl,reference"'))
    run("evaluate", tmp_path / "run")
