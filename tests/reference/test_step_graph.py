# SPDX-License-Identifier: BSD-2-Clause
"""The step graph: what it says of networks of every kind, and the witnesses that do not read it."""

import ast
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hypercast.reference import step_graph as module
from hypercast.reference.fixed_gnn import FixedGnn
from hypercast.reference.models import model_network
from hypercast.reference.network import (
    AGGREGATE_FIRST,
    COMBINE_FIRST,
    LINEAR,
    ROOT_IDENTITY,
    Layer,
    Network,
)
from hypercast.reference.recipe import Recipe
from hypercast.reference.step_graph import Op, step_graph
from hypercast.reference.tensor import FEATURES, FORWARD, ONE, Kind, Pass, Tensor
from tests.reference.exact_step import check_steps
from tests.reference.random_data import ORDERS, OTHERS, data, network
from tests.reference.random_networks import branched_networks

EVERY = {**{" and ".join(orders): network(orders=orders) for orders in ORDERS}, **OTHERS}
every_network = pytest.mark.parametrize("net", EVERY.values(), ids=EVERY.keys())


def text(node):
    """A node as a formula; ' transposes, [.] is what reads or writes a mask."""
    forms = {Op.MULTIPLY: "{rows} {weights}{t}", Op.AGGREGATE: "A{t} {rows}", Op.ADD: "{rows}"}
    terms = [forms[term.op].format(rows=term.rows, weights=term.weights,
                                   t="'" if node.backward else "") for term in node.terms]
    sums = " + ".join([*terms, *filter(None, [node.bias])])
    mask = node.mask_read or node.mask_write
    return f"{node.result} = {sums}{f' [{mask}]' if mask else ''}"


def formulas(net):
    graph = step_graph(net)
    return [*map(text, graph.forward)], [*map(text, graph.backward)]


def test_convolutions():
    assert formulas(network(orders=(COMBINE_FIRST, COMBINE_FIRST))) == (
        ["T1 = X W1", "H1 = A T1 + b1 [mask1]", "T2 = H1 W2", "Z2 = A T2 + b2"],
        ["dT2 = A' dZ2", "dZ1 = dT2 W2' [mask1]", "dT1 = A' dZ1"])
    assert formulas(network(dropout=0.0, orders=(AGGREGATE_FIRST, AGGREGATE_FIRST))) == (
        ["M1 = A X", "H1 = M1 W1 + b1 [mask1]", "M2 = A H1", "Z2 = M2 W2 + b2"],
        ["dM2 = dZ2 W2'", "dZ1 = A' dM2 [mask1]"])


def test_layers_without_edges():
    assert formulas(network(orders=(COMBINE_FIRST, LINEAR), dropout=0.5)) == (
        ["T1 = X W1", "H1 = A T1 + b1 [mask1]", "Z2 = H1 W2 + b2"],
        ["dZ1 = dZ2 W2' [mask1]", "dT1 = A' dZ1"])


def test_a_root_is_stored_and_added_as_rows():
    """So is its gradient, as products of different exponents cannot share an accumulator."""
    assert formulas(OTHERS["sage"]) == (
        ["T1 = X W1", "S1 = X R1", "H1 = A T1 + S1 + b1 [mask1]",
         "T2 = H1 W2", "S2 = H1 R2", "Z2 = A T2 + S2 + b2"],
        ["dT2 = A' dZ2", "dM2 = dZ2 W2'", "dS2 = dZ2 R2'", "dZ1 = A' dM2 + dS2 [mask1]",
         "dT1 = A' dZ1"])


def test_features_side_by_side():
    assert formulas(OTHERS["jumping"])[0][-1] == "Z3 = H1 W3.1 + H2 W3.2 + b3"
    assert formulas(OTHERS["jumping"])[1] == [
        "dC1 = dZ3 W3.1'", "dZ2 = dZ3 W3.2' [mask2]", "dT2 = A' dZ2", "dM2 = dZ2 W2'",
        "dZ1 = A' dM2 + dC1 [mask1]", "dT1 = A' dZ1"]


def test_an_initial_residual():
    """Each layer adds to the gradient of the first one's outputs, the second one at last."""
    assert formulas(model_network("gcnii", 4, (4, 4, 4), 3))[1] == [
        "dZ4 = dZ5 W5' [mask4]",
        "dT4 = A' dZ4", "dS4 = dZ4 R4'", "dZ3 = dT4 W4' [mask3]",
        "dT3 = A' dZ3", "dS3 = dZ3 R3'", "dU3 = dS4 + dS3", "dZ2 = dT3 W3' [mask2]",
        "dT2 = A' dZ2", "dM2 = dZ2 W2'", "dS2 = dZ2 R2'", "dZ1 = A' dM2 + dU3 + dS2 [mask1]"]


def branched():
    """Two branches, the second of two layers; the last layer takes the first one's outputs, too."""
    shape = {"features_in": 4, "features_out": 4}
    return Network(jumping=(1, 2, 4), layers=(
        Layer(**shape), Layer(**shape, source=1, root=ROOT_IDENTITY), Layer(**shape, source=1),
        Layer(**shape, order=AGGREGATE_FIRST),
        Layer(features_in=12, features_out=2, order=LINEAR)))


def test_branches():
    assert formulas(branched())[1] == [
        "dC1 = dZ5 W5.1'", "dZ2 = dZ5 W5.2' [mask2]", "dZ4 = dZ5 W5.4' [mask4]",
        "dM4 = dZ4 W4'", "dZ3 = A' dM4 [mask3]",
        "dT3 = A' dZ3", "dM3 = dZ3 W3'", "dU3 = A' dM3 + dC1",
        "dT2 = A' dZ2", "dM2 = dZ2 W2'", "dS2 = dZ2 I2'", "dZ1 = A' dM2 + dU3 + dS2 [mask1]",
        "dT1 = A' dZ1"]


def test_features_side_by_side_keep_their_order():
    """That of others who add to a gradient follows from who is the first to read."""
    shape = {"features_in": 4, "features_out": 4}
    net = Network(jumping=(2, 3, 4), layers=(
        Layer(**shape), Layer(**shape, source=1), Layer(**shape, source=1), Layer(**shape),
        Layer(features_in=12, features_out=2, order=LINEAR)))
    assert formulas(net)[1][:3] == [
        "dZ2 = dZ5 W5.2' [mask2]", "dC3 = dZ5 W5.3'", "dZ4 = dZ5 W5.4' [mask4]"]


def test_a_partial_gradient_is_a_product_where_one_layer_takes_the_features_once():
    shape = {"features_in": 4, "features_out": 4}
    net = Network(jumping=(2, 3), layers=(
        Layer(**shape), Layer(**shape, source=1), Layer(**shape, source=1),
        Layer(features_in=8, features_out=2, order=LINEAR)))
    assert formulas(net)[1] == [
        "dZ2 = dZ4 W4.2' [mask2]", "dZ3 = dZ4 W4.3' [mask3]", "dT3 = A' dZ3", "dU3 = dT3 W3'",
        "dT2 = A' dZ2", "dM2 = dZ2 W2'", "dZ1 = A' dM2 + dU3 [mask1]", "dT1 = A' dZ1"]
    linear = replace(net, layers=tuple(
        replace(layer, order=LINEAR) if number == 2 else layer
        for number, layer in enumerate(net.layers)))
    assert formulas(linear)[1][2:] == [
        "dU3 = dZ3 W3'", "dT2 = A' dZ2", "dM2 = dZ2 W2'", "dZ1 = A' dM2 + dU3 [mask1]",
        "dT1 = A' dZ1"]


@pytest.mark.parametrize(("net", "factors"), [
    (network(orders=(COMBINE_FIRST, COMBINE_FIRST)), {
        "b2": ("one", "dZ2"), "W2": ("H1", "dT2"), "b1": ("one", "dZ1"), "W1": ("X", "dT1")}),
    (network(orders=(COMBINE_FIRST, AGGREGATE_FIRST)), {
        "b2": ("one", "dZ2"), "W2": ("M2", "dZ2"), "b1": ("one", "dZ1"), "W1": ("X", "dT1")}),
    (OTHERS["sage"], {
        "b2": ("one", "dZ2"), "W2": ("H1", "dT2"), "R2": ("H1", "dZ2"),
        "b1": ("one", "dZ1"), "W1": ("X", "dT1"), "R1": ("X", "dZ1")}),
    (OTHERS["jumping"], {
        "b3": ("one", "dZ3"), "W3.1": ("H1", "dZ3"), "W3.2": ("H2", "dZ3"),
        "b2": ("one", "dZ2"), "W2": ("H1", "dT2"), "b1": ("one", "dZ1"), "W1": ("X", "dT1")}),
], ids=["combine first", "aggregate first", "sage", "jumping"])
def test_gradients_of_parameters(net, factors):
    graph = step_graph(net)
    assert {name: gradient.factors for name, gradient in graph.gradients.items()} == factors
    assert list(graph.gradients) == list(factors)
    for number in range(1, len(net.layers) + 1):
        own = [gradient.parameter for gradient in graph.gradients_of(number)]
        assert own == [name for name in factors if Tensor.parse(name).layer == number]


@settings(max_examples=50)
@given(st.one_of(st.sampled_from([*EVERY.values()]), branched_networks()))
def test_whatever_is_read_has_been_stored(net):
    """And each tensor is stored once; the loss's gradient comes from the logits."""
    graph, last = step_graph(net), len(net.layers)
    stored = {FEATURES}
    for node in (*graph.forward, None, *graph.backward):
        if node is None:
            assert Tensor(Kind.LOGITS, last) in stored
            stored.add(Tensor(Kind.GRADIENT, last))
            continue
        assert node.terms and {term.rows for term in node.terms} <= stored, node.result
        assert node.mask_read is None or node.mask_read in stored, node.result
        assert node.result not in stored and node.backward == (node.result.kind not in FORWARD)
        stored |= {node.result} | ({node.mask_write} if node.mask_write else set())
    assert all(gradient.left in stored | {ONE} and gradient.right in stored
               for gradient in graph.gradients.values())
    assert graph.columns.keys() | {FEATURES} == stored
    assert graph.tensors_of(range(1, last + 1)) | {FEATURES} == stored
    names = [weight.name for number in range(1, last + 1) for weight in net.weights(number)]
    assert graph.gradients.keys() == {*names, *(
        Tensor(Kind.BIAS, number) for number in range(1, last + 1))}


@every_network
def test_evaluations_drop_nothing(net):
    """They have the same sums, by names of their own; only ReLU and biases are left."""
    graph = step_graph(net)
    for number in range(1, len(net.layers) + 1):
        nodes = zip(graph.forward_of(number), graph.forward_of(number, Pass.EVALUATION),
                    strict=True)
        for node, found in nodes:
            assert found.result == node.result.in_pass(Pass.EVALUATION)
            assert (found.bias, found.relu, found.columns) == (node.bias, node.relu, node.columns)
            assert not (found.scale or found.dropout or found.mask_write)
            for term, other in zip(node.terms, found.terms, strict=True):
                assert other == (term.op, term.rows.in_pass(Pass.EVALUATION), term.weights, None)


@every_network
def test_dropout_is_where_features_are_read_and_scaled_once(net):
    """Features are dropped once: hidden ones when they are stored, input features when read."""
    graph = step_graph(net)
    for node in graph.forward:
        own = net.dropouts[node.layer - 1]
        reads_features = any(term.rows == FEATURES or term.rows.kind == Kind.HIDDEN
                             for term in node.terms)
        assert node.scale == (own if reads_features else None), node.result
        assert node.dropout == (net.output_dropout(node.layer)
                                if node.result.kind == Kind.HIDDEN else None)
        for term in node.terms:
            dropped = term.rows == FEATURES and term.op == Op.MULTIPLY
            assert term.dropout == (net.dropouts[0] if dropped else None)
    for node in graph.backward:
        made = node.result if node.result.kind == Kind.GRADIENT else None
        assert node.scale == (net.output_dropout(made.layer) if made else None)
        assert node.mask_read == (Tensor(Kind.MASK, made.layer) if made else None)
        assert not node.dropout and not any(term.dropout for term in node.terms)
    for gradient in graph.gradients.values():
        assert gradient.dropout == (net.dropouts[0] if gradient.left == FEATURES else None)


def test_columns():
    net = model_network("sage", 12, (8, 5), 3)
    assert {str(name): count for name, count in step_graph(net).columns.items()} == {
        "dZ3": 3, "T1": 8, "S1": 8, "H1": 8, "mask1": 8, "T2": 5, "S2": 5, "H2": 5, "mask2": 5,
        "T3": 3, "S3": 3, "Z3": 3, "dT3": 3, "dM3": 5, "dS3": 5, "dZ2": 5, "dT2": 5, "dM2": 8,
        "dS2": 8, "dZ1": 8, "dT1": 8}


def test_tensors_of_some_layers():
    """They are those that the layers read and those that they store."""
    graph = step_graph(branched())
    assert graph.tensors_of([3]) == {
        "H1", "T3", "H3", "mask3", "dZ3", "dT3", "dM3", "dC1", "dU3"}
    assert graph.tensors_of([3], trained=False) == {"H1", "T3", "H3"}
    assert graph.tensors_of([2]) == {
        "H1", "T2", "S2", "H2", "mask1", "mask2", "dZ2", "dT2", "dM2", "dS2", "dU3", "dZ1"}
    # Its weights' gradient reads dZ1, though no node of its own does.
    first = step_graph(Network.of_widths((40, 16, 7), orders=(AGGREGATE_FIRST, COMBINE_FIRST)))
    assert first.tensors_of([1]) == {"M1", "H1", "mask1", "dZ1"}


def test_columns_that_are_summed_over_neighbours():
    graph = step_graph(Network.of_widths((40, 16, 7, 8), orders=(
        COMBINE_FIRST, LINEAR, AGGREGATE_FIRST)))
    assert [graph.aggregated_columns(number) for number in (1, 2, 3)] == [
        ([16], [16]), ([], []), ([7], [7])]
    first = step_graph(Network.of_widths((40, 16), orders=AGGREGATE_FIRST))
    assert first.aggregated_columns(1) == ([40], [])
    assert step_graph(OTHERS["sage"]).aggregated_columns(2) == ([3], [3, 8])


@pytest.mark.parametrize("net", EVERY.values(), ids=EVERY.keys())
def test_what_the_backward_pass_needs(net):
    """It is the same without all other tensors of the forward pass, and stops without any of them.
    """
    kept = step_graph(net).kept

    def gradients(left_out):
        gnn = FixedGnn.of(net, Recipe(), *data(seed=3))
        loss = gnn.forward(gnn.step_key)
        for name in [name for name in {**gnn.tensors, **gnn.masks} if name in left_out]:
            (gnn.masks if name.kind == Kind.MASK else gnn.tensors).pop(name)
        gnn.backward(loss)
        return {name: one.accumulators.tolist() for name, one in gnn.gradients.items()}

    made = {FEATURES, *(name for node in step_graph(net).forward
                        for name in (node.result, node.mask_write) if name)}
    assert kept <= made
    assert gradients(made - kept) == gradients(())
    assert (FEATURES in kept) == any(
        net.layers[number - 1].order != AGGREGATE_FIRST for number in net.readers(0))
    for name in sorted(kept - {FEATURES}):  # whose elements after dropout are held besides
        with pytest.raises(KeyError):
            gradients({name})


def test_where_rows_are_added():
    assert not step_graph(network()).adds_rows
    assert not step_graph(OTHERS["gin"]).adds_rows
    assert all(step_graph(OTHERS[name]).adds_rows
               for name in ("sage", "residual", "jumping", "gcnii", "branches"))


def test_gradients_that_go_into_others():
    graph = step_graph(branched())
    assert [sorted(graph.gradients_after([number])) for number in (1, 2, 3, 4, 5)] == [
        [2, 3, 4, 5], [3, 4, 5], [4, 5], [5], []]
    assert graph.gradients_after([3, 4]) == {5}


# --- Witnesses ---------------------------------------------------------------------------------


@every_network
def test_a_step_is_what_the_definition_says(net):
    """In fractions, by rules of its own."""
    check_steps(FixedGnn.of(net, Recipe(learning_rates=(0.2,)), *data(vertices=8, seed=1)), 1)


@settings(max_examples=10, deadline=None)
@given(branched_networks(features=12))
def test_a_step_with_branches_is_what_the_definition_says(net):
    check_steps(FixedGnn.of(net, Recipe(learning_rates=(0.2,)), *data(vertices=8, seed=1)), 1)


@every_network
def test_a_gradient_has_the_exponents_of_its_factors(net):
    gnn = FixedGnn.of(net, Recipe(), *data())
    gnn.train_step()
    for name, gradient in step_graph(net).gradients.items():
        exponents = [gnn.exponents[factor] for factor in gradient.factors]
        assert gnn.gradients[name].exponent == sum(exponents)


@pytest.mark.parametrize("witness", ["reference/float_gnn.py", "tests/reference/exact_step.py"])
def test_witnesses_do_not_read_the_graph(witness):
    """Nor what carries it out."""
    root = Path(module.__file__).resolve().parents[1]
    found = ast.walk(ast.parse((root / witness).read_text(encoding="utf-8")))
    names = {node.module for node in found if isinstance(node, ast.ImportFrom)}
    assert not [name for name in names if name.endswith(("step_graph", "fixed_layers"))]
    assert any(name.endswith("network") for name in names)


def test_a_network_has_one_graph():
    assert step_graph(network()) is step_graph(network())
    assert np.all([step_graph(net) is not step_graph(network()) for net in OTHERS.values()])
