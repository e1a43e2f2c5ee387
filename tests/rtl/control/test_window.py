# SPDX-License-Identifier: BSD-2-Clause
"""Window: what it forwards, what it refuses, and that it never hangs."""

import pytest

from hypercast.rtl.config import PRESETS
from hypercast.rtl.control.window import TIMEOUT, Window
from hypercast.rtl.registers import ALL_CORES, CoreSpace, Space
from tests.bench import run


async def access(ctx, dut, space, address=0, *, core=0, write=None, answer=(5, 0)):
    """Make an access that is answered with ``answer`` = (cycles, value) or None.

    Returns which ``valid`` was given, the request, the error and the result.
    """
    for name, value in {"space": space, "address": address, "core": core,
                        "write": write is not None, "data": write or 0}.items():
        ctx.set(getattr(dut, name), value)
    ctx.set(dut.access, 1)
    await ctx.tick()
    ctx.set(dut.access, 0)
    strobes = []
    for cycle in range(TIMEOUT + 10):
        if ctx.get(dut.chip_valid) or ctx.get(dut.core_valid):
            strobes.append("chip" if ctx.get(dut.chip_valid) else "core")
        if ctx.get(dut.done):
            return strobes, ctx.get(dut.request), ctx.get(dut.error), ctx.get(dut.result)
        responds = answer is not None and cycle == answer[0]
        ctx.set(dut.response_valid, responds)
        ctx.set(dut.response, answer[1] if responds else 0)
        await ctx.tick()
        ctx.set(dut.response_valid, 0)
    raise AssertionError("the window hangs")


@pytest.mark.parametrize("space", Space)
def test_forwards(space):
    dut = Window(PRESETS["tiny"])
    target = ["chip" if space in (Space.PROGRAM, Space.TENSORS) else "core"]

    async def bench(ctx):
        for latency in (0, 1, 7, 300):
            strobes, request, error, result = await access(
                ctx, dut, space, 0x12345678, core=1, answer=(latency, 0xCAFE))
            assert (strobes, error, result) == (target, 0, 0xCAFE)
            assert (request.core, request.space, request.address, request.write) == (
                1, space, 0x12345678, 0)
            strobes, request, error, _ = await access(
                ctx, dut, space, 5, write=0xFFFFFFFF, answer=(latency, 0))
            assert (strobes, error) == (target, 0)
            assert (request.write, request.data, request.core) == (1, 0xFFFFFFFF, 0)

    run(dut, bench)


def test_refuses_what_does_not_exist():
    dut = Window(PRESETS["tiny"])

    async def bench(ctx):
        for space in (6, 8, 1 << 31):
            assert await access(ctx, dut, space) == ([], ctx.get(dut.request), 1, 0)
        for core in (2, 64, 1 << 31):
            for space in Space:
                strobes, _, error, _ = await access(ctx, dut, space, core=core)
                exists = space in (Space.PROGRAM, Space.TENSORS)
                assert (strobes, error) == ((["chip"], 0) if exists else ([], 1))

    run(dut, bench)


def test_gives_up_after_the_timeout():
    dut = Window(PRESETS["tiny"])

    async def bench(ctx):
        strobes, _, error, _ = await access(ctx, dut, Space.FEATURES, answer=None)
        assert (strobes, error) == (["core"], 1)
        *_, error, result = await access(ctx, dut, Space.FEATURES, answer=(TIMEOUT - 2, 7))
        assert (error, result) == (0, 7)

    run(dut, bench)


def test_all_cores_of_one_space():
    """Requests to all cores say so; they are refused of memories."""
    dut = Window(PRESETS["tiny"])

    async def bench(ctx):
        for running in (0, 1):
            ctx.set(dut.running, running)
            for space in (Space.FEATURES, Space.GRADIENTS, Space.WEIGHTS):
                strobes, _, error, _ = await access(ctx, dut, space, core=ALL_CORES)
                assert (strobes, error) == ([], 1)
            strobes, request, error, result = await access(
                ctx, dut, Space.CORE, CoreSpace.COUNTERS + 6, core=ALL_CORES, answer=(9, 5))
            assert (strobes, error, result, request.all_cores) == (["core"], 0, 5, 1)
            assert (request.address, ctx.get(dut.upper)) == (CoreSpace.COUNTERS + 6, 0)
            for row in (6, 134, 1023):
                *_, request, error, _ = await access(
                    ctx, dut, Space.CORE, CoreSpace.ROWS + row, core=ALL_CORES)
                assert (error, request.address, ctx.get(dut.upper)) == (0, CoreSpace.ROWS + row, 0)
            *_, request, error, _ = await access(
                ctx, dut, Space.CORE, CoreSpace.CARRIES + 6, core=ALL_CORES)
            assert (error, request.address, ctx.get(dut.upper)) == (0, CoreSpace.COUNTERS + 6, 1)
            *_, request, error, _ = await access(
                ctx, dut, Space.CORE, CoreSpace.CARRIES + 6, core=1)
            assert (error, request.all_cores, request.core) == (0, 0, 1)
            assert (request.address, ctx.get(dut.upper)) == (CoreSpace.CARRIES + 6, 0)

    run(dut, bench)


def test_only_the_space_of_counts_is_open_while_running():
    dut = Window(PRESETS["tiny"])

    async def bench(ctx):
        ctx.set(dut.running, 1)
        for space in Space:
            for address in (CoreSpace.ROWS, CoreSpace.COUNTERS):
                for write in (None, 1):
                    allowed = space == Space.CORE
                    strobes, _, error, _ = await access(ctx, dut, space, address, write=write)
                    assert (bool(strobes), error) == (allowed, not allowed)

    run(dut, bench)


def test_patience():
    """An answer counts up to the last of 4,096 cycles, and not after."""
    dut = Window(PRESETS["tiny"])

    async def bench(ctx):
        for latency, late in ((4094, 0), (4095, 0), (4096, 1), (0, 0)):
            _, _, error, result = await access(ctx, dut, Space.PROGRAM, answer=(latency, 7))
            assert error == late and (late or result == 7)

    run(dut, bench)


def test_nothing_happens_without_an_access():
    dut = Window(PRESETS["tiny"])

    async def bench(ctx):
        ctx.set(dut.space, Space.PROGRAM)
        for _ in range(10):
            _, _, *pulses = await ctx.tick().sample(dut.chip_valid, dut.core_valid, dut.done)
            assert pulses == [0, 0, 0]

    run(dut, bench)


def test_everything_is_refused_in_reset():
    dut = Window(PRESETS["tiny"])

    async def bench(ctx):
        ctx.set(dut.resetting, 1)
        for space in Space:
            for write in (None, 1):
                strobes, _, error, _ = await access(
                    ctx, dut, space, CoreSpace.COUNTERS, write=write)
                assert (strobes, error) == ([], 1)

    run(dut, bench)
