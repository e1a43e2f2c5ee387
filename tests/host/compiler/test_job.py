# SPDX-License-Identifier: BSD-2-Clause
"""Jobs: programs of whole trainings."""

from dataclasses import replace

import pytest

from hypercast.host.compiler.compiler import compile_job
from hypercast.reference.network import AGGREGATE_FIRST, COMBINE_FIRST
from hypercast.rtl.isa import Opcode, decode
from tests.host.models import SMALL, small_model
from tests.host.noted_programs import noted, summary


@pytest.mark.parametrize("orders", [COMBINE_FIRST, AGGREGATE_FIRST])
def test_matrices_of_a_training_step(orders):
    job = compile_job(small_model(orders=orders, dropout=0.0), SMALL)
    combined = {"T1", "T2", "dT1", "dT2"} if orders == COMBINE_FIRST else {"M1", "M2", "dM2"}
    assert sorted(job.matrices) == sorted({"H1", "Z2", "dZ1", "dZ2"} | combined)
    assert {name.level for name in job.matrices} == ({0, 1, 2} if "T1" in combined else {1, 2})


def test_programs_follow_each_other():
    """Each up to its HALT; the vertices of a job are those with labels."""
    job = compile_job(small_model(), SMALL.replace(operand_words=64))
    assert list(job.starts) == ["load", "train", "evaluate"]
    parts = [job.instructions(entry) for entry in job.starts]
    assert [word for part in parts for word in part] == job.program
    for part in parts:
        opcodes = [decode(word)["opcode"] for word in part]
        assert opcodes.index(Opcode.HALT) == len(part) - 1
    assert [decode(word).get("step") for part in parts for word in part[-1:]] == [0, 1, 0]
    assert replace(job, rows=(9, 5, 3)).vertices == 3


@pytest.mark.parametrize("name", ["plain", "residual", "dropout and Adam", "jumping", "GraphSAGE"])
def test_programs_are_those_noted(name):
    assert summary(name) == noted(name)
