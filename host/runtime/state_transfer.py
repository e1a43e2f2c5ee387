"""Moves a training's state between a chip and the host."""

import numpy as np

from hypercast.host.compiler.job import Job
from hypercast.host.compiler.packing import pack_entry, pack_rows
from hypercast.host.compiler.state import STATE, store_state, weight_rows
from hypercast.host.runtime.driver import Driver
from hypercast.reference.array_types import IntArray
from hypercast.reference.network import Network
from hypercast.reference.tensor import Tensor
from hypercast.reference.training_state import TrainingState
from hypercast.reference.weight_operands import weight_operands
from hypercast.rtl.registers import Space

__all__ = ["read_parameters", "write_state"]


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
        What is trained.
    state : TrainingState
        What is written.
    """
    config = job.config
    operands = weight_operands(network, config.element_width, state)
    for name, weights in job.weights.items():
        region = weights.state
        images = [np.zeros((region.words, config.chunks), dtype=np.uint32)
                  for _ in range(config.cores)]
        store_state({kind: np.atleast_2d(values)
                     for kind, values in state.parameters[name].items()}, weights, config, images)
        rows = pack_rows(weight_rows(np.atleast_2d(operands[name]), weights, config), config)
        for core, image in enumerate(images):
            driver.write_words(core, region.space, region.address, image)
            driver.write_words(core, Space.WEIGHTS, weights.base, rows)
    entries = np.zeros(config.tensors, dtype=np.uint32)
    for name, number in job.tensors.items():
        # What a step has made of the next sample is no part of a state.
        entries[number] = pack_entry(*state.exponents.get(name, (job.exponents[name], None)))
    driver.write_window(0, Space.TENSORS, 0, entries)
