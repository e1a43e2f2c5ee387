# SPDX-License-Identifier: BSD-2-Clause
"""When each engine of each core was busy in the step."""

from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from hypercast.host.report.drawing import KINDS, figure
from hypercast.host.report.folder import Run
from hypercast.rtl.isa import Engine

__all__ = ["coverage", "draw"]

#: Columns of the picture.
_COLUMNS = 1600


def coverage(start: npt.NDArray[np.integer[Any]], end: npt.NDArray[np.integer[Any]], cycles: int,
             columns: int) -> npt.NDArray[np.float64]:
    """Fraction of each column in which one of the slices is; slices must not overlap.

    Parameters
    ----------
    start, end : (S,) numpy.ndarray
        Slices, in order.
    cycles : int
        Cycles that ``columns`` share.
    """
    edges = np.linspace(0, cycles, columns + 1)
    busy = np.concatenate([[0], np.cumsum(end - start)])
    times = np.stack([start, end], axis=1).ravel()
    amounts = np.stack([busy[:-1], busy[1:]], axis=1).ravel()
    return np.diff(np.interp(edges, times, amounts)) * columns / cycles if len(start) else \
        np.zeros(columns)


def draw(run: Run) -> Figure:
    """A band for each engine with a row for each core; the darker, the busier."""
    cores, slices = run.config.cores, run.slices
    assert slices is not None  # of a step that was recorded
    kinds = [phase.name.kind for phase in run.phases]
    image = np.zeros((len(Engine), cores, _COLUMNS, 4))
    for engine in Engine:
        for core in range(cores):
            mine = (slices.engine == engine) & (slices.core == core)
            for kind in dict.fromkeys(kinds):
                of_kind = mine & np.isin(slices.instruction, [
                    number for number, name in enumerate(kinds) if name == kind])
                share = coverage(slices.start[of_kind], slices.end[of_kind], run.cycles, _COLUMNS)
                image[engine, core, :, :3] += share[:, None] * np.array(to_rgb(KINDS[kind]))
                image[engine, core, :, 3] += share
    alpha = image[..., 3:]
    image[..., :3] /= np.where(alpha > 0, alpha, 1)
    result, axes = figure(0.7 + 0.85 * len(Engine), rows=len(Engine), sharex=True)
    for [panel], engine in zip(axes, Engine, strict=True):
        panel.imshow(image[engine].clip(0, 1), aspect="auto", interpolation="nearest",
                     extent=(0, run.cycles, cores - 0.5, -0.5))
        panel.set_yticks(sorted({0, cores - 1}))
        panel.set_ylabel(f"{engine.name.lower()}\ncore", fontsize=8)
    axes[-1, 0].set_xlabel("cycle of the step")
    result.legend(handles=[Patch(color=KINDS[kind], label=kind) for kind in dict.fromkeys(kinds)],
                  loc="outside upper right", ncols=4)
    return result
