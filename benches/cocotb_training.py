# SPDX-License-Identifier: BSD-2-Clause
"""cocotb test module: one training on the chip, compared with the reference in every word.

The training is a pickled ``BenchTraining`` named by ``HYPERCAST_TRAINING``; the result is written
as JSON beside it.
"""

import json
import os
import pickle
from pathlib import Path
from typing import Any

import cocotb
from cocotb.task import bridge

from hypercast.benches.trainings import compare_training
from hypercast.host.compiler.compiler import compile_job
from hypercast.host.runtime.alone_chip import AloneChip
from hypercast.reference.initial_model import InitialModel
from hypercast.sim.cocotb_transport import CocotbTransport

__all__ = ["training"]


@cocotb.test()
async def training(dut: Any) -> None:
    """Trains and compares."""
    path = Path(os.environ["HYPERCAST_TRAINING"])
    job = pickle.loads(path.read_bytes())
    transport = CocotbTransport(dut)
    await transport.reset()

    def chip(model: InitialModel) -> AloneChip:
        return AloneChip(transport, compile_job(model, job.config), model)

    words, _, cycles = await bridge(compare_training)(job, chip)
    path.with_suffix(".json").write_text(json.dumps({
        "words": words.words, "equal": words.equal, "cycles": cycles,
        "first_difference": words.first_difference}))
    assert words.equal == words.words, str(words)
