# SPDX-License-Identifier: BSD-2-Clause
"""Checkpoints: all that a training needs to go on with the same bits, and what it is of."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hypercast.errors import InputError
from hypercast.host.description.sampling import Sampling
from hypercast.host.files.array_digest import array_digest
from hypercast.host.files.json_values import differences, leaves, plain
from hypercast.host.graphs.graph import Graph
from hypercast.reference.network import ROOT_INITIAL, Network
from hypercast.reference.recipe import Recipe
from hypercast.reference.tensor import Tensor
from hypercast.reference.training_state import TrainingState

__all__ = ["Checkpoint", "CheckpointError", "identity"]


class CheckpointError(InputError):
    """A checkpoint that cannot be read, or is of another training; says what to do."""


@dataclass(frozen=True, kw_only=True)
class Checkpoint:
    """A training between two epochs.

    Parameters
    ----------
    identity : dict
        The properties that decide the bits; see ``identity``.
    state : TrainingState
        After the last epoch.
    best : TrainingState, optional
        After the best epoch so far.
    records : str
        SHA-256 of what was recorded of these epochs, see ``RunFolder``.
    """

    identity: dict[str, Any]
    state: TrainingState
    best: TrainingState | None = None
    records: str = ""

    def check(self, expected: dict[str, Any], initial: TrainingState, path: Path) -> None:
        """Raise ``CheckpointError`` if this is not of a certain training; names what differs.

        Parameters
        ----------
        expected : dict
            The training's ``identity``.
        initial : TrainingState
            The training's state before the first epoch, for names and shapes.
        path : pathlib.Path
            Where the checkpoint came from.
        """
        different = differences(dict(leaves(self.identity)), dict(leaves(expected)))
        if not different:
            different = [text for state in (self.state, self.best) if state
                         for text in differences(_shapes(state), _shapes(initial))]
        if different:
            raise CheckpointError(
                f"{path} is of another training: {'; '.join(different)}; go on with what it was "
                f"made with, or keep this training in another folder")


def _shapes(state: TrainingState) -> dict[str, str]:
    """Parts of a ``TrainingState``: name to shape, if it is an array."""
    return {**{f"tensor {name}.{kind}": f"{values.shape}"
               for name, arrays in state.parameters.items() for kind, values in arrays.items()},
            **{f"exponent of {name}": "kept" for name in state.exponents},
            **{f"momentum exponent of {name}": "kept" for name in state.momentum_exponents}}


def identity(graph: Graph, network: Network, recipe: Recipe,
             parameters: Mapping[Tensor, npt.NDArray[np.float64]] | None = None,
             sampling: Sampling | None = None,
             staleness: Mapping[str, object] | None = None) -> dict[str, Any]:
    """The properties that decide a training's bits, for JSON: all but the number of epochs.

    Parameters
    ----------
    graph : Graph
    network : Network
    recipe : Recipe
    parameters : dict, optional
        Initial weights and biases, if they do not follow from the recipe's seed.
    sampling : Sampling, optional
        How samples are drawn, if they are.
    staleness : dict, optional
        What is stale, and how, if something is.
    """
    kept = dataclasses.asdict(recipe)
    del kept["epochs"]
    drawn = dataclasses.asdict(sampling) if sampling else {}
    layers = dataclasses.asdict(network)
    for layer in layers["layers"]:
        if layer["root"] != ROOT_INITIAL:
            del layer["alpha"]
        if layer["beta"] == 1:
            del layer["beta"]
    # What is not there is as checkpoints have it that are older than it.
    if recipe.micro_batches == 1:
        del kept["micro_batches"]
    if recipe.gradient_headroom == recipe.headroom:
        del kept["gradient_headroom"]
    if drawn.get("parts") is None:
        drawn.pop("parts", None)
    found: dict[str, Any] = plain({
        "graph": {"vertices": graph.vertices, "edges": graph.edges.nnz,
                  "features": graph.features.shape[1],
                  "sha256": array_digest(graph.edges, graph.features, graph.labels, graph.splits)},
        "network": layers, "recipe": kept,
        "sampling": drawn,
        "weights": {"sha256": array_digest(*parameters.values())} if parameters else {},
        **({"staleness": staleness} if staleness else {})})
    return found
