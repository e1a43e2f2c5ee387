# SPDX-License-Identifier: BSD-2-Clause
"""ArrayEngine with operands from its buffer: the same sums, and no reads."""

import numpy as np
import pytest

from hypercast.rtl.isa import OperandSource
from tests.rtl.array.test_array_engine import (
    CONFIGS,
    DROPOUT,
    GRADIENT,
    MATMUL,
    SPARSE,
    TINY,
    Bench,
)


def filled(base, stride=0):
    """Fields of an instruction that fills the buffer, and of one that takes from it."""
    place = {"operand_base": base, "operand_stride": stride}
    return ({"operand": OperandSource.FILL, **place}, {"operand": OperandSource.BUFFER, **place})


BUFFERS = [("tiny", 1, 1, 0.0, 0.0), ("single", 0, 64, 0.1, 0.3), ("bytes", 2, 5, 0.2, 0.6)]


@pytest.mark.parametrize("name,core,latency,stall,blocked", BUFFERS)
def test_dense_operand_from_the_buffer(name, core, latency, stall, blocked):
    """MATMULs of several output panels and a GRADIENT read the operand from memory once."""
    bench = Bench(CONFIGS[name].replace(operand_words=128), core=core, latency=latency,
                  stall=stall, blocked=blocked)
    fill, reuse = filled(5, 30)

    async def program(ctx):
        first = MATMUL | {"row_limit": 23}
        await bench.matmul(ctx, 23, key=4, **first | fill | DROPOUT)
        with bench.without_memory(0):
            await bench.matmul(ctx, 23, **first | reuse | {"weights": 56, "buffer": 1})
            await bench.gradient(ctx, 23, key=4, **GRADIENT | reuse | DROPOUT | {
                "address": first["address"], "stride": first["stride"], "panel": 3})
            await bench.gradient(ctx, 23, **GRADIENT | reuse | {  # from panel 1 on
                "address": first["address"] + first["stride"], "panels": 2,
                "stride": first["stride"], "operand_base": 5 + 30, "first_row": 3})
        await bench.check_drain(ctx, 0)
        await bench.check_drain(ctx, 1)

    bench.run(program)


@pytest.mark.parametrize("name,core,latency,stall,blocked", BUFFERS)
@pytest.mark.parametrize("density", [0.0, 0.4])
def test_sparse_operand_from_the_buffer(name, core, latency, stall, blocked, density):
    """Besides a dense one, in a tile of rows that does not begin at row 0."""
    bench = Bench(CONFIGS[name].replace(operand_words=256), core=core, latency=latency,
                  stall=stall, blocked=blocked)
    fill, reuse = filled(40)
    fill_dense, reuse_dense = filled(3, 12)
    tile = {"row_start": 15, "row_limit": 12}

    async def program(ctx):
        matrix = bench.draw_sparse(37, 5, density)
        await bench.matmul(ctx, 37, **MATMUL | fill_dense | tile)
        await bench.sparse_matmul(ctx, matrix, key=9, **SPARSE | fill | DROPOUT)
        with bench.without_memory(0):
            await bench.sparse_matmul(ctx, matrix, **SPARSE | reuse | {"weights": 11, "buffer": 1})
            await bench.gradient(ctx, 37, key=9, matrix=matrix, **GRADIENT | reuse | DROPOUT | {
                "panels": 5, "panel": 0})
            await bench.matmul(ctx, 37, key=8, **MATMUL | reuse_dense | tile | DROPOUT)
        await bench.gradient(ctx, 37, matrix=matrix, **GRADIENT | {"panels": 5})
        await bench.check_drain(ctx, 0)
        await bench.check_drain(ctx, 1)

    bench.run(program)


@pytest.mark.parametrize("sparse", [False, True])
def test_products_in_parts(sparse):
    """Two MATMULs over some inner panels each add up to one over all of them."""
    bench = Bench(TINY.replace(operand_words=256), latency=3)
    fill, reuse = filled(0, 20)

    async def program(ctx):
        fields = MATMUL | {"row_limit": 20, "panels": 8, "weight_stride": 4}
        rest = {"panels": 1, "address": fields["address"] + 7 * fields["stride"],
                "operand_base": 7 * 20, "weights": fields["weights"] + 7 * 4}
        if sparse:
            matrix = bench.draw_sparse(20, 8, 0.4)
            parts = np.split(matrix, [7 * bench.config.lanes], axis=1)
            fields = {name: fields[name] for name in SPARSE} | {"weight_stride": 4}
            await bench.sparse_matmul(ctx, matrix, **fields)
            await bench.sparse_matmul(ctx, parts[0], **fields | {"buffer": 1})
            await bench.sparse_matmul(ctx, parts[1], **fields | {
                "buffer": 1, "weights": rest["weights"]})
        else:
            await bench.matmul(ctx, 20, **fields | fill)
            await bench.matmul(ctx, 20, **fields | {"buffer": 1, "panels": 7})
            with bench.without_memory(0):
                await bench.matmul(ctx, 20, **fields | reuse | rest | {"buffer": 1})
        whole, sum_of_parts = await bench.check_drain(ctx, 0), await bench.check_drain(ctx, 1)
        assert whole == sum_of_parts

    bench.run(program)


@pytest.mark.parametrize("sparse", [False, True])
def test_the_buffer_hides_slow_memory(sparse):
    """From the buffer, the array has a word in every cycle however late memory answers."""
    bench = Bench(CONFIGS["test"], latency=64)
    fill, reuse = filled(0, 40)

    async def program(ctx):
        if sparse:
            matrix = bench.draw_sparse(40, 5, 0.9)
            await bench.sparse_matmul(ctx, matrix, **SPARSE | fill)
            count = await bench.sparse_matmul(ctx, matrix, **SPARSE | reuse)
        else:
            fields = MATMUL | {"panels": 5, "weight_stride": 4}
            await bench.matmul(ctx, 40, **fields | fill)
            count = await bench.matmul(ctx, 40, **fields | reuse)
        assert count["starved"] <= 5 and count["blocked"] <= bench.config.lanes, count
        assert count["busy"] <= count["words"] + 25, count

    bench.run(program)
