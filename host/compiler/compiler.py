# SPDX-License-Identifier: BSD-2-Clause
"""Compiles a training job: memory map, images and program for one configuration."""

import itertools
import warnings
from dataclasses import replace

from hypercast.errors import InputError
from hypercast.host.compiler.assembly import (
    assemble,
    check_model,
    fill_state,
    initial_exponents,
    number_entries,
    sample_exponents,
    split_sizes,
)
from hypercast.host.compiler.compiled_edges import CompiledEdges
from hypercast.host.compiler.exchange import exchange
from hypercast.host.compiler.features import Features, fill_dense
from hypercast.host.compiler.job import Job
from hypercast.host.compiler.label_list import LabelFormat, fill_labels
from hypercast.host.compiler.layout import NEXT_ENTRIES, SUMS, SUMS_AHEAD, Layout
from hypercast.host.compiler.lowering import Program, fit_program
from hypercast.host.compiler.memory_map import LABELS, CapacityError, SlowdownWarning
from hypercast.host.compiler.reduction import gradient_digits
from hypercast.host.compiler.sample_capacity import Capacity
from hypercast.host.compiler.sample_plan import SamplePlan
from hypercast.host.compiler.verification import verify
from hypercast.reference.initial_model import InitialModel
from hypercast.reference.network import AGGREGATE_FIRST
from hypercast.reference.sample import Sample
from hypercast.reference.tensor import FEATURES
from hypercast.rtl.config import Config

__all__ = ["compile_job", "compile_sampled", "with_sample"]

_SMALLER_SAMPLES = "take smaller samples: --batch, --fan-outs"


def compile_job(model: InitialModel, config: Config, *, word_sparse: bool = True,
                capacity: Capacity | None = None, edges: CompiledEdges | None = None,
                ahead: bool = False, resident: bool = False, pieces: bool = False) -> Job:
    """Compile a model, as it stands before its first step.

    Parameters
    ----------
    model : InitialModel
        Network, recipe, sample and initial state.
    config : Config
        Configuration of the chip.
    word_sparse : bool
        Whether input features may be stored without their zero words, where that is less.
    capacity : Capacity, optional
        What other samples take, if the program is to train on others, too.
    edges : CompiledEdges, optional
        The sample's, of any orders, if they have been compiled.
    ahead : bool
        Whether a step aggregates the input features of the next sample, at first of this one. There
        is no program for evaluations then: they would aggregate the next one's, too.
    resident : bool
        Whether the features of the whole graph, which the sample is of, are loaded once and stay:
        send lists name the rows of them that a sample has.
    pieces : bool
        Whether a step is in pieces: a program that keeps the sums of gradients, where the host
        reads and writes them, and one that updates parameters by them. It does not work ahead then.

    Raises
    ------
    CapacityError
        If something does not fit the configuration; names what, and which field to raise.
    InputError
        If a step is to work ahead, or features are to stay, but the first layer does not aggregate
        first; or if they are to stay, but the sample does not say of what it is; or if a step in
        pieces is to work ahead.
    """
    check_model(model, config)
    if pieces and ahead:
        raise InputError("a step in pieces does not work ahead; leave out pieces or ahead")
    origin = model.sample.origin if resident else None
    if resident:
        _check_resident(model)
    plan = SamplePlan(model.network, config, model.sample, capacity, edges, ahead=ahead,
                      resident=resident)
    labels = LabelFormat.of(model, several_samples=bool(capacity))
    features = Features(model, plan.feature_rows, config,
                        word_sparse=word_sparse and not capacity,
                        resident=origin.matrix if origin else None)

    def lay_out() -> Layout:
        layout = Layout.of(model.network, config, plan.vertices, labels, words=features.words,
                           edges=plan.place, adam=model.recipe.optimiser == "adam", ahead=ahead,
                           twice=plan.twice, kept=pieces, feature_rows=plan.feature_rows)
        features.place(layout.memory, layout.first_panels)
        layout.memory.check(_SMALLER_SAMPLES if capacity else "")
        return layout

    plan.level = True
    try:
        layout = lay_out()
    except CapacityError:
        plan.level = False
        layout = lay_out()
    memory = layout.memory
    images = plan.images(model.sample, model.sample, memory.regions)
    features.fill(memory, images)
    fill_labels(model.sample, labels, images, config)
    fill_state(model, layout.weights, images, config)

    exponents = initial_exponents(model, NEXT_ENTRIES if ahead else ())
    tensors = number_entries(exponents, config)
    named = _entries(sampled=bool(capacity), ahead=ahead, pieces=pieces)
    digits = {} if capacity else gradient_digits(model, config)
    program, starts = fit_program(lambda tiling, schedule: Program.of(
            layout, inputs=features.operand(layout.first_panels), tensors=tensors,
            messages=plan.messages, roots=plan.roots, digits=digits,
            headroom=model.recipe.headroom_of, schedule=schedule, following=plan.following,
            tiling=tiling), lambda program: program.emit(named), config, layout.vertices,
        loops=not ahead)  # whose programs are exchanged row by row
    job = assemble(model, layout, plan, program, starts, images, exponents)
    if ahead:
        job = _in_turns(job, ((SUMS, SUMS_AHEAD), *plan.pairs))
    verify(job)
    if ahead:
        verify(job.after_step())
    for slowdown in filter(None, (plan.slowdown, program.slowdown)):
        warnings.warn(f"the chip is slower than it could be: {slowdown}", SlowdownWarning,
                      stacklevel=2)
    return job


def compile_sampled(model: InitialModel, config: Config, capacity: Capacity,
                    edges: CompiledEdges | None = None, *, ahead: bool,
                    pieces: bool = False) -> Job:
    """Compile a training on samples, whose steps work ahead where they can.

    Parameters
    ----------
    model, config, capacity, edges, pieces
        As of ``compile_job``.
    ahead : bool
        Whether steps are to work ahead if input features are only aggregated first, there is room,
        and they are not in pieces.

    Raises
    ------
    CapacityError
        If something does not fit the configuration, even if steps do not work ahead and features
        are brought by every sample.
    """
    summed = model.network.only_aggregates_features
    *wanted, plain = itertools.product(
        (True, False) if ahead and summed and not pieces else (False,),
        (True, False) if model.sample.origin and summed else (False,))
    for early, resident in wanted:
        try:
            return compile_job(model, config, capacity=capacity, edges=edges, ahead=early,
                               resident=resident, pieces=pieces)
        except CapacityError:
            pass  # features, sums, lists, row counts or entries of the exponent file are too many
    early, resident = plain
    return compile_job(model, config, capacity=capacity, edges=edges, ahead=early,
                       resident=resident, pieces=pieces)


def with_sample(job: Job, sample: Sample, following: Sample | None = None) -> Job:
    """A job that goes on with another ``Sample``; program and parameters stay.

    A step that works ahead does so for ``following``, or for the sample itself.

    Raises
    ------
    CapacityError
        If there is not enough memory for it.
    """
    following = following if job.ahead and following else sample
    row_table = job.plan.row_table(sample, following)
    images = job.plan.images(sample, following, job.regions)
    if not job.plan.resident and FEATURES in job.regions:
        fill_dense(following.features.values, job.regions[FEATURES], images, job.config)
    if LABELS in job.regions:
        fill_labels(sample, job.labels, images, job.config)
    return replace(job, rows=sample.rows, row_table=row_table, images=images,
                   exponents=job.exponents | sample_exponents(sample, following, job.exponents),
                   split_sizes=split_sizes(sample))


def _in_turns(job: Job, pairs: tuple[tuple[str, str], ...]) -> Job:
    """The job with the program of the next step, where these regions are exchanged.

    The memory for programs and the row table have both steps', if there is room.
    """
    rows, counts = len(job.program), job.plan.row_entries
    places = (0, rows if 2 * rows <= job.config.program_rows else 0)
    row_entries = (0, counts if 2 * counts <= job.config.row_counts else 0)
    return replace(job, pairs=pairs, places=places, row_entries=row_entries, exchanged=exchange(
        job.program, [(job.regions[one], job.regions[other]) for one, other in pairs], job.tensors,
        row_entries[1]))


def _check_resident(model: InitialModel) -> None:
    if not model.network.only_aggregates_features:
        raise InputError(f"the whole graph's features can stay in memory if the first layer is "
                         f"{AGGREGATE_FIRST} and no other reads them, not if those that do are "
                         f"{model.network.feature_orders}")
    if model.sample.origin is None:
        raise InputError("the whole graph's features can stay in memory if the sample says which "
                         "rows of them it has")


def _entries(*, sampled: bool, ahead: bool, pieces: bool) -> tuple[str, ...]:
    """Programs of a job, as ``Program`` emits them."""
    if ahead:
        return "aggregate_ahead", "train"
    step = ("step_sums", "update") if pieces else ("train",)
    return (*step, "evaluate") if sampled else ("load", *step, "evaluate")
