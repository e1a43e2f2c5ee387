# SPDX-License-Identifier: BSD-2-Clause
"""The recorded step: when the engines of core 0 were busy, and with what.

A recording needs the compiled chip, so it is kept in ``recorded_step.json``;
``python -m docs.figures --record`` makes it anew.
"""

import json
from pathlib import Path
from typing import NamedTuple

from docs.figures.training import trainer
from hypercast.host.compiler.job import Job
from hypercast.host.runtime.alone_chip import AloneChip
from hypercast.host.runtime.timeline import IssuedInstruction
from hypercast.reference.tensor import Tensor
from hypercast.rtl.isa import Engine, Opcode

__all__ = ["RECORDING", "Recording", "Slice", "read", "record", "text"]

RECORDING = Path(__file__).with_name("recorded_step.json")
#: The training step that is recorded; by then the chip has chosen exponents itself.
_STEP = 2


class Slice(NamedTuple):
    """A stretch of cycles in which an engine was busy.

    Attributes
    ----------
    engine : str
        Name of the engine.
    start, end : int
        First cycle, and first cycle no more.
    opcode, subject, phase : str
        What the instruction does, what it works on, and its phase.
    """

    engine: str
    start: int
    end: int
    opcode: str
    subject: str
    phase: str


class Recording(NamedTuple):
    """A training step on core 0.

    Attributes
    ----------
    cycles : int
        All cycles of the step.
    slices : list of Slice
        When engines were busy.
    """

    cycles: int
    slices: list[Slice]


def record() -> Recording:
    """Train on the simulated chip and record a step."""
    with trainer("rtl") as training:
        device = training.target
        assert isinstance(device, AloneChip)
        for step in range(_STEP):
            device.train_step(record=step == _STEP - 1)
        profile, job = device.profile, device.job
    assert profile is not None
    found = []
    for core, engine, start, end, number in zip(
            *(part.tolist() for part in profile.slices), strict=True):
        if core == 0:
            instruction = profile.instructions[number]
            found.append(Slice(Engine(engine).name, start, end, instruction.fields["opcode"].name,
                               _subject(instruction, job), str(instruction.phase)))
    return Recording(profile.cycles, found)


def _subject(instruction: IssuedInstruction, job: Job) -> str:
    """What an instruction works on, and which panel of it."""
    fields, name = instruction.fields, instruction.name.partition(" ")[2]
    if fields["opcode"] == Opcode.MATMUL and fields["panels"] > 1 and not fields["transposed"]:
        place = job.weights[Tensor.parse(name)]
        return f"{name} {(fields['weights'] - place.base) // place.height}"
    if fields["opcode"] == Opcode.DRAIN:
        return f"{name} {fields['panel']}"
    if fields["opcode"] == Opcode.AGGREGATE:
        region = job.regions[name]
        return f"{name} {(fields['address'] - region.address) // region.stride}"
    return name


def text(recording: Recording) -> str:
    """A recording as the text of its file, a line for each slice."""
    slices = ",\n  ".join(json.dumps(one) for one in recording.slices)
    return f'{{\n "cycles": {recording.cycles},\n "slices": [\n  {slices}\n ]\n}}\n'


def read() -> Recording:
    """The recording that is kept."""
    kept = json.loads(RECORDING.read_text())
    return Recording(kept["cycles"], [Slice(*one) for one in kept["slices"]])
