"""What boards can share of a training, and how the processes of all but the leader take part."""

import importlib.metadata
from functools import cache
from typing import Any

import numpy as np

from hypercast.host.cluster.board import Board
from hypercast.host.cluster.description import Cluster
from hypercast.host.cluster.graph_in_parallel import GraphInParallel
from hypercast.host.cluster.group import ClusterError, Group
from hypercast.host.cluster.layers_in_pipeline import LayersInPipeline
from hypercast.host.cluster.led_device import follow
from hypercast.host.cluster.shared_rows import SharedRows
from hypercast.host.cluster.timed_group import TimedGroup
from hypercast.host.cluster.virtual_time import LayerSeconds
from hypercast.host.planner.layer_costs import layer_cost
from hypercast.host.planner.statistics import Statistics
from hypercast.host.training.checkpoint import differences, leaves
from hypercast.host.training.description.conversion import DescriptionError
from hypercast.host.training.description.device import Device
from hypercast.host.training.description.sampling import Sampling
from hypercast.reference.initial_model import InitialModel
from hypercast.reference.recipe import Recipe
from hypercast.reference.sample import Sample

__all__ = ["GRAPH", "LAYERS", "SCHEMES", "agree", "check_sharing", "follow_graph", "on_cluster",
           "scheme_of"]

#: Ways to share a training: what each board has its own of.
SCHEMES = (SAMPLES, GRAPH, LAYERS) = ("samples", "graph", "layers")


def scheme_of(scheme: str | None, sampling: Sampling) -> str:
    """The scheme, if none is given that of the sampling; raises ``DescriptionError`` for another.
    """
    if scheme == SAMPLES and not sampling.sampler:
        raise DescriptionError("boards share the samples of a step, but steps work on the whole "
                               "graph; give a sampler, or another scheme")
    if scheme == GRAPH and sampling.sampler:
        raise DescriptionError("boards share the whole graph, but steps work on samples; leave the "
                               "sampler out, or give another scheme")
    return scheme or (SAMPLES if sampling.sampler else GRAPH)


def check_sharing(boards: int, scheme: str, device: Device, recipe: Recipe, *,
                  check: bool) -> None:
    """Raise ``DescriptionError`` if so many boards cannot share a training; says what to do."""
    if device.name != "reference":
        raise DescriptionError(f"[device] {boards} boards train together, but each of them is a "
                               f"reference so far, not {device.name}; leave the device out, or "
                               f"train on one board", "device", "name")
    if check:
        raise DescriptionError(f"--check compares one board with the reference, but {boards} train "
                               f"together; leave it out")
    if scheme == SAMPLES and boards > recipe.micro_batches:
        raise DescriptionError(
            f"[recipe] micro_batches is {recipe.micro_batches}, but {boards} boards share the "
            f"samples of a step; raise it to {boards} or more, or take fewer boards",
            "recipe", "micro_batches")


def agree(group: Group, identity: dict[str, Any]) -> None:
    """Compare what ranks train, and with what.

    Parameters
    ----------
    group : Group
        The ranks; all of them call this.
    identity : dict
        What decides the bits of this rank's training, as far as it knows.

    Raises
    ------
    ClusterError
        On the leader, if a rank has something else; names what.
    """
    versions = {"hypercast": importlib.metadata.version("hypercast"), "numpy": np.__version__}
    first, *others = group.gather(dict(leaves(identity | {"version": versions}))) or [{}]
    for rank, other in enumerate(others, 1):
        if found := differences(other, first, f"on board {rank}", "on board 0"):
            raise ClusterError(f"board {rank} trains something else: {'; '.join(found)}; give all "
                               f"boards the same command, files and versions")


def follow_graph(group: Group, scheme: str, cluster: Cluster | None = None) -> None:
    """Take part in a training on a whole graph, which the leader gives, or a part of it.

    Parameters
    ----------
    group : Group
        The ranks.
    scheme : str
        How they share it.
    cluster : Cluster, optional
        The boards that they stand for.
    """
    agree(group, {})
    model: InitialModel = group.tell() if scheme == LAYERS else group.deal()
    group = on_cluster(group, cluster, model)
    follow((LayersInPipeline if scheme == LAYERS else GraphInParallel)(model, group), group)


def on_cluster(group: Group, cluster: Cluster | None, model: InitialModel) -> Group:
    """The group, with clocks if it stands for the boards of a cluster.

    Layers take the time that the cycle model gives for so many vertices and edges.
    """
    if cluster is None:
        return group
    adam, network = model.recipe.optimiser == "adam", model.network

    @cache
    def of_counts(vertices: tuple[int, ...], edges: tuple[int, ...], square: bool,
                  board: Board) -> list[LayerSeconds]:
        statistics = Statistics(vertices=vertices, edges=edges, sampled=not square)
        costs = [layer_cost(network, number, statistics, board, adam)
                 for number in range(1, len(edges) + 1)]
        return [LayerSeconds(cost.forward, cost.backward) for cost in costs]

    def seconds(sample: Sample, board: int) -> list[LayerSeconds]:
        whole = sample.square or isinstance(sample.place, SharedRows)
        own = len(sample.labels)
        rows = (own,) * len(sample.rows) if whole else sample.rows
        # Samples are much alike: counts are rounded to a fiftieth of themselves.
        return of_counts(
            tuple(map(_rounded, rows)), tuple(_rounded(matrix.nnz) for matrix in sample.edges),
            whole, cluster.boards[board])

    return TimedGroup(group, cluster, seconds)


def _rounded(count: int) -> int:
    """A number with about a fiftieth of itself left out."""
    step = 1 << max(count.bit_length() - 6, 0)
    return max(round(count / step) * step, 1)
