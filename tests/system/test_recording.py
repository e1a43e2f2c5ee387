# SPDX-License-Identifier: BSD-2-Clause
"""The compiled chip's recording agrees with its registers and counters, and changes nothing."""

import dataclasses

import numpy as np
import pytest

from hypercast.host.compiler.compiler import compile_job
from hypercast.host.graphs.graph import Graph
from hypercast.host.runtime.alone_chip import AloneChip
from hypercast.host.runtime.comparison import compare
from hypercast.host.runtime.trace import CLOCK_MHZ, trace_events
from hypercast.host.runtime.utilisation import utilisation
from hypercast.host.training.prepare import open_device, open_transport
from hypercast.rtl.isa import Engine, Opcode, encode
from tests.host.runtime.test_trace import check_format
from tests.system.chips import NARROW, SLOW_MEMORY, WIDE, GraphTraining


@pytest.mark.parametrize("config", [NARROW, WIDE], ids=["narrow", "wide"])
def test_recording(config):
    training = GraphTraining(graph=Graph.load("karate"), config=config, hidden=(8,), dropout=0.5)
    plain, recorded = (open_device("rtl", training.model(), config) for _ in range(2))
    try:
        for device in (plain, recorded):
            device.train_step()
            device.evaluate()
        plain.train_step()
        recorded.train_step(record=True)
        words = compare(plain.snapshot(), recorded.snapshot(), config.lanes)
        assert words.words and words.equal == words.words, str(words)
        assert recorded.train_cycles == plain.train_cycles
        assert recorded.counters == plain.counters
        found = recorded.profile

        # Cycles and counts of phases are those of the registers.
        assert {str(phase.name): phase.cycles for phase in found.phases} == {
            name: cycles for name, cycles in recorded.phase_cycles.items() if cycles}
        for name in found.phases[0].counters:
            total = np.sum([phase.counters[name] for phase in found.phases], axis=0)
            assert total.tolist() == recorded.counters[name], name

        # Every instruction of the step was seen, at work after its issue and before the end.
        assert len(found.instructions) == len(recorded.job.instructions("train")) - 1
        issues = np.array([instruction.cycle for instruction in found.instructions])
        slices = found.slices
        at_work = {number for number, one in enumerate(found.instructions)
                   if not one.fields.get("prefetch")}  # which never counts as busy
        assert at_work <= set(slices.instruction) <= set(range(len(issues)))
        assert np.all(slices.start > issues[slices.instruction])
        assert np.all(slices.end > slices.start) and slices.end.max() < found.cycles
        check_format(list(trace_events(found, config)))

        recorded.train_step()
        assert recorded.profile is found  # of the last step that was recorded
    finally:
        plain.close()
        recorded.close()


@pytest.mark.parametrize("config", [NARROW, WIDE], ids=["narrow", "wide"])
def test_counters_of_phases_are_the_registers(config):
    """Where a phase begins, counters are what registers read if the program ends there."""
    model = GraphTraining(
        graph=Graph.load("karate"), config=config, hidden=(8,), dropout=0.5).model()
    job = compile_job(model, config)
    first, program = job.starts["train"], list(job.program)
    for row in range(first, first + len(job.instructions("train"))):
        program[row] |= (1 << len(Engine)) - 1 << 4  # field ``waits``: one after the other
    job = dataclasses.replace(job, program=program)

    def open_chip():
        return AloneChip(open_transport("rtl", config), job, model)

    def registers_before(number):
        chip = open_chip()
        try:
            chip.driver.patch(first + number, encode(Opcode.HALT))
            chip.driver.run(first, limit=100_000)
            return chip.driver.monitor.counters()
        finally:
            chip.close()

    recorded = open_chip()
    try:
        recorded.train_step(record=True)
    finally:
        recorded.close()
    found = recorded.profile
    sums = {name: np.zeros(config.cores, dtype=int) for name in found.phases[0].counters}
    phase, compared = found.instructions[0].phase, 0
    for number, instruction in enumerate(found.instructions):
        if instruction.phase != phase:
            phase = instruction.phase
            registers = registers_before(number)
            for name, values in sums.items():
                later = registers[name] - values
                # A word of the edges may be fetched ahead, after the next instruction's issue.
                ahead = 1 if name == "gradients_read" else 0
                assert np.all((later >= 0) & (later <= ahead)), (number, instruction.name, name)
            compared += 1
        for name, values in sums.items():
            values += instruction.counters[name]
    assert compared >= len(found.phases) - 1
    assert all(sums[name].all() for name in ("array_words", "edges", "sent", "vector_words"))


@pytest.mark.parametrize("config", [NARROW, WIDE, SLOW_MEMORY], ids=["narrow", "wide", "slow"])
def test_nothing_is_used_by_more_than_all_of_it(config):
    training = GraphTraining(graph=Graph.load("karate"), config=config, hidden=(8,), dropout=0.5)
    device = open_device("rtl", training.model(), config)
    try:
        device.train_step(record=True)
    finally:
        device.close()
    found, whole = device.profile, utilisation(device.counters, device.train_cycles, config)
    for phase in found.phases:
        for row in utilisation(phase.counters, phase.cycles, config):
            assert 0 <= row.work <= 1, (phase.name, row)
            assert all(0 <= share <= 1 for share in row.limits.values()), (phase.name, row)

    # The trace's tracks stay within all of it, and add up to the whole step's work.
    starts = [instruction.cycle for instruction in found.instructions]
    lengths = dict(zip(starts, np.diff([*starts, found.cycles]).tolist(), strict=True))
    lengths = {round(start / CLOCK_MHZ, 3): length for start, length in lengths.items() if length}
    work = {row.name: 0.0 for row in whole}
    for event in trace_events(found, config):
        if event["ph"] == "C":
            assert 0 <= event["args"]["percent"] <= 100, event
            work[event["name"]] += event["args"]["percent"] / 100 * lengths[event["ts"]]
    for row in whole:
        assert row.work > 0
        assert work[row.name] / found.cycles == pytest.approx(row.work, abs=1e-3), row.name
