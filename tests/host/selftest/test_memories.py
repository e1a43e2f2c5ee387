# SPDX-License-Identifier: BSD-2-Clause
"""The memory test on chips whose memories are broken."""

import re

import pytest

from hypercast.host.runtime.driver import Driver
from hypercast.host.runtime.serial.bridge_model import BridgeModel
from hypercast.host.runtime.serial.serial_transport import SerialTransport
from hypercast.host.selftest.memories import check_memories, memories
from hypercast.host.transport.transport import TransportError
from hypercast.rtl.config import Config
from hypercast.rtl.registers import Space, register
from tests.host.runtime.fake_chip import FakeChip

#: Memory words of two pieces, of which the weight bank uses all.
CONFIG = Config(dimensions=1, lanes=4, planes=1, accumulator_rows=16, weight_rows=16,
                channel_words=64, program_rows=16, tensors=8)
NARROW = CONFIG.replace(lanes=2, element_width=8)
#: A place in each memory, in units of 32 bits, and a bit it has.
PLACES = [
    ("program memory", 0, Space.PROGRAM, 3 * 16 + 9, 31),
    ("exponent file", 0, Space.TENSORS, 5, 16),
    ("memory channel 0 of core 1", 1, Space.FEATURES, 127, 31),
    ("memory channel 1 of core 0", 0, Space.GRADIENTS, 0, 0),
    ("weight bank of core 1", 1, Space.WEIGHTS, 31, 31),
    ("row table of core 0", 0, Space.CORE, 15, 19),
]


class BrokenChip(FakeChip):
    """A chip that passes what is written to one space through a fault.

    Parameters
    ----------
    core, space : int, Space
        Where it is broken.
    fault : callable
        Address and value that are written to those that arrive.
    """

    def __init__(self, config, core, space, fault):
        super().__init__(config)
        self._place = core, space
        self._fault = fault

    def write(self, address, value):
        place = (0 if self["space"] <= Space.TENSORS else self["core"]), self["space"]
        if address == register("data") and place == self._place:
            after = self["address"] + 1
            self["address"], value = self._fault(self["address"], value)
            super().write(address, value)
            self["address"] = after
        else:
            super().write(address, value)


def findings(chip, config=CONFIG, **options):
    return list(check_memories(Driver(chip, config), **options))


@pytest.mark.parametrize("config", [CONFIG, NARROW])
@pytest.mark.parametrize("quick", [False, True])
def test_a_sound_chip(config, quick):
    chip = FakeChip(config)
    assert findings(chip, config, quick=quick) == []
    assert {(core, space) for core, space in chip.window} == {
        (memory.core, memory.space) for memory in memories(config)}


def test_every_bit_is_written_as_zero_and_as_one():
    written = {}
    chip = FakeChip(NARROW)
    plain = chip.write

    def write(address, value):
        if address == register("data"):
            place = chip["core"] * (chip["space"] > Space.TENSORS), chip["space"], chip["address"]
            written.setdefault(place, []).append(value)
        plain(address, value)

    chip.write = write
    findings(chip, NARROW)
    for memory in memories(NARROW):
        for address in range(memory.words * memory.stride):
            first, second = written.pop((memory.core, memory.space, address))
            bits = min(32, max(0, memory.width - 32 * (address % memory.stride)))
            assert first ^ second == (1 << bits) - 1
    assert not written


@pytest.mark.parametrize(("part", "core", "space", "address", "bit"), PLACES)
@pytest.mark.parametrize("value", [0, 1])
def test_a_stuck_bit(part, core, space, address, bit, value):
    def stuck(place, written):
        return place, (written & ~(1 << bit) | value << bit) if place == address else written

    [finding] = findings(BrokenChip(CONFIG, core, space, stuck))
    assert finding.part == part
    assert finding.text.startswith(f"address {address} reads 0x")
    assert finding.text.endswith(f": bit {bit} is wrong")


def test_a_bit_that_should_not_be_there():
    [finding] = findings(BrokenChip(CONFIG, 1, Space.CORE, lambda place, value: (
        place, value | 1 << 25)))
    assert finding.text.endswith(": bit 25 is wrong, and 13 more")


@pytest.mark.parametrize(("wrong", "text"), [
    (0b11, "bits 0, 1 are wrong"), (0xF0, "4 bits are wrong")])
def test_several_bits_of_an_address(wrong, text):
    [finding] = findings(BrokenChip(CONFIG, 0, Space.WEIGHTS, lambda place, value: (
        place, value ^ wrong if place == 5 else value)))
    assert finding.text.endswith(f": {text}")


def test_a_memory_of_several_bursts(monkeypatch):
    monkeypatch.setattr("hypercast.host.selftest.memories._BURST", 24)
    [finding] = findings(BrokenChip(CONFIG, 1, Space.FEATURES, lambda place, value: (
        place, value ^ 4 if place in (23, 24, 127) else value)))
    assert [int(place) for place in re.findall(r"address (\d+)", finding.text)] == [23, 24, 127]


def test_a_memory_is_read_at_once(monkeypatch):
    """A board on a serial port is waited for once in a burst."""
    reads = []
    monkeypatch.setattr(Driver, "read_window", lambda driver, core, space, address, count:
                        reads.append((core, space)) or [0] * count)
    findings(FakeChip(CONFIG))
    assert reads == [(memory.core, memory.space) for memory in memories(CONFIG)]


@pytest.mark.parametrize(("part", "core", "space", "address", "bit"), PLACES)
def test_an_address_bit_that_is_ignored(part, core, space, address, bit):
    line = 1 << (0 if address == 0 else address.bit_length() - 1)
    for quick in (False, True):
        [finding] = findings(BrokenChip(
            CONFIG, core, space, lambda place, value: (place & ~line, value)), quick=quick)
        assert finding.part == part


@pytest.mark.parametrize("link", [lambda chip: chip,
                                  lambda chip: SerialTransport(BridgeModel(chip))])
@pytest.mark.parametrize("access", ["write", "read"])
def test_a_memory_that_does_not_answer(link, access):
    """It alone is named, though a serial link tells later that a write was refused."""
    class Silent(FakeChip):
        def read(self, address):
            self.refuse("read", address)
            return super().read(address)

        def write(self, address, value):
            self.refuse("write", address)
            super().write(address, value)

        def refuse(self, kind, address):
            place = self["core"], self["space"]
            if (kind, address, *place) == (access, register("data"), 0, Space.WEIGHTS):
                raise TransportError(f"AXI {kind} at {address:#x} was refused by the chip")

    [finding] = findings(link(Silent(CONFIG)))
    assert finding.part == "weight bank of core 0"
    assert f"{access} at {register('data'):#x} was refused by the chip" in finding.text


def test_a_chip_that_is_lost():
    """That is no fault of a memory."""
    class Unplugged(FakeChip):
        lost = False

        def read(self, address):
            self.lost |= (self["core"], self["space"], address) == (
                1, Space.GRADIENTS, register("data"))
            if self.lost:
                raise TransportError("nobody answers")
            return super().read(address)

    with pytest.raises(TransportError,
                       match="reading memory channel 1 of core 1: nobody answers"):
        findings(Unplugged(CONFIG))


def test_many_broken_words_are_counted():
    [finding] = findings(BrokenChip(CONFIG, 0, Space.WEIGHTS, lambda place, value: (place, 1)))
    assert finding.text.count("address") == 3 and finding.text.endswith(", and 29 more")
