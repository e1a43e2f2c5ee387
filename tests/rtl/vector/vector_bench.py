# SPDX-License-Identifier: BSD-2-Clause
"""What the tests of the vector unit share: a bench around it, and packing of memory words."""

from collections import Counter

import numpy as np
import pytest

from hypercast.rtl import isa
from hypercast.rtl.vector.vector_unit import VectorUnit
from tests import bench

#: Cycles one instruction may take.
_PATIENCE = 20_000


def sweep(name):
    """Marks of a configuration named as lanes x bits: of some, only `make test-all` simulates."""
    return [pytest.mark.slow] if name in {"4x8", "16x16"} else []


def pack(values, width):
    """``values`` as fields of ``width`` bits, the first lowest."""
    return sum((int(value) & (1 << width) - 1) << index * width
               for index, value in enumerate(values))


def unpack(word, width, count):
    """``count`` signed fields of ``width`` bits."""
    half = 1 << width - 1
    return [((word >> index * width & (1 << width) - 1) ^ half) - half for index in range(count)]


def pack_list(values, width, word_width):
    """Words that hold ``values`` as a packed list of records."""
    per_word = word_width // width
    return [pack(values[start:start + per_word], width)
            for start in range(0, len(values), per_word)]


class VectorBench:
    """A vector unit with memory, accumulators, a weight bank, and someone who takes its flits.

    Parameters
    ----------
    latency, stall
        As of ``MemoryModel``; weights are refused as often.
    secondary_latency : int or None
        Latency of what is read through ``secondary``, if it is another one.
    blocked : float or None
        Probability that a flit is not taken in a cycle, ``stall`` if None.

    Attributes
    ----------
    channels : list of numpy.ndarray
        The memory's contents.
    array, aggregation : numpy.ndarray
        (2, accumulator_rows, lanes) and (2, strip_rows, lanes) accumulators.
    weights : list of int
        Rows of the weight bank.
    flits : list
        Flits received.
    counters : collections.Counter
        Sums of the increments.
    """

    def __init__(self, config, seed=0, latency=1, stall=0.0, core=0, blocked=None,
                 secondary_latency=None):
        self.config = config
        self.rng = np.random.default_rng(seed)
        self.dut = bench.shared(VectorUnit, config)
        self._memory = bench.MemoryModel(config, self.rng, latency, stall)
        self._secondary = self._memory
        if secondary_latency is not None:
            self._secondary = bench.MemoryModel(config, self.rng, secondary_latency, stall)
            self._secondary.channels = self._memory.channels
        self._stall, self._blocked = stall, stall if blocked is None else blocked
        self._core = core
        self.channels = self._memory.channels
        self.array, self.aggregation = (
            np.zeros((2, rows, config.lanes), dtype=np.int64)
            for rows in (config.accumulator_rows, config.strip_rows))
        self.weights = [0] * config.weight_rows
        self.flits = []
        self.counters = Counter()

    def run(self, testbench, *background):
        """Simulate ``async testbench(ctx)``, with other processes in the background."""
        dut = self.dut
        bench.run(dut, testbench, cycles=100_000, background=(
            lambda ctx: self._memory.serve_read(ctx, dut.primary),
            lambda ctx: self._secondary.serve_read(ctx, dut.secondary),
            lambda ctx: self._memory.serve_write(ctx, dut.write),
            lambda ctx: self._serve_accumulators(ctx, dut.array, self.array),
            lambda ctx: self._serve_accumulators(ctx, dut.aggregation, self.aggregation),
            lambda ctx: self._check_hold(ctx, dut.write.request),
            lambda ctx: self._check_hold(ctx, dut.primary.request),
            lambda ctx: self._check_hold(ctx, dut.secondary.request),
            self._serve_weights, self._take_flits, self._count, *background))

    async def execute(self, ctx, opcode, *, local_rows=0, shift=0, aux_shift=0,
                      dropout_key=0, **operands):
        """Issue an instruction and wait until it is done; its cycles and its peak."""
        dut = self.dut
        ctx.set(dut.core, self._core)
        ctx.set(dut.issue, {
            "instruction": isa.encode(opcode, **operands), "shift": shift,
            "aux_shift": aux_shift, "dropout_key": dropout_key})
        ctx.set(dut.rows, local_rows)
        ctx.set(dut.start, 1)
        await ctx.tick()
        ctx.set(dut.start, 0)
        ctx.set(dut.issue, {"instruction": (1 << isa.INSTRUCTION_WIDTH) - 1})
        ctx.set(dut.rows, 0)
        cycles = 1
        while True:
            _, _, busy = await ctx.tick().sample(dut.busy)
            if not busy:
                break
            cycles += 1
            assert cycles < _PATIENCE, f"{opcode.name} hangs"
        peak = ctx.get(dut.peak)
        await ctx.tick().repeat(5)  # the increments are registered, and end
        return cycles, peak

    async def _serve_accumulators(self, ctx, port, accumulators):
        garbage = self.rng.integers(-1 << 30, 1 << 30, size=self.config.lanes).tolist()
        row = None
        while True:
            _, _, enable, buffer, number = await ctx.tick().sample(
                port.enable, port.buffer, port.row)
            ctx.set(port.valid, row is not None)
            ctx.set(port.data, garbage if row is None else row)
            row = None
            if enable:
                row = accumulators[buffer, number].tolist()
                accumulators[buffer, number] = 0

    async def _serve_weights(self, ctx):
        port = self.dut.weights
        while True:
            ready = self.rng.random() >= self._stall
            ctx.set(port.request.ready, ready)
            _, _, valid, row = await ctx.tick().sample(port.request.valid, port.request.payload)
            ctx.set(port.data, self.weights[row] if valid and ready else ~self.weights[row])

    async def _take_flits(self, ctx):
        while True:
            self.flits += await bench.get(ctx, self.dut.flits, 1, self.rng, self._blocked)

    async def _check_hold(self, ctx, stream):
        held = None
        while True:
            _, _, valid, ready, payload = await ctx.tick().sample(
                stream.valid, stream.ready, stream.payload.as_value())
            assert held is None or (valid and payload == held), "a stream did not hold its payload"
            held = payload if valid and not ready else None

    async def _count(self, ctx):
        names = ("words", "starved", "blocked", "saturations")
        idle = 0
        while True:
            _, _, busy, *increments = await ctx.tick().sample(
                self.dut.busy, *(getattr(self.dut, name) for name in names))
            self.counters.update(dict(zip(names, increments, strict=True)))
            idle = 0 if busy else idle + 1  # the increments are registered
            assert idle < 3 or not any(increments), "it counts without an instruction"
