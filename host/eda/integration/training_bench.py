# SPDX-License-Identifier: BSD-2-Clause
"""A test bench in SystemVerilog that trains the exported chip, on any simulator."""

from pathlib import Path
from string import Template

from hypercast.host.compiler.memory_map import CapacityError
from hypercast.host.eda.integration.transcript import transcript
from hypercast.host.files.reading.regular_file import read_text
from hypercast.host.graphs.graph import Graph
from hypercast.host.training.prepare import prepare
from hypercast.reference.initial_model import InitialModel
from hypercast.reference.network import Network
from hypercast.reference.recipe import Recipe
from hypercast.rtl.config import Config
from hypercast.rtl.export.export_options import ExportOptions
from hypercast.rtl.export.interfaces import BASE, interfaces

__all__ = ["STEPS", "bench_model", "bench_module", "training_bench", "training_file"]

_BENCH, _MEMORY = (Path(__file__).with_name(name)
                   for name in ("training_bench.sv", "external_memory.sv"))
#: Training steps, and hidden features.
STEPS = 2
_HIDDEN = 4
#: Cycles: for all training steps together, and for an access.
_STEPS_LIMIT, _ACCESS_LIMIT = 200_000, 32
#: Where external memory begins in the bench; a place beyond 32 bits.
_START = 0x1_0000_0000
#: What of AXI4 the bench's memory has to know.
_SIGNALS = ("awvalid", "awready", "awaddr", "awlen", "wvalid", "wready", "wdata", "wlast", "bvalid",
            "bready", "arvalid", "arready", "araddr", "arlen", "rvalid", "rready", "rdata", "rlast")


def bench_module(options: ExportOptions) -> str:
    """Name of the test bench, and of its file before ``.sv``."""
    return f"{options.top}_bench"


def training_file(options: ExportOptions) -> str:
    """Name of the file with the accesses."""
    return f"{options.top}_training.hex"


def training_bench(config: Config, options: ExportOptions) -> dict[str, str]:
    """The test bench and the accesses that it makes, by file name.

    A network of two layers is trained on the karate club, with dropout.

    Returns
    -------
    dict
        Empty if that does not fit the chip.
    """
    try:
        accesses = transcript(bench_model(config), config)
    except CapacityError:
        return {}
    names = {"top": options.top, "training": training_file(options), "accesses": len(accesses),
             "limit": _STEPS_LIMIT + _ACCESS_LIMIT * len(accesses) + config.reset_cycles,
             **_external(config, options)}
    sources = [_BENCH, *([_MEMORY] if options.external else [])]
    lines = (f"{kind:x}{address:03x}{value:08x}\n" for kind, address, value in accesses)
    return {f"{bench_module(options)}.sv": "".join(
                Template(read_text(source)).substitute(names) for source in sources),
            training_file(options): "".join(lines)}


def bench_model(config: Config) -> InitialModel:
    """The training: two layers on the karate club, with dropout."""
    graph = Graph.load("karate")
    network = Network.of_widths([graph.features.shape[1], _HIDDEN, graph.classes], dropout=0.5)
    return prepare(graph, network, Recipe(epochs=STEPS, element_width=config.element_width))


def _external(config: Config, options: ExportOptions) -> dict[str, str]:
    """Declarations, connections and instances of external memory, if there is any."""
    wires, connections, memories = [], [], []
    size = config.channel_bytes
    managers = [one for one in interfaces(config, external=options.external) if one.manager]
    for number, manager in enumerate(managers):
        own = {port.logical.lower(): port for port in manager.ports}
        for name in _SIGNALS:
            bits = f"[{own[name].width - 1}:0] " if own[name].width > 1 else ""
            wires.append(f"  wire {bits}{own[name].name};")
        constant = {"rid": "1'b0", "bid": "1'b0", "rresp": "2'd0", "bresp": "2'd0"}
        connections += [f",\n    .{own[name].name}({constant.get(name, own[name].name)})"
                        for name in (*_SIGNALS, *constant)]
        pins = ", ".join(f".{name}({own[name].name})" for name in _SIGNALS)
        memories.append(
            f"  {options.top}_memory #(.WIDTH({config.word_width}), "
            f".START(64'd{_START + number * size}), .BYTES(64'd{size})) memory_{number:02} (\n"
            f"    .aclk(aclk), {pins});")
    base = f",\n    .{BASE.name}(64'd{_START})" if managers else ""
    return {"wires": "\n".join(wires), "ports": base + "".join(connections),
            "memories": "\n".join(memories)}
