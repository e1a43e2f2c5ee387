# SPDX-License-Identifier: BSD-2-Clause
"""Names of weights in files of others are found where they leave no choice."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypercast import Graph, Model
from hypercast.host.graphs.interchange.weight_names import (
    epsilon_names,
    own_names,
    proposed_names,
    weight_names,
)

KARATE = Graph.load("karate")
MODELS = [Model(name, layers=layers, hidden=5, jumping=jumping)
          for name in ("gcn", "sage", "gin") for layers in (1, 2, 12) for jumping in (False, True)]


def names_of(model):
    names = dict(weight_names(model.network(KARATE)))
    return [*names, *epsilon_names(names)]


def renamed(names, base, first, step, perceptron, last):
    """What a user may call them: convolutions by another base, and numbers in the same order."""
    for name in names:
        if name.startswith("convs."):
            _, number, rest = name.split(".", 2)
            for linear in (0, 1):
                rest = rest.replace(f"nn.lins.{linear}", perceptron[linear])
            yield f"{base}{first + step * int(number)}.{rest}"
        else:
            yield name.replace("lin.", f"{last}.")


PERCEPTRONS = [("nn.0", "nn.2"), ("nn.lins.0", "nn.lins.1"), ("mlp.0", "mlp.3"),
               ("nn.lin1", "nn.lin2"), ("nn.net.9", "nn.net.10")]


@given(st.sampled_from(MODELS), st.sampled_from(["conv", "convs.", "layers.", "gnn.conv", "gc_"]),
       st.integers(0, 9), st.integers(1, 3), st.sampled_from(PERCEPTRONS),
       st.sampled_from(["lin", "lin1", "fc", "head.out"]), st.permutations(
           ["", "module.", "_orig_mod.", "model.", "net.gnn."]), st.randoms())
def test_other_names_are_found(model, base, first, step, perceptron, last, wrappers, random):
    names = names_of(model)
    theirs = [f"{wrappers[0]}{wrappers[1]}{name}"
              for name in renamed(names, base, first, step, perceptron, last)]
    expected = dict(zip(theirs, names, strict=True))
    shuffled = random.sample(theirs, len(theirs))  # safetensors are in no order
    assert own_names(shuffled, dict(weight_names(model.network(KARATE)))) == expected


BRANCHES = ["branches.0.lin.weight", "branches.0.lin.bias", "branches.1.convs.0.lin.weight",
            "branches.1.convs.0.bias"]


@pytest.mark.parametrize(("name", "layers", "names"), [
    ("sign", 2, [*BRANCHES, "lin.weight", "lin.bias"]),
    ("sign", 3, [*BRANCHES, "branches.2.convs.0.lin.weight", "branches.2.convs.0.bias",
                 "branches.2.convs.1.lin.weight", "branches.2.convs.1.bias", "lin.weight",
                 "lin.bias"]),
    ("mixhop", 3, ["lins.0.weight", "lins.0.bias", *BRANCHES, "lins.1.weight", "lins.1.bias"])])
def test_linear_layers_beside_branches_have_numbers_if_there_are_two(name, layers, names):
    assert names_of(Model(name, layers=layers, hidden=5)) == names


@pytest.mark.parametrize("name", ["gcnii", "mixhop", "sign"])
def test_models_of_our_own_keep_their_names(name):
    names = names_of(Model(name, layers=3, hidden=5))
    assert own_names([f"module.{name}" for name in names], names) == {
        f"module.{name}": name for name in names}


@pytest.mark.parametrize("theirs", [
    ["conv1.lin.weight", "conv1.bias"],  # one of two
    ["conv1.lin.weight", "conv2.lin.weight", "conv3.lin.weight"],
    ["first1.lin.weight", "second2.lin.weight"],  # which comes first is a guess
    ["conv_in.lin.weight", "conv_out.lin.weight"],
    ["conv1.lin.weight", "conv2.lin.weight", "extra"],
    ["conv1.weight", "conv2.weight"], ["a.conv1.lin.weight", "b.conv2.lin.weight"], []])
def test_what_leaves_a_choice_stays(theirs):
    names = names_of(Model(hidden=5))
    assert own_names(theirs, names) == {name: name for name in theirs}


def test_names_that_become_the_same_stay():
    theirs = [*names_of(Model(hidden=5)), "convs.0._orig_mod.lin.weight"]
    assert own_names(theirs, theirs[:-1]) == {name: name for name in theirs}


def test_a_proposal_is_by_shapes():
    assert proposed_names({"gc1.weight": (34, 5), "gc1.bias": (5,), "gc2.weight": (5, 2)},
                          {"convs.0.lin.weight": (5, 34), "convs.0.bias": (5,),
                           "convs.1.lin.weight": (2, 5), "convs.1.bias": (2,)}) == (
        '{"convs.0.lin.weight": old["gc1.weight"].T, "convs.0.bias": old["gc1.bias"], '
        '"convs.1.lin.weight": old["gc2.weight"].T}')
