# SPDX-License-Identifier: BSD-2-Clause
"""All figures, by name."""

from collections.abc import Callable
from pathlib import Path

from docs.figures import chip, core, memory_map, path, router, step
from docs.figures.drawing import Drawing

__all__ = ["FIGURES", "path_of"]

#: Name of a figure to what draws it.
FIGURES: dict[str, Callable[[], Drawing]] = {
    "chip": chip.draw, "core": core.draw, "router": router.draw, "memory_map": memory_map.draw,
    "step": step.draw, "path": path.draw,
}


def path_of(name: str) -> Path:
    """The file of a figure."""
    return Path(__file__).with_name(f"{name}.svg")
