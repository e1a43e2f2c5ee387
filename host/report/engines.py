# SPDX-License-Identifier: BSD-2-Clause
"""The engines' work: core by core over the step, and phase by phase."""

from html import escape

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter

from hypercast.host.report.drawing import CAUSES, figure
from hypercast.host.report.folder import Run
from hypercast.host.runtime.utilisation import Utilisation, utilisation
from hypercast.rtl.registers import COUNTERS

__all__ = ["draw", "table"]


def draw(run: Run) -> Figure:
    """For each engine, what its cycles went to on every core."""
    cores = range(run.config.cores)
    counters = run.counters()
    found = [utilisation({name: values[core:core + 1] for name, values in counters.items()},
                         run.cycles, run.config) for core in cores]
    columns = 4
    rows = -(-len(found[0]) // columns)
    result, axes = figure(2.2 * rows, rows=rows, columns=columns, sharex=True, sharey=True)
    for panel, per_core in zip(axes.flat, zip(*found, strict=True), strict=False):
        bottom = np.zeros(len(cores))
        for cause, colour in CAUSES.items():
            heights = np.array([row.work if cause == "work" else row.limits.get(cause, 0.0)
                                for row in per_core])
            panel.bar(cores, heights, bottom=bottom, color=colour, label=cause, width=0.85)
            bottom += heights
        panel.set(title=per_core[0].name, ylim=(0, 1.0))
        panel.xaxis.set_major_locator(MaxNLocator(integer=True))
        panel.yaxis.set_major_formatter(PercentFormatter(1))
    for panel in axes.flat[len(found[0]):]:
        panel.set_axis_off()
    handles, labels = axes.flat[0].get_legend_handles_labels()
    result.legend(handles, labels, loc="lower right", title="cycles of the engine")
    result.supxlabel("core", fontsize=9)
    result.supylabel("share of the step's cycles", fontsize=9)
    return result


def _losses(row: Utilisation) -> str:
    return "".join(f"<small>{cause} {share:.0%}</small>" for cause, share in row.limits.items()
                   if cause != "idle" and share >= 0.005)


def table(run: Run) -> str:
    """HTML of the utilisation of each engine in each phase, and what it waited for."""
    phases = [(str(phase.name), phase.cycles, phase.counters) for phase in run.phases]
    phases.append(("the step", run.cycles, run.counters()))
    rows = []
    for name, cycles, counters in phases:
        if cycles:
            found = utilisation(counters, cycles, run.config)
            rows.append(f"<tr><th>{escape(name)}<td>{cycles:,}" + "".join(
                f"<td>{row.work:.1%}{_losses(row)}" for row in found))
    heads = "".join(f"<th>{escape(row.name)}" for row in found)
    return f"<table><tr><th>phase<th>cycles{heads}{''.join(rows)}</table>{_counts(run)}"


def _counts(run: Run) -> str:
    """HTML of all counters that are not zero, phase by phase and of the step."""
    parts = [phase.counters for phase in run.phases] + [run.counters()]
    heads = "".join(f"<th>{escape(name)}" for name in [
        *(str(phase.name) for phase in run.phases), "the step", "least core", "most core"])
    rows = "".join(
        f"<tr><th>{escape(counter.description)}" + "".join(
            f"<td>{count:,}" for count in [*(sum(part[name]) for part in parts),
                                           min(parts[-1][name]), max(parts[-1][name])])
        for name, counter in COUNTERS.items() if any(parts[-1].get(name, ())))
    return (f"<details><summary>All counters, summed over the cores</summary><table>"
            f"<tr><th>counter{heads}{rows}</table></details>")
