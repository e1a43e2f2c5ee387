"""Whether all processes of a training are about the same."""

import importlib.metadata
from typing import Any

import numpy as np

from hypercast.host.cluster.group import ClusterError, Group
from hypercast.host.training.checkpoint import differences, leaves

__all__ = ["agree"]


def agree(group: Group, identity: dict[str, Any]) -> None:
    """Compare what ranks train, and with what.

    Parameters
    ----------
    group : Group
        The ranks; all of them call this.
    identity : dict
        What decides the bits of this rank's training.

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
