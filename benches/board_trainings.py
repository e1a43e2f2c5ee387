# SPDX-License-Identifier: BSD-2-Clause
"""Small trainings of all kinds, by several processes in one go: results of each."""

import hashlib
from collections.abc import Iterator
from typing import Any

from hypercast.benches.board_processes import on_boards
from hypercast.host.cluster.assignment import Assignment
from hypercast.host.description.device import Device
from hypercast.host.description.model import Model
from hypercast.host.description.sampling import Sampling
from hypercast.host.graphs.datasets import communities
from hypercast.host.graphs.graph import Graph
from hypercast.host.processes.child_process import Parent
from hypercast.host.processes.group import Group
from hypercast.host.training.trainer import Trainer
from hypercast.host.training.trainer_arguments import Sharing
from hypercast.reference.training_state import TrainingState

__all__ = ["SCHEMES", "digests", "state_digest"]

#: Schemes by their names.
SCHEMES = {"samples in parallel": "samples", "graph in parallel": "graph",
           "layers in a pipeline": "layers"}
#: The chip that boards have, if it is one, with room for these trainings.
_PRESET = "test"
_ROOM: dict[str, Any] = {"channel_words": 16384, "program_rows": 4096, "weight_rows": 1024,
                         "tensors": 256}


def state_digest(state: TrainingState) -> str:
    """SHA-256 of all weights and optimiser state."""
    digest = hashlib.sha256(repr((
        state.step, sorted(state.exponents.items()),
        sorted(state.momentum_exponents.items()))).encode())
    for name, arrays in sorted(state.parameters.items()):
        for kind, values in sorted(arrays.items()):
            digest.update(f"{name}.{kind}{values.shape}".encode() + values.tobytes())
    return digest.hexdigest()


def digests(boards: int, devices: str = "reference") -> dict[str, list[str]]:
    """Results of trainings by each scheme on so many boards: of three models, both losses and both
    optimisers.

    ``devices`` are the boards'.
    """
    if boards == 1:
        return dict(_train_each(None, devices))
    found: dict[str, list[str]] = on_boards(boards, _train, devices)
    return found


def _train(group: Group, parent: Parent | None, devices: str) -> None:
    """The work of each process."""
    found = dict(_train_each(group, devices))
    if parent:
        parent.answer(found)


def _train_each(group: Group | None, devices: str) -> Iterator[tuple[str, list[str]]]:
    graphs = Graph.load("blocks"), Graph(**communities(vertices=160))
    device = Device(devices, preset=_PRESET, **_ROOM)
    for title, scheme in SCHEMES.items():
        layers = 8 if scheme == "layers" else 2
        given: dict[str, Any] = {"epochs": 3, "boards": Sharing(
            group=group, assignment=Assignment(scheme=scheme))}
        if scheme != "graph":
            given |= {"sampling": Sampling(sampler="walks", batch=8, coverage=10.0),
                      "micro_batches": 8}
        kept = []
        for graph, model, dropout, optimiser in (
                (graphs[0], "gcn", (0.5,), "adam"), (graphs[1], "sage", (0.0,), "sgd"),
                (graphs[0], "gin", (0.0,), "adam")):
            trainer = Trainer(
                graph, Model(model, hidden=(6,) * (layers - 1), dropout=dropout,
                             order=("combine_first",)),
                device, optimiser=optimiser, **given)
            if group and group.rank:
                trainer.follow()
                continue
            with trainer:
                trainer.fit()
                kept.append(state_digest(trainer.target.state()))
        if kept:
            yield title, kept
