# SPDX-License-Identifier: BSD-2-Clause
"""Controller with model cores, against docs/instructions.md in Python."""

import numpy as np
import pytest

from hypercast.rtl import isa
from hypercast.rtl.config import PRESETS
from hypercast.rtl.control import watchdog
from hypercast.rtl.control.controller import Controller
from hypercast.rtl.control.engine_status import REPORT_LATENCY
from hypercast.rtl.isa import STEP_KEY_INCREMENT, Engine, Opcode
from hypercast.rtl.limits import ISSUE_CYCLES, VECTOR_ISSUE_CYCLES, VECTOR_TURNAROUND
from hypercast.rtl.loop import encode_strides, unroll
from hypercast.rtl.registers import LIMIT_UNIT, PHASES, Error, Space
from tests.bench import run
from tests.rtl.control.exponent_model import ExponentModel, pack, random_fields
from tests.rtl.flips import flip, parity_memories  # noqa: F401

_TINY = PRESETS["tiny"].replace(program_rows=32, tensors=8)
_VECTOR = (Opcode.DRAIN, Opcode.LOSS, Opcode.UPDATE)
_OWN = {Opcode.AGGREGATE: Engine.AGGREGATE, Opcode.MATMUL: Engine.ARRAY,
        Opcode.GRADIENT: Engine.ARRAY, **dict.fromkeys(_VECTOR, Engine.VECTOR)}
_ALSO = {Opcode.GRADIENT: Engine.REDUCTION, Opcode.UPDATE: Engine.WEIGHTS}


class Cores:
    """Model cores: random busy times, and a log of what was issued.

    ``bits`` are the magnitudes' bit lengths of the coming vector instructions; when they run out,
    zero. An instruction issued while an engine it needs is busy fails the test.
    """

    def __init__(self, dut, config, rng, longest=30):
        self._dut, self._cores, self._rng, self._longest = dut, config.cores, rng, longest
        self.bits = []
        self.issues = []  # (cycle, instruction, shift, aux_shift, dropout_key)
        self.cycle = 0
        self.starts = []  # cycles in which ``clear`` was high, a program's first
        self.busy_until = np.zeros((config.cores, 8), dtype=int)
        self._busy_from = np.zeros((config.cores, 8), dtype=int)
        self._peaks = np.zeros(config.cores, dtype=int)

    def _accept(self, issue):
        fields = isa.decode(issue.instruction)
        opcode = fields["opcode"]
        for engine in Engine:
            needed = fields["waits"] >> engine & 1 or engine == _OWN[opcode]
            assert not (needed and (self.busy_until[:, engine] > self.cycle).any()), (
                f"{opcode.name} issued while {engine.name} is busy")
        for engine in {_OWN[opcode], _ALSO.get(opcode, _OWN[opcode])}:
            begin = self.cycle + self._rng.integers(1, REPORT_LATENCY + 1, size=self._cores)
            time = self._rng.integers(self._longest + 1, size=self._cores)
            idle = self.busy_until[:, engine] <= self.cycle
            self._busy_from[:, engine] = np.where(idle, begin, self._busy_from[:, engine])
            self.busy_until[:, engine] = np.maximum(self.busy_until[:, engine], begin + time)
        if opcode in _VECTOR:
            bits = self.bits.pop(0) if self.bits else 0
            self._peaks = self._rng.integers(bits + 1, size=self._cores)
            self._peaks[self._rng.integers(self._cores)] = bits
        self.issues.append((self.cycle, issue.instruction, issue.shift, issue.aux_shift,
                            issue.dropout_key))

    async def serve(self, ctx):
        """Background testbench."""
        dut = self._dut
        while True:
            now = (self._busy_from <= self.cycle) & (self.cycle < self.busy_until)
            done = self.busy_until[:, Engine.VECTOR] <= self.cycle
            for core in range(self._cores):
                ctx.set(dut.busy[core], int(np.packbits(now[core], bitorder="little")[0]))
                ctx.set(dut.peak[core], int(self._peaks[core]) if done[core] else
                        int(self._rng.integers(64)))
            _, _, valid, issue, clear = await ctx.tick().sample(
                dut.issue_valid, dut.issue, dut.clear)
            if clear:
                self.starts.append(self.cycle)
            if valid:
                self._accept(issue)
            self.cycle += 1


class Driver:
    """The host's side of the control port."""

    def __init__(self, dut):
        self._host = dut.host

    async def access(self, ctx, space, address, write=None):
        host = self._host
        ctx.set(host.request, {"space": space, "address": address,
                               "write": write is not None, "data": write or 0})
        ctx.set(host.request_valid, 1)
        await ctx.tick()
        ctx.set(host.request_valid, 0)
        await ctx.tick()
        assert ctx.get(host.response_valid)
        return ctx.get(host.response)

    async def load(self, ctx, program, entry=0):
        for row, instruction in enumerate(program, entry):
            for piece in range(isa.INSTRUCTION_WORDS):
                await self.access(ctx, Space.PROGRAM, 16 * row + piece,
                                  instruction >> 32 * piece & 0xFFFFFFFF)

    async def strobe(self, ctx, name, *, limit=0xFFFFFFFF, **values):
        for member, value in {name: 1, "limit": limit, **values}.items():
            ctx.set(getattr(self._host, member), value)
        await ctx.tick()
        ctx.set(getattr(self._host, name), 0)

    async def run(self, ctx, entry=0, repeat=1):
        await self.strobe(ctx, "start", entry=entry, repeat=repeat)
        assert ctx.get(self._host.running) and not ctx.get(self._host.done)
        await self.finish(ctx)

    async def finish(self, ctx):
        while ctx.get(self._host.running):
            await ctx.tick()

    async def phases(self, ctx):
        counts = []
        for index in range(PHASES):
            ctx.set(self._host.phase_index, index)
            await ctx.tick()
            counts.append(ctx.get(self._host.phase_cycles))
        return counts


def bench_run(config, bench, seed=0, longest=30, cycles=100_000):
    """Run ``bench(ctx, dut, driver, cores, rng)``."""
    rng = np.random.default_rng(seed)
    dut = Controller(config)
    cores, driver = Cores(dut, config, rng, longest), Driver(dut)
    run(dut, lambda ctx: bench(ctx, dut, driver, cores, rng), background=[cores.serve],
        cycles=cycles)


def _random_instruction(rng, config):
    """Opcode, exponent fields, and everything else."""
    opcode = Opcode(int(rng.integers(1, 7)))
    fields = random_fields(rng, opcode, config.tensors) if opcode in _VECTOR else {}
    others = {"waits": int(rng.integers(32)) & int(rng.integers(32)),
              "phase": int(rng.integers(PHASES))}
    for name, width in isa.OPERANDS[opcode]:
        if name in ("dropout_key", "vertices", "address", "state"):
            others[name] = int(rng.integers(1 << width))
    return opcode, fields, others


def _random_program(rng, config, model, length, step_key, faults):
    """A program, the issues it should lead to, the peaks its cores find, and its error."""
    program, issues, bits = [], [], []
    while len(program) < length:
        opcode, fields, others = _random_instruction(rng, config)
        shift = aux_shift = None
        if opcode in _VECTOR:
            choice = model.choose(opcode, fields)
            if choice.error and not faults:
                continue
            program.append(isa.encode(opcode, **fields, **others))
            if choice.error:
                return program, issues, bits, choice.error
            shift, aux_shift = choice.shift, choice.aux_shift
            bits.append(int(rng.integers(1, 30)) if rng.random() < 0.8 else 0)
            model.complete(fields, choice, bits[-1])
        else:
            program.append(isa.encode(opcode, **others))
        key = None
        if "dropout_key" in others:
            key = others["dropout_key"] + step_key & 0xFFFFFFFF
        issues.append((program[-1], shift, aux_shift, key))
    return program, issues, bits, Error(0)


def _check_phases(counts, cycles, begin, issues):
    """Phase counts from the cycles in which instructions were issued."""
    expected = [0] * PHASES
    phase, since = 0, begin
    for cycle, instruction, *_ in issues:
        expected[phase] += cycle - since
        phase, since = isa.decode(instruction)["phase"], cycle
    expected[phase] += begin + cycles - since
    assert counts == expected


@pytest.mark.parametrize(("dimensions", "faults", "programs"), [
    (0, False, 6), (1, False, 12), (1, True, 12), (3, False, 6), (4, True, 6)])
def test_random_programs(dimensions, faults, programs):
    config = _TINY.replace(dimensions=dimensions)

    async def bench(ctx, dut, driver, cores, rng):
        model = ExponentModel(config)
        seen = set()
        for _ in range(programs):
            model.randomize(rng, -20, 0)
            for tensor in range(config.tensors):
                await driver.access(ctx, Space.TENSORS, tensor, model.word(tensor))
            step, step_key = (int(value) for value in rng.integers(1 << 32, size=2))
            await driver.strobe(ctx, "step_write", data=step)
            await driver.strobe(ctx, "step_key_write", data=step_key)
            program, issues, cores.bits, error = _random_program(
                rng, config, model, 20, step_key, faults)
            program.append(isa.encode(Opcode.HALT, step=1))
            entry = int(rng.integers(config.program_rows))
            for row, instruction in enumerate(program):  # the memory wraps
                await driver.load(ctx, [instruction], (entry + row) % config.program_rows)
            cores.issues.clear()
            await driver.run(ctx, entry)
            assert (cores.busy_until <= cores.cycle).all(), "stopped while an engine was busy"

            assert ctx.get(dut.host.error) == error
            assert ctx.get(dut.host.done) == (not error)
            assert len(cores.issues) == len(issues)
            for got, expected in zip(cores.issues, issues, strict=True):
                for value, wanted in zip(got[1:], expected, strict=True):
                    assert wanted is None or value == wanted
            for tensor in range(config.tensors):
                word = await driver.access(ctx, Space.TENSORS, tensor)
                assert model.describes(tensor, word)
            halted = not error
            assert ctx.get(dut.host.step) == (step + halted) % 2**32
            assert ctx.get(dut.host.step_key) == (step_key + halted * STEP_KEY_INCREMENT) % 2**32
            _check_phases(await driver.phases(ctx), ctx.get(dut.host.cycles), cores.starts[-1],
                          cores.issues)
            await driver.strobe(ctx, "error_clear", error_clear=0x1F)
            assert ctx.get(dut.host.error) == 0
            seen.add(error)
        assert len(cores.starts) == programs
        assert not faults or any(seen)

    bench_run(config, bench, seed=10 * dimensions + faults)


def test_loops():
    """Each strip's instructions, in order; only the first strip opens an exponent."""
    program = [
        isa.encode(Opcode.LOOP, strips=5, length=3, lags=1),
        isa.encode(Opcode.MATMUL, address=100, buffer=1),
        encode_strides(Opcode.MATMUL, address=33, buffer=1),
        isa.encode(Opcode.DRAIN, o=2, peak_of=2, open=1, waits=1 << Engine.ARRAY, row_start=0),
        encode_strides(Opcode.DRAIN, row_start=64, mask_address=2),
        isa.encode(Opcode.AGGREGATE, address=7, waits=1 << Engine.VECTOR),
        encode_strides(Opcode.AGGREGATE, lag=1, vertices=1),
        isa.encode(Opcode.HALT, step=1)]
    expected = [one.word for one in unroll(program)][:-1]

    async def bench(ctx, dut, driver, cores, rng):
        await driver.load(ctx, program, entry=9)
        for peaks in ([20, 3, 22, 0, 21], [1, 2, 3, 4, 5], [3, 0, 0, 0, 0]):
            cores.bits = list(peaks)
            cores.issues.clear()
            await driver.run(ctx, entry=9)
            assert ctx.get(dut.host.done) and not ctx.get(dut.host.error)
            assert [issue[1] for issue in cores.issues] == expected
            shifts = {shift for _, word, shift, *_ in cores.issues if word & 0xF == Opcode.DRAIN}
            assert len(shifts) == 1, "the exponent is chosen once"
            assert (await driver.access(ctx, Space.TENSORS, 2) >> 8 & 0xFF) == max(peaks)

    bench_run(_TINY, bench)


def test_an_error_in_a_loop_names_its_row():
    async def bench(ctx, dut, driver, cores, rng):
        await driver.load(ctx, [
            isa.encode(Opcode.LOOP, strips=9, length=2),
            isa.encode(Opcode.MATMUL), encode_strides(Opcode.MATMUL, address=1),
            isa.encode(Opcode.DRAIN, o=2, peak_of=2, open=1),
            encode_strides(Opcode.DRAIN, a=1), isa.encode(Opcode.HALT)])
        for tensor, exponent in {0: -4, 1: -4, 2: -4, 3: 5}.items():
            await driver.access(ctx, Space.TENSORS, tensor, pack(exponent, None))
        await driver.run(ctx)  # a base of 1 is above the exponent, -4
        assert ctx.get(dut.host.error) == Error.EXPONENT and not ctx.get(dut.host.done)
        assert ctx.get(dut.host.pc) == 3 and len(cores.issues) == 7
        await driver.strobe(ctx, "error_clear", error_clear=Error.EXPONENT)

    bench_run(_TINY, bench)


def test_no_loop_in_a_loop():
    async def bench(ctx, dut, driver, cores, rng):
        await driver.load(ctx, [isa.encode(Opcode.LOOP, strips=9, length=1),
                                isa.encode(Opcode.LOOP), 0, isa.encode(Opcode.HALT)])
        await driver.run(ctx)
        assert ctx.get(dut.host.error) == Error.OPCODE and ctx.get(dut.host.pc) == 1

    bench_run(_TINY, bench)


def test_repeat():
    """The program runs ``repeat`` times; each run sees the last one's peak and step key."""
    async def bench(ctx, dut, driver, cores, rng):
        await driver.load(ctx, [
            isa.encode(Opcode.MATMUL, dropout_key=7, phase=1),
            isa.encode(Opcode.DRAIN, o=2, peak_of=2, open=1, waits=1 << Engine.ARRAY, phase=2),
            isa.encode(Opcode.HALT, step=1, phase=3)], entry=4)
        cores.bits = [16, 17, 18]
        await driver.run(ctx, entry=4, repeat=4)
        assert ctx.get(dut.host.done) and ctx.get(dut.host.step) == 4
        keys = [key for _, instruction, _, _, key in cores.issues
                if instruction & 0xF == Opcode.MATMUL]
        assert keys == [(7 + step * STEP_KEY_INCREMENT) % 2**32 for step in range(4)]
        shifts = [shift for _, instruction, shift, _, _ in cores.issues
                  if instruction & 0xF == Opcode.DRAIN]
        assert shifts == [0, 1, 2, 3]  # peaks before each: none, 16, 17, 18
        assert await driver.access(ctx, Space.TENSORS, 2) & 0x100FF == 3
        counts = await driver.phases(ctx)
        assert sum(counts) == ctx.get(dut.host.cycles)
        assert 3 <= counts[3] // 3 <= 6 and sum(counts[4:]) == 0
        for repeat in (0, 1):
            await driver.run(ctx, entry=4, repeat=repeat)
            assert ctx.get(dut.host.step) == 5 + repeat

    bench_run(_TINY, bench)


@pytest.mark.parametrize(("bad", "tensors", "error"), [
    (9, {}, Error.OPCODE),
    (isa.encode(Opcode.DRAIN, a=1, b=1, o=2), {1: -3, 2: -7}, Error.EXPONENT),
    (isa.encode(Opcode.DRAIN, a=1, b=1, o=2, peak_of=2, open=1), {1: 16}, Error.EXPONENT),
    (isa.encode(Opcode.DRAIN, a=1, b=1, o=2, peak_of=2, open=1, bias=1, bias_tensor=3),
     {1: -16, 3: 0}, Error.ALIGNMENT),
    (isa.encode(Opcode.LOSS, a=1, o=2, peak_of=2, open=1), {1: 11}, Error.ALIGNMENT),
    (isa.encode(Opcode.UPDATE, a=1, b=1, o=2, peak_of=2, open=1), {1: 9}, Error.ALIGNMENT),
])
def test_errors_stop_the_program(bad, tensors, error):
    async def bench(ctx, dut, driver, cores, rng):
        good = isa.encode(Opcode.MATMUL)
        await driver.load(ctx, [good, bad, good, isa.encode(Opcode.HALT)])
        for tensor, exponent in tensors.items():
            await driver.access(ctx, Space.TENSORS, tensor, pack(exponent, None))
        await driver.run(ctx)
        assert ctx.get(dut.host.error) == error and not ctx.get(dut.host.done)
        assert ctx.get(dut.host.pc) == 1
        assert [entry[1] for entry in cores.issues] == [good]
        assert (cores.busy_until <= cores.cycle).all()

        await driver.run(ctx, entry=2)
        assert len(cores.issues) == 1, "an error that is not cleared keeps the program stopped"
        await driver.strobe(ctx, "error_clear", error_clear=error)
        await driver.run(ctx, entry=2)
        assert ctx.get(dut.host.done) and len(cores.issues) == 2

    bench_run(_TINY, bench)


def test_changed_instructions_are_not_issued(parity_memories):  # noqa: F811
    """Nor is a HALT carried out; what is written again is right again."""
    async def bench(ctx, dut, driver, cores, rng):
        memory = next(memory for memory in parity_memories if len(memory.write.en) > 1)
        good = isa.encode(Opcode.MATMUL)
        program = [good, good, good, isa.encode(Opcode.HALT)]
        for row in range(len(program)):
            await driver.load(ctx, program)
            flip(ctx, memory, row, 33 * row + 7)
            cores.issues.clear()
            await driver.run(ctx)
            assert ctx.get(dut.host.error) == Error.PROGRAM and not ctx.get(dut.host.done)
            assert ctx.get(dut.host.pc) == row and len(cores.issues) == row
            await driver.strobe(ctx, "error_clear", error_clear=Error.PROGRAM)
        await driver.load(ctx, program)
        await driver.run(ctx)
        assert ctx.get(dut.host.done) and not ctx.get(dut.host.error)

    bench_run(_TINY, bench)


def test_a_changed_exponent_stops_the_program(parity_memories):  # noqa: F811
    async def bench(ctx, dut, driver, cores, rng):
        memory = next(memory for memory in parity_memories if len(memory.write.en) == 1)
        await driver.load(ctx, [isa.encode(Opcode.DRAIN, a=1, b=3, o=2, peak_of=2, open=1),
                                isa.encode(Opcode.HALT)])
        for tensor in range(4):
            await driver.access(ctx, Space.TENSORS, tensor, pack(-10, None))
        flip(ctx, memory, 3, 1)
        await driver.run(ctx)
        assert ctx.get(dut.host.error) == Error.PROGRAM and not ctx.get(dut.host.done)

    bench_run(_TINY, bench)


def test_limits_of_alignment_are_not_errors():
    async def bench(ctx, dut, driver, cores, rng):
        await driver.load(ctx, [
            isa.encode(Opcode.DRAIN, a=1, o=2, peak_of=2, open=1, bias=1, bias_tensor=3),
            isa.encode(Opcode.LOSS, a=4, o=2, peak_of=2, open=1),
            isa.encode(Opcode.UPDATE, a=4, b=4, o=2, peak_of=2, open=1, momentum_exponent=4),
            isa.encode(Opcode.HALT)])
        for tensor, exponent in {1: -31, 3: 0, 4: 10}.items():
            await driver.access(ctx, Space.TENSORS, tensor, pack(exponent, None))
        await driver.run(ctx)
        assert ctx.get(dut.host.done)
        assert [entry[3] for entry in cores.issues] == [31, 0, 0]

    bench_run(_TINY, bench)


@pytest.mark.parametrize(("bit", "error"), [
    (0, Error.NETWORK), (1, Error.LINK), (2, Error.MEMORY), (3, Error.ACCUMULATOR)])
def test_errors_of_cores_stop_the_program(bit, error):
    async def bench(ctx, dut, driver, cores, rng):
        await driver.load(ctx, [isa.encode(Opcode.MATMUL)] * 4 + [isa.encode(Opcode.HALT)])
        await driver.strobe(ctx, "start", repeat=1000)
        await ctx.tick().repeat(100)
        ctx.set(dut.error[1], 1 << bit)
        await ctx.tick()
        ctx.set(dut.error[1], 0)
        await driver.finish(ctx)
        assert ctx.get(dut.host.error) == error and not ctx.get(dut.host.done)

    bench_run(_TINY, bench, cycles=2000)


def test_a_standstill_stops_the_program_though_engines_are_busy(monkeypatch):
    monkeypatch.setattr(watchdog, "PATIENCE", 64)

    async def bench(ctx, dut, driver, cores, rng):
        cores.busy_until[:, Engine.ARRAY] = 1_000_000
        await driver.load(ctx, [isa.encode(Opcode.MATMUL), isa.encode(Opcode.HALT)])
        await driver.strobe(ctx, "start")
        ctx.set(dut.progress[1], 1)
        await ctx.tick().repeat(200)
        assert ctx.get(dut.host.running) and not ctx.get(dut.host.error)
        ctx.set(dut.progress[1], 0)
        await driver.finish(ctx)
        assert ctx.get(dut.host.error) == Error.STALLED and not ctx.get(dut.host.done)
        assert ctx.get(dut.host.busy) == 1 << Engine.ARRAY

    bench_run(_TINY, bench, cycles=2000)


@pytest.mark.parametrize("limit", [0, 2])
def test_a_runaway_is_stopped_though_engines_are_busy(limit):
    async def bench(ctx, dut, driver, cores, rng):
        cores.busy_until[:, Engine.ARRAY] = 1_000_000
        await driver.load(ctx, [isa.encode(Opcode.MATMUL), isa.encode(Opcode.HALT)])
        await driver.strobe(ctx, "start", limit=limit)
        for cycle in range(2 * limit * LIMIT_UNIT):
            assert ctx.get(dut.host.running)
            ctx.set(dut.progress[1], cycle % 2)
            await ctx.tick()
        await driver.finish(ctx)
        assert ctx.get(dut.host.error) == Error.RUNAWAY and not ctx.get(dut.host.done)
        assert ctx.get(dut.host.busy) == 1 << Engine.ARRAY

    bench_run(_TINY, bench, cycles=2000)


def test_window_error_is_sticky_but_stops_nothing():
    async def bench(ctx, dut, driver, cores, rng):
        await driver.load(ctx, [isa.encode(Opcode.MATMUL), isa.encode(Opcode.HALT)])
        await driver.strobe(ctx, "start", repeat=2)
        ctx.set(dut.host.error_set, Error.WINDOW)
        await ctx.tick()
        ctx.set(dut.host.error_set, 0)
        await driver.finish(ctx)
        assert ctx.get(dut.host.error) == Error.WINDOW and ctx.get(dut.host.done)
        await driver.strobe(ctx, "error_clear", error_clear=0x7F & ~Error.WINDOW)
        assert ctx.get(dut.host.error) == Error.WINDOW

    bench_run(_TINY, bench, cycles=2000)


def test_stop():
    async def bench(ctx, dut, driver, cores, rng):
        host = dut.host
        await driver.load(ctx, [isa.encode(Opcode.DRAIN, o=2, peak_of=2, open=1),
                                isa.encode(Opcode.HALT)])
        await driver.strobe(ctx, "stop")
        cores.bits = [5] * 1000
        await driver.strobe(ctx, "start", repeat=1000)
        await ctx.tick().repeat(100 + int(rng.integers(50)))
        await driver.strobe(ctx, "start")  # ignored: it runs
        assert ctx.get(host.cycles) > 100
        await driver.strobe(ctx, "stop")
        await ctx.tick()
        issued = len(cores.issues)
        await driver.finish(ctx)
        assert (cores.busy_until <= cores.cycle).all() and len(cores.issues) <= issued + 1
        assert not ctx.get(host.done) and not ctx.get(host.error)
        assert await driver.access(ctx, Space.TENSORS, 2) >> 8 == 1 << 8 | 5  # folded
        await driver.run(ctx)
        assert ctx.get(host.done) and len(cores.starts) == 2

    bench_run(_TINY, bench, cycles=3000)


def test_waits_and_busy_show_what_is_waited_for():
    async def bench(ctx, dut, driver, cores, rng):
        waits = 1 << Engine.REDUCTION | 1 << Engine.WEIGHTS
        await driver.load(ctx, [
            isa.encode(Opcode.GRADIENT), isa.encode(Opcode.AGGREGATE, waits=waits),
            isa.encode(Opcode.HALT)])
        await driver.strobe(ctx, "start")
        seen = set()
        while ctx.get(dut.host.running):
            if ctx.get(dut.host.pc) == 1 and (value := ctx.get(dut.host.waits)):
                assert ctx.get(dut.host.busy) & 1 << Engine.AGGREGATE == 0
                seen.add(value)
            await ctx.tick()
        assert seen == {1 << Engine.REDUCTION}

    bench_run(_TINY, bench)


@pytest.mark.parametrize("working", [Opcode.MATMUL, Opcode.AGGREGATE, Opcode.DRAIN])
def test_an_unknown_instruction_waits_for_nothing(working):
    """Whatever is at work, and whatever it says that it waits for."""
    async def bench(ctx, dut, driver, cores, rng):
        unknown = isa.encode(working, waits=255) & ~0xF | 9
        await driver.load(ctx, [isa.encode(working), unknown, isa.encode(Opcode.HALT)])
        await driver.strobe(ctx, "start")
        busy = 0
        while ctx.get(dut.host.running):
            if ctx.get(dut.host.pc) == 1:
                assert ctx.get(dut.host.waits) == 0
                busy |= ctx.get(dut.host.error) and ctx.get(dut.host.busy)
            await ctx.tick()
        assert ctx.get(dut.host.error) == Error.OPCODE
        assert busy >> isa.OPERATIONS[working].engine & 1

    bench_run(_TINY, bench, longest=60)


@pytest.mark.parametrize("dimensions", [1, 4])
def test_issue_overhead(dimensions):
    """Cycles between issues, with engines that never take any time."""
    config = _TINY.replace(dimensions=dimensions)

    async def bench(ctx, dut, driver, cores, rng):
        await driver.load(ctx, [
            isa.encode(Opcode.AGGREGATE), isa.encode(Opcode.MATMUL), isa.encode(Opcode.DRAIN),
            isa.encode(Opcode.DRAIN), isa.encode(Opcode.HALT)])
        await driver.run(ctx)
        times = [entry[0] for entry in cores.issues]
        shadow = REPORT_LATENCY + (2 if dimensions == 4 else 1)
        assert np.diff(times).tolist() == [
            ISSUE_CYCLES, VECTOR_ISSUE_CYCLES, shadow + VECTOR_TURNAROUND]

    bench_run(config, bench, longest=0)
