# SPDX-License-Identifier: BSD-2-Clause
"""Cora's first layer, word-sparse against dense, on the simulated chip."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from hypercast.benches.figure import Figure
from hypercast.host.compiler.compiler import compile_job
from hypercast.host.compiler.job import Job
from hypercast.host.compiler.memory_map import Listing
from hypercast.host.graphs.datasets import DatasetError
from hypercast.host.graphs.graph import Graph
from hypercast.host.runtime.alone_chip import AloneChip
from hypercast.host.runtime.comparison import compare
from hypercast.host.runtime.reference_device import ReferenceDevice
from hypercast.host.training.prepare import prepare
from hypercast.reference.array_types import IntArray
from hypercast.reference.initial_model import InitialModel
from hypercast.reference.network import Network
from hypercast.reference.recipe import Recipe
from hypercast.reference.tensor import FEATURES
from hypercast.rtl.config import PRESETS, Config
from hypercast.rtl.isa import Engine, Opcode, decode, encode
from hypercast.sim.cxxrtl_transport import CxxrtlTransport

__all__ = ["run"]

#: Lanes, and how many times fewer array cycles the first layer must take.
BARS = {16: 4.0, 4: 12.0}
_LIMIT = 1_000_000


@dataclass(frozen=True, kw_only=True)
class _Layer:
    """First layer of one job: cycles and words of its array instructions, and a step's bits."""

    forward: int
    gradient: int
    words: int
    step: int
    snapshot: dict[str, IntArray]


def _config(lanes: int) -> Config:
    """Preset ``cora`` with other lanes, and as much memory."""
    preset = PRESETS["cora"]
    factor = preset.lanes // lanes
    return preset.replace(lanes=lanes, weight_rows=factor * preset.weight_rows,
                          channel_words=factor * preset.channel_words)


def _model(graph: Graph) -> InitialModel:
    network = Network.of_widths([graph.features.shape[1], 16, graph.classes], dropout=0.5)
    return prepare(graph, network, Recipe(epochs=1))


def _alone(device: AloneChip, job: Job, opcode: Opcode) -> tuple[int, int]:
    """Cycles and array words of a training step's instructions that read the input features."""
    region = job.regions[FEATURES]
    indices = {place.address for place in job.regions.values() if place.listing == Listing.INDEX}
    program = []
    for word in job.instructions("train"):
        fields = decode(word)
        if fields["opcode"] == opcode and not fields.get("ones"):
            reads = (fields["address"] in indices if fields["sparse"] else
                     fields.get("channel", 0) == 0 and
                     region.address <= fields["address"] < region.address + region.words)
            if reads:
                program.append(word & ~(0xFF << 4))  # nothing else is under way to wait for
    program.append(encode(Opcode.HALT, waits=(1 << len(Engine)) - 1))
    for row, word in enumerate(program):
        device.driver.patch(row, word)
    cycles = device.driver.run(0, limit=_LIMIT)
    return cycles, sum(device.driver.monitor.counters()["array_words"])


def _measure(graph: Graph, config: Config, word_sparse: bool,
             progress: Callable[[str], None]) -> _Layer:
    model = _model(graph)
    job = compile_job(model, config, word_sparse=word_sparse)
    device = AloneChip(CxxrtlTransport(config, progress=progress), job, model)
    try:
        device.train_step()
        snapshot = device.snapshot()
        forward, forward_words = _alone(device, job, Opcode.MATMUL)
        gradient, gradient_words = _alone(device, job, Opcode.GRADIENT)
        return _Layer(forward=forward, gradient=gradient, words=forward_words + gradient_words,
                      step=device.train_cycles, snapshot=snapshot)
    finally:
        device.close()


def run(data: Path | None, progress: Callable[[str], None]) -> list[Figure]:
    """The figures; ``data`` is the folder with Cora's Planetoid files."""
    if data is None:
        raise DatasetError("this bench needs Cora: give the folder with the Planetoid files "
                           "ind.cora.* by --data or HYPERCAST_CORA "
                           "(https://github.com/kimiyoung/planetoid, data)")
    graph = Graph.load(str(data))
    oracle = ReferenceDevice(_model(graph))
    oracle.train_step()
    figures = []
    for lanes, bar in BARS.items():
        config = _config(lanes)
        progress(f"{lanes} lanes, dense")
        dense = _measure(graph, config, False, progress)
        progress(f"{lanes} lanes, word-sparse")
        sparse = _measure(graph, config, True, progress)
        words = compare(oracle.snapshot(), sparse.snapshot, lanes)
        same = compare(dense.snapshot, sparse.snapshot, lanes)
        figures += _figures(f"P = {lanes}", dense, sparse, bar)
        figures += [
            Figure(name=f"P = {lanes}: words compared with the reference", value=words.words),
            Figure(name="of these, equal", value=words.equal, bar=words.words, relation="="),
            Figure(name="of these, equal to dense", value=same.equal, bar=same.words,
                   relation="="),
        ]
    return figures


def _figures(name: str, dense: _Layer, sparse: _Layer, bar: float) -> list[Figure]:
    ratio = (dense.forward + dense.gradient) / (sparse.forward + sparse.gradient)
    figures = [
        Figure(name=f"{name}: array cycles of the first layer, dense / word-sparse",
               value=ratio, unit="x", bar=bar),
        Figure(name=f"{name}: words into the array, dense / word-sparse",
               value=dense.words / sparse.words, unit="x"),
    ]
    for what in ("forward", "gradient", "step"):
        for kind, layer in (("dense", dense), ("word-sparse", sparse)):
            figures.append(Figure(name=f"{name}: {what}, {kind}", value=getattr(layer, what),
                                  unit="cycles"))
    return figures
