# SPDX-License-Identifier: BSD-2-Clause
"""Puts together what programs of all kinds need: checks, exponents, state, and the job."""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence

import numpy as np

from hypercast.host.compiler.images import Image
from hypercast.host.compiler.job import Job
from hypercast.host.compiler.layout import Layout
from hypercast.host.compiler.lowering import Program
from hypercast.host.compiler.memory_map import CapacityError, require_capacity
from hypercast.host.compiler.messages import NO_TRAFFIC
from hypercast.host.compiler.sample_plan import SamplePlan
from hypercast.host.compiler.size_limits import check_sizes
from hypercast.host.compiler.state import store_state, weight_bank
from hypercast.host.compiler.weights import Weights
from hypercast.reference.initial_model import InitialModel
from hypercast.reference.sample import Sample
from hypercast.reference.tensor import EDGES, FEATURES, Pass, Tensor
from hypercast.reference.update_rules import UpdateRules
from hypercast.rtl.config import Config
from hypercast.rtl.isa import Opcode, Split, decode, encode

__all__ = ["assemble", "check_model", "fill_state", "initial_exponents", "number_entries",
           "sample_exponents", "split_sizes", "updates_at"]


def check_model(model: InitialModel, config: Config) -> None:
    """Refuse a model that no program of a configuration trains or evaluates.

    Raises
    ------
    CapacityError
        If the sample or the network is too large, or the configuration has other elements, or lacks
        the optimiser's unit.
    """
    if model.recipe.element_width != config.element_width:
        raise CapacityError(
            f"the model has {model.recipe.element_width}-bit elements, the configuration "
            f"{config.element_width}-bit; give both the same element_width")
    check_sizes(model.network, len(model.sample.labels), config)
    if model.recipe.optimiser == "adam" and not config.adam:
        raise CapacityError("the recipe's optimiser is adam, but the configuration's adam is "
                            "False: its chip has no unit for it; set adam to True, or train with "
                            "sgd")


def initial_exponents(model: InitialModel, following: Iterable[Tensor] = ()) -> dict[Tensor, int]:
    """Initial exponents by entry of the exponent file, with exponents of the sample's tensors.

    Entries of the ``following`` sample begin like this one's.
    """
    exponents = {name: exponent for name, (exponent, _) in model.state.exponents.items()}
    exponents |= {name: exponents[name.of_training] for name in following}
    return exponents | sample_exponents(model.sample, model.sample, exponents)


def number_entries(exponents: Iterable[Tensor], config: Config) -> dict[Tensor, int]:
    """Entries of the exponent file to their numbers.

    Raises
    ------
    CapacityError
        If there are more than the file has.
    """
    tensors = {name: number for number, name in enumerate(exponents)}
    require_capacity(config, "tensors", len(tensors), "the network has that many tensors")
    return tensors


def assemble(model: InitialModel, layout: Layout, plan: SamplePlan, program: Program,
             starts: dict[str, int], images: list[Image], exponents: dict[Tensor, int]) -> Job:
    """The ``Job`` of a program that has been emitted, with the first step's constants.

    Parameters
    ----------
    model, layout, plan, program
        What it is made from.
    starts : dict
        Programs, by name, to their first instructions.
    images : list
        Initial memory contents.
    exponents : dict
        Initial exponents, by entry.

    Raises
    ------
    CapacityError
        If there are more instructions than the chip has room for.
    """
    config, sample, schedule = layout.config, model.sample, program.emitter.schedule
    words = schedule.words
    require_capacity(config, "program_rows", len(words), "the program has that many instructions")
    job = Job(
        config=config, plan=plan, labels=layout.labels, rows=plan.rows_of_sample(sample),
        program=words, exchanged=[], pairs=(), row_table=plan.row_table(sample, sample),
        starts=starts, phases=program.phases, updates=tuple(schedule.labels),
        tensors=dict(program.emitter.tensors), exponents=exponents,
        regions=layout.memory.regions, images=images, weights=layout.weights,
        weight_bank=weight_bank(model.operands(), layout.weights, config),
        split_sizes=split_sizes(sample), **NO_TRAFFIC | plan.traffic)
    for row, word in updates_at(job, model.rules(), 0):
        words[row] = word
    return job


def updates_at(job: Job, rules: UpdateRules, step: int) -> Iterator[tuple[int, int]]:
    """The program rows of UPDATEs, and the instructions with the constants of ``step`` (from 0)."""
    for row, name in job.updates:
        fields = decode(job.program[row]) | rules.rates(name, step)._asdict()
        fields["momentum_exponent"] = rules.momentum_exponents[name]
        yield row, encode(Opcode(fields.pop("opcode")), **fields)


def sample_exponents(sample: Sample, following: Sample,
                     names: Container[Tensor]) -> dict[Tensor, int]:
    """Exponents of the sample's own tensors, as far as they have entries."""
    found = {EDGES: sample.edge_exponent, FEATURES: sample.features.exponent,
             EDGES.in_pass(Pass.NEXT): following.edge_exponent,
             FEATURES.in_pass(Pass.NEXT): following.features.exponent}
    return {name: exponent for name, exponent in found.items() if name in names}


def split_sizes(sample: Sample) -> tuple[int, ...]:
    """Number of training, validation and test vertices."""
    return tuple(int(np.count_nonzero(sample.splits == split))
                 for split in (Split.TRAIN, Split.VALIDATION, Split.TEST))


def fill_state(model: InitialModel, weights: Mapping[Tensor, Weights], images: Sequence[Image],
               config: Config) -> None:
    """Append the optimiser's state of all parameters to every core's image."""
    for name, place in weights.items():
        parts = [np.zeros((place.state.words, config.chunks), dtype=np.uint32)
                 for _ in range(config.cores)]
        kept = model.state.parameters[name].items()
        store_state({kind: np.atleast_2d(values) for kind, values in kept}, place, config, parts)
        for image, part in zip(images, parts, strict=True):
            image.append((place.state.name, part))
