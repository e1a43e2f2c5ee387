# SPDX-License-Identifier: BSD-2-Clause
"""Random edge sets: their memory image, the flits that meet them, and what these must add up to."""

from dataclasses import dataclass, field

import numpy as np

from hypercast.rtl.isa import Kind

__all__ = ["EdgeSet", "Message", "bits_of", "pack", "random_edge_set", "random_words"]


def pack(records, record_width, word_width):
    """Memory words of a list of records, low bits first."""
    packed = sum(int(record) << index * record_width for index, record in enumerate(records))
    count = -(-len(records) * record_width // word_width)
    return [packed >> index * word_width & (1 << word_width) - 1 for index in range(count)]


def random_words(config, count, rng):
    """(count, lanes) elements, extremes included."""
    low, high = -(1 << config.element_width - 1), (1 << config.element_width - 1) - 1
    words = rng.integers(low, high + 1, size=(count, config.lanes))
    extreme = rng.random(words.shape) < 0.1
    return np.where(extreme, rng.choice([low, high], size=words.shape), words)


def bits_of(config, word):
    """A word's elements as one integer."""
    mask = (1 << config.element_width) - 1
    return sum((int(element) & mask) << index * config.element_width
               for index, element in enumerate(word))


@dataclass
class Message:
    """A flit of ``word`` (elements), and its edges: (row, weight) each."""

    plane: int
    source: int
    word: np.ndarray
    edges: list

    def flit(self, config):
        """The flit that the receiver gets."""
        return {"destinations": 1, "source": self.source, "plane": self.plane,
                "kind": Kind.AGGREGATE, "digit": 0, "index": 0,
                "payload": bits_of(config, self.word)}


@dataclass
class EdgeSet:
    """The messages that one core receives, in the order of each (plane, source)."""

    config: object
    messages: list = field(default_factory=list)

    @property
    def total(self):
        """Number of edges."""
        return sum(len(message.edges) for message in self.messages)

    def sums(self):
        """(strip_rows, lanes) what the messages add."""
        sums = np.zeros((self.config.strip_rows, self.config.lanes), dtype=np.int64)
        for message in self.messages:
            for row, weight in message.edges:
                sums[row] += weight * message.word
        return sums

    def store(self, memory, address, rng):
        """Write header and streams (in random order) to channel 1; returns the next address."""
        config = self.config
        header_words = -(-64 * (config.streams + 1) // config.word_width)
        header = [self.total, 0] + [0] * (2 * config.streams)
        position = address + header_words
        streams = self.words()
        for number in rng.permutation(config.streams):
            words = streams[number]
            header[2 + 2 * number:4 + 2 * number] = [position, len(words)]
            memory[position:position + len(words)] = words
            position += len(words)
        memory[address:address + header_words] = pack(header, 32, config.word_width)
        return position

    def words(self):
        """Memory words of every stream, a list of lists."""
        return [pack(self._records(*divmod(number, self.config.cores)), 32, self.config.word_width)
                for number in range(self.config.streams)]

    def _records(self, plane, source):
        mask = (1 << self.config.element_width) - 1
        records = [
            (weight & mask) | row << 16 | (index == len(message.edges) - 1) << 31
            for message in self.messages if (message.plane, message.source) == (plane, source)
            for index, (row, weight) in enumerate(message.edges)]
        return [*records[:-1], *(record | 1 << 30 for record in records[-1:])]

    def port_flits(self, port, rng):
        """Flits of an ejection port in a random order that keeps that of each (plane, source)."""
        mine = [message for message in self.messages
                if message.plane % self.config.eject == port]
        keys = [(message.plane, message.source) for message in mine]
        waiting = {key: iter([m for m in mine if (m.plane, m.source) == key]) for key in keys}
        return [next(waiting[keys[index]]).flit(self.config)
                for index in rng.permutation(len(keys))]


def random_edge_set(config, rng, messages=60, longest=5, sources=None, planes=None):
    """An edge set of random messages with runs of 1 to ``longest`` edges."""
    words = random_words(config, messages, rng)
    low, high = -(1 << config.element_width - 1), (1 << config.element_width - 1) - 1

    def edges():
        count = int(rng.integers(1, longest + 1))
        rows = rng.integers(0, config.strip_rows, size=count)
        near = rng.random(count) < 0.3  # hit few rows often: successive additions to one row
        rows = np.where(near, rows % 2, rows)
        weights = np.where(rng.random(count) < 0.1, low, rng.integers(low, high + 1, size=count))
        return list(zip(rows.tolist(), weights.tolist(), strict=True))

    return EdgeSet(config, [
        Message(plane=int(rng.choice(planes or range(config.planes))),
                source=int(rng.choice(sources or range(config.cores))), word=word, edges=edges())
        for word in words])
