# SPDX-License-Identifier: BSD-2-Clause
"""Tests of DRAIN, through the vector unit, against the arithmetic."""

import numpy as np
import pytest

from hypercast.reference import arithmetic
from hypercast.rtl import isa
from hypercast.rtl.config import PRESETS
from hypercast.rtl.isa import DrainSource, Opcode
from hypercast.rtl.placement import rank_of
from tests.rtl.vector.vector_bench import VectorBench, pack, pack_list, sweep, unpack

#: Where things are in memory.
_MASK, _RESULT, _OTHER_MASK, _RANKS = 401, 700, 1201, 1501
_CONFIGS = {
    "2x16": PRESETS["tiny"],
    "2x8": PRESETS["tiny"].replace(element_width=8),
    "4x16": PRESETS["test"],
    "4x8": PRESETS["test"].replace(element_width=8),
    "8x8": PRESETS["test"].replace(lanes=8, element_width=8),
    "16x16": PRESETS["test"].replace(lanes=16, aggregation_rows=128),
}


def _expected(bench, rows, sums, instruction):
    """A DRAIN's words (as arrays), mask, bit length of the magnitude, and saturations."""
    config = bench.config
    operands = instruction["operands"]
    sums = np.array(sums[:rows], dtype=np.int64).reshape(rows, config.lanes)
    if operands.get("bias"):
        bias = unpack(bench.weights[operands["bias_weights"]], config.element_width, config.lanes)
        sums = sums + arithmetic.align(bias, instruction["aux_shift"])
    keep = np.ones_like(sums, dtype=bool)
    if operands.get("dropout"):
        local = operands.get("row_start", 0) + np.arange(rows)
        ranks = instruction["ranks"][:rows] if operands.get("ranked") else \
            rank_of(instruction["core"], local, config.cores)
        features = operands.get("panel", 0) * config.lanes + np.arange(config.lanes)
        keep &= arithmetic.keep_mask(instruction["dropout_key"], operands["dropout_threshold"],
                                     ranks[:, None], features[None, :])
    mask = keep & (sums > 0)
    if operands.get("mask_read"):
        keep = keep & instruction["stored_mask"][:rows]
    if operands.get("relu"):
        keep = keep & (sums > 0)
    sums = np.where(keep, sums, 0)
    words, saturated = arithmetic.requantize(sums, instruction["shift"], config.element_width)
    if operands.get("scale"):
        words, _ = arithmetic.requantize(
            words * operands["scale"], 16, config.element_width)
    return words, mask, arithmetic.bit_length(sums), saturated


def _random_sums(rng, config, rows):
    """Accumulators of all magnitudes, with extremes and negative powers of two."""
    shape = (rows, config.lanes)
    width = config.accumulator_width
    sums = rng.integers(-1 << width - 1, 1 << width - 1, size=shape) >> rng.integers(
        0, width, size=shape)
    special = [0, -1, 1, -(1 << 20), -(1 << 15), (1 << 15) + (1 << 14), (1 << width - 1) - 1,
               -1 << width - 1]
    return np.where(rng.random(shape) < 0.15, rng.choice(special, size=shape), sums)


def _memory_rows(bench, channel, address, rows):
    config = bench.config
    return np.array([unpack(word, config.element_width, config.lanes)
                     for word in bench.channels[channel][address:address + rows]],
                    dtype=np.int64).reshape(rows, config.lanes)


def _random_instruction(bench, core):
    """A random DRAIN, and what surrounds it, set up in ``bench``."""
    rng, config = bench.rng, bench.config
    row_start = int(rng.integers(0, 9))
    operands = {
        "vertices": 3, "row_start": row_start, "row_limit": int(rng.integers(1, 40)),
        "source": int(rng.integers(2)), "buffer": int(rng.integers(2)),
        "channel": int(rng.integers(2)), "address": _RESULT, "mask_address": _MASK,
        "bias": int(rng.integers(2)), "bias_weights": int(rng.integers(config.weight_rows)),
        "relu": int(rng.integers(2)), "panel": int(rng.integers(1 << 14)),
        "dropout": int(rng.integers(2)), "dropout_threshold": int(rng.integers(1 << 16)),
        "scale": int(rng.choice([0, 1, 40000, 65535])),
    }
    operands.update(rng.choice(
        [{}, {"mask_write": 1}, {"mask_read": 1}, {"mask_write": 1, "channel": 0}]))
    if operands["dropout"] and "mask_read" not in operands:
        operands |= {"ranked": int(rng.integers(2)), "ranks": _RANKS}
    bench.weights[operands["bias_weights"]] = pack(
        rng.integers(-1 << config.element_width - 1, 1 << config.element_width - 1,
                     size=config.lanes), config.element_width)
    furthest = config.accumulator_width - config.element_width - 1
    return {
        "operands": operands, "core": core, "rows": int(rng.integers(0, 50)),
        "shift": int(rng.choice([0, 5, 15, 22, 31, 47, 63])),
        "aux_shift": int(rng.choice([-63, -16, -3, 0, 7, furthest])),
        "dropout_key": int(rng.integers(1 << 32)), "ranks": rng.integers(1 << 32, size=40),
    }


async def _execute(bench, ctx, instruction):
    return await bench.execute(
        ctx, Opcode.DRAIN, local_rows=instruction["rows"], shift=instruction["shift"],
        aux_shift=instruction["aux_shift"], dropout_key=instruction["dropout_key"],
        **instruction["operands"])


@pytest.mark.parametrize("name, stall, latency", [
    *(pytest.param(name, 0.3, 20, marks=sweep(name)) for name in _CONFIGS),
    ("2x8", 0.0, 1), ("4x16", 0.0, 1)])
def test_random_instructions_back_to_back(name, stall, latency):
    config = _CONFIGS[name]
    core = config.cores - 1
    bench = VectorBench(config, seed=len(name) + latency, latency=latency, stall=stall, core=core)
    rng = bench.rng

    async def testbench(ctx):
        written = 0
        saturations = 0
        for _ in range(10):
            instruction = _random_instruction(bench, core)
            operands = instruction["operands"]
            rows = min(max(instruction["rows"] - operands["row_start"], 0), operands["row_limit"])
            sums = _random_sums(rng, config, rows)
            source = bench.array if operands["source"] == DrainSource.ARRAY else bench.aggregation
            source[operands["buffer"], :rows] = sums
            instruction["stored_mask"] = rng.random((rows, config.lanes)) < 0.5
            if operands.get("mask_read"):
                packed = pack_list([pack(row, 1) for row in instruction["stored_mask"]],
                                   config.lanes, config.word_width)
                bench.channels[1][_MASK:_MASK + len(packed)] = packed
            packed = pack_list(instruction["ranks"], isa.RANK_WIDTH, config.word_width)
            bench.channels[1][_RANKS:_RANKS + len(packed)] = packed
            beyond = bench.channels[operands["channel"]][_RESULT + rows]

            _, peak = await _execute(bench, ctx, instruction)
            words, mask, expected_peak, saturated = _expected(bench, rows, sums, instruction)
            result = _memory_rows(bench, operands["channel"], _RESULT, rows)
            np.testing.assert_array_equal(result, words, str(instruction))
            assert bench.channels[operands["channel"]][_RESULT + rows] == beyond
            assert peak == expected_peak
            assert not source[operands["buffer"], :rows].any()
            written += rows
            if operands.get("mask_write"):
                packed = pack_list([pack(row, 1) for row in mask], config.lanes,
                                   config.word_width)
                assert list(bench.channels[1][_MASK:_MASK + len(packed)]) == packed
                written += len(packed)
            saturations += saturated
            assert bench.counters["words"] == written
            assert bench.counters["saturations"] == saturations

    bench.run(testbench)


def test_takes_more_rows_from_the_aggregators_than_the_array_has():
    config = PRESETS["test"].replace(accumulator_rows=16, aggregation_rows=64)
    bench = VectorBench(config, latency=3, stall=0.2)

    async def testbench(ctx):
        sums = bench.rng.integers(-1000, 1000, size=(64, config.lanes))
        bench.aggregation[1] = sums
        await bench.execute(ctx, Opcode.DRAIN, local_rows=200, row_start=64, row_limit=64,
                            source=DrainSource.AGGREGATION, buffer=1, address=_RESULT)
        np.testing.assert_array_equal(_memory_rows(bench, 0, _RESULT, 64), sums)
        assert not bench.aggregation.any()

    bench.run(testbench)


@pytest.mark.parametrize("name", [
    "2x8", "4x16", pytest.param("16x16", marks=pytest.mark.slow)])
def test_written_mask_can_be_read(name):
    """Forward with ReLU and mask, then backward through the mask."""
    config = _CONFIGS[name]
    bench = VectorBench(config, seed=1, latency=5, stall=0.1)
    rows = 50

    async def testbench(ctx):
        forward = bench.rng.integers(-1000, 1000, size=(rows, config.lanes))
        backward = bench.rng.integers(-100, 100, size=(rows, config.lanes))
        bench.array[0, :rows] = forward
        bench.aggregation[1, :rows] = backward
        common = {"row_limit": rows, "mask_address": _OTHER_MASK, "address": _RESULT}
        await bench.execute(ctx, Opcode.DRAIN, local_rows=rows, shift=4, relu=1, mask_write=1,
                            source=DrainSource.ARRAY, **common)
        await bench.execute(ctx, Opcode.DRAIN, local_rows=rows, mask_read=1, buffer=1,
                            source=DrainSource.AGGREGATION, **common)
        np.testing.assert_array_equal(
            _memory_rows(bench, 0, _RESULT, rows), np.where(forward > 0, backward, 0))

    bench.run(testbench)


@pytest.mark.grid
@pytest.mark.parametrize("name", ["4x16", "16x16"])
@pytest.mark.parametrize("latency", [1, 64])
@pytest.mark.parametrize("operands, overhead", [
    ({}, 20),
    ({"mask_write": 1}, 20),
    ({"bias": 1, "relu": 1, "mask_write": 1, "dropout": 1, "dropout_threshold": 1 << 15}, 30),
    ({"mask_write": 1, "dropout": 1, "dropout_threshold": 1 << 15, "ranked": 1}, 35)])
def test_takes_a_row_per_cycle(name, latency, operands, overhead):
    config = _CONFIGS[name]
    bench = VectorBench(config, latency=latency)
    rows = config.accumulator_rows
    masks = rows // config.mask_rows if operands.get("mask_write") else 0

    async def testbench(ctx):
        cycles, _ = await bench.execute(
            ctx, Opcode.DRAIN, local_rows=rows, row_limit=rows, address=_RESULT, mask_address=_MASK,
            **operands)
        reads = 2 if operands.get("ranked") else 1  # ranks are there before the first row
        assert cycles <= rows + masks + overhead + reads * latency

    bench.run(testbench)


def test_starved_and_blocked_are_counted():
    config = _CONFIGS["4x16"]
    slow = VectorBench(config, latency=60)
    stalling = VectorBench(config, stall=0.5)
    operands = {"local_rows": 20, "row_limit": 20, "address": _RESULT, "mask_address": _MASK,
                "mask_read": 1}

    async def starve(ctx):
        await slow.execute(ctx, isa.Opcode.DRAIN, **operands)
        assert 40 <= slow.counters["starved"] <= 70
        assert slow.counters["blocked"] == 0

    async def block(ctx):
        await stalling.execute(ctx, isa.Opcode.DRAIN, **operands)
        assert stalling.counters["blocked"] > 3

    slow.run(starve)
    stalling.run(block)


@pytest.mark.parametrize(("latency", "least", "most"), [(1, 0, 40), (60, 50, 250)])
def test_waiting_for_memory_is_counted(latency, least, most):
    bench = VectorBench(PRESETS["test"], latency=latency)

    async def testbench(ctx):
        await bench.execute(ctx, Opcode.DRAIN, local_rows=3, row_limit=3, mask_read=1)
        assert least <= bench.counters["starved"] < most

    bench.run(testbench)
