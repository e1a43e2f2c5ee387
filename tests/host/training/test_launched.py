# SPDX-License-Identifier: BSD-2-Clause
"""Boards whose processes a trainer starts: their bits are those of the command line and of one."""

import os
import signal

import pytest

from hypercast import Device, Graph, Model, Sampling, Trainer
from hypercast.benches.board_processes import ranks_below, train
from hypercast.errors import InputError
from hypercast.host.cluster.cluster_error import ClusterError
from hypercast.host.cluster.description import Cluster
from hypercast.host.description.conversion import DescriptionError
from hypercast.host.description.source import Source
from hypercast.host.graphs.datasets import blocks
from hypercast.host.training.boards import Boards
from hypercast.host.training.checkpoint import CheckpointError
from hypercast.host.training.trainer_arguments import Recording
from tests.host.schemes.trainings import everything

pytest.importorskip("mpi4py")

OWN = Graph(**blocks(vertices=48, degree=5.0))
SAMPLING = Sampling("neighbours", batch=8, fan_outs=(3, 2))
FILES = ("run.toml", "epochs.jsonl", "checkpoint.safetensors")
#: So slow that several are faster than one.
SLOW = Cluster.of_sections({
    "boards": {"slow": {"board": "vcu128", "count": 2, "megahertz": 1, "host_microseconds": 0}},
    "links": {"network": {"gigabits": 100}}})


def trained(graph, *, boards=None, model=None, **options):
    with Trainer(graph, model or Model(hidden=4), boards=boards, seed=2,
                 **{"epochs": 3, **options}) as trainer:
        trainer.fit()
        return everything(trainer), trainer.predict().logits.tolist()


def test_a_run_is_that_of_the_command_line(tmp_path):
    """Step by step; it goes on in one process, and by another scheme."""
    with train("karate", "--hidden", 4, "--seed", 2, "--boards", 2, "--epochs", 4, "--run",
               tmp_path / "command") as process:
        kept = {"run": tmp_path / "python", "resume": True}
        source = Source(source="karate")
        with Trainer(source, Model(hidden=4), seed=2, boards=2, epochs=4, **kept) as trainer:
            assert trainer.division is None
            assert trainer.step()["epoch"] == 0
            assert trainer.division.boards.size == 34
            trainer.step()
        with pytest.raises(CheckpointError, match="seed is 2 there, 3 here"):
            Trainer(source, Model(hidden=4), seed=3, boards=2, epochs=4, **kept)
        trained(source, boards=1, epochs=3, **kept)
        trained(source, boards=Boards(2, scheme="layers"), epochs=4, **kept)
        process.communicate(timeout=120)
    for name in FILES:
        assert (tmp_path / "python" / name).read_bytes() == \
            (tmp_path / "command" / name).read_bytes(), name


def test_samples_on_chips_and_by_a_plan(tmp_path):
    """A graph made in Python reaches the processes as it is; so do orders that a plan chose."""
    options = {"sampling": SAMPLING, "micro_batches": 2}
    device = Device("reference,rtl", preset="tiny", element_width=16)
    model = Model(hidden=4, order="combine_first")
    assert trained(OWN, model=model, boards=2, device=device, **options) == \
        trained(OWN, model=model, device=Device(preset="tiny"), **options)
    said = []
    boards = Boards(cluster=SLOW)
    with Trainer(OWN, Model(hidden=4), boards=boards, progress=said.append, epochs=2) as trainer:
        trainer.fit()
        assert trainer.virtual_time().steps == 2
        found = trainer.evaluate(), trainer.model.order
    with Trainer(OWN, Model(hidden=4, order=found[1]), epochs=2) as alone:
        alone.fit()
        assert (alone.evaluate(), alone.model.order) == found
    assert "starting 2 processes" in said


def test_a_process_that_is_killed_is_named(tmp_path):
    kept = {"run": tmp_path, "resume": True, "epochs": 4, "seed": 2}
    with Trainer(OWN, Model(hidden=4), boards=2, **kept) as trainer:
        trainer.step()
        os.kill(dict(ranks_below(os.getpid()))[1], signal.SIGKILL)
        with pytest.raises(ClusterError, match=r"board 1 was ended by signal 9 .*; with resume="
                                               r"True it goes on from the last checkpoint"):
            trainer.fit()
        with pytest.raises(ClusterError, match="make the training anew"):
            trainer.evaluate()
    assert not dict(ranks_below(os.getpid()))
    assert trained(OWN, run=tmp_path, resume=True, epochs=4)[0][5] == trained(OWN, epochs=4)[0][5]


@pytest.mark.parametrize(("options", "kind", "text"), [
    ({"boards": 0}, InputError, "boards must be a whole number, at least 1, not 0"),
    ({"boards": "two"}, InputError, "boards must be a whole number, at least 1, not 'two'"),
    ({"boards": 2000}, DescriptionError, r"\[boards\] count must be 1 to 1024, not 2000"),
    ({"boards": 2, "recording": Recording(step=1)}, InputError, "recording is of one chip that"),
    ({"boards": 2, "check": True}, DescriptionError, "2 train together; leave it out"),
    ({"boards": Boards(scheme="graph")}, DescriptionError,
     r"\[boards\] scheme says how boards train together; give count as well"),
    ({"boards": Boards(2, scheme="samples")}, DescriptionError, "give a sampler"),
    ({"boards": Boards(3, scheme="layers")}, DescriptionError, "3 boards share 2 layers"),
])
def test_what_cannot_be_is_refused_before_any_process_is_started(options, kind, text):
    with pytest.raises(kind, match=text):
        Trainer(OWN, Model(hidden=4), **options)
