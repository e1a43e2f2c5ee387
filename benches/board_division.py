# SPDX-License-Identifier: BSD-2-Clause
"""Vertices divided among boards by METIS, against dealt in turn; and in that order on one board."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from hypercast.benches.board_steps import graph_step
from hypercast.benches.figure import Figure
from hypercast.host.cluster.description import load_cluster
from hypercast.host.cluster.division import Division
from hypercast.host.cluster.vertex_work import vertex_work
from hypercast.host.compiler.compiled_edges import CompiledEdges
from hypercast.host.cycle_model.prediction import predict
from hypercast.host.cycle_model.workload import Workload
from hypercast.host.description.model import Model
from hypercast.host.description.recipe import make_recipe
from hypercast.host.graphs.graph import Graph
from hypercast.host.schemes.graph_parts import parts_of
from hypercast.host.training.prepare import loss_of, prepare_for
from hypercast.reference.array_types import IntArray
from hypercast.reference.initial_model import InitialModel
from hypercast.reference.sample import Mantissas
from hypercast.rtl.config import Config

__all__ = ["divided_order"]

_BOARDS = (4, 8)
_HIDDEN = 128
#: How far cycles on one board may be from cycles in the vertices' own order.
_NEAR = 1.02


def divided_order(name: str, graph: Graph) -> Iterator[Figure]:
    """Halos and steps of both divisions, and cycles on one board in the order of vertices.

    Parameters
    ----------
    name : str
        The graph's name.
    graph : Graph
        The graph, whose edges lead both ways.
    """
    cluster = load_cluster(f"vcu128-{_BOARDS[-1]}")
    config = cluster.boards[0].config
    described = Model(hidden=(_HIDDEN,))
    model, _ = prepare_for(config, graph, described.network(graph),
                           make_recipe({}, described, config, loss_of(graph)))
    sample, edges = model.sample, model.sample.edges[0]
    for boards in _BOARDS:
        found = Division.of(edges, boards, vertex_work=vertex_work(model.network))
        # Vertices are in the order in which they are dealt.
        dealt = Division.count(edges, np.arange(edges.shape[0]) % boards, boards)
        times = []
        for division in (found, dealt):
            parts = list(parts_of(sample, division))
            times.append(graph_step(model.network, sample, parts, cluster).seconds)
        title = f"{name} among {boards} boards: "
        yield Figure(name=f"{title}rows that boards read of others, by those if vertices are dealt "
                          f"in turn", value=float(found.halos.sum() / dealt.halos.sum()),
                     bar=1.0, relation="<=")
        yield Figure(name=f"{title}step, {_HIDDEN} hidden", value=times[0] * 1e3, unit="ms")
        yield Figure(name=f"{title}step, by that if vertices are dealt in turn",
                     value=times[0] / times[1], bar=1.0, relation="<=")
    yield Figure(name=f"{name} among {_BOARDS[-1]} boards: work of the busiest, by the mean",
                 value=float(found.work.max() / found.work.mean()))
    yield Figure(name=f"{name} on one board: cycles if vertices are ordered by parts for "
                      f"{_BOARDS[-1]} boards, by those in the order that they have",
                 value=_cycles(model, config, _ranks(model, _BOARDS[-1])) / _cycles(model, config),
                 bar=_NEAR, relation="<=")


def _ranks(model: InitialModel, boards: int) -> IntArray:
    """Ranks of all vertices, board by board."""
    parts = parts_of(model.sample, Division.of(model.sample.edges[0], boards))
    ranks: IntArray = np.concatenate([part.rows_here.ranks for part in parts])
    return ranks


def _cycles(model: InitialModel, config: Config, order: IntArray | None = None) -> int:
    """Cycles of a step on one board, by the cycle model, of the compiled edges."""
    sample = model.sample
    # Whether weights fit is not asked here.
    config = config.replace(weight_rows=1 << 16)
    if order is not None:
        sample = replace(
            sample, edges=(sample.edges[0][order][:, order],) * len(sample.edges),
            features=Mantissas(sample.features.values[order], sample.features.exponent),
            labels=sample.labels[order], splits=sample.splits[order],
            loss_weights=sample.loss_weights[order])
    edges = CompiledEdges.of_any_order(model.network, sample.edges, sample.root_weight, config)
    return predict(Workload.of_model(model.with_sample(sample), config, edges)).cycles
