"""Checkpoints: all that a training needs to go on with the same bits, in one file.

The file is safetensors: int32 tensors ``W1.master``, ``W1.momentum``, ...; of the best epoch so far
likewise after ``best/``; everything else is JSON in the metadata.
"""

import dataclasses
import hashlib
import json
from dataclasses import dataclass

import numpy as np
import scipy.sparse
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from hypercast.host.durable_file import write_durably
from hypercast.reference.training_state import TrainingState

__all__ = ["Checkpoint", "CheckpointError", "identity", "load_checkpoint", "save_checkpoint"]

_METADATA = "hypercast"
_BEST = "best/"


class CheckpointError(ValueError):
    """A checkpoint that cannot be read, or is of another training; says what to do."""


@dataclass(frozen=True, kw_only=True)
class Checkpoint:
    """A training between two epochs.

    Parameters
    ----------
    identity : dict
        What is trained, and how; see ``identity``.
    state : TrainingState
        After the last epoch.
    best : TrainingState, optional
        After the best epoch so far.
    """

    identity: dict
    state: TrainingState
    best: TrainingState | None = None

    def check(self, expected, path):
        """Raise ``CheckpointError`` if ``identity`` is not ``expected``; names what differs."""
        there, here = dict(_leaves(self.identity)), dict(_leaves(expected))
        different = [f"{name} is {there.get(name)} there, {here.get(name)} here"
                     for name in {**there, **here} if there.get(name) != here.get(name)]
        if different:
            raise CheckpointError(
                f"{path} is of another training: {'; '.join(different)}; go on with what it was "
                f"made with, or keep this training in another folder")


def identity(graph, network, recipe, parameters=None, sampling=None):
    """What decides the bits of a training, as JSON takes it: all but the number of epochs.

    Parameters
    ----------
    graph : Graph
    network : Network
    recipe : Recipe
    parameters : dict, optional
        Initial weights and biases, if they are not those of the recipe's seed.
    sampling : Sampling, optional
        How samples are drawn, if they are.
    """
    recipe = dataclasses.asdict(recipe)
    del recipe["epochs"]
    return _plain({
        "graph": {"vertices": graph.vertices, "edges": graph.edges.nnz,
                  "features": graph.features.shape[1],
                  "sha256": _digest(graph.edges, graph.features, graph.labels, graph.splits)},
        "network": dataclasses.asdict(network), "recipe": recipe,
        "sampling": dataclasses.asdict(sampling) if sampling else {},
        "weights": {"sha256": _digest(*parameters.values())} if parameters else {}})


def _digest(*matrices):
    digest = hashlib.sha256()
    for matrix in matrices:
        parts = (matrix.indptr, matrix.indices, matrix.data) if scipy.sparse.issparse(matrix) \
            else (matrix,)
        for part in parts:
            kind = np.int64 if part.dtype.kind in "iu" else part.dtype
            digest.update(repr(part.shape).encode())
            digest.update(np.ascontiguousarray(part, dtype=kind).tobytes())
    return digest.hexdigest()


def _plain(value):
    return json.loads(json.dumps(value))


def _leaves(value, name=""):
    """(path, value) of everything in nested dictionaries and lists."""
    items = value.items() if isinstance(value, dict) else enumerate(value, 1)
    for key, inner in items:
        path = f"{name}.{key}" if name else str(key)
        if isinstance(inner, (dict, list)):
            yield from _leaves(inner, path)
        else:
            yield path, inner


def save_checkpoint(path, checkpoint):
    """Write a checkpoint; whenever the machine stops, ``path`` is the old one or the new one."""
    states = {"": checkpoint.state, _BEST: checkpoint.best}
    states = {prefix: state for prefix, state in states.items() if state is not None}
    tensors = {f"{prefix}{name}.{kind}": np.ascontiguousarray(values, dtype=np.int32)
               for prefix, state in states.items()
               for name, arrays in state.parameters.items() for kind, values in arrays.items()}
    facts = {"identity": checkpoint.identity, "states": {
        prefix: {"step": state.step, "exponents": state.exponents,
                 "momentum_exponents": state.momentum_exponents}
        for prefix, state in states.items()}}
    write_durably(path, save(tensors, {_METADATA: json.dumps(facts)}))


def load_checkpoint(path):
    """The ``Checkpoint`` in a file.

    Raises
    ------
    CheckpointError
        If there is none, or it is damaged.
    """
    if not path.exists():
        raise CheckpointError(f"{path} does not exist; hypercast train --run FOLDER writes one "
                              f"into its folder")
    try:
        with safe_open(path, framework="numpy") as file:
            facts = json.loads(file.metadata()[_METADATA])
            tensors = {name: file.get_tensor(name) for name in file.keys()}
        states = {prefix: _state(tensors, prefix, **found)
                  for prefix, found in facts["states"].items()}
    except (KeyError, TypeError, ValueError, OSError, SafetensorError) as error:
        raise CheckpointError(f"{path} is damaged or no checkpoint ({error}); train again"
                              ) from error
    return Checkpoint(identity=facts["identity"], state=states[""],
                      best=states.get(_BEST))


def _state(tensors, prefix, step, exponents, momentum_exponents):
    parameters: dict[str, dict] = {}
    for key, values in tensors.items():
        if key.startswith(_BEST) == (prefix == _BEST):
            name, _, kind = key.removeprefix(prefix).rpartition(".")
            parameters.setdefault(name, {})[kind] = values.astype(np.int64)
    return TrainingState(step=step, parameters=parameters,
                         exponents={name: tuple(entry) for name, entry in exponents.items()},
                         momentum_exponents=momentum_exponents)
