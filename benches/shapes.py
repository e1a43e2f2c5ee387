# SPDX-License-Identifier: BSD-2-Clause
"""Trainings of any shape on the simulated chip, equal to the reference in every word."""

from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from hypercast.benches.figure import Figure
from hypercast.benches.random_trainings import (
    RandomTraining,
    draw_config,
    draw_feasible,
    draw_training,
)
from hypercast.benches.trainings import compare_training
from hypercast.host.compiler.job import Job
from hypercast.host.runtime.comparison import Comparison
from hypercast.host.runtime.device_errors import DeviceError
from hypercast.host.runtime.training_device import TrainingDevice
from hypercast.host.training.prepare import open_device
from hypercast.reference.initial_model import InitialModel
from hypercast.rtl.config import Config
from hypercast.rtl.isa import OperandSource, decode

__all__ = ["run"]

#: Configurations, and trainings on each.
_CONFIGS, _TRAININGS = 12, 26
#: Vertices of a training, at most, and the strips that they are at most: programs of more strips
#: are long, and take long to order. ``bench strips`` is about these.
_VERTICES, _STRIPS = 2000, 32


def run(data: Path | None, progress: Callable[[str], None], *, seed: int = 0) -> list[Figure]:
    """The figures; ``data`` is not used."""
    generator = np.random.default_rng(seed)
    words = Comparison()
    seen: Counter[str] = Counter()
    most: Counter[str] = Counter()
    for number in range(1, _CONFIGS + 1):
        config = draw_config(generator)
        for count in range(1, _TRAININGS + 1):
            training, job, refused = draw_feasible(partial(
                draw_training, generator, config,
                vertices=min(_VERTICES, _STRIPS * config.cores * config.accumulator_rows)))
            progress(f"configuration {number} of {_CONFIGS}, training {count} of {_TRAININGS}: "
                     f"{training}")
            most |= _sizes(training)
            seen.update(_kinds(training, job))
            seen["refused"] += refused
            try:
                words.add(compare_training(training, partial(_open, config, progress))[0])
            except DeviceError as error:
                seen["stopped"] += 1
                words.first_difference = words.first_difference or f"{training}: {error}"
    first = words.first_difference and f"; the first that is not: {words.first_difference}"
    refused, stopped = seen.pop("refused"), seen.pop("stopped", 0)
    return [
        Figure(name="configurations drawn", value=_CONFIGS),
        Figure(name="trainings drawn", value=_CONFIGS * _TRAININGS, bar=300),
        *(Figure(name=f"most {name}", value=value) for name, value in most.items()),
        *(Figure(name=f"trainings {name}", value=value) for name, value in sorted(seen.items())),
        Figure(name="drawn besides, and refused before training", value=refused),
        Figure(name="trainings that the chip did not end", value=stopped, bar=0, relation="="),
        Figure(name="words compared", value=words.words),
        Figure(name=f"of these, equal to the reference{first}", value=words.equal,
               bar=words.words, relation="="),
    ]


def _open(config: Config, progress: Callable[[str], None], model: InitialModel) -> TrainingDevice:
    return open_device("rtl", model, config, progress=progress)


def _sizes(training: RandomTraining) -> Counter[str]:
    network = training.network
    return Counter({
        "vertices": training.graph.vertices, "features": network.features,
        "classes": network.classes, "layers": len(network.layers),
        "edges": training.graph.edges.nnz, "cores": training.config.cores,
        "lanes": training.config.lanes})


def _kinds(training: RandomTraining, job: Job) -> list[str]:
    """The special property of a training."""
    products = [decode(word) for word in job.program]
    sparse = [entry["operand"] for entry in products if entry.get("sparse")]
    return [kind for kind, whether in {
        "with word-sparse features": sparse,
        "with word-sparse features that the operand buffer does not hold":
            OperandSource.MEMORY in sparse,
        "with more rows than accumulators": any(
            len(vertices.strips) > 1 for vertices in job.plan.vertices),
        "with 8-bit elements": training.config.element_width == 8,
        "with Adam": training.recipe["optimiser"] == "adam",
        "with several labels per vertex": training.graph.multi_label,
        "with dropout": any(layer.dropout for layer in training.network.layers),
        "on one core": training.config.cores == 1,
        "with slow memory": training.config.memory_latency > 1,
    }.items() if whether]
