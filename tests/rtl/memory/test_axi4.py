# SPDX-License-Identifier: BSD-2-Clause
"""AXI4's signals are those of Arm IHI 0022, for memories of any width."""

import numpy as np
import pytest
from amaranth.hdl import Module, Shape, Signal
from amaranth.lib.wiring import In, Out

from hypercast.rtl.config import PRESETS
from hypercast.rtl.memory.axi4 import (
    BOUNDARY,
    Axi4,
    Axi4Read,
    Axi4Write,
    Response,
    byte_address,
    offset_width,
)
from tests.bench import run

#: Widths of all signals from the manager and to it, but for addresses, data and strobes.
_READ = ({"arvalid": 1, "arid": 1, "arlen": 8, "arsize": 3, "arburst": 2, "rready": 1},
         {"arready": 1, "rvalid": 1, "rid": 1, "rresp": 2, "rlast": 1})
_WRITE = ({"awvalid": 1, "awid": 1, "awlen": 8, "awsize": 3, "awburst": 2, "wvalid": 1, "wlast": 1,
           "bready": 1}, {"awready": 1, "wready": 1, "bvalid": 1, "bid": 1, "bresp": 2})


@pytest.mark.parametrize("width", [8, 16, 32, 64, 128, 256, 512, 1024])
def test_signals(width):
    """Bursts have rising addresses and full beats, whose bytes are all written."""
    size = {8: 0, 16: 1, 32: 2, 64: 3, 128: 4, 256: 5, 512: 6, 1024: 7}[width]
    for signature, (sent, received), out, into, constants in (
            (Axi4Read(33, width), _READ, {"araddr": 33}, {"rdata": width},
             {"arsize": size, "arburst": 1}),
            (Axi4Write(33, width), _WRITE, {"awaddr": 33, "wdata": width, "wstrb": width // 8}, {},
             {"awsize": size, "awburst": 1, "wstrb": 2 ** (width // 8) - 1})):
        assert {name: (member.flow, Shape.cast(member.shape).width)
                for name, member in signature.members.items()} == {
            **{name: (Out, bits) for name, bits in (sent | out).items()},
            **{name: (In, bits) for name, bits in (received | into).items()}}
        for name, member in signature.members.items():
            assert (member.init or 0) == constants.get(name, 0), name


def test_both_halves():
    axi = Axi4(20, 64)
    assert axi.members["read"].signature.members == Axi4Read(20, 64).members
    assert axi.members["write"].signature.members == Axi4Write(20, 64).members
    assert {member.flow for member in axi.members.values()} == {Out} and len(axi.members) == 2


def test_constants():
    assert BOUNDARY == 4096
    assert {one.name: one.value for one in Response} == {
        "OKAY": 0, "EXOKAY": 1, "SLVERR": 2, "DECERR": 3}


@pytest.mark.parametrize("name", ["tiny", "test", "cora", "vcu128"])
def test_addresses(name):
    """The channel begins at any multiple of its size."""
    config = PRESETS[name]
    channel = config.channel_words * config.word_width // 8
    assert 1 << offset_width(config) == channel
    base, address = Signal(40), Signal(config.address_width)
    result = Signal(40)
    m = Module()
    m.d.comb += result.eq(byte_address(config, base, address))
    rng = np.random.default_rng(0)
    cases = [(0, 0), ((1 << 40) // channel - 1, config.channel_words - 1), *(
        (int(rng.integers((1 << 40) // channel)), int(rng.integers(config.channel_words)))
        for _ in range(20))]

    async def bench(ctx):
        for number, word in cases:
            ctx.set(base, number * channel)
            ctx.set(address, word)
            assert ctx.get(result) == number * channel + word * (config.word_width // 8)

    run(m, bench)
