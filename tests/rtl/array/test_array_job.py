# SPDX-License-Identifier: BSD-2-Clause
"""decode: what is asked of the array is what the instruction says."""

import numpy as np
import pytest
from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hypercast.rtl import isa
from hypercast.rtl.array.array_job import ArrayJob, decode
from hypercast.rtl.isa import HEADER, OPERANDS, ROWS_WIDTH, Opcode
from hypercast.rtl.layouts import Issue
from tests.bench import run

_SAME = {"row_start", "panels", "panel", "sparse", "address", "stride", "dropout", "operand",
         "operand_base", "operand_stride", "chained"}
_MATMUL = {"channel", "buffer", "weights", "weight_stride", "transposed"}
_GRADIENT = {"ones", "gradient_address", "gradient_channel", "first_row", "digits", "sums",
             "sums_row", "bypassed", "bypass_base"}


class _Decoder(wiring.Component):
    issue: In(Issue)
    rows: In(ROWS_WIDTH)
    job: Out(ArrayJob)

    def elaborate(self, platform):
        m = Module()
        for name, value in decode(self.issue, self.rows).items():
            m.d.comb += self.job[name].eq(value)
        return m


def _expected(fields, rows, key):
    """The fields of a job that mean something."""
    gradient = fields["opcode"] == Opcode.GRADIENT
    job = {name: fields[name] for name in _SAME | (_GRADIENT if gradient else _MATMUL)}
    job |= {"gradient": int(gradient), "key": key, "threshold": fields["dropout_threshold"]}
    job["rows"] = min(max(rows - fields["row_start"], 0), fields["row_limit"])
    if gradient:  # from the channel that the other operand is not in
        return job | {"channel": 1 - fields["gradient_channel"]}
    return job | {"ones": 0, "sums": 0, "bypassed": 0}


@pytest.mark.parametrize("opcode", [Opcode.MATMUL, Opcode.GRADIENT])
def test_random_instructions(opcode):
    rng = np.random.default_rng(opcode)
    used = sum(abs(width) for _, width in (*HEADER, *OPERANDS[opcode]))
    dut = _Decoder()

    async def bench(ctx):
        for _ in range(300):
            fields = {name: int(rng.integers(1 << width)) for name, width in OPERANDS[opcode]}
            rows = int(rng.integers(1 << ROWS_WIDTH)) >> int(rng.integers(ROWS_WIDTH))
            if rng.random() < 0.8:  # near the tile's limits
                fields["row_start"] = max(rows + int(rng.integers(-9, 9)), 0) % (1 << ROWS_WIDTH)
                fields["row_limit"] = int(rng.integers(9))
            key = int(rng.integers(1 << 32))
            # What lies beyond the fields means nothing.
            beyond = int.from_bytes(rng.bytes(isa.INSTRUCTION_WIDTH // 8 + 1), "little") << used
            instruction = isa.encode(opcode, **fields) | beyond % (1 << isa.INSTRUCTION_WIDTH)
            ctx.set(dut.issue, {"instruction": instruction, "dropout_key": key})
            ctx.set(dut.rows, rows)
            job = ctx.get(dut.job)
            expected = _expected(fields | {"opcode": opcode}, rows, key)
            assert {name: job[name] for name in expected} == expected

    run(dut, bench)
