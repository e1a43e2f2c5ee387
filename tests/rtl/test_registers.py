# SPDX-License-Identifier: BSD-2-Clause
"""The register map: no two things at one place, and everything can be reached."""

import hashlib

import pytest

from hypercast.rtl.config import INTERFACE_VERSION, PRESETS
from hypercast.rtl.control.axi_lite import REGISTER_ADDRESS_WIDTH
from hypercast.rtl.isa import INSTRUCTION_WORDS, VERTICES_WIDTH, Engine, Opcode
from hypercast.rtl.layouts import HostRequest, operands
from hypercast.rtl.registers import (
    COUNTERS,
    MAGIC,
    PHASES,
    REGISTERS,
    Control,
    CoreSpace,
    Error,
    Space,
    Status,
    register,
)


def test_registers_have_places_of_their_own():
    offsets = [entry.offset for entry in REGISTERS]
    assert len(set(offsets)) == len(offsets)
    assert all(offset % 4 == 0 and 0 <= offset < 1 << REGISTER_ADDRESS_WIDTH for offset in offsets)


def test_registers_have_names_of_their_own():
    names = [entry.name for entry in REGISTERS]
    assert len(set(names)) == len(names)
    for entry in REGISTERS:
        assert register(entry.name) == entry.offset
        assert entry.access in ("r", "rw")
        assert entry.description


def test_an_unknown_register():
    with pytest.raises(StopIteration):
        register("no such register")


def test_magic_spells_the_name():
    assert MAGIC.to_bytes(4, "big") == b"HCST"


def test_phases_are_consecutive_registers():
    first = register("phase_0")
    assert [register(f"phase_{index}") for index in range(PHASES)] == [
        first + 4 * index for index in range(PHASES)]


@pytest.mark.parametrize("flags", [Status, Control, Error])
def test_flags_are_single_bits(flags):
    assert [int(flag) for flag in flags] == [1 << index for index in range(len(flags))]


def test_core_space_regions_do_not_overlap():
    assert CoreSpace.ROWS + (1 << VERTICES_WIDTH) <= CoreSpace.COUNTERS
    assert CoreSpace.COUNTERS + len(COUNTERS) <= CoreSpace.CARRIES
    assert all(counter.description for counter in COUNTERS.values())


def test_requests_reach_every_space_and_core():
    shape = HostRequest.as_shape()
    assert len(Space) <= 1 << shape["space"].shape
    assert 1 << shape["core"].shape == 64


@pytest.mark.parametrize("config", PRESETS.values(), ids=PRESETS)
def test_window_addresses_reach_every_memory(config):
    width = HostRequest.as_shape()["address"].shape
    assert config.channel_words * config.chunks <= 1 << width
    assert 16 * config.program_rows <= 1 << width


def test_instructions_fit_their_window_rows():
    assert INSTRUCTION_WORDS <= 16


def test_waits_names_every_engine():
    assert operands(Opcode.HALT)["waits"].shape.width > max(Engine)


@pytest.mark.parametrize("config", PRESETS.values(), ids=PRESETS)
def test_what_counters_grow_by(config):
    """At least by one in a cycle; only links that a chip lacks do not grow, results have none."""
    links = [f"link_{dimension}" for dimension in range(config.dimensions)]
    for name, counter in COUNTERS.items():
        if name.startswith(("loss_", "correct_", "wrong_")):
            assert counter.most is None
        elif name.startswith("link_") and name != "link_faults":
            assert counter.most(config) == (name in links)
        elif name in ("edges", "edge_starved"):  # of each aggregator
            assert counter.most(config) == config.eject
        elif name == "saturations":  # of element, master weight and momentum
            assert counter.most(config) == 3 * config.lanes
        else:
            assert counter.most(config) == 1


#: Interface version, and the digest of the map in it.
_DIGEST = 21, "fdd303943b04c87b"


def test_the_map_changes_with_the_version_only():
    registers = [(entry.name, entry.offset, entry.access, entry.read_acts, entry.ones_clear,
                  [(field.name, field.low, field.width) for field in entry.fields])
                 for entry in REGISTERS]
    enums = [[(one.name, int(one)) for one in kind] for kind in (Space, CoreSpace, Error)]
    text = repr([registers, enums, list(COUNTERS), PHASES])
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    assert (INTERFACE_VERSION, digest) == _DIGEST, \
        "raise INTERFACE_VERSION in rtl/config.py, and note it here with the new digest"


def test_reset_values():
    config = PRESETS["tiny"]
    values = {entry.name: entry.reset_value(config) for entry in REGISTERS}
    assert {name: value for name, value in values.items() if value} == {
        "magic": MAGIC, "version": INTERFACE_VERSION, "config_hash": config.hash, "repeat": 1,
        "limit": 0xFFFFFFFF}
