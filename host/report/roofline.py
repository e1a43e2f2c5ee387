# SPDX-License-Identifier: BSD-2-Clause
"""Each phase against what the chip could do at most: operations and memory traffic."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from hypercast.host.report.drawing import KINDS, figure
from hypercast.host.report.folder import Run
from hypercast.rtl.config import Config

__all__ = ["draw", "operations", "traffic"]

_CHANNELS = ("features_read", "features_written", "gradients_read", "gradients_written")
#: Of the first, second, ... phase of a kind.
_MARKERS = "os^Dvp*X"


def operations(counters: Mapping[str, Sequence[int]], config: Config) -> int:
    """Multiply-accumulates of arrays and aggregators, and elements of the vector units."""
    lanes = config.lanes
    return (sum(counters["array_words"]) * lanes**2 + sum(counters["edges"]) * lanes
            + sum(counters["vector_words"]) * lanes)


def traffic(counters: Mapping[str, Sequence[int]]) -> int:
    """Words read from and written to all memory channels."""
    return sum(sum(counters[name]) for name in _CHANNELS)


def draw(run: Run) -> Figure:
    """A point for each phase, under the roofs."""
    config = run.config
    result, [[axes]] = figure(4.2)
    ink = axes.xaxis.label.get_color()
    peaks = {"arrays": config.lanes**2, "aggregators": config.lanes * config.eject}
    bandwidth = 2 * config.cores
    points = []
    for phase in run.phases:
        work, words = operations(phase.counters, config), traffic(phase.counters)
        if work and words and phase.cycles:
            points.append((phase, work / words, work / phase.cycles))
    intensities = [intensity for _, intensity, _ in points]
    ridge = max(peaks.values()) * config.cores / bandwidth
    x = np.geomspace(min([*intensities, ridge]) / 2, max([*intensities, ridge]) * 2, 200)
    for (name, peak), style in zip(peaks.items(), ("-", "--"), strict=True):
        axes.plot(x, np.minimum(peak * config.cores, x * bandwidth), style, color=ink,
                  linewidth=1, label=f"memory, then {name}")
    seen = dict.fromkeys(KINDS, 0)
    for phase, intensity, rate in points:
        kind = phase.name.kind
        axes.plot(intensity, rate, _MARKERS[seen[kind] % len(_MARKERS)], color=KINDS[kind],
                  markersize=7, alpha=0.85, label=f"{phase.name}: {phase.cycles:,} cycles")
        seen[kind] += 1
    axes.set_xscale("log", base=2)
    axes.set_yscale("log", base=2)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
    axes.set(xlabel="operations per word of memory traffic", ylabel="operations per cycle, chip",
             title=f"roofs: {bandwidth} words per cycle, then "
                   f"{peaks['arrays'] * config.cores:,} operations per cycle in the arrays, "
                   f"{peaks['aggregators'] * config.cores:,} in the aggregators")
    result.legend(loc="outside right upper")
    return result
