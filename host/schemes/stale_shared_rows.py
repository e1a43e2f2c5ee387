# SPDX-License-Identifier: BSD-2-Clause
"""A board's part of a graph, whose halo's rows are those of the step before."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from hypercast.host.schemes.shared_rows import SharedRows
from hypercast.reference.array_types import IntArray
from hypercast.reference.rows import Older
from hypercast.reference.stale_rows import KeptRows, is_exact
from hypercast.reference.tensor import BACKWARD, Tensor

__all__ = ["StaleSharedRows"]


class StaleSharedRows(SharedRows):
    """The rows of some vertices, of a graph in parts whose rows reach each other a step late.

    It computes what ``StaleParts`` does of them.

    Parameters
    ----------
    *arguments
        As of ``SharedRows``.
    places : dict
        Whether edges are transposed, to the place of each of the halo's vertices among all that
        some part reads of others, and to how many these are.
    smoothing : int
        As of ``KeptRows``.
    """

    def __init__(self, *arguments: Any, places: Mapping[bool, tuple[IntArray, int]],
                 smoothing: int) -> None:
        super().__init__(*arguments)
        self._places = places
        self._rows = KeptRows(self._sent_type.itemsize * 8, smoothing)

    def bring(self, rows_of: Callable[[IntArray], npt.NDArray[Any]], width: int, *,
                transposed: bool, name: Tensor, exponent: int) -> npt.NDArray[Any]:
        fresh = partial(super().bring, rows_of, width, transposed=transposed, name=name,
                        exponent=exponent)
        if is_exact(name):
            return fresh()
        assert self._group
        self._group.ahead(name)
        return self._rows.replace(name, fresh().astype(np.int64), exponent)

    def end_step(self) -> None:
        self._rows.end_step()

    @property
    def kept(self) -> dict[Tensor, Older]:
        """The rows that are kept, of the halo's vertices."""
        return self._rows.kept

    def keep(self, kept: Mapping[Tensor, Older]) -> None:
        """Go on with rows of all vertices that some part reads of others."""
        self._rows.load({name: rows._replace(values=rows.values[self._place(name)[0]])
                         for name, rows in kept.items()})

    def _place(self, name: Tensor) -> tuple[IntArray, int]:
        return self._places[name.kind in BACKWARD]

    def kept_places(self) -> dict[Tensor, tuple[IntArray, int, Older]]:
        """What is kept of each tensor: places, how many there are of all parts, and rows."""
        return {name: (*self._place(name), rows) for name, rows in self.kept.items()}

    @staticmethod
    def together(parts: Sequence[Mapping[Tensor, tuple[IntArray, int, Older]]],
                 ) -> dict[Tensor, Older]:
        """Rows of all vertices that some part reads of others, from what is ``placed`` in each."""
        found: dict[Tensor, Older] = {}
        for part in parts:
            for name, (places, count, rows) in part.items():
                if name not in found:
                    found[name] = Older(
                        np.zeros((count, rows.values.shape[1]), np.int64), rows.exponent)
                found[name].values[places] = rows.values
        return found
