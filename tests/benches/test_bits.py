# SPDX-License-Identifier: BSD-2-Clause
"""Trainings of the bench of bits: each fits its chip."""

import pytest

from hypercast.benches.bits import (
    COMPILED,
    DEFAULTS,
    REFERENCE,
    SAME_BITS,
    SIMULATED,
    VERILATED,
    default_states,
)
from hypercast.benches.trainings import BenchTraining
from hypercast.host.compiler.compiler import compile_job


@pytest.mark.parametrize("training", [
    *COMPILED.values(), *VERILATED.values(),
    *(BenchTraining(dataset="blocks", config=config, epochs=5) for config in SAME_BITS.values())],
    ids=[*COMPILED, *(f"{name}, Verilator" for name in VERILATED), *SAME_BITS])
def test_trainings_fit(training):
    job = compile_job(training.model(), training.config)
    assert len(job.program) <= training.config.program_rows


@pytest.mark.parametrize("dataset", DEFAULTS)
def test_trainings_by_default_options_are_the_same_on_all_presets(dataset):
    """By the reference; the bench also simulates the smaller chips."""
    states = default_states(dataset, 2, dict.fromkeys(SIMULATED + REFERENCE, "reference"),
                            lambda text: None)
    assert len(states) == 5 and len({*states.values()}) == 1
