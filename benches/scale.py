# SPDX-License-Identifier: BSD-2-Clause
"""Steps on large graphs by the cycle model, lengths of programs, and the host's work for the
largest of these graphs.
"""

from collections.abc import Callable
from pathlib import Path

from hypercast.benches.figure import Figure
from hypercast.benches.large_compilation import large_compilation
from hypercast.benches.large_graphs import BOARD, LARGE_GRAPHS
from hypercast.host.compiler.memory_map import CapacityError
from hypercast.host.compiler.program_length import program_length
from hypercast.host.compiler.size_limits import check_sizes
from hypercast.host.cycle_model.prediction import predict
from hypercast.rtl.config import LARGEST_PROGRAM

__all__ = ["run"]

#: Shares of the bound and of the chain demanded, and the most cycles.
_BOUND = {"Flickr": 0.85, "ogbn-arxiv": 0.85, "Reddit": 0.85, "Yelp": 0.84}
_CHAIN = {"ogbn-products": 0.85}
_CYCLES = {"Reddit": 19_200_000, "ogbn-products": 131_000_000}
#: Numbers of vertices whose programs are counted, and the most instructions.
_VERTICES, _ROWS = (10**4, 10**5, 10**6, 10**7, 10**8), 1_000
#: The graph whose compilation is measured, and the widths of the programs that are counted.
_LARGEST = "ogbn-products"


def run(data: Path | None, progress: Callable[[str], None]) -> list[Figure]:
    """The figures; ``data`` is not used."""
    figures = [figure for name in LARGE_GRAPHS for figure in _step(name, progress)]
    return [*figures, *_lengths(progress),
            *large_compilation(_LARGEST, LARGE_GRAPHS[_LARGEST], progress)]


def _step(name: str, progress: Callable[[str], None]) -> list[Figure]:
    """A step on a graph: cycles, what they are compared with, and what does not fit."""
    progress(f"{name}: a step by the cycle model")
    workload = LARGE_GRAPHS[name].workload()
    step = predict(workload)
    orders = ", ".join(order.replace("_", " ") for order in workload.orders)
    lacking = "".join(f"; {text}" for text in step.shortages)
    return [
        Figure(name=f"{name}, {orders}: cycles of a step", value=step.cycles, unit="cycles",
               bar=_CYCLES.get(name), relation="<="),
        Figure(name=f"{name}: bound of the {step.limit} / cycles", value=step.bound / step.cycles,
               bar=_BOUND.get(name)),
        Figure(name=f"{name}: chain / cycles", value=step.chain / step.cycles,
               bar=_CHAIN.get(name)),
        Figure(name=f"{name}: what the configuration has too little of{lacking}",
               value=len(step.shortages), bar=0, relation="="),
    ]


def _lengths(progress: Callable[[str], None]) -> list[Figure]:
    """Instructions of programs, by the number of vertices."""
    network = LARGE_GRAPHS[_LARGEST].workload().network
    figures, lengths, reasons = [], [], ""
    for vertices in _VERTICES:
        title = f"programs of {_LARGEST}' network for {vertices:,} vertices"
        progress(title)
        try:
            check_sizes(network, vertices, BOARD)
            rows = program_length(network, BOARD, (vertices,) * (len(network.layers) + 1),
                                  ("load", "train", "evaluate"))
        except CapacityError as error:
            reasons += f"; {error}"
            continue
        more = ", more than any chip holds" if rows > LARGEST_PROGRAM else ""
        figures.append(Figure(name=f"{title}, at least{more}", value=rows, unit="instructions",
                              bar=_ROWS, relation="<="))
        lengths.append(rows)
    return [*figures,
            Figure(name="different lengths of these programs", value=len(set(lengths)), bar=1,
                   relation="="),
            Figure(name=f"numbers of vertices without a program{reasons}",
                   value=len(_VERTICES) - len(lengths), bar=0, relation="=")]
