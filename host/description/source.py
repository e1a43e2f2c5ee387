# SPDX-License-Identifier: BSD-2-Clause
"""Where a graph comes from, and how it is split."""

import os
from dataclasses import asdict, dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Annotated, Any, Self

from hypercast.host.description.conversion import (
    DescriptionError,
    Within,
    call_text,
    check_fields,
    given_fields,
)
from hypercast.host.graphs.datasets import BUNDLED, random_split
from hypercast.host.graphs.graph import Graph

__all__ = ["Source"]


@dataclass(frozen=True, kw_only=True)
class Source:
    """A graph's source.

    Parameters
    ----------
    source : str
        Name of a bundled data set, or path of a file or folder of graphs.
    split : tuple of float, optional
        Percentages of the vertices to train, validate and test on, drawn at random; the data
        set's own split if not given.
    split_seed : int, optional
        Seed of the choice; 0 if not given.

    Raises
    ------
    DescriptionError
        If the percentages do not sum up to 100, or there is a seed of no split.
    """

    source: str
    split: tuple[float, float, float] | None = None
    split_seed: Annotated[int, Within(0)] | None = None

    def __post_init__(self) -> None:
        check_fields("graph", self)
        if self.split and not (min(self.split) >= 0 and abs(sum(self.split) - 100) <= 1e-6):
            raise DescriptionError(f"[graph] split must be three percentages that sum up to 100, "
                                   f"not {list(self.split)}", "graph", "split")
        if self.split_seed is not None and self.split is None:
            raise DescriptionError("[graph] split_seed is the seed of split; give that as well",
                                   "graph", "split_seed")

    def with_graph(self, graph: Graph) -> Self:
        """This source with its graph, which has been loaded: other processes load it themselves.
        """
        found = replace(self)
        object.__setattr__(found, "_graph", graph)
        return found

    @property
    def graph(self) -> Graph | None:
        """The ``Graph``, if it has been loaded."""
        found: Graph | None = getattr(self, "_graph", None)
        return found

    def __getstate__(self) -> dict[str, Any]:
        return asdict(self)

    def load(self) -> Graph:
        """The ``Graph``.

        Raises
        ------
        DescriptionError
            If there is no such file or folder.
        GraphError
            If it cannot be read.
        """
        if self.graph is not None:
            return self.graph
        if self.path and not os.path.exists(self.path):
            raise DescriptionError(
                f"{self.source} is neither a bundled data set ({', '.join(BUNDLED)}) nor a file "
                f"or folder that exists; check the path", "graph", "source")
        graph: Graph = Graph.load(self.source)
        if self.split is None:
            return graph
        train, validation, _ = self.split
        split: Graph = graph.with_splits(**random_split(
            graph.labels, train=train / 100, validation=validation / 100,
            seed=self.split_seed or 0))
        return split

    @property
    def path(self) -> str | None:
        """The path of the files; None if the graph is a bundled one."""
        return None if self.source in BUNDLED else self.source

    def with_full_paths(self, folder: str | PathLike[str]) -> Self:
        """This source with a full path; a relative path is in ``folder``."""
        if self.path is None:
            return self
        return replace(self, source=os.path.abspath(Path(folder) / self.path))

    def relative_to(self, folder: str | PathLike[str]) -> Self:
        """This source as a file in a folder has it, so that both can be moved together.

        The path is relative to the folder if they have more in common than the root; else it stays
        a full one.
        """
        if self.path is None:
            return self
        path, base = os.path.abspath(self.path), os.path.abspath(folder)
        if os.path.commonpath([path, base]) == os.path.sep:
            return replace(self, source=path)
        relative = os.path.relpath(path, base)
        # The name of a bundled graph would be taken for that.
        return replace(self, source=f"./{relative}" if relative in BUNDLED else relative)

    def __repr__(self) -> str:
        return call_text("Source", given_fields(self))

    def values(self) -> dict[str, Any]:
        """Arguments of ``Source`` that are given."""
        return {key: value for key, value in asdict(self).items() if value is not None}
