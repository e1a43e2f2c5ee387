"""Writes the C++ that holds a chip's parts together: their types, and the wires between them."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from hypercast.rtl.config import Config
from hypercast.rtl.control.counters import Increments
from hypercast.rtl.registers import COUNTERS
from hypercast.sim.partition import REST, Wire, identifier

__all__ = ["cxx_name", "parts_header"]

_CONTROL = "hypercast_control"


def cxx_name(name: str) -> str:
    """The C++ member that CXXRTL makes of a port, from its name in Yosys' JSON."""
    name = identifier(name)
    prefix = "p_" if name[0] == "\\" else "i_"
    return prefix + "".join(
        character if character.isalnum() and character.isascii()
        else "__" if character == "_" else f"_{ord(character):02x}_" for character in name[1:])


def _type(module: str) -> str:
    return f"Part<{module}::{cxx_name(module)}>"


def _take(part: str, port: str, value: str) -> str:
    """Copies a value to a part's input, which makes the part stale if it differs."""
    return f"{part}.take({part}.module.{cxx_name(port)}, {value});"


class _Core:
    """The wires of a core made of parts: between them, and to its own ports."""

    def __init__(self, module: str, pairs: Sequence[Wire]) -> None:
        modules = {end[0] for pair in pairs for end in pair if end[0] is not None}
        names = {name: name.removeprefix(f"{module}_") for name in modules}
        self.parts = sorted(names.values())
        # Of the core: port to (part, port)s that read it, and to the one that drives it.
        self._readers: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
        self.outputs: dict[str, tuple[str, str]] = {}
        # (source part, destination part) to pairs of ports.
        self._inner: defaultdict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
        for (source, output), (destination, port) in pairs:
            if source is None:
                assert destination is not None  # no part is between
                self._readers[output].append((names[destination], port))
            elif destination is None:
                self.outputs[port] = names[source], output
            else:
                self._inner[names[source], names[destination]].append((output, port))

    def readers(self, port: str) -> list[tuple[str, str]]:
        """(part, port) of each part that reads an input of the core.

        Raises
        ------
        ValueError
            If there is none: what is done to the input would be without effect.
        """
        if port not in self._readers:
            raise ValueError(f"no part of the core reads {port}; its inputs are "
                             f"{', '.join(sorted(self._readers))}")
        return self._readers[port]

    def gather(self, destinations: Sequence[str]) -> Iterator[str]:
        """Lines that bring to some parts what other parts of the core have changed."""
        for (source, destination), ports in self._inner.items():
            if destination in destinations:
                # Only outputs of REST need be no registers.
                fresh = "evaluated" if source == REST else "changed"
                yield f"    if (core.{source}.{fresh}) {{"
                for output, port in ports:
                    value = f"core.{source}.module.{cxx_name(output)}"
                    value = f"current({value})" if source == REST else f"{value}.curr"
                    yield f"        {_take(f'core.{destination}', port, value)}"
                yield "    }"


def parts_header(config: Config, module: str, pairs: Sequence[Wire],
                 wires: Iterable[tuple[tuple[int | str, str], tuple[int | str, str]]]) -> str:
    """The header ``parts.h``, which ``cxxrtl_harness.cpp`` includes.

    Parameters
    ----------
    config : Config
        Configuration of the chip.
    module : str
        Name of the core's module; part ``p`` of it is module ``{module}_{p}``.
    pairs : list
        Wires between a core's parts, as ``partition.connections`` gives them.
    wires : list
        Wires between the cores and the control unit, as ``rtl.chip.wires`` gives them.
    """
    core = _Core(module, pairs)
    others = [part for part in core.parts if part != REST]
    lines = [f"constexpr size_t kCores = {config.cores};",
             f"constexpr size_t kCounters = {len(COUNTERS)};", "", "struct Core {"]
    lines += [f"    {_type(f'{module}_{part}')} {part};" for part in core.parts]
    lines += ["    template <class Visit> void visit_others(Visit visit) {",
              *[f"        visit({part});" for part in others], "    }", "};", "",
              "struct Chip {", f"    {_type(_CONTROL)} control;",
              "    std::array<Core, kCores> core;", "};", "",
              "inline void gather_rest(Core &core) {", *core.gather([REST]), "}", "",
              "inline void gather_others(Core &core) {", *core.gather(others), "}", "",
              "inline void set_reset(Chip &chip, bool active) {",
              "    chip.control.module.p_rst.set<bool>(active);",
              "    for (auto &core : chip.core) {"]
    lines += [f"        core.{part}.module.{cxx_name(port)}.template set<bool>(active);"
              for part, port in core.readers("rst")]
    lines += ["    }", "}", "", "inline void set_addresses(Chip &chip) {",
              "    for (size_t i = 0; i < kCores; i++) {"]
    lines += [f"        chip.core[i].{part}.module.{cxx_name(port)}.template set<uint32_t>(i);"
              for part, port in (core.readers("core") if config.dimensions else [])]
    lines += ["    }", "}", ""]

    gathers: defaultdict[int | str, list[str]] = defaultdict(list)
    for (source, output), (destination, port) in wires:
        begin = "chip.control"
        if source != "control":
            part, output = core.outputs[output]
            begin = f"chip.core[{source}].{part}"
        ends = ([("chip.control", port)] if destination == "control" else
                [(f"chip.core[{destination}].{part}", name) for part, name in core.readers(port)])
        value = f"{begin}.module.{cxx_name(output)}.curr"
        gathers[destination] += [
            f"if ({begin}.changed) {_take(*end, value)}" for end in ends]
    lines += ["inline void gather_control(Chip &chip) {",
              *[f"    {line}" for line in gathers["control"]], "}", "",
              "inline void gather_core(Chip &chip, size_t index) {", "    switch (index) {"]
    for index in range(config.cores):
        lines += [f"        case {index}:", *[f"            {line}" for line in gathers[index]],
                  "            break;"]
    lines += ["    }", "}", ""]
    return "\n".join([*lines, *_busy(core), *_visit_counters(config), *_visit_link(config, core)])


def _busy(core: _Core) -> Iterator[str]:
    """Lines of a function that gives the engines of a core that are busy."""
    part, port = core.outputs["busy"]
    yield "inline uint32_t busy(const Core &core) {"
    yield f"    return core.{part}.module.{cxx_name(port)}.curr.template get<uint32_t>();"
    yield from ["}", ""]


def _visit_counters(config: Config) -> Iterator[str]:
    """Lines of a function that visits the registers with the lower bits of a core's counters.

    A register that a core has not is an error of the compiler.
    """
    yield "template <class Visit> void visit_counters(const Core &core, Visit visit) {"
    places = {name: index for index, name in enumerate(COUNTERS)}
    for name in Increments(config).members:
        register = cxx_name(f"counters.{name}_low")
        yield f"    visit({places[name]}, core.{REST}.module.{register});"
    yield from ["}", ""]


def _visit_link(config: Config, core: _Core) -> Iterator[str]:
    """Lines of a function that visits the inputs of a core at a link, for fault injection."""
    yield "template <class Visit> void visit_link(Core &core, size_t dimension, Visit visit) {"
    yield "    switch (dimension) {"
    for dimension in range(config.dimensions):
        yield f"        case {dimension}:"
        for kind, port in (("kValid", f"incoming__{dimension}__valid"),
                           ("kFlit", f"incoming__{dimension}__flit"),
                           ("kCredit", f"outgoing__{dimension}__credit")):
            for part, name in core.readers(port):
                yield (f"            visit(core.{part}, core.{part}.module.{cxx_name(name)}, "
                       f"{kind});")
        yield "            break;"
    yield from ["    }", "}", ""]
