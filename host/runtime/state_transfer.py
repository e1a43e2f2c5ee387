"""Moves a training's state between a chip and the host."""

import numpy as np

from hypercast.host.compiler.job import Job
from hypercast.host.compiler.packing import pack_entry, pack_rows
from hypercast.host.compiler.state import store_state, weight_rows
from hypercast.host.runtime.driver import Driver
from hypercast.host.runtime.model import ChipModel
from hypercast.reference.training_state import TrainingState
from hypercast.rtl.registers import Space

__all__ = ["read_state", "write_state"]


def read_state(driver: Driver, job: Job, model: ChipModel, step: int) -> TrainingState:
    """The ``TrainingState`` of a chip between two programs.

    Parameters
    ----------
    driver : Driver
        Reaches the chip.
    job : Job
        What the chip runs.
    model : ChipModel
        What the job was compiled from, for shapes and for what the optimiser keeps.
    step : int
        Training steps done.
    """
    parameters = {}
    for name in job.weights:
        arrays = driver.optimiser(job, name)
        parameters[name] = {kind: values.reshape(model.masters[name].shape)
                            for kind, values in zip(model.kept(), arrays, strict=True)}
    return TrainingState(step=step, parameters=parameters, exponents=driver.exponent_file(job),
                         momentum_exponents=model.momentum_exponents.entries())


def write_state(driver: Driver, job: Job, model: ChipModel, state: TrainingState) -> None:
    """Write a ``TrainingState`` into a chip that holds the job, and its exponents of momenta into
    the model: all but its step.

    Parameters are those of ``read_state``.
    """
    config = job.config
    model.momentum_exponents.load(state.momentum_exponents)
    for name, weights in job.weights.items():
        region = weights.state
        images = [np.zeros((region.words, config.chunks), dtype=np.uint32)
                  for _ in range(config.cores)]
        store_state([np.atleast_2d(state.parameters[name][kind]) for kind in model.kept()], weights,
                    config, images)
        operands = weight_rows(np.atleast_2d(model.operand(name, state)), weights, config)
        rows = pack_rows(operands, config)
        for core, image in enumerate(images):
            driver.write_words(core, region.space, region.address, image)
            driver.write_words(core, Space.WEIGHTS, weights.base, rows)
    entries = np.zeros(config.tensors, dtype=np.uint32)
    for name, number in job.tensors.items():
        entries[number] = pack_entry(*state.exponents[name])
    driver.write_window(0, Space.TENSORS, 0, entries)
