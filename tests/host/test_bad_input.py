# SPDX-License-Identifier: BSD-2-Clause
"""Bad input is refused with a message, and odd input is none: from graph to compiled job.

What ``Graph`` refuses is in ``test_graph.py``, damaged files are in ``test_datasets.py``, what does
not fit a configuration is in ``test_compiler.py``, other devices' jobs in ``test_driver.py``.
"""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypercast.host.compiler.compiler import compile_job
from hypercast.host.compiler.memory_map import CapacityError
from hypercast.host.graphs.datasets import DatasetError, load_npz, split_per_class
from hypercast.host.graphs.graph import Graph, GraphError
from hypercast.host.runtime.reference_device import ReferenceDevice
from hypercast.reference.initial_model import InitialModel
from hypercast.reference.network import Network
from hypercast.rtl.config import Config
from hypercast.rtl.isa import Split
from hypercast.rtl.placement import rows_of
from tests.host.graphs.test_datasets import npz_parts
from tests.host.models import SMALL, small_graph, small_model

#: Errors that come with a message for the user.
DOCUMENTED = (ArithmeticError, CapacityError, GraphError, ValueError)


@pytest.mark.parametrize("edges", [
    [],
    [[0, 0], [3, 3]],
    [[0, 1], [1, 0], [0, 1], [0, 1]],
    [[0, 1]],
], ids=["no edges", "loops", "duplicates", "isolated vertices"])
@pytest.mark.parametrize("directed", [False, True])
def test_odd_graphs_compile_and_train(edges, directed):
    model = small_model(small_graph(vertices=6, edges=edges, directed=directed))
    job = compile_job(model, SMALL)
    assert job.edges == model.sample.edges[0].nnz
    ReferenceDevice(model).train_step()


@pytest.mark.parametrize("vertices", [1, 2, 5, 17])
def test_cores_without_vertices(vertices):
    config = SMALL.replace(dimensions=4)
    job = compile_job(small_model(small_graph(vertices, classes=1)), config)
    for core, image in enumerate(job.images):
        rows = rows_of(core, vertices, 16)
        features = dict(image)["X"]
        assert len(features) == job.regions["X"].words
        assert features.any() <= (rows > 0)


def test_duplicates_are_one_edge():
    once, twice = (compile_job(small_model(small_graph(edges=edges)), SMALL)
                   for edges in ([[0, 1]], [[0, 1], [1, 0], [0, 1]]))
    assert once.edges == twice.edges
    assert once.deliveries == twice.deliveries


def test_edges_that_vanish_in_quantization():
    """An edge so light that its mantissa is zero is stored, or not; nothing waits for it."""
    values = np.ones((3, 2))
    graph = Graph.from_edges([[0, 1], [1, 2]], values, [0, 1, 0], train=[0, 1],
                             weights=[1.0, 1e-30])
    model = small_model(graph, normalisation="given")
    job = compile_job(model, SMALL)
    totals = [int(dict(image)[name].flat[0]) for image in job.images for name in dict(image)
              if name.startswith("edge set of A,")]
    assert sum(totals) == job.edges


@pytest.mark.parametrize("value", [1e-300, 1e30, 1e300])
def test_extreme_features(value):
    """They train, or are refused with a reason."""
    graph = Graph.from_edges([[0, 1]], [[value, 0], [0, -value], [1, 1]], [0, 1, 0], train=[0, 1])
    try:
        compile_job(small_model(graph), SMALL)
    except DOCUMENTED as error:
        assert "exponent of" in str(error) or "optimiser constant" in str(error)


def test_labels_beyond_any_record():
    with pytest.raises(GraphError, match="label of vertex 1 is 9000, but labels go up to 8191; "
                                         "number the classes from 0"):
        Graph.from_edges([], np.eye(2), [0, 9000], train=[0])


def test_label_beyond_the_network():
    model = small_model()
    with pytest.raises(ValueError, match="label 2 does not fit the network's 2 outputs"):
        InitialModel.of(Network.of_widths([5, 2]), model.recipe, model.sample.edges[0],
                        model.sample.features.values, model.sample.labels, model.sample.splits)


def test_nothing_to_train_on():
    model = small_model()
    with pytest.raises(ValueError, match=r"no vertex to train on: none is in Split\.TRAIN"):
        InitialModel.of(model.network, model.recipe, model.sample.edges[0],
                        model.sample.features.values, model.sample.labels,
                        np.full(9, Split.TEST))


def test_splits_of_gapped_labels():
    parts = split_per_class(np.array([0, 8191, 8191, 0, -1]), train=1, validation=1, seed=0)
    assert sorted(np.concatenate(list(parts.values())).tolist()) == [0, 1, 2, 3]


# --- Files --------------------------------------------------------------------------------------


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
@given(data=st.data())
def test_damaged_npz(tmp_path_factory, save, data):
    """A file with wrong bytes is loaded, or refused as a data set; nothing else happens."""
    path = tmp_path_factory.mktemp("damaged") / "tiny.npz"
    save(path, **npz_parts())
    content = bytearray(path.read_bytes())
    position = st.integers(0, len(content) - 1)
    for index in data.draw(st.lists(position, min_size=1, max_size=4)):
        content[index] = data.draw(st.integers(0, 255))
    path.write_bytes(content[:data.draw(st.one_of(st.none(), position))])
    try:
        load_npz(path, train=1, validation=1)
    except DatasetError as error:
        assert re.match(r"\S+/tiny\.npz( |, array \w+, )(is damaged|has )", str(error)), error


def test_npz_with_huge_labels(tmp_path):
    path = tmp_path / "tiny.npz"
    np.savez(path, **npz_parts() | {"labels": np.array([0, 2**62] * 6)})
    with pytest.raises(DatasetError, match="labels go up to 8191"):
        load_npz(path)


# --- Anything -----------------------------------------------------------------------------------


@st.composite
def graphs(draw):
    """Any graph that ``Graph`` accepts, of any weights and features."""
    vertices = draw(st.integers(1, 20))
    vertex = st.integers(0, vertices - 1)
    edges = draw(st.lists(st.tuples(vertex, vertex), max_size=40, unique=True))
    number = st.floats(-1e6, 1e6, allow_subnormal=False)
    weights = [draw(number) for _ in edges]
    features = draw(st.integers(1, 6))
    values = [[draw(number) for _ in range(features)] for _ in range(vertices)]
    labels = draw(st.lists(st.integers(-1, 4), min_size=vertices, max_size=vertices))
    known = [v for v in range(vertices) if labels[v] >= 0]
    if not known:
        labels[0], known = 0, [0]
    return Graph.from_edges(edges, values, labels, train=known[::2], test=known[1::2],
                            weights=weights, directed=True)


CONFIGS = [
    SMALL,
    SMALL.replace(dimensions=6),
    Config(dimensions=2, lanes=16, planes=2, element_width=8, accumulator_rows=16, tensors=64),
]


@given(graphs(), st.sampled_from(CONFIGS), st.sampled_from(["given", "mean", "symmetric"]),
       st.lists(st.integers(1, 20), max_size=3))
def test_any_graph_compiles_or_is_refused(graph, config, normalisation, hidden):
    try:
        model = small_model(graph, hidden=hidden, config=config, normalisation=normalisation)
        job = compile_job(model, config)
    except DOCUMENTED as error:
        assert type(error) is not ValueError or "could reach" in str(error) \
            or "optimiser constant" in str(error), error
        return
    assert job.vertices == graph.vertices
    assert job.edges == model.sample.edges[0].nnz
