# SPDX-License-Identifier: BSD-2-Clause
"""Whether all ranks train the same, by the same software."""

import functools
import hashlib
import platform
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import scipy

from hypercast import __version__
from hypercast.host.cluster.cluster_error import ClusterError
from hypercast.host.files.array_digest import array_digest
from hypercast.host.files.json_values import differences, leaves
from hypercast.host.files.reading.regular_file import read_bytes
from hypercast.host.processes.group import Group
from hypercast.reference.initial_model import InitialModel

__all__ = ["agree", "model_digest", "versions"]

#: Source that decides the bits of a training, and more.
_SOURCES = "host", "reference", "rtl"


def agree(group: Group, facts: Mapping[str, Any]) -> None:
    """Compare what ranks train, and with what, by a digest from each; all ranks call this.

    Parameters
    ----------
    group : Group
        The ranks.
    facts : dict
        What this rank knows of its training, as JSON takes it.

    Raises
    ------
    ClusterError
        On the leader, if a rank has something else; names the first difference.
    SystemExit
        On the other ranks then: the leader says why.
    """
    own = dict(leaves(facts))
    digests = group.gather(hashlib.sha256(repr([*own.items()]).encode()).digest())
    other = next((rank for rank, one in enumerate(digests) if one != digests[0]), 0)
    other = group.tell(other)
    if not other:
        return
    if group.rank == other:
        group.send(0, own)
    if group.rank:
        raise SystemExit(1)
    found = differences(group.receive(other), own, f"on board {other}", "on board 0")
    raise ClusterError(f"board {other} trains something else: {found[0]}; give all boards the same "
                       f"command, files and versions")


@functools.cache
def versions() -> dict[str, str]:
    """Software of this machine that decides bits: versions, and a digest of our own source."""
    digest, root = hashlib.sha256(), Path(__file__).parents[2]
    for path in sorted(path for folder in _SOURCES for path in (root / folder).rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode() + read_bytes(path))
    return {"hypercast": __version__, "source": digest.hexdigest()[:16],
            "python": platform.python_version(), "numpy": np.__version__,
            "scipy": scipy.__version__}


def model_digest(model: InitialModel) -> str:
    """Digest what a graph, a network and a recipe became: the integers of the first step."""
    sample, state = model.sample, model.state
    exponents = [sample.edge_exponent, sample.features.exponent, sorted(
        (str(name), values) for name, values in state.exponents.items())]
    return array_digest(
        *sample.edges, sample.features.values, sample.labels, sample.splits, sample.loss_weights,
        *(arrays[kind] for arrays in state.parameters.values() for kind in sorted(arrays)),
        np.frombuffer(repr(exponents).encode(), np.uint8))
