# SPDX-License-Identifier: BSD-2-Clause
"""Checkpoints: what is not of the same training is named."""

import dataclasses

import numpy as np
import pytest

from hypercast.host.graphs.graph import Graph
from hypercast.host.training.checkpoint import Checkpoint, CheckpointError, identity
from hypercast.reference.network import Network
from hypercast.reference.recipe import Recipe
from hypercast.reference.tensor import Kind, Tensor
from tests.host.runtime.test_state_transfer import trained

KARATE = Graph.load("karate")
NETWORK = Network.of_widths([34, 4, 2])


def kept(steps, best=None):
    return Checkpoint(identity=identity(KARATE, NETWORK, Recipe()), state=trained(steps).state(),
                      best=best and trained(best).state(), records="0" * 64)


def check(checkpoint, expected=None):
    checkpoint.check(expected or checkpoint.identity, trained(0).state(), "c")


def test_the_same_training():
    check(kept(2, best=1))


def test_the_number_of_epochs_may_change():
    assert identity(KARATE, NETWORK, Recipe(epochs=5)) == identity(KARATE, NETWORK, Recipe())


@pytest.mark.parametrize("field", ["edges", "features", "labels", "splits"])
def test_any_change_of_the_graph_is_seen(tmp_path, field):
    changed = getattr(KARATE, field).copy()
    values = changed.data if hasattr(changed, "indptr") else changed
    values[np.flatnonzero(values)[0]] += 1
    other = dataclasses.replace(KARATE, **{field: changed})
    with pytest.raises(CheckpointError, match=r"c is of another training: graph\.sha256 is"):
        check(kept(1), identity(other, NETWORK, Recipe()))


@pytest.mark.parametrize("change", [{"seed": 1}, {"momentum": 0.5}, {"schedule": ((1, 0.5),)}])
def test_any_change_of_the_recipe_is_named(change):
    [name] = change
    with pytest.raises(CheckpointError, match=rf"c is of another training: recipe\.{name}"):
        check(kept(1), identity(KARATE, NETWORK, Recipe(**change)))


def without(items, name):
    return {key: value for key, value in items.items() if key != name}


def other_shape(state):
    arrays = {**state.parameters["W2"], "master": state.parameters["W2"]["master"].T}
    return dataclasses.replace(state, parameters={**state.parameters, "W2": arrays})


@pytest.mark.parametrize(("change", "message"), [
    (other_shape, r"tensor W2\.master is \(\d, \d\) there, \(\d, \d\) here"),
    (lambda state: dataclasses.replace(state, parameters=without(state.parameters, "b1")),
     r"tensor b1\.master is missing there, \(\d,\) here"),
    (lambda state: dataclasses.replace(state, parameters={
        **state.parameters, Tensor(Kind.WEIGHTS, 9): state.parameters["W1"]}),
     r"tensor W9\.master is \(.*\) there, missing here"),
    (lambda state: dataclasses.replace(state, parameters={
        name: without(arrays, "momentum") for name, arrays in state.parameters.items()}),
     r"tensor W1\.momentum is missing there"),
    (lambda state: dataclasses.replace(state, exponents=without(state.exponents, "W1")),
     "exponent of W1 is missing there, kept here"),
    (lambda state: dataclasses.replace(
        state, momentum_exponents={**state.momentum_exponents, Tensor(Kind.WEIGHTS, 9): 0}),
     "momentum exponent of W9 is kept there, missing here"),
], ids=["shape", "parameter", "another parameter", "kind", "exponent", "momentum exponent"])
@pytest.mark.parametrize("which", ["state", "best"])
def test_what_does_not_fit_the_network_is_named(which, change, message):
    checkpoint = kept(2, best=1)
    changed = dataclasses.replace(checkpoint, **{which: change(getattr(checkpoint, which))})
    with pytest.raises(CheckpointError, match=f"c is of another training: .*{message}"):
        check(changed)
