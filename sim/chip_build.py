"""Compiles the chip: the core in parts and the control unit, each converted once."""

from collections.abc import Callable
from pathlib import Path

from hypercast.rtl.config import Config
from hypercast.sim.library_build import Design, build

__all__ = ["blocks", "build_chip", "convert_chip"]


def blocks(config: Config) -> list[str]:
    """Paths of the core's blocks that become parts: those with much to compute and often idle."""
    return ["array.accumulators", "array.array", "array.feed", "array.sender", "receiver.fetch",
            *[f"receiver.aggregator_{port}" for port in range(config.eject)], "router", "sender",
            "vector.drain", "vector.loss", "vector.update"]


def build_chip(config: Config, *, progress: Callable[[str], None] = lambda text: None) -> Path:
    """The path of the shared library that simulates a chip; see ``library_build.build``.

    Parameters
    ----------
    config : Config
        Configuration of the chip.
    progress : callable
        Called with a line of text before each slow step.
    """
    harness = Path(__file__).with_name("cxxrtl_harness.cpp")
    return build(Design(config=config, harness=harness,
                        convert=lambda folder: convert_chip(config, folder)), progress=progress)


def convert_chip(config: Config, folder: Path) -> list[str]:
    """Write the chip's C++ to a folder; returns the names of its modules.

    Besides, ``includes.h`` with their headers, and ``parts.h`` with the wires between them.
    """
    from hypercast.rtl.chip import CORE_MODULE, wires  # slow to import, only needed to build
    from hypercast.rtl.export.chip_conversion import parts_to_rtlil
    from hypercast.sim.cxxrtl_convert import convert, implied_zeros
    from hypercast.sim.parts_header import parts_header

    with implied_zeros():
        parts = parts_to_rtlil(config)
    modules, connections = convert(parts, folder, blocks={CORE_MODULE: blocks(config)})
    (folder / "parts.h").write_text(
        parts_header(config, CORE_MODULE, connections[CORE_MODULE], wires(config)))
    (folder / "includes.h").write_text("".join(f'#include "{name}.h"\n' for name in modules))
    return modules
