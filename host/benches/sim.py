"""Speed of the compiled simulation against Amaranth's simulator, on the whole chip."""

import time

from amaranth.sim import Simulator

from hypercast.host.benches.figure import Figure
from hypercast.rtl.chip import Chip
from hypercast.rtl.config import PRESETS
from hypercast.sim.cxxrtl_transport import CxxrtlTransport

__all__ = ["run"]

_CONFIG = PRESETS["demo"]
_COMPILED_CYCLES = 200_000
_INTERPRETED_CYCLES = 1_000


def _interpreted(cycles):
    """Seconds that Amaranth's simulator takes for ``cycles`` of the chip."""
    simulator = Simulator(Chip(_CONFIG))
    simulator.add_clock(1e-6)

    async def bench(ctx):
        await ctx.tick().repeat(10)
        nonlocal start
        start = time.perf_counter()
        await ctx.tick().repeat(cycles)

    start = 0.0
    simulator.add_testbench(bench)
    simulator.run()
    return time.perf_counter() - start


def run(data, progress):
    """The figures; ``data`` is not used."""
    progress("building the compiled simulation")
    transport = CxxrtlTransport(_CONFIG, progress=progress)
    progress("running the compiled simulation")
    start = time.perf_counter()
    transport.wait(_COMPILED_CYCLES)
    compiled = _COMPILED_CYCLES / (time.perf_counter() - start)
    transport.close()
    progress("running Amaranth's simulator")
    interpreted = _INTERPRETED_CYCLES / _interpreted(_INTERPRETED_CYCLES)
    return [
        Figure(name="CXXRTL", value=compiled, unit="cycles/s"),
        Figure(name="Amaranth's simulator", value=interpreted, unit="cycles/s"),
        Figure(name="ratio", value=compiled / interpreted, bar=50),
    ]
