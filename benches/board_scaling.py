# SPDX-License-Identifier: BSD-2-Clause
"""How a step gets faster on more boards, in virtual time; and where it does not."""

from collections.abc import Callable, Iterator, Sequence

from hypercast.benches.board_steps import graph_step, lost_time, samples_step, without_values
from hypercast.benches.community_graph import community_edges
from hypercast.benches.figure import Figure
from hypercast.benches.study.graphs import GRAPHS
from hypercast.benches.study.sampling import ConfigurationModel
from hypercast.host.cluster.description import Cluster, load_cluster
from hypercast.host.cluster.division import Division
from hypercast.host.cluster.vertex_work import vertex_work
from hypercast.host.cycle_model.default_orders import default_orders
from hypercast.host.schemes.graph_parts import parts_of
from hypercast.reference.array_types import SparseArray
from hypercast.reference.network import Network
from hypercast.reference.sample import Sample

__all__ = ["BOARDS", "graph_scaling", "samples_scaling", "scaling"]

#: Numbers of boards, and the one at which they have to reach something.
BOARDS = (1, 2, 4, 8, 16)
_AT = 8
#: The share of the ideal speed that samples reach, and how many times as fast a graph gets.
_EFFICIENCY, _FASTER = 0.95, 5
_HIDDEN, _WIDTH = 256, 128
#: Neighbour batches of HP-GNN's study, and samples that are drawn of each kind.
_TARGETS, _FAN_OUTS, _SUBGRAPH, _DRAWN = 1024, (10, 25), 2750, 8
#: Micro-batches of a step if there are as many on any number of boards, or as many on each.
_STRONG, _WEAK = 32, 4
#: The large graph: vertices, edges in both directions, communities, features and classes.
_VERTICES, _EDGES, _COMMUNITIES, _CLASSES = 1_000_000, 20_000_000, 1_000, 47


def scaling(progress: Callable[[str], None]) -> Iterator[Figure]:
    """The figures, of VCU128 boards on 100 Gb/s."""
    cluster = load_cluster(f"vcu128-{BOARDS[-1]}")
    progress("drawing samples of a graph with the degrees of Reddit")
    graph, width = GRAPHS["Reddit"], cluster.boards[0].config.element_width
    model = ConfigurationModel(graph.degrees())
    network = Network.of_widths((graph.features, _HIDDEN, graph.classes))
    batches = [without_values(network, width, *(layer.matrix for layer in model.neighbours(
            _TARGETS, _FAN_OUTS))) for _ in range(_DRAWN)]
    subgraphs = [without_values(network, width, model.subgraph(_SUBGRAPH).matrix)
                 for _ in range(_DRAWN)]
    yield from samples_scaling(network, batches, cluster)
    yield from _needs(network, subgraphs, cluster)
    progress("making a graph of 20 M edges with communities")
    yield from graph_scaling(
        [Network.of_widths((_WIDTH,) * layers + (_CLASSES,)) for layers in (2, 3)],
        community_edges(_VERTICES, _EDGES, communities=_COMMUNITIES), cluster, progress)


def samples_scaling(network: Network, samples: Sequence[Sample],
                    cluster: Cluster) -> Iterator[Figure]:
    """The share of the ideal speed that samples in parallel reach.

    Parameters
    ----------
    network : Network
        The network that is trained.
    samples : sequence of Sample
        Steps take them in turn.
    cluster : Cluster
        The boards.
    """
    network = _order(network, samples[0], cluster)
    one = _seconds(network, samples, cluster, _STRONG, 1)
    each = _seconds(network, samples, cluster, _WEAK, 1)
    for boards in BOARDS[1:]:
        figures = {
            f"{_STRONG} a step": one / boards / _seconds(network, samples, cluster, _STRONG,
                                                         boards),
            f"{_WEAK} for each board": each / _seconds(network, samples, cluster, _WEAK * boards,
                                                       boards)}
        for name, value in figures.items():
            yield Figure(
                name=f"samples in parallel, neighbours of {_TARGETS} vertices, Reddit's degrees "
                     f"and features, {network.layers[0].features_out} hidden, micro-batches: "
                     f"{name}: speed on {boards} boards by the ideal",
                value=value, bar=_EFFICIENCY if boards == _AT else None)


def _needs(network: Network, samples: Sequence[Sample], cluster: Cluster) -> Iterator[Figure]:
    """How many small samples a step needs."""
    network = _order(network, samples[0], cluster)
    count = speed = 0.0
    while speed < _EFFICIENCY:
        count += _AT
        speed = _seconds(network, samples, cluster, int(count), 1) / _AT / _seconds(
            network, samples, cluster, int(count), _AT)
    yield Figure(name=f"samples in parallel, GraphSAINT's subgraphs of {_SUBGRAPH} vertices: "
                      f"micro-batches a step from which {_AT} boards reach {_EFFICIENCY}",
                 value=int(count))


def _seconds(network: Network, samples: Sequence[Sample], cluster: Cluster, count: int,
             boards: int) -> float:
    """Seconds of a step of so many micro-batches on so many boards."""
    return samples_step(network, [
        [samples[number % len(samples)] for number in range(board, count, boards)]
        for board in range(boards)], cluster).seconds


def _order(network: Network, sample: Sample, cluster: Cluster) -> Network:
    """The network with the default orders of products of several samples a step."""
    return default_orders(network, sample.rows, [matrix.nnz for matrix in sample.edges],
                          cluster.boards[0].config.element_width, sampled=True, resident=True)


def graph_scaling(networks: Sequence[Network], edges: SparseArray, cluster: Cluster,
                  progress: Callable[[str], None]) -> Iterator[Figure]:
    """How many times as fast as one board a graph in parallel is, and where its time goes.

    Parameters
    ----------
    networks : sequence of Network
        The network that is trained.
    edges : scipy.sparse.csr_array
        (V, V) edges in both directions, and loops.
    cluster : Cluster
        The boards, as many as the largest of ``BOARDS``.
    progress : callable
        Called with a line of text before each slow part.
    """
    whole = without_values(networks[0], cluster.boards[0].config.element_width, edges)
    networks = [default_orders(
        network, [edges.shape[0]] * (len(network.layers) + 1), [edges.nnz] * len(network.layers),
        cluster.boards[0].config.element_width) for network in networks]
    progress(f"dividing it among {BOARDS[-1]} boards")
    owner = Division.of(edges, BOARDS[-1], vertex_work=vertex_work(networks[-1])).boards
    for boards in BOARDS[1:]:
        progress(f"steps of its parts on {boards} boards")
        # Parts of so many boards are unions of the parts of more boards.
        division = Division.count(edges, owner * boards // BOARDS[-1], boards)
        parts = list(parts_of(whole, division))
        for network in networks:
            yield from _graph_figures(network, whole, parts, cluster)


def _graph_figures(network: Network, whole: Sample, parts: Sequence[Sample],
                   cluster: Cluster) -> Iterator[Figure]:
    time, boards = graph_step(network, whole, parts, cluster), len(parts)
    millions = round(whole.edges[0].nnz / 1e6)
    title = (f"graph in parallel, {millions} M edges and loops with communities, "
             f"{len(network.layers)} layers, {network.layers[0].features_out} hidden, {boards} "
             f"boards: ")
    yield Figure(name=f"{title}times as fast as one", unit="x", value=time.alone / time.seconds,
                 bar=_FASTER if boards == _AT else None)
    share = lost_time(time)
    yield Figure(name=f"{title}step", unit="ms", value=1e3 * time.seconds / time.steps)
    for name, value in (("computing of the busiest", share.computing),
                        ("rows of others, not hidden", share.rows), ("sums", share.sums)):
        yield Figure(name=f"{title}{name}, by the step", value=value)
    yield Figure(name=f"{title}computing of all, by that of one board",
                 value=sum(time.computed) / time.alone)
