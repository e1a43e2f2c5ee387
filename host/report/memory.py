# SPDX-License-Identifier: BSD-2-Clause
"""Where everything lies in a core's memories."""

from html import escape

from matplotlib.figure import Figure

from hypercast.host.report.drawing import SERIES, figure
from hypercast.host.report.folder import Run
from hypercast.rtl.config import Config

__all__ = ["draw", "table"]

#: Narrowest region, as a part of the picture's width per character, whose name fits into it.
_CHARACTER = 0.0095


def _capacity(memory: str, config: Config) -> int:
    return config.weight_rows if memory == "weight bank" else config.channel_words


def draw(run: Run) -> Figure:
    """A bar for each memory, as long as what is used of it."""
    result, axes = figure(0.95 * len(run.memory), rows=len(run.memory))
    for [panel], (memory, regions) in zip(axes, run.memory.items(), strict=True):
        used = max([1, *(address + words for _, address, words in regions)])
        for number, (name, address, words) in enumerate(regions):
            panel.barh(0, words, left=address, color=SERIES[number % len(SERIES)], height=1)
            if words / used > _CHARACTER * (len(name) + 1):
                panel.text(address + words / 2, 0, name, ha="center", va="center", fontsize=8,
                           color="black")
        capacity = _capacity(memory, run.config)
        panel.set(xlim=(0, used), ylim=(-0.5, 0.5), yticks=[],
                  title=f"{memory}: {used:,} of {capacity:,} words ({used / capacity:.1%})")
        panel.spines["left"].set_visible(False)
    axes[-1, 0].set_xlabel("word address")
    return result


def table(run: Run) -> str:
    """HTML of all regions."""
    rows = "".join(
        f"<tr><th>{escape(memory)}<td>{escape(name)}<td>{address:,}<td>{words:,}"
        for memory, regions in run.memory.items() for name, address, words in regions)
    return ("<details><summary>All regions</summary><table><tr><th>memory<th>region<th>first word"
            f"<th>words{rows}</table></details>")
