# SPDX-License-Identifier: BSD-2-Clause
"""Options of a graph, or of a sampled batch, that is known by numbers only."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from hypercast.host.commands.number_types import COUNTS, WholeRange
from hypercast.host.commands.options import Command
from hypercast.host.cycle_model.aggregations import DEGREE_LAWS
from hypercast.reference.network import Network

if TYPE_CHECKING:
    from hypercast.host.description.description import Description

__all__ = ["Counted", "count", "either", "statistics_options"]


class Counted(NamedTuple):
    """A network, and the numbers of what it works on.

    Attributes
    ----------
    network : Network
        The network.
    vertices : tuple of int
        Vertices of the input, and of every layer's output.
    edges : tuple of int
        Entries of every layer's adjacency matrix.
    sampled : bool
        Whether these are a sample's.
    """

    network: Network
    vertices: tuple[int, ...]
    edges: tuple[int, ...]
    sampled: bool


def statistics_options(function: Command) -> Command:
    """Decorator: ``--vertices``, ``--edges``, ``--features``, ``--classes``, ``--degree-law``."""
    for option in reversed((
            click.option("--vertices", type=COUNTS, metavar="COUNTS",
                         help="Instead of DATASET: vertices; or, of a sampled batch, those of the "
                              "input and of every layer's output."),
            click.option("--edges", type=COUNTS, metavar="COUNTS",
                         help="With --vertices: edges in both directions, loops included, of every "
                              "layer or of all alike."),
            click.option("--features", type=WholeRange(1), help="With --vertices."),
            click.option("--classes", type=WholeRange(1), help="With --vertices."),
            click.option("--degree-law", type=click.Choice(DEGREE_LAWS), default="power",
                         show_default=True, help="With --vertices: how degrees are distributed."))):
        function = option(function)
    return function


def count(description: "Description", vertices: Sequence[int], edges: Sequence[int] | None,
          features: int | None, classes: int | None) -> Counted:
    """The statistics by the options, with the network of a description.

    Raises
    ------
    click.UsageError
        If a number is missing, or there are not as many as the network has layers.
    """
    if edges is None or features is None or classes is None:
        raise click.UsageError("--vertices needs --edges, --features and --classes")
    network = description.model.network_of(features, classes)
    layers = len(network.layers)
    counts = tuple(vertices) * (layers + 1) if len(vertices) == 1 else tuple(vertices)
    entries = tuple(edges) * layers if len(edges) == 1 else tuple(edges)
    if len(counts) != layers + 1 or len(entries) != layers:
        raise click.UsageError(
            f"a network of {layers} layers has {layers + 1} numbers of --vertices, of its input "
            f"and of every layer's output, and {layers} of --edges, not {len(vertices)} and "
            f"{len(edges)}; or give one of each for all")
    return Counted(network, counts, entries, len(vertices) > 1)


def either(dataset: str | None, vertices: Any) -> None:
    """Refuse both, or neither, of a data set and numbers of one."""
    if (dataset is None) == (vertices is None):
        raise click.UsageError("give a DATASET, or --vertices with --edges, --features and "
                               "--classes")
