# SPDX-License-Identifier: BSD-2-Clause
"""Bench scale: verdicts on made-up predictions and programs, and a small graph."""

from types import SimpleNamespace

import pytest

from hypercast import benches
from hypercast.benches import scale
from hypercast.benches.large_graphs import LARGE_GRAPHS, LargeGraph
from hypercast.host.compiler.memory_map import CapacityError
from hypercast.host.cycle_model.prediction import predict
from hypercast.rtl.config import LARGEST_PROGRAM

#: A step that is as fast as demanded of each graph.
GOOD = {"cycles": 1_000_000, "bound": 850_000, "chain": 850_000, "shortages": []}


@pytest.fixture
def run(monkeypatch):
    """Figures, given what differs from a good step by graph, and lengths of programs."""
    def figures(steps=None, length=lambda vertices: 900):
        names = iter(LARGE_GRAPHS)
        monkeypatch.setattr(scale, "predict", lambda workload: SimpleNamespace(
            limit="array", **GOOD | (steps or {}).get(next(names), {})))
        monkeypatch.setattr(scale, "program_length", lambda network, config, rows, names:
                            length(rows[0]))
        monkeypatch.setattr(scale, "check_sizes", lambda *arguments: None)
        monkeypatch.setattr(scale, "large_compilation", lambda *arguments: [])
        monkeypatch.setattr(LargeGraph, "workload", lambda graph: SimpleNamespace(
            orders=("combine_first",), network=SimpleNamespace(layers=(0, 0))))
        return benches.run("scale", data=None, progress=lambda text: None)
    return figures


def missed(figures):
    return [figure.name for figure in figures if not figure.passed]


def test_all_is_well(run):
    figures = run()
    assert not missed(figures) and len({figure.name for figure in figures}) == len(figures)
    demanded = {figure.name: figure.bar for figure in figures if figure.bar}
    assert demanded["Yelp: bound of the array / cycles"] == 0.84
    assert demanded["Reddit: bound of the array / cycles"] == 0.85
    assert demanded["Reddit, combine first: cycles of a step"] == 19_200_000
    assert demanded["ogbn-products, combine first: cycles of a step"] == 131_000_000
    assert demanded["ogbn-products: chain / cycles"] == 0.85


@pytest.mark.parametrize(("graph", "step", "name"), [
    ("Flickr", {"bound": 849_000}, "Flickr: bound of the array / cycles"),
    ("ogbn-arxiv", {"bound": 849_000}, "ogbn-arxiv: bound of the array / cycles"),
    ("Yelp", {"bound": 839_000}, "Yelp: bound of the array / cycles"),
    ("Reddit", {"cycles": 19_200_001, "bound": 19_000_000},
     "Reddit, combine first: cycles of a step"),
    ("ogbn-products", {"cycles": 131_000_001, "chain": 130_000_000},
     "ogbn-products, combine first: cycles of a step"),
    ("ogbn-products", {"chain": 849_000}, "ogbn-products: chain / cycles"),
    ("Yelp", {"shortages": ["program_rows is 8192, but 8212 are needed"]},
     "Yelp: what the configuration has too little of; program_rows is 8192, but 8212 are needed"),
])
def test_a_wrong_step_is_missed(run, graph, step, name):
    assert missed(run({graph: step})) == [name]


def test_long_programs_are_missed(run):
    title = "programs of ogbn-products' network for"
    assert missed(run(length=lambda vertices: 1_001 if vertices == 10**6 else 1_000)) == [
        f"{title} 1,000,000 vertices, at least", "different lengths of these programs"]
    assert missed(run(length=lambda vertices: LARGEST_PROGRAM + 1))[-1] == \
        f"{title} 100,000,000 vertices, at least, more than any chip holds"


def test_vertices_without_a_program_are_named(run):
    def length(vertices):
        if vertices == 10**8:
            raise CapacityError("the graph has too many vertices")
        return 900

    assert missed(run(length=length)) == [
        "numbers of vertices without a program; the graph has too many vertices"]


def test_a_small_graph(monkeypatch):
    graph = LargeGraph(20_000, 100_000, (40, 20, 5))
    monkeypatch.setattr(scale, "LARGE_GRAPHS", {"small": graph})
    cycles, bound, *_ = scale._step("small", lambda text: None)
    step = predict(graph.workload())
    assert cycles.value == step.cycles and cycles.bar is None and bound.bar is None
    assert bound.value == step.bound / step.cycles


def test_sizes_of_the_graphs():
    """A step on one has at least as many edges to add up as its matrix has entries, both ways."""
    for graph in LARGE_GRAPHS.values():
        workload = graph.workload()
        assert workload.vertices == (graph.vertices,) * len(graph.widths)
        entries = sum(load.edges for load in workload.loads(1, False))
        assert entries == pytest.approx(graph.entries, rel=1e-3)
