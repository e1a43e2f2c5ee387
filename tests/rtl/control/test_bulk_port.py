# SPDX-License-Identifier: BSD-2-Clause
"""BulkPort with the cores' ends of it: bursts reach memories, whatever else goes on."""

import numpy as np
import pytest
from amaranth.hdl import Cat, Const, Module, ResetInserter, Signal
from amaranth.lib import wiring

from hypercast.rtl.config import PRESETS
from hypercast.rtl.control.bulk_host import BulkHost
from hypercast.rtl.control.bulk_port import BulkPort
from hypercast.rtl.control.window import TIMEOUT
from hypercast.rtl.registers import CoreSpace, Space, bulk_address, striped_address
from tests.bench import MemoryModel, run
from tests.rtl.control.bulk_manager import BulkManager

_OKAY, _SLVERR = 0, 2
_SPACES = (Space.FEATURES, Space.GRADIENTS, Space.WEIGHTS)


class System(wiring.Component):
    """The port and the hosts of all cores, wired as in ``ControlUnit`` and ``Core``."""

    def __init__(self, config):
        super().__init__({})
        self.port, self.reset = BulkPort(config), Signal()
        self.hosts = [BulkHost(config) for _ in range(config.cores)]

    def elaborate(self, platform):
        m = Module()
        m.submodules.port = port = self.port
        combined = Const(0)
        for core, host in enumerate(self.hosts):
            m.submodules[f"host_{core}"] = ResetInserter(self.reset)(host)
            m.d.comb += [host.core.eq(core), host.request.eq(port.request),
                         host.request_valid.eq(port.request_valid)]
            combined = combined | host.response
        m.d.sync += [
            port.response.eq(combined),
            port.response_valid.eq(Cat(host.response_valid for host in self.hosts).any()),
            port.taken.eq(sum(host.taken for host in self.hosts)),
            port.settled.eq(Cat(host.settled for host in self.hosts).all()),
        ]
        return m


class Bench:
    """A system, its host, and memories behind it."""

    def __init__(self, config, seed=0, delay=0.0, latency=1, stall=0.0):
        self.config, self.rng = config, np.random.default_rng(seed)
        self.dut = System(config)
        self.manager = BulkManager(self.dut.port.axi.write, self.dut.port.axi.read, self.rng,
                                   delay)
        self.stall = stall
        self.memories = [MemoryModel(config, self.rng, latency, stall) for _ in self.dut.hosts]
        self.weights = [[0] * config.weight_rows for _ in self.dut.hosts]
        self.background = list(self.manager.drivers)
        for host, memory, weights in zip(self.dut.hosts, self.memories, self.weights, strict=True):
            self.background += [
                lambda ctx, host=host, memory=memory: memory.serve_read(ctx, host.read),
                lambda ctx, host=host, memory=memory: memory.serve_write(ctx, host.write),
                lambda ctx, host=host, weights=weights: self._serve(ctx, host, weights)]

    async def _serve(self, ctx, host, weights):
        request, write = host.weights.request, host.weights_write
        while True:
            ctx.set(request.ready, self.rng.random() >= self.stall)
            ctx.set(write.ready, self.rng.random() >= self.stall)
            _, _, reading, row, writing, new = await ctx.tick().sample(
                request.valid & request.ready, request.payload, write.valid & write.ready,
                write.payload)
            ctx.set(host.weights.data, weights[row] if reading else 0)
            if writing:
                weights[new.index] = new.payload

    def rows(self, space):
        """Bytes of a memory channel of all cores, as striped bursts name them."""
        return bytearray(np.stack([np.frombuffer(self.contents(core, space), np.uint8).reshape(
            self.config.channel_words, -1) for core in range(self.config.cores)], 1).tobytes())

    def contents(self, core, space):
        """Bytes of a memory."""
        words = self.weights[core] if space == Space.WEIGHTS else self.memories[core].channels[
            space == Space.GRADIENTS]
        return bytearray(b"".join(
            int(word).to_bytes(self.config.word_width // 8, "little") for word in words))

    async def window(self, ctx, core, space, address, write=None, all_cores=0):
        """An access of the window; None if there is no answer."""
        port = self.dut.port
        ctx.set(port.window, {"core": core, "all_cores": all_cores, "space": space,
                              "address": address,
                              "write": write is not None, "data": write or 0})
        ctx.set(port.window_valid, 1)
        await ctx.tick()
        ctx.set(port.window_valid, 0)
        for _ in range(TIMEOUT):
            _, _, valid, answer = await ctx.tick().sample(
                port.window_response_valid, port.window_response)
            if valid:
                return answer
        return None

    def run(self, *testbenches, cycles=100_000):
        run(self.dut, *testbenches, background=self.background, cycles=cycles)


def _config(preset, **changes):
    return PRESETS[preset].replace(
        **{"dimensions": 1, "channel_words": 256, "weight_rows": 64, **changes})


@pytest.mark.parametrize(("preset", "delay", "latency", "stall"), [
    ("tiny", 0.0, 1, 0.0), ("test", 0.3, 7, 0.3), ("kv260", 0.2, 3, 0.1),
    ("cora", 0.0, 20, 0.0), ("cora", 0.4, 3, 0.4)])
def test_bursts_and_window_together(preset, delay, latency, stall):
    """Reads and writes of all memories, under way at the same time, with the window between."""
    config = _config(preset)
    bench = Bench(config, 1, delay, latency, stall)
    rng, word = bench.rng, config.word_width // 8
    looked = []
    expected = {(core, space): bench.contents(core, space)
                for core in range(config.cores) for space in _SPACES}

    async def write(ctx):
        """Bursts of whole words, and half words that the next burst completes."""
        for _ in range(12):
            key = core, space = int(rng.integers(config.cores)), _SPACES[rng.integers(3)]
            size = len(expected[key])
            step = max(16, word)
            first = int(rng.integers(size // step // 2)) * step  # the lower half
            count = min(int(rng.integers(1, 40)) * step, size // 2 - first)
            values = rng.integers(256, size=count, dtype=np.uint8).tobytes()
            cut = 16 * int(rng.integers(1, count // 16)) if count > 16 else count
            for begin, end in ((0, cut), (cut, count)):
                if begin < end:
                    bench.manager.start_write(
                        bulk_address(core, space, first + begin), values[begin:end])
            expected[key][first:first + count] = values
            if rng.random() < 0.5:
                while bench.manager._ids["b"]:
                    await ctx.tick()
        while bench.manager._ids["b"]:
            await ctx.tick()
        assert set(bench.manager.written) == {_OKAY}
        for key, contents in expected.items():
            assert bench.contents(*key) == contents, key
        # All of it is read back.
        while not looked:
            await ctx.tick()
        for key, contents in expected.items():
            for first in range(0, len(contents), 1024):
                beats = min(64, (len(contents) - first) // 16)
                bench.manager.start_read(bulk_address(*key, first), beats)
                responses, values = await bench.manager.finish_read(ctx)
                assert responses == [_OKAY] * beats
                assert values == contents[first:first + 16 * beats]

    async def look(ctx):
        """The upper halves of memories do not change; all ranges of beats can be read."""
        for _ in range(15):
            core, space = int(rng.integers(config.cores)), _SPACES[rng.integers(3)]
            half = len(expected[core, space]) // 2
            first = half + 16 * int(rng.integers(half // 16))
            beats = int(rng.integers(1, min(64, (2 * half - first) // 16) + 1))
            bench.manager.start_read(bulk_address(core, space, first), beats)
        while len(bench.manager.read) < 15:
            await ctx.tick()
        assert all(set(responses) == {_OKAY} for responses, _ in bench.manager.read)
        bench.manager.read.clear()
        looked.append(True)

    async def use_window(ctx):
        for _ in range(20):
            core, space = int(rng.integers(config.cores)), _SPACES[rng.integers(2)]
            address = int(rng.integers(config.channel_words // 2, config.channel_words))
            answer = await bench.window(ctx, core, space, address * config.chunks)
            assert answer == 0

    bench.run(write, look, use_window)


@pytest.mark.parametrize(("preset", "dimensions", "delay", "stall"), [
    ("tiny", 2, 0.0, 0.0), ("test", 1, 0.3, 0.3), ("kv260", 0, 0.2, 0.1), ("cora", 2, 0.4, 0.4)])
def test_striped_bursts_among_others(preset, dimensions, delay, stall):
    """They write to all cores, with bursts to one core and the window between them."""
    config = _config(preset, dimensions=dimensions)
    bench = Bench(config, 3, delay, 5, stall)
    rng, word = bench.rng, config.word_width // 8
    step, channels = max(16, word), (Space.FEATURES, Space.GRADIENTS)
    expected = {space: bench.rows(space) for space in channels}

    def plain(core, space, first, values):
        """Write words of one core, and note that."""
        bench.manager.start_write(bulk_address(core, space, first * word), values)
        for number in range(len(values) // word):
            place = ((first + number) * config.cores + core) * word
            expected[space][place:place + word] = values[number * word:][:word]

    async def write(ctx):
        for _ in range(8):
            space = channels[rng.integers(2)]
            first = int(rng.integers(len(expected[space]) // step)) * step
            values = rng.bytes(min(int(rng.integers(1, 40)) * step, len(expected[space]) - first))
            expected[space][first:first + len(values)] = values
            cut = 16 * int(rng.integers(len(values) // 16))
            for begin, end in ((0, cut), (cut, len(values))):
                if begin < end:
                    bench.manager.start_write(
                        striped_address(space, first + begin), values[begin:end])
            plain(int(rng.integers(config.cores)), channels[rng.integers(2)],
                  8 * int(rng.integers(24)), rng.bytes(8 * word))
        while bench.manager._ids["b"]:
            await ctx.tick()
        assert set(bench.manager.written) == {_OKAY}
        for space in channels:
            assert bench.rows(space) == expected[space]
            bench.manager.start_read(striped_address(space, 0), 4)
            assert (await bench.manager.finish_read(ctx))[0] == [_SLVERR] * 4

    async def use_window(ctx):
        for _ in range(20):
            core = int(rng.integers(config.cores))
            assert await bench.window(ctx, core, channels[rng.integers(2)], 0) is not None

    bench.run(write, use_window)


@pytest.mark.parametrize("preset", ["tiny", "cora"])
def test_window_writes_and_reads_words(preset):
    config = _config(preset)
    bench = Bench(config, 2, 0.0, 5, 0.2)

    async def program(ctx):
        for core in range(config.cores):
            for space in _SPACES:
                pieces = [int(piece) for piece in bench.rng.integers(1 << 32, size=config.chunks)]
                for index, piece in enumerate(pieces):
                    address = 3 * config.chunks + index
                    assert await bench.window(ctx, core, space, address, piece) is not None
                for index, piece in enumerate(pieces):
                    assert await bench.window(ctx, core, space, 3 * config.chunks + index) == piece
        assert await bench.window(ctx, 0, Space.FEATURES,
                                  config.channel_words * config.chunks) is None
        assert await bench.window(ctx, 0, Space.FEATURES, 3 * config.chunks) is not None

    bench.run(program)


@pytest.mark.parametrize("preset", ["tiny", "kv260", "cora"])
def test_pace(preset):
    """A beat per cycle, or a word per cycle if it is narrower; both ways, and to all cores."""
    config = _config(preset, channel_words=1024)
    bench = Bench(config, latency=8)
    beats = 512 if config.word_width >= 128 else 128
    cycles = beats * max(1, 128 // config.word_width)

    async def program(ctx):
        values = bench.rng.integers(256, size=16 * beats, dtype=np.uint8).tobytes()
        for begin in range(0, beats, 128):
            bench.manager.start_write(bulk_address(1, Space.FEATURES, 16 * begin),
                                      values[16 * begin:16 * (begin + 128)])
        took = 0
        while bench.manager._ids["b"]:
            await ctx.tick()
            took += 1
        assert took < 1.05 * cycles + 60, (took, cycles)
        for begin in range(0, beats, 128):
            bench.manager.start_read(bulk_address(1, Space.FEATURES, 16 * begin), 128)
        took = 0
        while bench.manager._ids["r"]:
            await ctx.tick()
            took += 1
        assert took < 1.05 * cycles + 60, (took, cycles)
        assert b"".join(data for _, data in bench.manager.read) == values
        for begin in range(0, beats, 128):
            bench.manager.start_write(striped_address(Space.GRADIENTS, 16 * begin),
                                      values[16 * begin:16 * (begin + 128)])
        took = 0
        while bench.manager._ids["b"]:
            await ctx.tick()
            took += 1
        assert took < 1.05 * cycles + 60, (took, cycles)
        assert bench.rows(Space.GRADIENTS)[:len(values)] == values

    bench.run(program)


def test_all_cores_at_once_among_bursts():
    """Each gets what is sent to all, once, and the bursts around it lose nothing."""
    config = _config("test", dimensions=2)
    bench = Bench(config, 3, 0.1, 5, 0.3)
    written = [[] for _ in bench.dut.hosts]

    async def watch(ctx, core):
        host = bench.dut.hosts[core]
        while True:
            _, _, write, index, count = await ctx.tick().sample(
                host.rows_write, host.rows_index, host.rows_write_data)
            if write:
                written[core].append((index, count))

    bench.background += [lambda ctx, core=core: watch(ctx, core) for core in range(config.cores)]
    data = [bench.rng.bytes(config.channel_words * config.word_width // 8) for _ in range(4)]
    finished = []

    async def write(ctx):
        for core, content in enumerate(data):
            bench.manager.start_write(bulk_address(core, Space.FEATURES, 0), content)
            assert await bench.manager.finish_write(ctx) == _OKAY
        finished.append(True)

    async def use_window(ctx):
        sent = []
        while not finished or len(sent) < 20:
            sent.append((len(sent) % 16, 7 * len(sent)))
            assert await bench.window(ctx, 0, Space.CORE, sent[-1][0] + CoreSpace.ROWS,
                                      sent[-1][1], all_cores=1) is not None
            await ctx.tick().repeat(int(bench.rng.integers(1, 20)))
        assert written == [sent] * config.cores

    bench.run(write, use_window)
    assert [bytes(bench.contents(core, Space.FEATURES)) for core in range(4)] == data


def test_a_reset_ends_what_has_begun():
    """A memory that never answers, a burst in the middle: SLVERR, and all is well after it."""
    config = _config("test")
    bench = Bench(config)

    async def program(ctx):
        nothing = bytes(16 * 64)
        bench.manager.start_write(bulk_address(0, Space.FEATURES, 0), nothing)
        bench.manager.start_read(bulk_address(1, Space.FEATURES, 0), 64)
        bench.manager.start_read(bulk_address(0, Space.GRADIENTS, 0), 64)
        for _ in range(20):
            await ctx.tick()
        ctx.set(bench.dut.port.resetting, 1)
        ctx.set(bench.dut.reset, 1)
        assert await bench.manager.finish_write(ctx) == _SLVERR
        for _ in range(2):
            responses, _ = await bench.manager.finish_read(ctx)
            assert responses[-1] == _SLVERR
        bench.manager.start_write(bulk_address(0, Space.FEATURES, 0), nothing)
        assert await bench.manager.finish_write(ctx) == _SLVERR
        for _ in range(50):
            await ctx.tick()
        ctx.set(bench.dut.reset, 0)
        ctx.set(bench.dut.port.resetting, 0)
        for _ in range(10):
            await ctx.tick()
        values = bytes(range(256))
        bench.manager.start_write(bulk_address(0, Space.WEIGHTS, 0), values)
        assert await bench.manager.finish_write(ctx) == _OKAY
        bench.manager.start_read(bulk_address(0, Space.WEIGHTS, 0), 16)
        assert await bench.manager.finish_read(ctx) == ([_OKAY] * 16, values)

    bench.run(program)


def test_while_a_program_runs_channels_are_written_only():
    config = _config("test")
    bench = Bench(config)

    async def program(ctx):
        ctx.set(bench.dut.port.running, 1)
        bench.manager.start_write(bulk_address(0, Space.WEIGHTS, 0), bytes([1] * 64))
        assert await bench.manager.finish_write(ctx) == _SLVERR
        for space in _SPACES:
            bench.manager.start_read(bulk_address(0, space, 0), 4)
            assert (await bench.manager.finish_read(ctx))[0] == [_SLVERR] * 4
        assert not any(bench.contents(0, Space.WEIGHTS))
        for space in (Space.FEATURES, Space.GRADIENTS):
            bench.manager.start_write(bulk_address(0, space, 0), bytes([1] * 64))
            assert await bench.manager.finish_write(ctx) == _OKAY
            assert bench.contents(0, space)[:64] == bytes([1] * 64)
            bench.manager.start_write(striped_address(space, 0), bytes([2] * 128))
            assert await bench.manager.finish_write(ctx) == _OKAY
            for core in range(config.cores):
                assert bench.contents(core, space)[:64] == bytes([2] * 64)
        ctx.set(bench.dut.port.running, 0)
        bench.manager.start_write(bulk_address(0, Space.WEIGHTS, 0), bytes([1] * 64))
        assert await bench.manager.finish_write(ctx) == _OKAY

    bench.run(program)


def test_a_program_that_wants_a_channel_for_long():
    """Bursts wait for it, longer than a time-out; they go on when it lets them."""
    config = _config("test")
    bench = Bench(config)

    async def program(ctx):
        hold = bench.dut.hosts[1].hold
        ctx.set(bench.dut.port.running, 1)
        ctx.set(hold, 0b01)
        bench.manager.start_write(bulk_address(1, Space.GRADIENTS, 0), bytes([1] * 512))
        assert await bench.manager.finish_write(ctx) == _OKAY
        bench.manager.start_write(bulk_address(1, Space.FEATURES, 0), bytes([2] * 512))
        await ctx.tick().repeat(TIMEOUT + 100)
        assert not any(bench.contents(1, Space.FEATURES)) and not bench.manager.written
        ctx.set(hold, 0)
        assert await bench.manager.finish_write(ctx) == _OKAY
        assert bench.contents(1, Space.FEATURES)[:512] == bytes([2] * 512)

    bench.run(program, cycles=2 * TIMEOUT)


def test_a_memory_that_does_not_answer():
    """After a time-out everything is refused, until the reset."""
    config = _config("test")
    bench = Bench(config, stall=1.0)

    async def program(ctx):
        bench.manager.start_write(bulk_address(0, Space.FEATURES, 0), bytes(1024))
        bench.manager.start_read(bulk_address(0, Space.GRADIENTS, 0), 64)
        assert await bench.manager.finish_write(ctx) == _SLVERR
        assert (await bench.manager.finish_read(ctx))[0] == [_SLVERR] * 64
        bench.manager.start_read(bulk_address(0, Space.GRADIENTS, 0), 1)
        assert (await bench.manager.finish_read(ctx))[0] == [_SLVERR]

    bench.run(program, cycles=2 * TIMEOUT)
