# SPDX-License-Identifier: BSD-2-Clause
"""A chip's run of a program in time, from a recording of its engines and instructions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from hypercast.errors import InputError
from hypercast.host.compiler.job import Job
from hypercast.host.compiler.phase_name import PhaseName
from hypercast.host.transport.transport import Integers, Timeline
from hypercast.rtl.access import Store
from hypercast.rtl.isa import HEADER_WIDTH, OPERATIONS, Engine, Opcode, decode, opcodes_of
from hypercast.rtl.loop import unroll
from hypercast.rtl.registers import COUNTERS

__all__ = ["WORK_COUNTERS", "CountedPhase", "IssuedInstruction", "Profile", "Slices", "profile"]

#: Counters that grow while a program runs; the others are results.
WORK_COUNTERS = tuple(name for name, counter in COUNTERS.items() if counter.most)


class IssuedInstruction(NamedTuple):
    """An instruction that was issued.

    Attributes
    ----------
    cycle, row : int
        Cycle of its issue, and its program row.
    name : str
        Opcode and what it works on.
    phase : PhaseName
        The phase that it belongs to.
    fields : dict
        All its fields, as ``isa.decode`` gives them.
    counters : dict
        Each of ``WORK_COUNTERS`` to a list: how much it grew in every core until the next issue.
    """

    cycle: int
    row: int
    name: str
    phase: PhaseName
    fields: dict[str, int]
    counters: dict[str, list[int]]


class Slices(NamedTuple):
    """When engines were busy: (S,) ``numpy.ndarray``s.

    Attributes
    ----------
    core, engine : numpy.ndarray
        Which (``isa.Engine``).
    start, end : numpy.ndarray
        First cycle, and first cycle no more.
    instruction : numpy.ndarray
        Number of the instruction, in order of issue.
    """

    core: Integers
    engine: Integers
    start: Integers
    end: Integers
    instruction: Integers


class CountedPhase(NamedTuple):
    """The cycles of a phase: its instruction was the last one issued in them.

    Attributes
    ----------
    name : PhaseName
        Which, such as ``forward 1``.
    cycles : int
        Number of cycles.
    counters : dict
        Each of ``WORK_COUNTERS`` to a list: how much it grew in every core.
    """

    name: PhaseName
    cycles: int
    counters: dict[str, list[int]]


@dataclass(frozen=True, kw_only=True)
class Profile:
    """One run of a program.

    Parameters
    ----------
    cycles : int
        All cycles.
    instructions : list of IssuedInstruction
        In order of issue.
    slices : Slices
        When engines were busy.
    phases : list of CountedPhase
        Phases with cycles, in order of appearance.
    """

    cycles: int
    instructions: list[IssuedInstruction]
    slices: Slices
    phases: list[CountedPhase]


def profile(timeline: Timeline, job: Job, entry: int, cycles: int,
            counters: Mapping[str, Sequence[int]]) -> Profile:
    """Put a recording and the program together.

    Parameters
    ----------
    timeline : Timeline
        The recording.
    job : Job
        What was run.
    entry : int
        Program row it began at.
    cycles : int
        Cycles it took.
    counters : dict
        Counter name to a value per core, at the end.

    Raises
    ------
    InputError
        If other instructions were issued than the job has.
    """
    final = np.array([counters[name] for name in COUNTERS], dtype=np.uint32).T[None]
    samples = np.concatenate([np.zeros_like(final), timeline.counters, final])
    growth = np.diff(samples, axis=0)  # modulo 2**32, as the counters
    growth[1] += growth[0]  # what was before the first instruction
    instructions = []
    program = unroll(job.program, entry)
    for number, (cycle, low) in enumerate(zip(timeline.issue_cycle, timeline.issued, strict=True)):
        row, word, *_ = next(program, (len(job.program), 0))
        if row >= len(job.program) or word & _OPERATION != low & _OPERATION:
            raise InputError(f"instruction {number} of the timeline is not that of program row "
                             f"{row}; record the program that was compiled")
        fields = decode(word)
        operation = Opcode(fields["opcode"]).name
        instructions.append(IssuedInstruction(
            cycle=int(cycle), row=row, name=f"{operation} {_operand(fields, job)}",
            phase=job.phases[fields["phase"]], fields=fields,
            counters=_work(growth[number + 1])))
    return Profile(cycles=cycles, instructions=instructions,
                   slices=_slices(timeline, instructions, samples.shape[1]),
                   phases=_phases(instructions, cycles))


#: Opcode, waits and phase in an instruction's low bits.
_OPERATION = (1 << HEADER_WIDTH) - 1


def _work(growth: npt.NDArray[np.uint32]) -> dict[str, list[int]]:
    return {name: growth[:, index].tolist() for index, name in enumerate(COUNTERS)
            if name in WORK_COUNTERS}


def _operand(fields: Mapping[str, int], job: Job) -> str:
    """Name of what an instruction works on."""
    subject = OPERATIONS[Opcode(fields["opcode"])].subject(fields)
    place = fields[subject.field]
    if subject.store == Store.EXPONENT:
        return next(name for name, number in job.tensors.items() if number == place)
    if subject.store == Store.WEIGHTS:
        return next(name for name, weights in job.weights.items()
                    if 0 <= place - weights.base < weights.rows)
    channel = subject.channel_of(fields)
    return next((name for name, region in job.regions.items() if region.channel == channel
                 and 0 <= place - region.address < region.words), "nothing")


def _slices(timeline: Timeline, instructions: Sequence[IssuedInstruction], cores: int) -> Slices:
    parts: list[Integers] = []
    for engine in Engine:
        opcodes = opcodes_of(engine)
        own = np.array([number for number, instruction in enumerate(instructions)
                        if instruction.fields["opcode"] in opcodes], dtype=int)
        issues = timeline.issue_cycle[own]
        for core in range(cores):
            mine = timeline.core == core
            states = np.concatenate([[0], timeline.busy[mine] >> engine & 1])
            steps = np.diff(states.astype(int))
            start, end = (timeline.cycle[mine][steps == step] for step in (1, -1))
            which = own[np.searchsorted(issues, start, side="right") - 1]
            parts.append(np.stack([np.full_like(start, core), np.full_like(start, engine), start,
                                   end, which]))
    return Slices(*np.concatenate(parts, axis=1))


def _phases(instructions: Sequence[IssuedInstruction], cycles: int) -> list[CountedPhase]:
    """Phases with their cycles; cycles before the first instruction count for its phase."""
    edges = [0, *(instruction.cycle for instruction in instructions[1:]), cycles]
    found: dict[PhaseName, list[tuple[int, dict[str, list[int]]]]] = {}
    for instruction, length in zip(instructions, np.diff(edges).tolist(), strict=True):
        found.setdefault(instruction.phase, []).append((length, instruction.counters))
    return [CountedPhase(name=name, cycles=sum(length for length, _ in parts),
                         counters={counter: np.sum([grown[counter] for _, grown in parts],
                                                   axis=0).tolist() for counter in WORK_COUNTERS})
            for name, parts in found.items()]
