# SPDX-License-Identifier: BSD-2-Clause
"""Compiles the network without its cores: the router, converted once."""

from collections.abc import Callable, Iterator
from pathlib import Path

from amaranth.lib.wiring import Out

from hypercast.rtl.config import Config
from hypercast.rtl.export.rtlil import to_rtlil
from hypercast.rtl.layouts import Link, flit
from hypercast.rtl.network.age import FRAME_CYCLES, FRAME_WIDTH
from hypercast.rtl.network.router import Router
from hypercast.rtl.network.topology import links, neighbour
from hypercast.sim.cxxrtl_convert import convert
from hypercast.sim.cxxrtl_names import cxx_name
from hypercast.sim.library_build import Design, build

__all__ = ["build_network"]

_ROUTER = "hypercast_router"


def build_network(config: Config, *, watched: bool = False,
                  progress: Callable[[str], None] = lambda text: None) -> Path:
    """The path of the shared library that simulates a network; see ``library_build.build``.

    Parameters
    ----------
    config : Config
        Configuration of the chip.
    watched : bool
        Whether all that has a name in the routers can be looked at; that is slower.
    progress : callable
        Called with a line of text before each slow step.
    """
    design = Design(
        config=config, harness=Path(__file__).with_name("network_harness.cpp"),
        variant="watched" if watched else "",
        convert=lambda folder: _convert(config, folder, watched))
    return build(design, progress=progress)


def _convert(config: Config, folder: Path, watched: bool) -> list[str]:
    """Write the network's C++ to a folder; returns the names of its modules."""
    (folder / "network.h").write_text(_header(config))
    (folder / "watched.h").write_text("#define HYPERCAST_WATCHED\n" if watched else "")
    return convert({_ROUTER: to_rtlil(Router(config), _ROUTER)}, folder, named=watched)


def _header(config: Config) -> str:
    """C++ of sizes, the flit's fields, a router's ports, and the wires between routers."""
    layout = flit(config)
    fields = [f"constexpr Field k{name.capitalize()}{{{field.offset}, {field.width}}};"
              for name, field in layout]
    names = [("eject", number, end)
             for number in range(config.eject) for end in ("valid", "payload", "ready")]
    for number in range(config.dimensions):
        names += [("outgoing", number, "valid"), ("incoming", number, "valid"),
                  ("incoming", number, "flit"), ("outgoing", number, "credit")]
    ports = [f"    ports.{side}_{end}[{number}] = "
             f"&now(router.{cxx_name(f'{side}__{number}__{end}')});"
             for side, number, end in names]
    if config.dimensions:
        ports.append(f"    ports.faults = &now(router.{cxx_name('faults')});")
    return "\n".join([
        f"constexpr size_t kCores = {config.cores}, kDimensions = {config.dimensions};",
        f"constexpr uint64_t kFrameCycles = {FRAME_CYCLES}, kFrames = {1 << FRAME_WIDTH};",
        f"constexpr size_t kEject = {config.eject}, kPlanes = {config.planes};",
        f"constexpr size_t kFlitWidth = {layout.size};",
        *fields,
        "template <class Router, class Ports> void find_ports(Router &router, Ports &ports) {",
        *ports,
        "}",
        "template <class Routers> void exchange(Routers &routers) {",
        *(f"    routers[{destination}].{cxx_name(into)} = now(routers[{source}].{cxx_name(out)});"
          for (source, out), (destination, into) in _wires(config)),
        "}", ""])


def _wires(config: Config) -> Iterator[tuple[tuple[int, str], tuple[int, str]]]:
    """Every member of every link, as a (source, destination) pair of (core, port) names."""
    for core, dimension in links(config.dimensions):
        for name, member in Link(config).members.items():
            sender = core, f"outgoing__{dimension}__{name}"
            receiver = neighbour(core, dimension), f"incoming__{dimension}__{name}"
            yield (sender, receiver) if member.flow == Out else (receiver, sender)
