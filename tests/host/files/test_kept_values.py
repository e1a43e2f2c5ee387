# SPDX-License-Identifier: BSD-2-Clause
"""Values are kept: the same again, no more than there is room for, and never wrong."""

import pickle
import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypercast.host.compiler.compiled_edges import CompiledEdges
from hypercast.host.files.kept_values import KeptValues
from hypercast.reference.network import Network
from tests.host.models import SMALL, small_graph


def compiled(vertices):
    edges = small_graph(vertices).edges.astype(np.int64)
    network = Network.of_widths([5, 3])
    return CompiledEdges.of(network, [edges], 1, SMALL, symmetric=False)


EDGES = {number: compiled(20 + 3 * number) for number in range(4)}
#: About what each takes.
ROOM = 20_000


class Calls:
    """Gives edges, and counts how often."""

    def __init__(self):
        self.asked = []

    def of(self, kept, number):
        def give():
            self.asked.append(number)
            return EDGES[number]

        found = kept.value_of((number, -3), give)
        same(found, EDGES[number])


def same(found, expected):
    assert found.config == expected.config and found.vertices == expected.vertices
    for one, other in zip(found.matrices, expected.matrices, strict=True):
        assert one.edges.name == other.edges.name and one.edges.uses == other.edges.uses
        for (strip, messages), (expected_strip, expected_messages) in zip(
                one.strips, other.strips, strict=True):
            assert strip == expected_strip and messages.messages == expected_messages.messages
            for part in ("send_lists", "edge_sets"):
                for words, expected_words in zip(getattr(messages, part),
                                                 getattr(expected_messages, part), strict=True):
                    np.testing.assert_array_equal(words, expected_words)


@given(st.lists(st.sampled_from(sorted(EDGES)), max_size=12), st.integers(0, 5 * ROOM),
       st.integers(0, 5 * ROOM))
def test_the_same_as_compiled_wherever_it_is_kept(numbers, memory, file):
    kept, calls = KeptValues(memory, file), Calls()
    for number in numbers:
        calls.of(kept, number)
    assert set(calls.asked) == set(numbers)


@pytest.mark.parametrize("room", [{"memory": 1 << 20, "file": 0}, {"memory": 0, "file": 1 << 20}])
def test_compiled_once(room):
    kept, calls = KeptValues(**room), Calls()
    for number in [0, 1, 2, 1, 0, 2, 0]:
        calls.of(kept, number)
    assert calls.asked == [0, 1, 2]


def test_what_there_is_no_room_for_is_compiled_again():
    kept, calls = KeptValues(0, 0), Calls()
    for number in [0, 1, 0]:
        calls.of(kept, number)
    assert calls.asked == [0, 1, 0]


def test_a_file_that_cannot_be_written(monkeypatch):
    def refuse():
        raise PermissionError("no")

    monkeypatch.setattr(tempfile, "TemporaryFile", refuse)
    kept, calls = KeptValues(0), Calls()
    for number in [0, 0]:
        calls.of(kept, number)
    assert calls.asked == [0, 0]


def test_a_file_that_became_shorter():
    kept, calls = KeptValues(0), Calls()
    calls.of(kept, 0)
    kept._file.truncate(10)
    calls.of(kept, 0)
    assert calls.asked == [0, 0]


class Octets(bytes):
    """A few bytes that say that they are 1 GiB."""

    def __len__(self):
        return 1 << 30


class Endless:
    """A file that is as long as what it was given says."""

    def __init__(self):
        self._parts, self._place = [], 0

    def seek(self, offset, whence=0):
        self._place = len(self._parts) << 30 if whence else offset
        return self._place

    def write(self, octets):
        self._parts.append(octets)

    def flush(self):
        pass

    def read(self, size):
        return self._parts[self._place // size]


def test_up_to_1_gib_in_memory_and_8_in_the_file(monkeypatch):
    """As the page on data says."""
    dumps = pickle.dumps
    monkeypatch.setattr(pickle, "dumps", lambda value, protocol: Octets(dumps(value, protocol)))
    monkeypatch.setattr(tempfile, "TemporaryFile", Endless)
    kept, asked = KeptValues(), []

    def give(number):
        asked.append(number)
        return number

    for _ in range(2):
        for number in range(12):
            assert kept.value_of(number, partial(give, number)) == number
    assert asked == [*range(12), 9, 10, 11]


def test_several_threads():
    kept, calls = KeptValues(ROOM, ROOM), Calls()
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda number: calls.of(kept, number), [0, 1, 2, 3, 2, 1, 0, 3] * 10))
    assert set(calls.asked) == set(EDGES)
