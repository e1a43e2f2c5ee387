# SPDX-License-Identifier: BSD-2-Clause
"""The ports of the exported chip: names, directions and widths of AXI, and what is tied."""

import pytest

from hypercast.rtl.config import PRESETS
from hypercast.rtl.export.interfaces import (
    BASE,
    CLOCK,
    MEMORY_ADDRESS_WIDTH,
    RESET,
    interfaces,
    ports,
)

CONFIG = PRESETS["test"]
#: Signals of an AXI4 manager and their bits (Arm IHI 0022, A2), with identifiers of one bit; those
#: that the subordinate drives are in the second set.
WIDE = CONFIG.word_width
ADDRESS = {"id": 1, "addr": MEMORY_ADDRESS_WIDTH, "len": 8, "size": 3, "burst": 2, "lock": 1,
           "cache": 4, "prot": 3, "qos": 4, "region": 4, "valid": 1}
DRIVEN = {**{f"aw{name}": width for name, width in ADDRESS.items()},
          **{f"ar{name}": width for name, width in ADDRESS.items()},
          "wdata": WIDE, "wstrb": WIDE // 8, "wlast": 1, "wvalid": 1, "bready": 1, "rready": 1}
ANSWERS = {"bid": 1, "rid": 1, "awready": 1, "arready": 1, "wready": 1, "bvalid": 1, "bresp": 2,
           "rvalid": 1, "rdata": WIDE, "rlast": 1, "rresp": 2}


@pytest.fixture(scope="module")
def managers():
    return [one for one in interfaces(CONFIG, external=True) if one.manager]


def test_a_manager_for_each_channel(managers):
    assert [one.name for one in managers] == [
        f"m_axi_{number:02}" for number in range(2 * CONFIG.cores)]
    for one in managers:
        found = {port.name.removeprefix(f"{one.name}_"): port for port in one.ports}
        assert {name: port.width for name, port in found.items() if port.output} == DRIVEN
        assert {name: port.width for name, port in found.items() if not port.output} == ANSWERS
        assert all(port.logical == name.upper() for name, port in found.items())


def test_what_is_tied_asks_for_nothing_special(managers):
    """Bufferable and modifiable, not to be allocated; unlocked, unprivileged, secure, data."""
    for one in managers:
        tied = {port.name.removeprefix(f"{one.name}_"): port.constant for port in one.ports
                if port.output and not port.inner}
        assert tied == {f"{channel}{name}": value for channel in ("aw", "ar") for name, value in (
            ("lock", 0), ("cache", 0b0011), ("prot", 0), ("qos", 0), ("region", 0))}


@pytest.mark.parametrize("external", [False, True])
def test_ports_are_those_of_the_interfaces(external):
    found = ports(CONFIG, external=external)
    names = [port.name for port in found]
    assert names[:2] == [CLOCK, RESET] and len(set(names)) == len(names)
    assert (BASE in found) == external
    assert [port for port in found if port != BASE] == [
        port for one in interfaces(CONFIG, external=external) for port in one.ports]
    assert not any(one.manager for one in interfaces(CONFIG)) or external


def test_the_clock_names_what_it_clocks():
    clock, reset, *buses = interfaces(CONFIG, external=True)
    assert clock.parameters["ASSOCIATED_BUSIF"].split(":") == [one.name for one in buses]
    assert clock.parameters["ASSOCIATED_RESET"] == reset.name
    assert reset.parameters == {"POLARITY": "ACTIVE_LOW"}
