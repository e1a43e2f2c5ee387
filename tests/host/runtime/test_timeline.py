# SPDX-License-Identifier: BSD-2-Clause
"""A recording and a program put together: whose slices, whose cycles, whose counts."""

import numpy as np
import pytest

from hypercast.host.compiler.compiler import compile_job
from hypercast.host.compiler.phase_name import PhaseKind, PhaseName
from hypercast.host.runtime.timeline import WORK_COUNTERS, profile
from hypercast.host.transport.transport import Timeline
from hypercast.reference.tensor import BACKWARD, Tensor
from hypercast.rtl.isa import Opcode, decode, engine_of, opcodes_of
from hypercast.rtl.registers import COUNTERS
from tests.host.models import SMALL, named_model, small_model

#: Cycles between two issues, and of the first issue.
STEP, FIRST = 20, 4


def recording(job):
    """A timeline in which every instruction's engine is busy for 10 cycles, on core 1 for 5.

    At each issue, every counter is the number of instructions before, times 3 on core 1.
    """
    words = job.instructions("train")[:-1]  # without HALT, which is not issued
    issues = FIRST + STEP * np.arange(len(words))
    changes = []
    for issue, word in zip(issues, words, strict=True):
        engine = engine_of(decode(word)["opcode"])
        for core, length in ((0, 10), (1, 5)):
            changes += [(issue + 3, core, 1 << engine), (issue + 3 + length, core, 0)]
    cycle, core, busy = np.array(changes).T
    counts = np.arange(len(words))[:, None, None] * np.array([1, 3])[None, :, None]
    return Timeline(
        cycle=cycle, core=core, busy=busy, issue_cycle=issues,
        issued=np.array([word & 0xFFFFFFFF for word in words], dtype=np.uint32),
        counters=np.broadcast_to(counts, (len(words), 2, len(COUNTERS))).astype(np.uint32))


@pytest.fixture(scope="module")
def job():
    return compile_job(small_model(), SMALL)


@pytest.fixture(scope="module")
def found(job):
    timeline = recording(job)
    count = len(timeline.issued)
    counters = {name: [count, 3 * count] for name in COUNTERS}
    return profile(timeline, job, job.starts["train"], FIRST + STEP * count, counters)


def test_instructions(job, found):
    names = [instruction.name for instruction in found.instructions]
    assert names[0] == "MATMUL W1"
    assert {"MATMUL W2", "DRAIN T1", "AGGREGATE T1", "DRAIN H1", "LOSS dZ2", "GRADIENT dT1",
            "UPDATE W1", "UPDATE b2"} <= set(names)
    for name, instruction in zip(names, found.instructions, strict=True):
        assert name.split()[0] == decode(job.program[instruction.row])["opcode"].name
    assert [instruction.row for instruction in found.instructions] == \
        list(range(job.starts["train"], job.starts["evaluate"] - 1))
    assert found.instructions[0].phase == PhaseName(PhaseKind.FORWARD, 1)
    assert {one.phase for one in found.instructions if one.name == "DRAIN Z2"} == {
        PhaseName(PhaseKind.FORWARD, 2)}
    assert {one.phase for one in found.instructions if one.name == "UPDATE b2"} == {
        PhaseName(PhaseKind.UPDATE, 2)}


@pytest.mark.parametrize("model", [
    small_model(), small_model(orders="aggregate_first", dropout=0), named_model("sage"),
    named_model("gin")],
    ids=["combined first", "aggregated first", "GraphSAGE", "GIN"])
def test_a_gradient_is_named_by_its_right_operand_in_whatever_channel(model):
    job = compile_job(model, SMALL)
    timeline = recording(job)
    count = len(timeline.issued)
    names = profile(timeline, job, job.starts["train"], FIRST + STEP * count,
                    {name: [count, 3 * count] for name in COUNTERS}).instructions
    gradients = [one for one in names if one.fields["opcode"] == Opcode.GRADIENT]
    assert gradients
    for one in gradients:
        subject = one.name.partition(" ")[2]
        assert Tensor.parse(subject).kind in BACKWARD, one.name
        assert job.regions[subject].channel == one.fields["gradient_channel"]


def test_slices_belong_to_the_instruction_issued_before(found):
    slices = found.slices
    assert len(slices.core) == 2 * len(found.instructions)
    issues = np.array([instruction.cycle for instruction in found.instructions])
    assert np.array_equal(slices.start, issues[slices.instruction] + 3)
    assert np.array_equal(slices.end - slices.start, np.where(slices.core == 0, 10, 5))
    for engine, number in zip(slices.engine, slices.instruction, strict=True):
        assert found.instructions[number].fields["opcode"] in opcodes_of(engine)


def test_phases_share_all_cycles_and_counts(job, found):
    assert [phase.name for phase in found.phases] == [
        name for name in job.phases if str(name) not in ("update", "evaluate")]
    assert sum(phase.cycles for phase in found.phases) == found.cycles
    starts = [instruction.phase for instruction in found.instructions]
    assert starts != sorted(starts, key=job.phases.index), "phases overlap in this program"
    for phase in found.phases:
        own = [one for one in found.instructions if one.phase == phase.name]
        first = FIRST if str(phase.name) == "forward 1" else 0
        assert phase.cycles == STEP * len(own) + first
        assert set(phase.counters) == set(WORK_COUNTERS)
        assert phase.counters["edges"] == [len(own), 3 * len(own)]


def test_counters_that_wrap(job):
    timeline = recording(job)
    near = np.uint32(2**32 - 5)
    timeline = timeline._replace(counters=timeline.counters + near)
    count = len(timeline.issued)
    final = (np.array([count, 3 * count]) + near).astype(np.uint32)
    found = profile(timeline, job, job.starts["train"], 10_000,
                    {name: final for name in COUNTERS})
    assert found.instructions[7].counters["sent"] == [1, 3]


def test_another_program_is_refused(job):
    timeline = recording(job)
    counters = {name: [0, 0] for name in COUNTERS}
    halt = job.starts["evaluate"] - 1
    with pytest.raises(ValueError, match=f"instruction 0 of the timeline is not that of program "
                                         f"row {halt}; record"):
        profile(timeline, job, halt, 10_000, counters)
    with pytest.raises(ValueError, match=f"program row {len(job.program)}; record"):
        last = timeline._replace(issued=np.array(job.program[-1:]) & 0xFFFF,
                                 issue_cycle=timeline.issue_cycle[:1],
                                 counters=timeline.counters[:1])
        profile(last, job, len(job.program), 10_000, counters)
