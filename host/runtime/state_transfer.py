# SPDX-License-Identifier: BSD-2-Clause
"""Moves a training's state between a chip and the host, and sums of gradients that are kept."""

from collections.abc import Mapping

import numpy as np

from hypercast.host.compiler.images import Words
from hypercast.host.compiler.job import Job
from hypercast.host.compiler.packing import pack_entry, pack_rows
from hypercast.host.compiler.state import STATE, load_sums, store_state, store_sums, weight_rows
from hypercast.host.compiler.weights import Weights
from hypercast.host.runtime.driver import Driver
from hypercast.reference.array_types import IntArray
from hypercast.reference.network import Network
from hypercast.reference.tensor import Tensor
from hypercast.reference.training_state import TrainingState
from hypercast.reference.weight_operands import weight_operands
from hypercast.rtl.registers import Space

__all__ = ["read_parameters", "read_sums", "write_operands", "write_state", "write_sums"]


def read_parameters(driver: Driver, job: Job,
                    like: TrainingState) -> dict[Tensor, dict[str, IntArray]]:
    """The parameters of a chip between two programs, as a ``TrainingState`` has them.

    Parameters
    ----------
    driver : Driver
        Reaches the chip.
    job : Job
        What the chip runs.
    like : TrainingState
        A state of the same training, for shapes and for what the optimiser keeps.
    """
    found = {}
    for name in job.weights:
        arrays = like.parameters[name]
        kinds = [kind for kind in STATE if kind in arrays]
        found[name] = {kind: values.reshape(arrays[kind].shape) for kind, values in zip(
            kinds, driver.optimiser(job, name), strict=True)}
    return found


def write_state(driver: Driver, job: Job, network: Network, state: TrainingState) -> None:
    """Write a ``TrainingState`` into a chip: all but its step, and the exponents of momenta.

    Parameters
    ----------
    driver : Driver
        Reaches the chip.
    job : Job
        What the chip holds.
    network : Network
        The network that is trained.
    state : TrainingState
        What is written.
    """
    config = job.config
    for name, weights in job.weights.items():
        region = weights.state
        images = [np.zeros((region.words, config.chunks), dtype=np.uint32)
                  for _ in range(config.cores)]
        store_state({kind: np.atleast_2d(values)
                     for kind, values in state.parameters[name].items()}, weights, config, images)
        for core, image in enumerate(images):
            driver.write_words(core, region.space, region.address, image)
    operands = weight_operands(network, config.element_width, state)
    write_operands(driver, job, {name: operands[name] for name in job.weights})
    entries = np.zeros(config.tensors, dtype=np.uint32)
    for name, number in job.tensors.items():
        # What a step has made of the next sample is no part of a state.
        entries[number] = pack_entry(*state.exponents.get(name, (job.exponents[name], None)))
    driver.write_window(0, Space.TENSORS, 0, entries)


def write_operands(driver: Driver, job: Job, operands: Mapping[Tensor, IntArray]) -> None:
    """Write mantissas of parameters into the weight bank of every core.

    Parameters
    ----------
    driver : Driver
        Reaches the chip.
    job : Job
        What the chip holds.
    operands : dict
        Parameter to mantissas.
    """
    config = job.config
    for name, values in operands.items():
        weights = job.weights[name]
        rows = pack_rows(weight_rows(np.atleast_2d(values), weights, config), config)
        for core in range(config.cores):
            driver.write_words(core, Space.WEIGHTS, weights.base, rows)


def read_sums(driver: Driver, job: Job, like: TrainingState) -> dict[Tensor, IntArray]:
    """The sums of gradients that a ``step_sums`` has kept, in full width.

    Parameters
    ----------
    driver, job, like
        As of ``read_parameters``; steps of the job are in pieces.
    """
    return {name: load_sums(weights, job.config, _images(driver, job, weights)).reshape(
        like.parameters[name]["master"].shape) for name, weights in job.weights.items()}


def write_sums(driver: Driver, job: Job, sums: Mapping[Tensor, IntArray]) -> None:
    """Write sums of gradients to where the next ``update`` takes them from.

    Parameters
    ----------
    driver : Driver
        Reaches the chip.
    job : Job
        What the chip holds; its steps are in pieces.
    sums : dict
        Parameter to sums; each fits an accumulator.
    """
    for name, weights in job.weights.items():
        images = _images(driver, job, weights)
        store_sums(np.atleast_2d(sums[name]), weights, job.config, images)
        for core, image in enumerate(images):
            driver.write_words(core, weights.state.space, weights.state.address, image)


def _images(driver: Driver, job: Job, weights: Weights) -> list[Words]:
    """Words of a parameter's state, which lie beside each other, of each core."""
    region = weights.state
    return [driver.read_words(core, region.space, region.address, region.words)
            for core in range(job.config.cores)]
