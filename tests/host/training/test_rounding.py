# SPDX-License-Identifier: BSD-2-Clause
import warnings

import numpy as np
import pytest
import scipy.sparse
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from hypercast import Graph, Model, Trainer
from hypercast.host.cli import main
from hypercast.host.graphs.graph import GraphError
from hypercast.host.graphs.interchange.weights import WeightsError
from hypercast.host.training.prepare import prepare
from hypercast.host.training.rounding import (
    RoundingWarning,
    check_edges,
    check_features,
    check_weights,
)
from hypercast.reference.masters import master_weights
from hypercast.reference.network import Network
from hypercast.reference.quantization import quantize
from hypercast.reference.recipe import Recipe
from hypercast.reference.tensor import Kind, Tensor

VALUES = np.random.default_rng(1).uniform(1, 2, (50, 8))
FORMS = pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array])


def outcome(features, width):
    """"refused", "warned" with the text, or "taken"."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            check_features(features, width)
        except GraphError as error:
            return "refused", str(error)
    return ("warned", str(caught[0].message)) if caught else ("taken", "")


def row_errors(values, rounded):
    """Relative error of each row that is not zero."""
    mantissas, exponent = rounded
    norms = np.linalg.norm(values, axis=1)
    errors = np.linalg.norm(np.ldexp(mantissas.astype(float), exponent) - values, axis=1)
    return errors[norms > 0] / norms[norms > 0]


@FORMS
@given(st.integers(0, 1 << 32), st.integers(1, 40), st.sampled_from([8, 16]))
def test_what_is_lost_is_what_quantization_loses(form, seed, spread, width):
    generator = np.random.default_rng(seed)
    values = generator.normal(size=(20, 5)) * 2.0**generator.integers(-spread, 1, (20, 5))
    values *= generator.random((20, 5)) < 0.7
    zero = (quantize(values, width)[0] == 0) & (values != 0)
    there = np.count_nonzero(values, axis=0)
    columns = np.flatnonzero((np.count_nonzero(zero, axis=0) == there) & (there > 0))
    share = np.count_nonzero(zero) / max(there.sum(), 1)
    kind, text = outcome(form(values), width)
    if columns.size:
        assert kind == "refused"
        assert f"feature {columns[0]} would" in text or f"such as {columns[0]}," in text
    elif share > 0.01:
        assert kind == "warned" and text.startswith(f"{share:.1%} of the features")
    else:
        error = row_errors(values, quantize(values, width)).mean()
        assert kind == ("taken" if error <= 1 / 8 else "warned")
        if error > 1 / 8:
            assert text.startswith(f"{width}-bit elements change the features of a vertex by "
                                   f"{error:.0%} on average")


@FORMS
@pytest.mark.parametrize("width", [8, 16])
def test_scaled_down_or_beside_an_outlier(form, width):
    assert outcome(form(VALUES), width)[0] == "taken"
    kind, text = outcome(form(VALUES * 1e-30), width)
    assert kind == "refused" and "8 features, such as 0, would be zero at all vertices" in text
    beside = np.vstack([VALUES, np.full(8, 1e6)])
    kind, text = outcome(form(beside), width)
    assert kind == "warned" and text.startswith("98.0% of the features that are not zero will be:")
    beside[-1, 3] = 0
    kind, text = outcome(form(beside), width)
    assert kind == "refused" and "feature 3 would be zero at all vertices" in text
    assert "the largest, 1e+06" in text and "correct outliers" in text


def test_nothing_but_zeros():
    assert outcome(np.zeros((3, 2)), 16)[0] == outcome(scipy.sparse.csr_array((3, 2)), 16)[0] \
        == "taken"


def graph(values):
    return Graph.from_edges([[0, 1]], values, np.arange(len(values)) % 2, train=range(10))


@given(st.integers(0, 1 << 32), st.integers(1, 40))
def test_what_is_lost_of_weights_is_what_masters_lose(seed, spread):
    generator = np.random.default_rng(seed)
    values = generator.normal(size=(12, 5)) * 2.0**generator.integers(-spread, 1, (12, 5))
    values *= generator.random((12, 5)) < 0.7
    there, left = np.count_nonzero(values), np.count_nonzero(master_weights(values, "W1"))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            check_weights({Tensor(Kind.WEIGHTS, 1): values}, "file")
        except WeightsError as error:
            assert there and not left and "file: weights W1 would all be zero" in str(error)
            return
    assert left or not there
    share = (there - left) / max(there, 1)
    assert [str(one.message).partition(" of")[0] for one in caught] == (
        [f"file: {share:.1%}"] if share > 0.01 else [])


def test_biases_may_vanish():
    with pytest.warns(RoundingWarning, match="of the initial weights"):
        check_weights({Tensor(Kind.WEIGHTS, 1): np.ones(3),
                       Tensor(Kind.BIAS, 1): np.full(3, 1e-10)}, "file")


def test_trainings():
    with pytest.raises(GraphError, match="would be zero at all vertices"):
        Trainer(graph(VALUES * 1e-30))
    Trainer(graph(VALUES * 1e-30), normalise_features=True)
    with pytest.warns(RoundingWarning, match="98.0%"):
        Trainer(graph(np.vstack([VALUES, np.full(8, 1e6)])))


def test_commands(tmp_path):
    """A warning is a line; a refusal is one as well, and no training begins."""
    def result(values):
        np.savez(tmp_path / "a.npz", edges=[[0, 1]], features=values, train=np.arange(10),
                 labels=np.arange(len(values)) % 2)
        return CliRunner().invoke(main, ["train", str(tmp_path / "a.npz"), "--epochs", "1"])
    warned = result(np.vstack([VALUES, np.full(8, 1e6)]))
    assert warned.exit_code == 0
    assert warned.stderr.startswith("warning: 98.0% of the features")
    assert len(warned.stderr.strip().splitlines()) == 1
    refused = result(VALUES * 1e-30)
    assert refused.exit_code == 2 and refused.stderr.startswith("error: 8 features, such as 0,")


def ring(vertices, weight):
    """Each vertex has edges to its ten next ones; every second vertex, with a factor."""
    sources = np.repeat(np.arange(vertices), 10)
    targets = (sources + np.tile(np.arange(1, 11), vertices)) % vertices
    return Graph.from_edges(
        np.stack([sources, targets], axis=1), np.ones((vertices, 4)), np.arange(vertices) % 2,
        train=np.arange(vertices), directed=True, weights=np.where(targets % 2, weight, 1.0))


@pytest.mark.parametrize(("weight", "width", "warned"), [
    (0.9, 8, False), (0.003, 8, True), (0.003, 16, False), (1e-6, 16, True)])
def test_edge_weights_of_unlike_sizes(weight, width, warned):
    network = Network.of_widths([4, 3, 2])
    sample = prepare(ring(60, weight), network,
                     Recipe(element_width=width, normalisation="given")).sample
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        check_edges(sample)
    assert bool(caught) == warned
    if warned:
        text = str(caught[0].message)
        assert f"{width}-bit elements change the edge weights of a vertex by" in text
        assert ("16-bit" if width == 8 else "scale") in text


@pytest.mark.parametrize(("rates", "warns"), [
    ({"learning_rate": 1e-9}, True), ({"learning_rate": [0.1, 1e-30]}, True),
    ({"bias_learning_rate": 1e-9, "optimiser": "adam"}, True),
    ({"learning_rate": 1e-8}, False), ({"learning_rate": 0, "bias_learning_rate": 0.1}, False)])
def test_rates_that_change_no_weight(rates, warns):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        Trainer(Graph.load("karate"), Model(hidden=2), epochs=1, **rates)
    texts = [str(one.message) for one in caught if "learning rate" in str(one.message)]
    assert len(texts) == warns
    assert all("is rounded" in text or "a step may change none; raise it" in text for text in texts)
