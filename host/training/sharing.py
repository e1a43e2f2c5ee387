"""What boards can share of a training, and how the processes of all but the leader take part."""

import importlib.metadata
from typing import Any

import numpy as np

from hypercast.host.cluster.graph_in_parallel import GraphInParallel
from hypercast.host.cluster.group import ClusterError, Group
from hypercast.host.cluster.led_device import follow
from hypercast.host.training.checkpoint import differences, leaves
from hypercast.host.training.description.conversion import DescriptionError
from hypercast.host.training.description.device import Device
from hypercast.host.training.description.sampling import Sampling
from hypercast.reference.recipe import Recipe

__all__ = ["agree", "check_sharing", "follow_graph"]


def check_sharing(boards: int, device: Device, sampling: Sampling, recipe: Recipe, *,
                  check: bool) -> None:
    """Raise ``DescriptionError`` if so many boards cannot share a training; says what to do."""
    if device.name != "reference":
        raise DescriptionError(f"[device] {boards} boards train together, but each of them is a "
                               f"reference so far, not {device.name}; leave the device out, or "
                               f"train on one board", "device", "name")
    if check:
        raise DescriptionError(f"--check compares one board with the reference, but {boards} train "
                               f"together; leave it out")
    if sampling.sampler and boards > recipe.micro_batches:
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


def follow_graph(group: Group) -> None:
    """Take part in a training on a whole graph, of which the leader gives a part."""
    agree(group, {})
    follow(GraphInParallel.join(group), group)
