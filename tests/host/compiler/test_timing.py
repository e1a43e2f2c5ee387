# SPDX-License-Identifier: BSD-2-Clause
"""Durations: those that `hypercast bench model` has compared with the chip, and what they count."""

import hashlib

import numpy as np
import pytest

from hypercast.host.compiler.load import Load
from hypercast.host.compiler.timing import Timing, issue_interval, turnaround
from hypercast.rtl.config import PRESETS
from hypercast.rtl.isa import Opcode

TEST = PRESETS["test"]
CONFIGS = {
    "test": TEST, "one core": TEST.replace(dimensions=0), "wide": PRESETS["vcu128"],
    "slow": TEST.replace(memory_latency=2), "stalls": TEST.replace(memory_stalls=True),
    "large": PRESETS["cora"].replace(dimensions=3, accumulator_rows=128)}
#: What can limit an aggregation, and what one moves.
BUSIEST = ("rows", "sent", "links", "ejected", "arrivals", "words")
COUNTS = {"streams": 5, "total_rows": 600, "messages": 550, "edges": 900, "total_words": 450}
#: Digests of the durations below; after a change, run the bench and note the new ones.
NOTED = {
    "test": "89ad7f9f642e",
    "one core": "bde4f6d4eaef",
    "wide": "eb8a65d67bcf",
    "slow": "d577da67dcb1",
    "stalls": "e4837674ce65",
    "large": "a86b58d676c5",
}


def durations(config):
    """Durations of every instruction, in a few variants."""
    sparse = {"X": np.arange(config.cores)[:, None, None] * 3 + np.arange(20)}
    timing = Timing(config, sparse)
    rows = -(-300 // config.cores)
    for most in BUSIEST:  # by what each is limited
        load = Load(**{**dict.fromkeys(BUSIEST, 7), **COUNTS, most: 500})
        yield from (timing.aggregate(load, channel, bypassed=bypassed)
                    for channel in (0, 1) for bypassed in (False, True))
    yield timing.prefetch(load)
    for name in ("X", "H"):
        for reading in (False, True):
            yield timing.matmul(name, 300, rows, 1, 5, 0, reading=reading)
            yield timing.matmul(name, 300, 2, 0, 3, 1, reading=reading)
            for bypassed in (False, True):
                yield timing.gradient(name, 300, 2, 4, 3, 1, reading=reading, bypassed=bypassed)
                yield timing.gradient(
                    name, 9, 0, 3, 2, 0, reading=reading, bypassed=bypassed, sums=True)
    for bypassed in (False, True):
        yield timing.bias_gradient(300, 3, 2, 0, bypassed=bypassed)
        yield timing.bias_gradient(3, 1, 3, 1, bypassed=bypassed)
    for bias in (False, True):
        for masks in ({}, {"mask_read": True}, {"mask_write": True}):
            yield timing.drain(300, rows, 0, bias=bias, **masks)
            yield timing.drain(300, 3, 1, aggregation=True, bias=bias, **masks)
    yield from (timing.loss(300, rows, panels, classes) for panels, classes in ((1, 3), (3, 40)))
    yield from (timing.update(count, adam=adam, kept=kept)
                for count in (5, 100) for adam in (False, True) for kept in (False, True))
    yield from (timing.keep(count) for count in (5, 100))


@pytest.mark.parametrize("name", CONFIGS)
def test_durations_are_those_noted(name):
    text = repr([(one.cycles, one.tail, one.fill, one.begin, round(float(one.ahead), 6),
                  one.visible, sorted(one.work.items()),
                  sorted((key, round(float(value), 6)) for key, value in one.demands.items()))
                 for one in durations(CONFIGS[name])])
    assert hashlib.sha256(text.replace("np.int64", "").encode()).hexdigest()[:12] == NOTED[name]


@pytest.mark.parametrize(("opcode", "interval", "after"), [
    (Opcode.DRAIN, 9, 8), (Opcode.LOSS, 9, 8), (Opcode.UPDATE, 9, 8), (Opcode.MATMUL, 2, 0),
    (Opcode.GRADIENT, 2, 0), (Opcode.AGGREGATE, 2, 0)])
def test_intervals(opcode, interval, after):
    assert (issue_interval(opcode), turnaround(opcode)) == (interval, after)


@pytest.mark.parametrize(("changes", "pace"), [
    ({}, 1), ({"memory_latency": 30}, 1), ({"memory_latency": 62}, 1),
    ({"memory_latency": 126}, 2), ({"memory_latency": 510}, 8),
    ({"memory_stalls": True}, 975 / 887 / 0.75),
    ({"memory_latency": 126, "memory_stalls": True}, 975 / 887 * 2)])
def test_rows_that_a_list_names(changes, pace):
    """Rows that are sent are read, each by itself; records pass at one a cycle.

    A refresh, of 88 cycles, interrupts the records once.
    """
    refresh = 88 if "memory_stalls" in changes else 0
    timing = Timing(TEST.replace(read_buffer=128, **changes))

    def cycles(**fields):
        return timing.aggregate(
            Load(**{**dict.fromkeys(BUSIEST, 7), **COUNTS, **fields}, indexed=True), 0).cycles

    least = cycles()
    assert cycles(sent=8007) - least == pytest.approx((8007 - 7) * pace, abs=2)
    assert cycles(rows=8000) - least == pytest.approx(8000 - 7 * pace + refresh, abs=2)
    load = Load(**{**dict.fromkeys(BUSIEST, 7), **COUNTS})
    dense, listed = (timing.aggregate(one, 0).work for one in (load, load.name_rows()))
    assert dense["features_read"] == COUNTS["total_rows"]
    assert listed["features_read"] == COUNTS["messages"]


def test_counted_words():
    """A core has at most 8 of the 30 rows on 4 cores, and a row is a word for each panel."""
    timing = Timing(TEST)
    work = timing.matmul("H", 30, 8, 0, 3, 0, reading=True).work
    assert (work["array_words"], work["features_read"]) == (90, 90)
    assert "features_read" not in timing.matmul("H", 30, 8, 0, 3, 0, reading=False).work


def test_ranks_are_read_from_channel_1():
    """Two of them a word: for each panel of an operand, once for what is drained."""
    timing, words = Timing(TEST), -(-7 // 2) * TEST.cores
    assert TEST.ranks_in_word == 2

    def read(instruction, **fields):
        plain, ranked = (instruction(**fields, ranked=each) for each in (False, True))
        assert ranked.demands["channel 1"] - plain.demands.get("channel 1", 0) == \
            (ranked.work["gradients_read"] - plain.work.get("gradients_read", 0)) / TEST.cores
        return ranked.work["gradients_read"] - plain.work.get("gradients_read", 0)

    for channel in (0, 1):
        for reading in (False, True):
            common = {"name": "H", "channel": channel, "reading": reading}
            assert read(timing.matmul, vertices=28, rows=7, first=1, count=3, **common) == 3 * words
            assert read(timing.gradient, vertices=28, first=0, tiles=5, digits=3,
                        **common) == 5 * words
        for mask_write in (False, True):
            assert read(timing.drain, vertices=28, rows=7, channel=channel,
                        mask_write=mask_write) == words
    work = timing.drain(30, 8, 1, mask_write=True).work
    assert (work["gradients_written"], work["features_written"]) == (30 + 4, 0)
    work = timing.update(10, adam=True).work
    assert work["sent"] == 10 and work["gradients_read"] == 10 * 3 * TEST.state_words
    work = timing.update(10, kept=True).work
    assert (work["gradients_read"], work["gradients_written"]) == (
        10 * 4 * TEST.state_words, 10 * 2 * TEST.state_words)
    assert timing.keep(10).work == {"vector_words": 20 * TEST.state_words,
                                    "gradients_written": 20 * TEST.state_words}
