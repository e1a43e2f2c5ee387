"""The watchdog barks when nothing has moved for long enough, and only then."""

from hypercast.rtl.control import watchdog
from tests.bench import run


def test_patience(monkeypatch):
    monkeypatch.setattr(watchdog, "PATIENCE", 16)
    dut = watchdog.Watchdog()

    async def wait(ctx, cycles):
        barks = []
        for cycle in range(cycles):
            _, _, expired = await ctx.tick().sample(dut.expired)
            if expired:
                barks.append(cycle)
        return barks

    async def bench(ctx):
        assert await wait(ctx, 100) == []  # no program runs
        ctx.set(dut.enable, 1)
        for _ in range(5):
            assert await wait(ctx, 15) == []
            ctx.set(dut.progress, 1)
            assert await wait(ctx, 1) == []
            ctx.set(dut.progress, 0)
        assert await wait(ctx, 40) == [16, 32]

    run(dut, bench)
