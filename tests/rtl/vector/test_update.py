# SPDX-License-Identifier: BSD-2-Clause
"""Tests of UPDATE, through the vector unit, against ``arithmetic.update`` and ``adam_update``."""

import numpy as np
import pytest

from hypercast.reference import adam, arithmetic
from hypercast.rtl import isa
from hypercast.rtl.config import PRESETS
from hypercast.rtl.isa import Opcode
from hypercast.rtl.vector.adam_step import AdamStep
from tests.rtl.vector.vector_bench import VectorBench, pack, sweep, unpack

_STATE = 9
_CONFIGS = {
    "2x16": PRESETS["tiny"],
    "2x8": PRESETS["tiny"].replace(element_width=8),
    "4x16": PRESETS["test"],
    "4x8": PRESETS["test"].replace(element_width=8),
    "16x16": PRESETS["test"].replace(lanes=16),
    "16x8": PRESETS["test"].replace(lanes=16, element_width=8),
    "one core": PRESETS["test"].replace(dimensions=0),
    "without Adam": PRESETS["test"].replace(adam=False),
}
_ADAM = adam.AdamRates(58982, 36700, 22, 41943, 20, 33554, 25, 192416, 0)
_USUAL = {"momentum": 58982, "decay": 33000, "decay_shift": 25, "rate": 52429, "rate_shift": 18}


class _UpdateBench(VectorBench):
    """Sets up UPDATE instructions, runs them and checks everything they do."""

    saturations = 0

    _adam, _kept, _parts = False, False, 2

    def use(self, *, adam, kept=False):
        """Which optimiser the instructions that follow are of, and whether they find kept sums."""
        self._adam, self._kept, self._parts = adam, kept, 2 + adam + 2 * kept

    def _state_words(self, row, rows):
        words = self._parts * self.config.state_words
        return slice(_STATE + row * words, _STATE + (row + rows) * words)

    def _store(self, states):
        width = self.config.word_width
        words = []
        for row in states:
            packed = pack(row.ravel(), 32)
            words += [packed >> index * width & (1 << width) - 1
                      for index in range(self._parts * self.config.state_words)]
        self.channels[1][self._state_words(0, len(states))] = words

    def _load(self, rows):
        words = self.channels[1][self._state_words(0, rows)]
        packed = pack(words, self.config.word_width)
        return np.array(unpack(packed, 32, rows * self._parts * self.config.lanes)).reshape(
            rows, self._parts, self.config.lanes)

    def _random_state(self, rows):
        shape = (rows, 2, self.config.lanes)
        state = self.rng.integers(-1 << 31, 1 << 31, size=shape) >> self.rng.integers(
            32, size=shape)
        special = [-1 << 31, (1 << 31) - 1, 0, -1, -1 << 15, 3 << 14]
        state = np.where(self.rng.random(shape) < 0.1, self.rng.choice(special, size=shape), state)
        shape = (rows, 1, self.config.lanes)
        if self._adam:
            moment = adam.pack_second_moment(self.rng.integers(1 << 24, 1 << 26, shape),
                                             self.rng.integers(31, size=shape))
            state = np.concatenate([moment, state], axis=1)
        if not self._kept:
            return state
        return np.concatenate([_halves(self._random_gradient(rows)), state], axis=1)

    def _random_gradient(self, rows):
        width = self.config.accumulator_width
        shape = (rows, self.config.lanes)
        gradient = self.rng.integers(-1 << width - 1, 1 << width - 1, size=shape)
        return gradient >> self.rng.integers(width, size=shape)

    async def check(self, ctx, core, first_row, rows, *, gradient_shift, operand_shift, rates):
        """Run UPDATE on random data; returns the cycles it took and the rows it handled."""
        config = self.config
        weights, buffer = 3, int(self.rng.integers(2))
        indices = range(weights + core, weights + rows, config.cores)
        owned = len(indices)
        sums = slice(first_row // config.cores, first_row // config.cores + owned)
        state, gradient = self._random_state(owned), self._random_gradient(owned)
        if self._kept:
            gradient = (state[:, 1] << 32) + (state[:, 0] & 0xFFFFFFFF)
        self._store(state)
        around = np.concatenate([self.channels[1][:_STATE],
                                 self.channels[1][self._state_words(owned, 1)]])
        reduced = self._random_gradient(owned) if self._kept else gradient
        self.aggregation[buffer, sums] = reduced
        self.flits.clear()

        cycles, peak = await self.execute(
            ctx, Opcode.UPDATE, shift=operand_shift, aux_shift=gradient_shift, buffer=buffer,
            first_row=first_row, rows=rows, weights=weights, state=_STATE,
            adam=self._adam, kept=self._kept, **rates._asdict())

        step, order = (adam.adam_update, (1, 2, 0)) if self._adam else (arithmetic.update, (0, 1))
        first = self._parts - len(order)
        expected = step(gradient, *(state[:, first + part] for part in order), rates,
                        gradient_shift, operand_shift, config.element_width)
        self.saturations += expected.saturations
        after = self._load(owned)
        np.testing.assert_array_equal(after[:, :first], state[:, :first])
        for part, values in zip(order, expected, strict=False):
            np.testing.assert_array_equal(after[:, first + part], values)
        np.testing.assert_array_equal(around, np.concatenate([
            self.channels[1][:_STATE], self.channels[1][self._state_words(owned, 1)]]))
        assert peak == expected.magnitude.bit_length()
        assert self.counters["saturations"] == self.saturations
        if self._kept:
            np.testing.assert_array_equal(self.aggregation[buffer, sums], reduced)
        else:
            assert not self.aggregation[buffer, sums].any()
        self._check_flits(list(indices), expected.operand)
        return cycles, owned

    async def check_keep(self, ctx, core, first_row, rows):
        """Run UPDATE with ``keep`` on random data; returns the cycles it took and its rows."""
        config, buffer = self.config, int(self.rng.integers(2))
        owned = len(range(core, rows, config.cores))
        sums = slice(first_row // config.cores, first_row // config.cores + owned)
        state, gradient = self._random_state(owned), self._random_gradient(owned)
        self._store(state)
        around = np.concatenate([self.channels[1][:_STATE],
                                 self.channels[1][self._state_words(owned, 1)]])
        self.aggregation[buffer, sums] = gradient
        self.flits.clear()
        cycles, peak = await self.execute(
            ctx, Opcode.UPDATE, shift=30, aux_shift=16, buffer=buffer, first_row=first_row,
            rows=rows, weights=3, state=_STATE, adam=self._adam, keep=1, rate=(1 << 16) - 1)
        after = self._load(owned)
        np.testing.assert_array_equal(after[:, :2], _halves(gradient))
        np.testing.assert_array_equal(after[:, 2:], state[:, 2:])
        np.testing.assert_array_equal(around, np.concatenate([
            self.channels[1][:_STATE], self.channels[1][self._state_words(owned, 1)]]))
        assert peak == 0 and self.counters["saturations"] == self.saturations
        assert not self.aggregation[buffer, sums].any() and not self.flits
        return cycles, owned

    def _check_flits(self, indices, operands):
        config = self.config
        assert [flit.index for flit in self.flits] == indices
        for flit, operand in zip(self.flits, operands, strict=True):
            assert flit.destinations == (1 << config.cores) - 1
            assert (flit.source, flit.digit, flit.kind.value) == (0, 0, isa.Kind.WEIGHT)
            assert unpack(flit.payload, config.element_width, config.lanes) == operand.tolist()
        counts = np.bincount([flit.plane for flit in self.flits], minlength=config.planes)
        assert max(counts) - min(counts) <= 1, "links are not used evenly"


def _halves(sums):
    """(rows, lanes) sums as (rows, 2, lanes): the lower 32 bits as signed numbers, and the rest."""
    low = (sums & 0xFFFFFFFF ^ 1 << 31) - (1 << 31)
    return np.stack([low, sums >> 32], axis=1)


def _random_rates(rng):
    momentum, decay, rate = (int(value) for value in rng.integers(1 << 16, size=3))
    return arithmetic.Rates(momentum, decay, int(rng.choice([0, 8, 16, 25, 63])), rate,
                            int(rng.choice([0, 14, 18, 63])))


@pytest.mark.parametrize("name, stall, latency", [
    *(pytest.param(name, 0.3, 20, marks=sweep(name)) for name in _CONFIGS),
    ("2x8", 0.0, 1), ("4x16", 0.0, 1)])
def test_random_instructions_back_to_back(name, stall, latency):
    config = _CONFIGS[name]
    core = config.cores // 2
    bench = _UpdateBench(config, seed=latency, latency=latency, stall=stall, core=core)
    rng = bench.rng

    async def testbench(ctx):
        for rows in (3 * config.lanes * config.cores - 1, 0, 1, config.cores + core + 1):
            usual = arithmetic.Rates(**_USUAL)
            await bench.check(
                ctx, core, int(rng.integers(3)) * config.cores, rows,
                gradient_shift=int(rng.choice([0, 5, 16, 22, 40, 63])),
                operand_shift=int(rng.choice([0, 12, 16, 63])),
                rates=usual if rng.random() < 0.3 else _random_rates(rng))

    bench.run(testbench)


@pytest.mark.parametrize("name, stall, latency", [
    *(pytest.param(name, 0.3, 20, marks=sweep(name))
      for name, config in _CONFIGS.items() if config.adam), ("2x8", 0.0, 1)])
def test_adam_between_sgd(name, stall, latency):
    """Each instruction its own optimiser: nothing of one is left in the other's pipeline."""
    config = _CONFIGS[name]
    bench = _UpdateBench(config, seed=latency, latency=latency, stall=stall)
    rng = bench.rng

    async def testbench(ctx):
        for with_adam in (True, False, True, True):
            bench.use(adam=with_adam)
            await bench.check(
                ctx, 0, 0, int(rng.integers(1, 8 * config.cores)),
                gradient_shift=int(rng.choice([5, 16, 22])), operand_shift=16,
                rates=_ADAM if with_adam else arithmetic.Rates(**_USUAL))

    bench.run(testbench)


@pytest.mark.parametrize("name, stall, latency", [
    *(pytest.param(name, 0.3, 20, marks=sweep(name)) for name in _CONFIGS), ("2x8", 0.0, 1)])
def test_sums_are_kept_and_used_later(name, stall, latency):
    """In turn, and with instructions between them that do neither."""
    config = _CONFIGS[name]
    core = config.cores // 2
    bench = _UpdateBench(config, seed=latency, latency=latency, stall=stall, core=core)
    rng = bench.rng

    async def testbench(ctx):
        for with_adam in (config.adam, False):
            rates = _ADAM if with_adam else arithmetic.Rates(**_USUAL)
            for rows in (3 * config.cores + core + 1, 0, 1, 2 * config.cores):
                first = int(rng.integers(3)) * config.cores
                bench.use(adam=with_adam, kept=True)
                await bench.check_keep(ctx, core, first, rows)
                await bench.check(ctx, core, first, rows, gradient_shift=int(
                    rng.choice([5, 16, 40])), operand_shift=16, rates=rates)
                bench.use(adam=with_adam)
                await bench.check(ctx, core, first, rows, gradient_shift=20, operand_shift=16,
                                  rates=rates)

    bench.run(testbench)


@pytest.mark.parametrize("name, kept, per_row", [
    ("2x16", 0, 4), ("4x16", 0, 5), ("2x16", 1, 7), ("4x16", 1, 9), ("16x8", 0, 16),
    ("16x8", 1, 16)])
def test_cycles_per_row_of_sums(name, kept, per_row):
    config = _CONFIGS[name]
    bench = _UpdateBench(config)
    bench.use(adam=False, kept=True)

    async def testbench(ctx):
        count = 2 * config.lanes * config.cores
        cycles, rows = await (
            bench.check(ctx, 0, 0, count, gradient_shift=20, operand_shift=16,
                        rates=arithmetic.Rates(**_USUAL)) if kept
            else bench.check_keep(ctx, 0, 0, count))
        assert cycles <= per_row * rows + 50

    bench.run(testbench)


@pytest.mark.parametrize("name", ["2x16", "4x16"])
def test_rows_wait_for_the_network(name):
    """More than there is room for between the pipeline and the writer; nothing is lost."""
    config = _CONFIGS[name]
    bench = _UpdateBench(config, blocked=0.97)

    async def testbench(ctx):
        await bench.check(ctx, 0, 0, 14 * config.cores, gradient_shift=20, operand_shift=16,
                          rates=arithmetic.Rates(**_USUAL))

    bench.run(testbench)


@pytest.mark.parametrize("core", range(4))
def test_owned_rows(core):
    bench = _UpdateBench(_CONFIGS["4x16"], core=core)

    async def testbench(ctx):
        for first_row, rows in ((0, 1), (4, 2), (8, 3), (24, 9), (12, 4), (0, 0)):
            await bench.check(ctx, core, first_row, rows, gradient_shift=20, operand_shift=16,
                              rates=arithmetic.Rates(**_USUAL))

    bench.run(testbench)


@pytest.mark.parametrize("with_adam, name, per_row", [
    *(pytest.param(with_adam, name, per_row, marks=sweep(name))
      for with_adam, few in ((False, 5), (True, 8))
      for name, per_row in (("2x16", few), ("4x16", few), ("16x16", 16), ("16x8", 16)))])
def test_cycles_per_row(with_adam, name, per_row):
    config = _CONFIGS[name]
    bench = _UpdateBench(config)
    bench.use(adam=with_adam)

    async def testbench(ctx):
        cycles, rows = await bench.check(
            ctx, 0, 0, 2 * config.lanes * config.cores, gradient_shift=20, operand_shift=16,
            rates=_ADAM if with_adam else arithmetic.Rates(**_USUAL))
        assert cycles <= per_row * rows + 50 + AdamStep.LATENCY * with_adam

    bench.run(testbench)


@pytest.mark.parametrize(("latency", "least", "most"), [(1, 0, 40), (60, 50, 250)])
def test_waiting_for_memory_is_counted(latency, least, most):
    bench = VectorBench(PRESETS["test"], latency=latency)

    async def testbench(ctx):
        await bench.execute(ctx, Opcode.UPDATE, rows=4, state=300)
        assert least <= bench.counters["starved"] < most

    bench.run(testbench)


def test_cores_begin_with_planes_of_their_own():
    config = _CONFIGS["4x16"].replace(planes=4)
    planes = []
    for core in range(4):
        bench = VectorBench(config, core=core)

        async def testbench(ctx, bench=bench):
            await bench.execute(ctx, Opcode.UPDATE, rows=4, state=300)
            planes.extend(flit.plane for flit in bench.flits)

        bench.run(testbench)
    assert sorted(planes) == [0, 1, 2, 3]
