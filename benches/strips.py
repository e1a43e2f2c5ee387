# SPDX-License-Identifier: BSD-2-Clause
"""Graphs of many strips of rows on simulated chips of small buffers and memory like HBM.

Random trainings are compared with the reference, with the cycle model, and with the busiest
resource.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from hypercast.benches.community_graph import draw_community_ends
from hypercast.benches.cycle_model import HBM_LIKE
from hypercast.benches.figure import Figure
from hypercast.benches.random_trainings import (
    RandomTraining,
    draw_ends,
    draw_feasible,
    draw_training,
)
from hypercast.benches.trainings import compare_training
from hypercast.host.compiler.job import Job
from hypercast.host.cycle_model.prediction import predict
from hypercast.host.cycle_model.workload import Workload
from hypercast.host.runtime.alone_chip import AloneChip
from hypercast.host.runtime.chip import Chip
from hypercast.host.runtime.comparison import Comparison
from hypercast.host.runtime.device_errors import DeviceError
from hypercast.host.runtime.utilisation import utilisation
from hypercast.reference.initial_model import InitialModel
from hypercast.reference.models import MODELS
from hypercast.rtl.config import LARGEST_PROGRAM, PRESETS, Config
from hypercast.rtl.isa import OPCODE_MASK, Opcode
from hypercast.sim.cxxrtl_transport import CxxrtlTransport

__all__ = ["CONFIGS", "run"]

#: Room for the programs and tensors of any training here, but not close to the engines; edges that
#: are fetched ahead hide the latency of memory.
_ROOM = {"weight_rows": 4096, "channel_words": 65536, "program_rows": LARGEST_PROGRAM,
         "tensors": 256, "edge_buffer": 32, **HBM_LIKE}
CONFIGS = {
    "2 cores, strips of 16 rows":
        PRESETS["tiny"].replace(lanes=4, accumulator_rows=16, **_ROOM),
    "4 cores, strips of 16 rows": PRESETS["test"].replace(accumulator_rows=16, **_ROOM),
    "4 cores, strips of 64 rows": PRESETS["test"].replace(accumulator_rows=64, **_ROOM),
    "2 cores, strips of 64 rows in blocks of 16": PRESETS["tiny"].replace(
        lanes=4, accumulator_rows=16, aggregation_rows=64, **_ROOM),
}
#: Trainings on each of them, and on all.
_TRAININGS, _TRAININGS_BAR = 26, 100
#: Strips of a core's rows that are drawn; the last strip may have fewer rows. Programs of more than
#: 32 are in loops where they can be.
_STRIPS = (4, 8, 16, 32, 48)
#: The most of what ``draw_training`` bounds besides; its ``work`` is for a row of a strip.
_MOST: dict[str, Any] = {"features": 256, "classes": 16, "edges": 12_000}
_WORK = 1_000
#: Communities of a graph that has them.
_COMMUNITIES = 12
#: Share of entries that are not zero up to which features count as sparse.
_SPARSE = 1 / 8
#: Error allowed of the cycle model, of each training, and share of the bound demanded of each.
_ERROR, _SHARE = 0.05, 0.80


class _Measured(NamedTuple):
    """A training's result: its value, and its text for a figure's name."""

    value: float
    training: str


@dataclass
class _Found:
    """Trainings on one chip.

    Attributes
    ----------
    words : Comparison
        All words after every step and evaluation, compared with the reference.
    errors : list of _Measured
        Errors of the cycle model: predicted cycles over simulated ones, less 1.
    shares : list of _Measured
        Cycles that the busiest resource needs, its work spread evenly, over simulated ones.
    seen : Counter
        Trainings of each kind, and what did not train.
    """

    words: Comparison = field(default_factory=Comparison)
    errors: list[_Measured] = field(default_factory=list)
    shares: list[_Measured] = field(default_factory=list)
    seen: Counter[str] = field(default_factory=Counter)


def run(data: Path | None, progress: Callable[[str], None], *, seed: int = 0) -> list[Figure]:
    """The figures; ``data`` is not used."""
    generator = np.random.default_rng(seed)
    figures, all_seen = [], Counter[str]()
    for name, config in CONFIGS.items():
        found = _Found()
        for number in range(1, _TRAININGS + 1):
            communities = bool(generator.integers(2))
            training, job, refused = draw_feasible(
                partial(_draw, generator, config, communities))
            progress(f"{name}, training {number} of {_TRAININGS}: {training}")
            found.seen.update(_kinds(training, job, communities))
            found.seen["refused"] += refused
            _train(training, job, found, progress)
        figures += _figures(name, found)
        all_seen.update(found.seen)
    return [*_counts(all_seen), *figures]


def _draw(generator: np.random.Generator, config: Config, communities: bool) -> RandomTraining:
    """A training on a graph of several strips."""
    strip = config.cores * config.strip_rows
    vertices = strip * int(generator.choice(_STRIPS)) - int(generator.integers(strip))
    ends = partial(draw_community_ends, communities=_COMMUNITIES) if communities else draw_ends
    return draw_training(generator, config, least=vertices, vertices=vertices, ends=ends,
                         work=_WORK * config.strip_rows, **_MOST)


def _kinds(training: RandomTraining, job: Job, communities: bool) -> list[str]:
    """What a training is counted as."""
    features = scipy.sparse.coo_array(training.graph.features)
    sparse = np.count_nonzero(features.data) <= _SPARSE * features.shape[0] * features.shape[1]
    return ["drawn", training.model_name,
            f"of {len(job.plan.vertices[0].strips)} strips",
            f"{'with' if communities else 'without'} communities",
            f"of {'sparse' if sparse else 'dense'} features",
            *["in loops"] * any(word & OPCODE_MASK == Opcode.LOOP for word in job.program)]


def _train(training: RandomTraining, job: Job, found: _Found,
           progress: Callable[[str], None]) -> None:
    """Train on the chip and on the reference."""
    counters: list[dict[str, list[int]]] = []

    def open_chip(model: InitialModel) -> AloneChip:
        return AloneChip(CxxrtlTransport(training.config, progress=progress), job, model)

    def count(chip: Chip) -> None:
        counters.append(chip.counters)

    try:
        words, _, cycles = compare_training(training, open_chip, count)
    except DeviceError as error:
        found.seen["stopped"] += 1
        found.words.first_difference = found.words.first_difference or f"{training}: {error}"
        return
    if words.first_difference:
        words.first_difference = f"{training}: {words.first_difference}"
    found.words.add(words)
    step = cycles / training.epochs
    predicted = predict(Workload.of_model(training.model(), training.config)).cycles
    rows = utilisation(counters[-1], round(step), training.config)
    text = f"{training.model_name} of {training}"
    found.errors.append(_Measured(predicted / step - 1, text))
    found.shares.append(_Measured(max(row.work for row in rows), text))


def _figures(name: str, found: _Found) -> list[Figure]:
    """What is demanded of the trainings on one chip."""
    first = found.words.first_difference and f", the first in {found.words.first_difference}"
    figures = [
        Figure(name=f"{name}: trainings that the chip did not end", value=found.seen["stopped"],
               bar=0, relation="="),
        Figure(name=f"{name}: words compared", value=found.words.words),
        Figure(name=f"{name}: of these, not equal to the reference{first}",
               value=found.words.words - found.words.equal, bar=0, relation="="),
    ]
    if found.errors:
        error, worst = max((abs(error), training) for error, training in found.errors)
        share, least = min(found.shares)
        figures += [
            Figure(name=f"{name}: largest error of the cycle model, {worst}", value=error,
                   bar=_ERROR, relation="<="),
            Figure(name=f"{name}: the mean of its errors",
                   value=float(np.mean([abs(error) for error, _ in found.errors]))),
            Figure(name=f"{name}: least share of the bound, {least}", value=share, bar=_SHARE),
            Figure(name=f"{name}: the mean of the shares",
                   value=float(np.mean([share for share, _ in found.shares]))),
        ]
    return figures


def _counts(seen: Counter[str]) -> list[Figure]:
    """What was drawn for all chips."""
    return [
        Figure(name="trainings drawn", value=seen.pop("drawn"), bar=_TRAININGS_BAR),
        Figure(name="models among them", value=len(seen.keys() & MODELS), bar=len(MODELS),
               relation="="),
        Figure(name="drawn besides, and refused before training", value=seen.pop("refused")),
        *(Figure(name=f"trainings {name}", value=count) for name, count in sorted(seen.items())
          if name not in MODELS and name != "stopped"),
    ]
