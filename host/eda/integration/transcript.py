# SPDX-License-Identifier: BSD-2-Clause
"""A training as accesses to the chip's registers, for test benches in any language.

Every value that is read is known beforehand, from the reference.
"""

from typing import NamedTuple

from hypercast.host.compiler.compiler import compile_job
from hypercast.host.compiler.packing import unpack_entry
from hypercast.host.runtime.driver import Driver
from hypercast.host.runtime.image import step_blocks
from hypercast.host.runtime.state_transfer import write_state
from hypercast.host.transport.transport import Transport
from hypercast.reference.fixed_gnn import FixedGnn
from hypercast.reference.initial_model import InitialModel
from hypercast.rtl.config import INTERFACE_VERSION, Config
from hypercast.rtl.registers import MAGIC, Control, Space, Status, register

__all__ = ["READ", "WAIT", "WRITE", "Access", "transcript"]

#: What an access does: write a register; read it and compare; read it until a bit is zero.
WRITE, READ, WAIT = range(3)


class Access(NamedTuple):
    """One access to a register.

    Attributes
    ----------
    kind : int
        ``WRITE``, ``READ`` or ``WAIT``.
    address : int
        Byte address.
    value : int
        What is written, what must be read, or the bits that have to become zero.
    """

    kind: int
    address: int
    value: int


class _Recorder(Transport):
    """A chip that is idle, and notes what is done to it.

    Parameters
    ----------
    config : Config
        Configuration of the chip.

    Attributes
    ----------
    accesses : list of Access
        What was done.
    comparing : bool
        Whether writes to memories are noted as reads of the same.
    """

    def __init__(self, config: Config) -> None:
        self._values = {register("magic"): MAGIC, register("version"): INTERFACE_VERSION,
                        register("config_hash"): config.hash}
        self.accesses: list[Access] = []
        self.comparing = False

    def read(self, address: int) -> int:
        value = self._values.get(address, 0)
        self.accesses.append(Access(READ, address, value))
        return value

    def write(self, address: int, value: int) -> None:
        self._values[address] = value
        if not (self.comparing and address == register("data")):
            self.accesses.append(Access(WRITE, address, value))
        elif self._values[register("space")] == Space.TENSORS and unpack_entry(value)[1] is None:
            # Of what has no peak for the host, the chip may know one.
            self.accesses.append(Access(WAIT, address, 0))
        else:
            self.accesses.append(Access(READ, address, value))

    def wait(self, cycles: int) -> None:
        """Nothing changes."""

    def run(self, entry: int) -> None:
        """Note a run of the program at a row, to its end."""
        self._values[register("status")] = int(Status.DONE)
        self.accesses += [
            Access(WRITE, register("entry"), entry), Access(WRITE, register("repeat"), 1),
            Access(WRITE, register("control"), int(Control.START)),
            Access(WAIT, register("status"), int(Status.RUNNING)),
            Access(READ, register("error"), 0),
            Access(READ, register("status"), int(Status.DONE))]


def transcript(model: InitialModel, config: Config) -> list[Access]:
    """All accesses of a training: the chip is loaded, trains, and its parameters are compared.

    Compared are weights in every core, master weights, momenta, and exponents of tensors with
    their peaks.

    Parameters
    ----------
    model : InitialModel
        The model that is trained, for as many steps as its recipe says.
    config : Config
        Configuration of the chip.

    Raises
    ------
    CapacityError
        If the training does not fit the chip.
    """
    job, oracle = compile_job(model, config), FixedGnn(model)
    chip = _Recorder(config)
    driver = Driver(chip, config)
    driver.load(job)
    if "load" in job.starts:
        chip.run(job.starts["load"])
    driver.set_step(0, oracle.rules.step_key(0))
    changes = list(step_blocks(job, model))
    for step in range(model.recipe.epochs):
        for when, block in changes:
            if when == step:
                driver.write(block)
        chip.run(job.starts["train"])
        oracle.train_step()
    chip.comparing = True
    write_state(driver, job, model.network, oracle.state())
    return chip.accesses
