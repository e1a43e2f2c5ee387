"""The recorded step: when the engines of core 0 were busy, and with what.

A recording needs the compiled chip, so it is kept in ``recorded_step.json``;
``python -m docs.figures --record`` makes it anew.
"""

import json
from pathlib import Path

from docs.figures.training import trainer
from hypercast.rtl.isa import Engine, Opcode

__all__ = ["RECORDING", "read", "record", "text"]

RECORDING = Path(__file__).with_name("recorded_step.json")
#: The training step that is recorded; by then the chip has chosen exponents itself.
_STEP = 2


def record() -> dict:
    """Train on the simulated chip and record core 0 in a step.

    Returns
    -------
    dict
        ``cycles`` of the step, and ``slices``: engine, first cycle, first cycle no more, opcode,
        what is worked on, and phase.
    """
    with trainer("rtl") as training:
        device = training.target
        for step in range(_STEP):
            device.train_step(record=step == _STEP - 1)
        profile, job = device.profile, device.job
    slices = profile.slices
    found = []
    for core, engine, start, end, number in zip(*(part.tolist() for part in slices), strict=True):
        if core == 0:
            instruction = profile.instructions[number]
            found.append([Engine(engine).name, start, end, instruction.fields["opcode"].name,
                          _subject(instruction, job), instruction.phase])
    return {"cycles": profile.cycles, "slices": found}


def _subject(instruction, job) -> str:
    """What an instruction works on, and which panel of it."""
    fields, name = instruction.fields, instruction.name.partition(" ")[2]
    if fields["opcode"] == Opcode.MATMUL and fields["panels"] > 1 and not fields["transposed"]:
        place = job.weights[name]
        return f"{name} {(fields['weights'] - place.base) // place.height}"
    if fields["opcode"] == Opcode.DRAIN:
        return f"{name} {fields['panel']}"
    if fields["opcode"] == Opcode.AGGREGATE:
        region = job.regions[name]
        return f"{name} {(fields['address'] - region.address) // region.stride}"
    return name


def text(recorded: dict) -> str:
    """A recording as the text of its file, a line for each slice."""
    slices = ",\n  ".join(json.dumps(one) for one in recorded["slices"])
    return f'{{\n "cycles": {recorded["cycles"]},\n "slices": [\n  {slices}\n ]\n}}\n'


def read() -> dict:
    """The recording that is kept."""
    return json.loads(RECORDING.read_text())
