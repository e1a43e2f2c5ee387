"""The compiled chip's recording agrees with its registers and counters, and changes nothing."""

import numpy as np
import pytest

from hypercast.host.comparison import compare
from hypercast.host.datasets import karate
from hypercast.host.trace import trace_events
from hypercast.host.training import open_device
from tests.host.test_trace import check_format
from tests.system.chips import NARROW, WIDE, GraphTraining


@pytest.mark.parametrize("config", [NARROW, WIDE], ids=["narrow", "wide"])
def test_recording(config):
    training = GraphTraining(graph=karate(), config=config, hidden=(8,), dropout=0.5)
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
        assert {phase.name: phase.cycles for phase in found.phases} == {
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
