# SPDX-License-Identifier: BSD-2-Clause
"""The configuration found for a VCU128 and batches of Reddit, against the preset of that board."""

from collections.abc import Callable
from pathlib import Path

from hypercast.benches.figure import Figure
from hypercast.benches.study.batch import SAMPLINGS
from hypercast.benches.study.graphs import GRAPHS
from hypercast.host.cycle_model.prediction import predict
from hypercast.host.eda.exploration import explore, pareto
from hypercast.host.eda.step_workloads import StatisticSteps
from hypercast.host.eda.target import target_of
from hypercast.reference.network import Network

__all__ = ["run"]

_BOARD, _GRAPH, _HIDDEN = "vcu128", "Reddit", 128
_FIELDS = ("lanes", "dimensions", "planes", "eject", "operand_words", "accumulator_rows",
           "aggregation_rows", "bypass_rows")


def _title_progress(progress: Callable[[str], None], title: str) -> Callable[[str], None]:
    return lambda text: progress(f"{title}: {text}")


def run(data: Path | None, progress: Callable[[str], None]) -> list[Figure]:
    """The figures; ``data`` is not used."""
    figures = []
    for sampling, batch in SAMPLINGS.items():
        title = f"{_BOARD}, {_GRAPH}, {sampling}, {_HIDDEN} hidden"
        graph, target = GRAPHS[_GRAPH], target_of(_BOARD)
        steps = StatisticSteps(
            batch.vertices, [block.entries for block in batch.blocks],
            Network.of_widths((graph.features, _HIDDEN, graph.classes)), sampled=True)
        preset = predict(steps(target.config)).cycles
        found = explore(target, steps, {}, _title_progress(progress, title)).candidates
        best = pareto(found)[0]
        figures += [
            Figure(name=f"{title}: configurations that fit", value=len(found)),
            Figure(name=f"{title}: step, preset", value=preset, unit="cycles"),
            Figure(name=f"{title}: step, best found", value=best.cycles, unit="cycles"),
            Figure(name=f"{title}: preset / best found", value=preset / best.cycles, unit="x",
                   bar=1),
            *(Figure(name=f"{title}: best found, share of {kind}, estimated", value=share,
                     bar=target.room[kind], relation="<=") for kind, share in best.shares.items()),
            *(Figure(name=f"{title}: best found, {field}", value=getattr(best.config, field))
              for field in _FIELDS),
            Figure(name=f"{title}: best found, energy of a step, an estimate",
                   value=best.joules * 1e3, unit="mJ")]
    return figures
