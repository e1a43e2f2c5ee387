# SPDX-License-Identifier: BSD-2-Clause
"""The exported chip under Verilator, as a transport: a training has the reference's bits."""

import contextlib
from dataclasses import replace

import pytest

from hypercast import Device, Graph, Model, Trainer
from hypercast.host.transport.transport import TransportError
from hypercast.rtl.config import PRESETS
from hypercast.rtl.registers import register
from hypercast.sim import verilated_transport as module
from hypercast.sim.library_build import build
from hypercast.sim.simulators import missing
from hypercast.sim.verilated_transport import VerilatedTransport

#: A library in place of the chip's: four registers, the last of which can be written.
LIBRARY = """\
#include <cstdint>
struct Chip { uint32_t threads; uint64_t cycles; uint32_t kept; };
static uint32_t closed;
extern "C" {
Chip *hypercast_chip(unsigned threads) { return new Chip{threads, 0, 0}; }
void hypercast_close(Chip *chip) { closed++; delete chip; }
void hypercast_wait(Chip *chip, uint64_t cycles) { chip->cycles += cycles; }
bool hypercast_write(Chip *chip, uint32_t address, uint32_t value) {
    if (address == 12) chip->kept = value;
    return address == 12;
}
bool hypercast_read(Chip *chip, uint32_t address, uint32_t *value) {
    const uint32_t values[] = {chip->threads, uint32_t(chip->cycles), uint32_t(chip->cycles >> 32),
                               chip->kept};
    if (address < 16) *value = values[address / 4];
    return address < 16;
}
uint32_t hypercast_closed() { return closed; }
}
"""


@pytest.fixture
def designs(tmp_path, monkeypatch):
    """The designs of libraries that were asked for; each is a copy of ``LIBRARY``."""
    found = []

    def build_other(design, **options):
        harness = tmp_path / "harness.cpp"
        harness.write_text(LIBRARY)
        found.append(design)
        return build(replace(design, harness=harness, verilated=False, convert=lambda folder: []),
                     cache=tmp_path / str(len(found)), **options)

    monkeypatch.setattr(module, "build", build_other)
    return found


def test_registers_are_the_librarys(designs):
    chip = VerilatedTransport(PRESETS["tiny"])
    chip.wait(5)
    chip.wait((7 << 32) - 1)
    chip.write(12, 0xFFFFFFFE)
    assert [chip.read(address) for address in (0, 4, 8, 12)] == [1, 4, 7, 0xFFFFFFFE]
    with pytest.raises(TransportError, match="register 0x10 cannot be read"):
        chip.read(16)
    with pytest.raises(TransportError, match="register 0x4 cannot be written"):
        chip.write(4, 1)


def test_a_chip_is_closed_once(designs):
    chip = VerilatedTransport(PRESETS["tiny"])
    assert chip._library.hypercast_closed() == 0
    for _ in range(2):
        chip.close()
        assert chip._library.hypercast_closed() == 1


def test_numbers_of_threads_are_different_libraries(designs):
    said = []
    for threads in (2, 3):
        with contextlib.closing(VerilatedTransport(
                PRESETS["tiny"], threads=threads, progress=said.append)) as chip:
            assert chip.read(0) == threads
    assert len({design.variant for design in designs}) == 2
    assert all(design.verilated and design.config == PRESETS["tiny"] for design in designs)
    assert len(said) == 4


@pytest.mark.slow
@pytest.mark.skipif(bool(missing("verilator")), reason=str(missing("verilator")))
@pytest.mark.parametrize("threads", [1, 2])
def test_a_training(threads):
    with contextlib.closing(VerilatedTransport(PRESETS["tiny"], threads=threads)) as chip:
        with pytest.raises(TransportError, match="0xffc cannot be written"):
            chip.write(0xffc, 1)
        assert chip.read(register("config_hash")) == PRESETS["tiny"].hash
        with Trainer(Graph.load("karate"), Model(hidden=2), Device(preset="tiny"), epochs=1,
                     check=True, transport=chip) as trainer:
            trainer.fit()
            assert trainer.words.equal == trainer.words.words > 0
