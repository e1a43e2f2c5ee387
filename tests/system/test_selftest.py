# SPDX-License-Identifier: BSD-2-Clause
"""The self-test on whole chips: sound ones, and with each part broken."""

import itertools
import random

import pytest

from hypercast.host.selftest.run import SECTIONS, self_test
from hypercast.rtl.isa import INSTRUCTION_WORDS, Opcode, decode, encode
from hypercast.rtl.layouts import flit
from hypercast.rtl.network.topology import links
from hypercast.rtl.registers import Space, register
from hypercast.sim.cxxrtl_transport import CxxrtlTransport
from hypercast.sim.faults import Fault, FaultKind
from tests.system.chips import CHIPS, WIDE

FIELDS = {name: (field.offset, field.width) for name, field in flit(WIDE)}


def findings(transport, section, config=WIDE, **options):
    """What a section finds; it runs and the others do not."""
    [result] = self_test(transport, config, sections=[section], **options)
    transport.close()
    assert (result.name, result.omitted) == (section, "")
    return result.findings


@pytest.mark.parametrize("name", CHIPS)
def test_a_sound_chip(name):
    transport = CxxrtlTransport(CHIPS[name])
    results = list(self_test(transport, CHIPS[name], quick=True))
    transport.close()
    assert [(result.name, result.findings, result.omitted) for result in results] == [
        (section, (), "") for section in SECTIONS]


# --- Links --------------------------------------------------------------------------------------


def faulty(*faults):
    transport = CxxrtlTransport(WIDE)
    for fault in faults:
        transport.inject(fault)
    return findings(transport, "links")


def name_of(core, dimension):
    return f"link from core {core} to core {core ^ 1 << dimension} (dimension {dimension})"


@pytest.mark.parametrize("kind", [FaultKind.FLIP, FaultKind.DROP, FaultKind.HOLD])
@pytest.mark.parametrize(("core", "dimension"), links(WIDE.dimensions))
def test_a_faulty_link_is_named(core, dimension, kind):
    payload, width = FIELDS["payload"]
    [finding] = faulty(Fault(cycle=0, core=core, dimension=dimension, kind=kind,
                             bit=payload + random.Random(core).randrange(width)))
    assert finding.part == name_of(core, dimension)


@pytest.mark.parametrize("bit", range(0, FIELDS["payload"][1], 9))
def test_a_payload_bit_that_is_stuck_at_zero(bit):
    core, dimension = links(WIDE.dimensions)[bit % len(links(WIDE.dimensions))]
    [finding] = faulty(Fault(cycle=0, core=core, dimension=dimension, kind=FaultKind.STUCK_AT_0,
                             bit=FIELDS["payload"][0] + bit))
    assert finding.part == name_of(core, dimension)


@pytest.mark.parametrize("field", ["destinations", "source", "kind", "index", "payload"])
def test_a_bit_that_is_stuck_at_one_shows_at_rest(field):
    bit = FIELDS[field][0] + FIELDS[field][1] - 1
    [finding] = faulty(Fault(cycle=0, core=2, dimension=0, kind=FaultKind.STUCK_AT_1, bit=bit))
    assert finding.part == "a link into core 3, from one of cores 2, 1"


@pytest.mark.parametrize("field", ["destinations", "plane"])
def test_a_header_bit_that_is_stuck_at_zero(field):
    """Flits go astray by it; the receiver of the first such flit is known."""
    [finding] = faulty(Fault(cycle=0, core=1, dimension=1, kind=FaultKind.STUCK_AT_0,
                             bit=FIELDS[field][0]))
    assert finding.part == name_of(1, 1)


def test_two_faulty_links():
    found = faulty(*(Fault(cycle=0, core=core, dimension=1, kind=FaultKind.DROP)
                     for core in (0, 3)))
    assert {finding.part for finding in found} == {name_of(0, 1), name_of(3, 1)}


# --- Memories -----------------------------------------------------------------------------------


class StuckCell(CxxrtlTransport):
    """A chip with a bit of a memory that is always one; 64 bits are a word's, the next its parity.
    """

    def __init__(self, memory, word, chunk, bit):
        super().__init__(WIDE)
        self._words, _ = self.contents()[memory]
        self._cell = (word, chunk), 1 << bit

    def read(self, address):
        place, bit = self._cell
        self._words[place] |= bit
        return super().read(address)


@pytest.mark.parametrize(("part", "memory", "word"), [
    ("memory channel 0 of core 1", "core_1 channel_0 storage with_parity", 8),
    ("memory channel 1 of core 2", "core_2 channel_1 storage with_parity", 8),
    ("weight bank of core 3", "core_3 weights storage_0 with_parity", 4),
])
def test_a_stuck_memory_cell(part, memory, word):
    [finding] = findings(StuckCell(memory, word, 1, 21), "memories", quick=True)
    assert finding.part == part
    assert finding.text.startswith("address 17 reads 0x")


def test_a_stuck_parity():
    [finding] = findings(StuckCell("core_1 channel_0 storage with_parity", 8, 2, 0), "memories",
                         quick=True)
    assert finding.part == "memory channel 0 of core 1" and "parity" in finding.text


# --- Training -----------------------------------------------------------------------------------


class WrongInstruction(CxxrtlTransport):
    """A chip that carries out a kind of instruction otherwise than it should."""

    def __init__(self, opcode, change):
        super().__init__(WIDE)
        self._opcode, self._change = opcode, change
        self._pieces = []

    def write_stream(self, address, values):
        word = sum(value << 32 * index for index, value in enumerate(values))
        if len(values) == INSTRUCTION_WORDS and self.read(register("space")) == Space.PROGRAM \
                and word & 0xF == self._opcode:
            fields = decode(word)
            self._change(fields)
            word = encode(fields.pop("opcode"), **fields)
            values = [word >> 32 * index & 0xFFFFFFFF for index in range(INSTRUCTION_WORDS)]
        super().write_stream(address, values)


def flip(name):
    def change(fields):
        fields[name] ^= 1
    return change


@pytest.mark.parametrize(("opcode", "field", "part"), [
    (Opcode.MATMUL, "dropout", "array or vector unit"),
    (Opcode.DRAIN, "relu", "array or vector unit"),
    (Opcode.LOSS, "classes", "loss unit"),
    (Opcode.UPDATE, "rate_shift", "gradient, reduction or update"),
])
def test_a_step_that_differs(opcode, field, part):
    [finding] = findings(WrongInstruction(opcode, flip(field)), "training")
    assert finding.part == part
    assert "differs from the reference" in finding.text


# --- Order --------------------------------------------------------------------------------------


def test_sections_after_a_broken_one_are_omitted():
    transport = StuckCell("core_0 channel_0 storage with_parity", 4, 0, 3)
    results = list(self_test(transport, WIDE, quick=True))
    transport.close()
    assert [bool(result.findings) for result in results] == [True, False, False, False]
    for result in itertools.islice(results, 1, None):
        assert result.omitted == "memories must be sound first; reset the chip and repeat"
