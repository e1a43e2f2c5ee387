"""Trainings of the bench of bits: each fits its chip."""

import pytest

from hypercast.host.benches.bits import COMPILED, SAME_BITS, VERILATED
from hypercast.host.benches.trainings import BenchTraining
from hypercast.host.compiler.compiler import compile_job


@pytest.mark.parametrize("training", [
    *COMPILED.values(), *VERILATED.values(),
    *(BenchTraining(dataset="blocks", config=config, epochs=5) for config in SAME_BITS.values())],
    ids=[*COMPILED, *(f"{name}, Verilator" for name in VERILATED), *SAME_BITS])
def test_trainings_fit(training):
    job = compile_job(training.model(), training.config)
    assert len(job.program) <= training.config.program_rows
