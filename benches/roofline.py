# SPDX-License-Identifier: BSD-2-Clause
"""How close a training step comes to its busiest resource's limit, on the simulated chip."""

from collections.abc import Callable
from pathlib import Path

from hypercast.benches.figure import Figure
from hypercast.benches.steps import Step, chip, measure, predict_cycles, synthetic_graph
from hypercast.host.graphs.datasets import DatasetError
from hypercast.host.graphs.graph import Graph
from hypercast.rtl.config import PRESETS
from hypercast.rtl.isa import Engine

__all__ = ["CHIP", "GRAPH", "HIDDEN", "LANES", "run"]

#: Vertices, undirected edges, features and classes of the synthetic graph; hidden features.
GRAPH, HIDDEN = (16_000, 120_000, 128, 16), 128
#: Lanes whose efficiency is measured, and of the chips whose scaling is.
LANES, SCALED = (4, 8, 16), 8
#: A chip with the cores of preset vcu128, and more planes, more ejection ports and larger buffers
#: than fit its FPGA.
CHIP = PRESETS["vcu128"].replace(
    planes=4, eject=4, operand_words=32768, bypass_rows=8192, edge_buffer=8)
#: Efficiency demanded on the synthetic graph, of ``CHIP`` and of the preset, and on Cora.
_BAR, _PRESET_BAR, _CORA_BAR = 0.80, 0.85, 0.60
_ARRAY_BAR, _REDUCTION_BAR, _SCALING_BAR = 0.95, 0.05, 14.0
#: Error allowed of the cycle model.
_ERROR_BAR = 0.05
#: Cycles of an epoch of Cora allowed with on-chip memory.
_EPOCH_BAR = 15_000


def run(data: Path | None, progress: Callable[[str], None]) -> list[Figure]:
    """The figures; ``data`` is the folder with Cora's Planetoid files."""
    if data is None:
        raise DatasetError("this bench needs Cora: give the folder with the Planetoid files "
                           "ind.cora.* by --data or HYPERCAST_CORA "
                           "(https://github.com/kimiyoung/planetoid, data)")
    cora = Graph.load(str(data))
    graph = synthetic_graph(*GRAPH)
    figures, cycles = [], {}
    for lanes in LANES:
        progress(f"synthetic graph, P = {lanes}")
        step = measure(graph, [HIDDEN], chip(CHIP, lanes), progress)
        cycles[lanes] = step.cycles
        figures += [
            *_efficiency(f"synthetic graph, P = {lanes}", step, _BAR),
            Figure(name=f"synthetic graph, P = {lanes}: array words in cycles with instruction",
                   value=step.words_while_busy(), bar=_ARRAY_BAR),
            Figure(name=f"synthetic graph, P = {lanes}: gradient reduction not hidden",
                   value=step.exposed_share(Engine.REDUCTION), bar=_REDUCTION_BAR, relation="<="),
        ]
    progress("synthetic graph, preset vcu128")
    step = measure(graph, [HIDDEN], PRESETS["vcu128"], progress)
    figures += _efficiency("synthetic graph, preset vcu128", step, _PRESET_BAR)
    for lanes in LANES:
        progress(f"Cora, P = {lanes}")
        step = measure(cora, [16], chip(CHIP, lanes), progress)
        figures += _efficiency(f"Cora, P = {lanes}", step, _CORA_BAR)
    progress("Cora, on-chip memory")
    step = measure(cora, [16], CHIP.replace(memory_latency=1, memory_stalls=False),
                   progress)
    figures.append(Figure(name="Cora, P = 16, on-chip memory: cycles of an epoch",
                          value=step.cycles, unit="cycles", bar=_EPOCH_BAR, relation="<="))
    return [*figures, *_strong_scaling(graph, cycles[SCALED], progress),
            *_weak_scaling(cycles[SCALED], progress)]


def _efficiency(name: str, step: Step, bar: float) -> list[Figure]:
    """Share of the cycles that the busiest resource needs if its work is spread evenly."""
    busiest = step.busiest
    return [
        Figure(name=f"{name}: cycles of a step", value=step.cycles, unit="cycles"),
        Figure(name=f"{name}: efficiency, limited by {busiest.name}", value=busiest.work, bar=bar),
    ]


def _strong_scaling(graph: Graph, sixteen: int, progress: Callable[[str], None]) -> list[Figure]:
    """Speed-ups on the synthetic graph, for which 16 cores take ``sixteen`` cycles."""
    figures, single = [], None
    for dimensions in range(5):
        progress(f"strong scaling, {1 << dimensions} cores")
        cycles = sixteen if dimensions == 4 else measure(
            graph, [HIDDEN], chip(CHIP, SCALED, dimensions=dimensions),
            progress).cycles
        single = single or cycles
        figures.append(Figure(
            name=f"speed-up of {1 << dimensions} cores, P = {SCALED}", value=single / cycles,
            unit="x", bar=_SCALING_BAR if dimensions == 4 else None))
    return figures


def _weak_scaling(sixteen: int, progress: Callable[[str], None]) -> list[Figure]:
    """Predicted cycles on graphs that grow with the chip, relative to 16 cores; up to 64 cores."""
    config, figures, single = chip(CHIP, SCALED), [], None
    for dimensions in range(7):
        progress(f"weak scaling, {1 << dimensions} cores")
        vertices, edges = (count << dimensions >> config.dimensions for count in GRAPH[:2])
        cycles = predict_cycles(synthetic_graph(vertices, edges, *GRAPH[2:]), [HIDDEN],
                                config.replace(dimensions=dimensions))
        single = single or cycles
        name = (f"weak scaling, {vertices} vertices on {1 << dimensions} cores, P = {SCALED}, by "
                f"the cycle model")
        figures += [
            Figure(name=f"{name}: cycles of a step", value=cycles, unit="cycles"),
            Figure(name=f"{name}: efficiency, against one core", value=single / cycles)]
        if dimensions == config.dimensions:
            figures.append(Figure(
                name=f"{name}: error against the simulated chip",
                value=abs(cycles / sixteen - 1), bar=_ERROR_BAR, relation="<="))
    return figures
