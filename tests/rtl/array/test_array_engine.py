# SPDX-License-Identifier: BSD-2-Clause
"""ArrayEngine against NumPy: MATMUL's accumulators and GRADIENT's flits."""

from collections import Counter
from contextlib import contextmanager

import numpy as np
import pytest

from hypercast.host.compiler.sparse_words import SparseWords
from hypercast.reference import arithmetic
from hypercast.rtl.array.array_engine import ArrayEngine
from hypercast.rtl.config import PRESETS
from hypercast.rtl.isa import Kind, Opcode, OperandSource, encode
from hypercast.rtl.placement import rank_of
from tests.bench import MemoryModel, run, shared

TINY = PRESETS["tiny"]
CONFIGS = {
    "tiny": TINY,
    "single": TINY.replace(dimensions=0),
    "bytes": PRESETS["test"].replace(element_width=8),
    "test": PRESETS["test"],
    "wide": PRESETS["test"].replace(lanes=8, planes=4, read_buffer=4),
}


def pack(row, width):
    return sum((int(element) & (1 << width) - 1) << width * i for i, element in enumerate(row))


def stored_words(matrix, lanes):
    """Words of a tile that are stored: the non-zero ones, or one of an empty panel."""
    kept = matrix.reshape(len(matrix), matrix.shape[1] // lanes, lanes).any(axis=2).sum(axis=0)
    return int(np.maximum(kept, 1).sum()) if len(matrix) else 0


class Bench:
    """An engine with memory, weight bank and network around it, and the expected results."""

    def __init__(self, config, seed=0, core=0, latency=1, stall=0.0, blocked=0.0):
        self.config, self.core, self.blocked = config, core, blocked
        self.rng = np.random.default_rng(seed)
        self.engine = shared(ArrayEngine, config)
        self.memory = MemoryModel(config, rng=self.rng, latency=latency, stall=stall)
        self.words = [self._draw(config.channel_words) for _ in range(2)]
        for channel, words in enumerate(self.words):
            self.memory.channels[channel][:] = [pack(word, config.element_width) for word in words]
        self.weights = self._draw(config.weight_rows)
        self.accumulators = np.zeros((2, config.accumulator_rows, config.lanes), dtype=np.int64)
        self.flits = []

    def _draw(self, rows):
        limit = 1 << self.config.element_width - 1
        values = self.rng.integers(-limit, limit, (rows, self.config.lanes))
        return np.where(self.rng.random(values.shape) < 0.1, -limit, values)

    # What surrounds the engine.

    async def weight_bank(self, ctx):
        port, rng = self.engine.weights, np.random.default_rng(0)
        while True:
            ready = rng.random() >= self.blocked
            ctx.set(port.request.ready, ready)
            _, _, valid, row = await ctx.tick().sample(port.request.valid, port.request.payload)
            word = pack(self.weights[row], self.config.element_width)
            ctx.set(port.data, word if valid and ready else ~word)

    async def network(self, ctx):
        flits, held = self.engine.flits, None
        while True:
            ready = self.rng.random() >= self.blocked
            ctx.set(flits.ready, ready)
            _, _, valid, payload = await ctx.tick().sample(flits.valid, flits.payload)
            assert held is None or (valid and payload == held), "a flit was withdrawn"
            held = payload if valid and not ready else None
            if valid and ready:
                self.flits.append(payload)

    def run(self, bench, cycles=20_000):
        engine = self.engine
        run(engine, bench, cycles=cycles, background=(
            self.weight_bank, self.network,
            lambda ctx: self.memory.serve_read(ctx, engine.left),
            lambda ctx: self.memory.serve_read(ctx, engine.right),
            lambda ctx: self.memory.serve_read(ctx, engine.index)))

    @contextmanager
    def without_memory(self, channel):
        """Reads of a channel give zeros: what is right comes from the operand buffer."""
        words = self.memory.channels[channel]
        self.memory.channels[channel] = np.zeros_like(words)
        yield
        self.memory.channels[channel] = words

    # Instructions.

    async def execute(self, ctx, opcode, rows, key=0, **fields):
        """Runs one instruction; returns the cycles by counter, and all ``busy`` ones."""
        engine = self.engine
        ctx.set(engine.core, self.core)
        assert not ctx.get(engine.busy)
        garbage = int.from_bytes(self.rng.bytes(40), "little")
        ctx.set(engine.issue, {"instruction": encode(opcode, **fields), "dropout_key": key})
        ctx.set(engine.rows, rows)
        ctx.set(engine.start, 1)
        await ctx.tick()
        ctx.set(engine.start, 0)
        ctx.set(engine.issue, {"instruction": garbage, "dropout_key": garbage & 0xFFFFFFFF})
        ctx.set(engine.rows, garbage & 0xFFFFF)
        assert ctx.get(engine.busy)
        count = Counter()
        while ctx.get(engine.busy):
            strobes = {name: ctx.get(getattr(engine, name))
                       for name in ("words", "starved", "blocked")}
            assert sum(strobes.values()) <= 1
            count.update(strobes, busy=1)
            await ctx.tick()
        return count

    def store_sparse(self, matrix):
        """Puts a matrix and its index at random places; returns the fields that name them."""
        config = self.config
        sparse = SparseWords.of(matrix, config)
        assert len(sparse.words) < config.channel_words // 2
        address = int(self.rng.integers(config.channel_words - len(sparse.words)))
        index = sparse.index(address, config, 0, matrix.shape[1] // config.lanes)
        index_address = int(self.rng.integers(300, config.channel_words - len(index)))
        for channel, start, image in ((0, address, sparse.words), (1, index_address, index)):
            for offset, chunks in enumerate(image):
                word = sum(int(chunk) << 32 * i for i, chunk in enumerate(chunks))
                self.memory.channels[channel][start + offset] = word
        return {"sparse": 1, "address": index_address}

    def draw_sparse(self, rows, panels, density):
        """A matrix some of whose words are zero."""
        lanes = self.config.lanes
        values = self._draw(rows * panels).reshape(rows, panels, lanes)
        kept = self.rng.random((rows, panels, 1)) < density
        return np.where(kept, values, 0).reshape(rows, panels * lanes)

    async def sparse_matmul(self, ctx, matrix, key=0, **fields):
        """A MATMUL of ``matrix``, word-sparse."""
        lanes, rows, start = self.config.lanes, len(matrix), fields.get("row_start", 0)
        places = ({"sparse": 1} if fields.get("operand") == OperandSource.BUFFER else
                  self.store_sparse(matrix))
        count = await self.execute(ctx, Opcode.MATMUL, start + rows, key, **fields | places | {
            "row_limit": 64, "panels": matrix.shape[1] // lanes})
        for k in range(matrix.shape[1] // lanes):
            base = fields["weights"] + k * fields["weight_stride"]
            tile = self.weights[base:base + lanes]
            words = matrix[:, k * lanes:(k + 1) * lanes]
            words = self.masked(words, start, k, key, fields) if rows else words
            self.accumulators[fields["buffer"], :rows] += words @ (
                tile.T if fields["transposed"] else tile)
        assert count["words"] == stored_words(matrix, lanes)
        return count

    def masked(self, words, row_start, number, key, fields):
        """Words of the panel with this number after dropout."""
        if not fields.get("dropout"):
            return words
        panel = fields.get("panel", 0) + number
        lanes = self.config.lanes
        ranks = [rank_of(self.core, row_start + i, self.config.cores) for i in range(len(words))]
        keep = arithmetic.keep_mask(key, fields["dropout_threshold"], np.array(ranks)[:, None],
                                    panel * lanes + np.arange(lanes))
        return np.where(keep, words, 0)

    async def matmul(self, ctx, rows, key=0, **fields):
        lanes = self.config.lanes
        count = await self.execute(ctx, Opcode.MATMUL, rows, key, **fields)
        start = fields.get("row_start", 0)
        used = min(max(rows - start, 0), fields["row_limit"])
        for k in range(fields["panels"]):
            address = fields["address"] + k * fields["stride"]
            words = self.words[fields["channel"]][address:address + used]
            base = fields["weights"] + k * fields["weight_stride"]
            tile = self.weights[base:base + lanes]
            words = self.masked(words, start, k, key, fields) if used else words
            self.accumulators[fields["buffer"], :used] += words @ (
                tile.T if fields["transposed"] else tile)
        assert count["words"] == used * fields["panels"]
        return count

    async def check_drain(self, ctx, buffer):
        """Drains all rows of ``buffer``, right after ``busy`` fell, compares and returns them."""
        drain, rows = self.engine.drain, []
        for cycle in range(self.config.accumulator_rows + 2):
            ctx.set(drain.enable, cycle < self.config.accumulator_rows)
            ctx.set(drain.buffer, buffer)
            ctx.set(drain.row, cycle % self.config.accumulator_rows)
            if ctx.get(drain.valid):
                rows.append(list(ctx.get(drain.data)))
            await ctx.tick()
        np.testing.assert_array_equal(rows, self.accumulators[buffer])
        self.accumulators[buffer] = 0
        return rows

    async def gradient(self, ctx, rows, key=0, *, matrix=None, **fields):
        """A GRADIENT of ``rows`` rows; with ``matrix``, the left operand is this one, word-sparse.
        """
        config, first = self.config, fields.get("row_start", 0)
        fields = {"digits": config.digits, "row_limit": 64, **fields}
        lanes, panels = config.lanes, fields["panels"]
        if matrix is None:
            count = await self.execute(ctx, Opcode.GRADIENT, first + rows, key, **fields)
            assert count["words"] == rows * panels
            starts = fields["address"] + np.arange(panels) * fields["stride"]
            lefts = [self.words[1 - fields["gradient_channel"]][start:start + rows]
                     for start in starts]
        else:
            places = ({"sparse": 1} if fields.get("operand") == OperandSource.BUFFER else
                      self.store_sparse(matrix))
            count = await self.execute(
                ctx, Opcode.GRADIENT, first + rows, key, **fields | places)
            lefts = np.split(matrix, panels, axis=1)
            assert count["words"] == stored_words(matrix, lanes)
        sums, arrived, planes = {}, Counter(), Counter()
        for flit in self.flits:
            destinations = flit.destinations
            assert destinations & (destinations - 1) == 0 and destinations and flit.source == 0
            assert flit.kind.value == Kind.REDUCE
            place = ((destinations.bit_length() - 1) ^ self.core, flit.index)
            values = [flit.payload >> config.element_width * lane & (1 << config.element_width) - 1
                      for lane in range(config.lanes)]
            half = 1 << config.element_width - 1
            sums[place] = sums.get(place, 0) + np.array(
                [(value ^ half) - half << config.element_width * flit.digit for value in values])
            arrived[place, flit.digit] += 1
            planes[flit.plane] += 1
        self.flits.clear()
        expected = {}
        if fields.get("sums"):
            start = fields["gradient_address"]
            expected[fields["sums_row"]] = self.words[fields["gradient_channel"]][
                start:start + rows].sum(axis=0)
        for k, left in enumerate(lefts):
            start = fields["gradient_address"]
            if fields.get("ones"):
                left = np.eye(config.lanes, dtype=np.int64)[np.zeros(rows, dtype=int)]
                start += k * fields["stride"]
            right = self.words[fields["gradient_channel"]][start:start + rows]
            left = self.masked(left, first, k, key, fields) if rows else left
            sent = (left.T @ right)[:1] if fields.get("ones") else left.T @ right
            for i, row in enumerate(sent):
                expected[fields["first_row"] + k * len(sent) + i] = row
        for reduction_row, row in expected.items():
            index, owner = divmod(reduction_row, config.cores)
            place = owner, index
            reach = 1 << config.element_width * fields["digits"]  # what the digits can tell
            np.testing.assert_array_equal((sums.pop(place) - row) % reach, 0)
            for number in range(fields["digits"]):
                assert arrived.pop((place, number)) == 1
        assert not sums and not arrived
        if fields["panels"]:
            assert max(planes.values()) - min(planes[p] for p in range(config.planes)) <= 1
        return count


DROPOUT = {"dropout": 1, "dropout_threshold": 30000}
MATMUL = {"row_limit": 40, "buffer": 0, "channel": 0, "address": 7, "stride": 50, "panels": 3,
          "weights": 8, "weight_stride": 16, "transposed": 0}
GRADIENT = {"address": 3, "stride": 40, "panels": 3, "gradient_channel": 1,
            "gradient_address": 17, "first_row": 0}


@pytest.mark.parametrize("name,core,latency,stall,blocked", [
    ("tiny", 1, 1, 0.0, 0.0), ("single", 0, 5, 0.2, 0.3), ("bytes", 2, 12, 0.0, 0.6),
    ("test", 3, 3, 0.3, 0.2), ("wide", 1, 1, 0.1, 0.7)])
def test_instructions_back_to_back(name, core, latency, stall, blocked):
    bench = Bench(CONFIGS[name], core=core, latency=latency, stall=stall, blocked=blocked)

    async def program(ctx):
        await bench.matmul(ctx, 25, **MATMUL)
        await bench.gradient(ctx, 19, **GRADIENT)
        await bench.matmul(ctx, 25, **MATMUL | {
            "transposed": 1, "channel": 1, "buffer": 1, "weight_stride": 3})
        await bench.gradient(ctx, 11, key=77, **GRADIENT | DROPOUT | {
            "first_row": 21, "panels": 2, "panel": 9, "digits": 2})
        await bench.matmul(ctx, 31, key=5, **MATMUL | DROPOUT | {  # adds to the first's sums
            "row_start": 9, "row_limit": 13})
        await bench.check_drain(ctx, 0)
        await bench.gradient(ctx, 14, **GRADIENT | {"ones": 1, "panels": 3, "first_row": 6})
        await bench.matmul(ctx, 25, key=2**32 - 1, **MATMUL | DROPOUT | {
            "transposed": 1, "panels": 1})
        await bench.check_drain(ctx, 0)
        await bench.check_drain(ctx, 1)
        await bench.gradient(ctx, 19, **GRADIENT | {"sums": 1, "sums_row": 70})
        await bench.gradient(ctx, 2, key=3, **GRADIENT | DROPOUT | {
            "sums": 1, "sums_row": 71, "panels": 1, "digits": 1})

    bench.run(program)


@pytest.mark.parametrize("name", ["tiny", "test"])
def test_few_rows(name):
    bench = Bench(CONFIGS[name], core=1, latency=2, blocked=0.2)

    async def program(ctx):
        for rows in (0, 1, 2, 3, 0):
            await bench.matmul(ctx, rows, **MATMUL | {"panels": 4})
            await bench.gradient(ctx, rows, **GRADIENT | {"first_row": rows, "ones": rows & 1})
            await bench.matmul(ctx, rows, key=9, **MATMUL | DROPOUT | {"row_start": 1})
            await bench.gradient(ctx, rows, **GRADIENT | DROPOUT)
            await bench.gradient(ctx, rows, **GRADIENT | {"sums": 1, "sums_row": 30})
            await bench.check_drain(ctx, 0)
        await bench.matmul(ctx, 20, **MATMUL | {"row_limit": 0})
        await bench.matmul(ctx, 20, **MATMUL | {"panels": 0})
        await bench.gradient(ctx, 20, **GRADIENT | {"panels": 0})
        await bench.matmul(ctx, 20, **MATMUL)
        await bench.check_drain(ctx, 0)

    bench.run(program)


def test_no_rows_ends_at_once():
    bench = Bench(TINY)

    async def program(ctx):
        count = await bench.matmul(ctx, 0, **MATMUL)
        assert count["busy"] <= 3

    bench.run(program)


@pytest.mark.parametrize("seed", range(4))
def test_random_programs(seed):
    config = CONFIGS["test" if seed % 2 else "tiny"]
    rng = np.random.default_rng(seed)
    bench = Bench(config, seed=seed, core=int(rng.integers(config.cores)),
                  latency=int(rng.integers(1, 9)), stall=0.15 * (seed % 3), blocked=0.3)

    def flip():
        return int(rng.integers(2))

    async def program(ctx):
        for _ in range(6):
            rows = int(rng.integers(30))
            shared = {
                "address": int(rng.integers(100)), "stride": int(rng.integers(30, 60)),
                "panels": int(rng.integers(1, 5)), "dropout": flip(),
                "dropout_threshold": int(rng.integers(65536)), "key": int(rng.integers(2**32))}
            if flip():
                buffer = flip()
                await bench.matmul(ctx, rows, **shared, buffer=buffer, channel=flip(),
                                   row_start=int(rng.integers(10)),
                                   row_limit=int(rng.integers(1, 30)), transposed=flip(),
                                   weights=int(rng.integers(32)),
                                   weight_stride=int(rng.integers(16)))
                if flip():
                    await bench.check_drain(ctx, buffer)
            else:
                ones = flip()
                await bench.gradient(ctx, rows, **shared, gradient_channel=flip(),
                                     row_start=int(rng.integers(1000)),
                                     gradient_address=int(rng.integers(200)),
                                     first_row=int(rng.integers(30)), ones=ones,
                                     sums=flip() & ~ones, sums_row=int(rng.integers(100, 130)),
                                     digits=int(rng.integers(1, config.digits + 1)),
                                     panel=int(rng.integers(2**14 - 4)))

    bench.run(program)


@pytest.mark.parametrize("fields", [{}, {"transposed": 1}, DROPOUT])
def test_matmul_keeps_the_array_busy(fields):
    config = PRESETS["test"]
    bench = Bench(config)

    async def program(ctx):
        count = await bench.matmul(ctx, 64, **MATMUL | fields | {
            "row_limit": 64, "stride": 64, "panels": 10})
        assert count["words"] >= 0.9 * count["busy"], count
        rows = 3 * config.lanes - 2  # just hides the load of the next tile
        count = await bench.matmul(ctx, rows, **MATMUL | fields | {
            "panels": 40, "weight_stride": 4})
        assert count["blocked"] <= config.lanes, count

    bench.run(program)


def test_gradient_streams_while_it_sends():
    config = PRESETS["test"]
    bench = Bench(config)

    async def program(ctx):
        rows = 2 * config.lanes + 2 + config.lanes * config.digits + 1
        count = await bench.gradient(ctx, rows, **GRADIENT | {"panels": 10})
        assert count["words"] >= 0.85 * count["busy"], count

    bench.run(program)


SPARSE = {name: value for name, value in MATMUL.items()
          if name not in ("address", "stride", "panels", "row_limit")} | {"weight_stride": 3}


@pytest.mark.grid
@pytest.mark.parametrize("name,core,latency,stall,blocked", [
    ("tiny", 1, 1, 0.0, 0.0), ("single", 0, 5, 0.2, 0.3), ("bytes", 2, 12, 0.0, 0.6),
    ("test", 3, 3, 0.3, 0.2),
    pytest.param("wide", 1, 1, 0.1, 0.7, marks=pytest.mark.slow)])
@pytest.mark.parametrize("density", [0.0, 0.1, pytest.param(0.9, marks=pytest.mark.slow)])
def test_sparse_operands(name, core, latency, stall, blocked, density):
    """Word-sparse between dense instructions, with and without dropout."""
    bench = Bench(CONFIGS[name], core=core, latency=latency, stall=stall, blocked=blocked)

    async def program(ctx):
        matrix = bench.draw_sparse(37, 5, density)
        await bench.sparse_matmul(ctx, matrix, **SPARSE)
        await bench.gradient(ctx, 37, matrix=matrix, **GRADIENT | {"panels": 5})
        await bench.matmul(ctx, 25, key=5, **MATMUL | DROPOUT)
        for transposed, buffer in enumerate((1, 0)):
            await bench.sparse_matmul(ctx, matrix, key=9, **SPARSE | DROPOUT | {
                "transposed": transposed, "buffer": buffer, "panel": 3 * buffer})
        await bench.gradient(ctx, 37, key=9, matrix=matrix, **GRADIENT | DROPOUT | {
            "panels": 5, "panel": 7, "first_row": 3, "digits": 1})
        await bench.sparse_matmul(ctx, matrix, key=8, **SPARSE | DROPOUT | {"row_start": 64})
        await bench.gradient(ctx, 37, key=8, matrix=matrix, **GRADIENT | DROPOUT | {
            "panels": 5, "row_start": 192})
        await bench.gradient(ctx, 14, **GRADIENT | {"ones": 1, "panels": 1})
        await bench.check_drain(ctx, 0)
        await bench.check_drain(ctx, 1)

    bench.run(program)


@pytest.mark.parametrize("name", ["tiny", "test"])
def test_few_sparse_rows(name):
    bench = Bench(CONFIGS[name], core=1, latency=2, blocked=0.2)

    async def program(ctx):
        for rows in (0, 1, 2, 0, 3):
            matrix = bench.draw_sparse(rows, 4, 0.5)
            await bench.sparse_matmul(ctx, matrix, **SPARSE)
            await bench.gradient(ctx, rows, matrix=matrix, **GRADIENT | {"panels": 4})
            await bench.check_drain(ctx, 0)

    bench.run(program)
