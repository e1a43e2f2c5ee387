"""Checkpoints: read back as they were written, whole or not at all."""

import dataclasses
import os

import numpy as np
import pytest

from hypercast.host.checkpoint import (
    Checkpoint,
    CheckpointError,
    identity,
    load_checkpoint,
    save_checkpoint,
)
from hypercast.host.datasets import karate
from hypercast.reference.network import Network
from hypercast.reference.recipe import Recipe
from tests.host.test_state_transfer import assert_equal, trained

NETWORK = Network.of_widths([34, 4, 2])


def kept(steps, best=None):
    return Checkpoint(identity=identity(karate(), NETWORK, Recipe()), state=trained(steps).state(),
                      best=best and trained(best).state())


@pytest.mark.parametrize("best", [None, 1])
def test_what_is_written_is_read_back(tmp_path, best):
    path, written = tmp_path / "c.safetensors", kept(3, best)
    save_checkpoint(path, written)
    found = load_checkpoint(path)
    assert found.identity == written.identity
    assert_equal(written.state, found.state)
    if best:
        assert_equal(written.best, found.best)
    else:
        assert found.best is None
    assert list(tmp_path.iterdir()) == [path]


def test_a_write_that_fails_leaves_the_old_one(tmp_path, monkeypatch):
    path = tmp_path / "c.safetensors"
    save_checkpoint(path, kept(2))

    def fail(descriptor):
        raise OSError("the disk is full")
    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="full"):
        save_checkpoint(path, kept(3))
    assert load_checkpoint(path).state.step == 2


def test_the_number_of_epochs_may_change():
    assert identity(karate(), NETWORK, Recipe(epochs=5)) == identity(karate(), NETWORK, Recipe())


@pytest.mark.parametrize("field", ["edges", "features", "labels", "splits"])
def test_any_change_of_the_graph_is_seen(tmp_path, field):
    graph = karate()
    changed = getattr(graph, field).copy()
    values = changed.data if hasattr(changed, "indptr") else changed
    values[np.flatnonzero(values)[0]] += 1
    other = dataclasses.replace(graph, **{field: changed})
    with pytest.raises(CheckpointError, match=r"c is of another training: graph\.sha256 is"):
        kept(1).check(identity(other, NETWORK, Recipe()), "c")


@pytest.mark.parametrize("change", [{"seed": 1}, {"momentum": 0.5}, {"schedule": ((1, 0.5),)}])
def test_any_change_of_the_recipe_is_named(change):
    [name] = change
    with pytest.raises(CheckpointError, match=rf"c is of another training: recipe\.{name}"):
        kept(1).check(identity(karate(), NETWORK, Recipe(**change)), "c")


@pytest.mark.parametrize("content", [b"", b"no safetensors", b"\x02\0\0\0\0\0\0\0{}"])
def test_what_is_no_checkpoint(tmp_path, content):
    path = tmp_path / "c.safetensors"
    with pytest.raises(CheckpointError, match="does not exist"):
        load_checkpoint(path)
    path.write_bytes(content)
    with pytest.raises(CheckpointError, match="damaged or no checkpoint"):
        load_checkpoint(path)
