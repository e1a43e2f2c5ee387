# SPDX-License-Identifier: BSD-2-Clause
"""Tensors: what they are, and the names by which they are written."""

import copy
import pickle
from dataclasses import FrozenInstanceError

import pytest

from hypercast.reference.tensor import EDGES, FEATURES, ONE, Kind, Pass, Tensor

_NAMES = (
    "A", "H", "H.eval", "I2", "M1.next", "R12", "S2.eval", "T11", "W1", "W3.12", "X", "Z2", "b10",
    "dC1", "dM", "dM2", "dS2", "dT2", "dZ2", "mask1", "one")


@pytest.mark.parametrize("name", _NAMES)
def test_a_tensor_is_written_as_it_is_read(name):
    tensor = Tensor.parse(name)
    assert str(tensor) == f"{tensor}" == name
    assert type(str(tensor)) is str
    assert tensor == name and hash(tensor) == hash(name)


def test_parts_of_a_name():
    tensor = Tensor.parse("W3.12")
    assert (tensor.kind, tensor.layer, tensor.during, tensor.source) == (
        Kind.WEIGHTS, 3, Pass.TRAINING, 12)
    assert Tensor.parse("T2.eval") == Tensor(Kind.COMBINED, 2, Pass.EVALUATION)
    assert Tensor.parse("M1.next").during == Pass.NEXT


def test_parts_that_are_not_named():
    assert Tensor.parse("A") == EDGES == Tensor(Kind.EDGES)
    for tensor in (EDGES, Tensor(Kind.EDGES), Tensor.parse("A")):
        assert (tensor.layer, tensor.during, tensor.source) == (0, Pass.TRAINING, 0)


@pytest.mark.parametrize("name", [
    "", "C1", "W01", "W1.0", "W1.master", "W1 ", "W1\n", "labels", "dX", "T1.test", "A^T", "Ab"])
def test_what_is_no_tensor(name):
    with pytest.raises(ValueError, match=r"is no tensor of a training"):
        Tensor.parse(name)


def test_tensors_are_sorted_by_name():
    assert sorted(map(Tensor.parse, reversed(_NAMES))) == list(_NAMES)


@pytest.mark.parametrize("copied", [
    copy.copy, copy.deepcopy, lambda tensor: pickle.loads(pickle.dumps(tensor))])
def test_copies_have_all_parts(copied):
    tensor = copied(Tensor(Kind.WEIGHTS, 3, source=2))
    assert isinstance(tensor, Tensor) and str(tensor) == "W3.2"
    assert (tensor.kind, tensor.layer, tensor.during, tensor.source) == (
        Kind.WEIGHTS, 3, Pass.TRAINING, 2)


def test_a_tensor_is_frozen():
    with pytest.raises(FrozenInstanceError):
        FEATURES.layer = 1


def test_tensors_of_other_passes():
    names = "M1", "M1.next", "M1.eval"
    tensors = [Tensor.parse(name) for name in names]
    assert [tensor.of_training for tensor in tensors] == ["M1"] * 3
    assert [tensor.in_pass(Pass.EVALUATION) for tensor in tensors] == ["M1.eval"] * 3
    assert [tensor.in_pass(Pass.EVALUATION) for tensor in (EDGES, FEATURES, ONE)] == [
        "A", "X", "one"]
    following = EDGES.in_pass(Pass.NEXT)
    assert following == "A.next" and following.of_training == EDGES


@pytest.mark.parametrize(("name", "expected"), [
    ("X", 0), ("T1", 0), ("M1", 1), ("M1.next", 1), ("H1", 1), ("mask1", 1), ("T2", 1),
    ("T2.eval", 1), ("Z2", 2), ("Z2.eval", 2), ("dZ2", 2), ("dT2", 1), ("dM2", 2), ("dT11", 10),
    ("S2", 1), ("S2.eval", 1), ("dS2", 2), ("dC1", 1),
])
def test_level(name, expected):
    assert Tensor.parse(name).level == expected


@pytest.mark.parametrize("name", ["W1", "b1", "A", "one", "H", "dM"])
def test_what_has_no_rows_of_vertices(name):
    with pytest.raises(ValueError, match=f"{name} is no matrix of a training step"):
        _ = Tensor.parse(name).level
