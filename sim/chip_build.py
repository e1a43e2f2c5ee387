"""Compiles the chip: the core and the control unit, each converted once."""

from pathlib import Path

from hypercast.sim.cxxrtl_build import Design, build, port

__all__ = ["build_chip"]


def build_chip(config, *, progress=lambda text: None):
    """The path of the shared library that simulates a chip; see ``cxxrtl_build.build``.

    Parameters
    ----------
    config : Config
        Configuration of the chip.
    progress : callable
        Called with a line of text before each slow step.
    """
    def parts():
        from hypercast.rtl.netlist import parts_to_rtlil  # slow to import, only needed to build
        return parts_to_rtlil(config)

    def headers():
        from hypercast.rtl.chip import wires
        return {"wires.h": _exchange(config, wires(config))}

    harness = Path(__file__).with_name("cxxrtl_harness.cpp")
    return build(Design(config=config, harness=harness, parts=parts, headers=headers),
                 progress=progress)


def _exchange(config, pairs):
    """C++ that copies every wire's source to its destination."""
    def member(part, name):
        owner = "parts.control" if part == "control" else f"parts.core[{part}]"
        return f"{owner}.{port(name)}"

    lines = [f"constexpr size_t kCores = {config.cores};",
             "template <class Parts> void exchange(Parts &parts) {"]
    if config.dimensions:
        lines += [f"    {member(core, 'core')}.template set<uint32_t>({core});"
                  for core in range(config.cores)]
    lines += [f"    {member(*destination)} = {member(*source)}.curr;"
              for source, destination in pairs]
    return "\n".join([*lines, "}", ""])
