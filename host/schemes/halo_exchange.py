# SPDX-License-Identifier: BSD-2-Clause
"""Exchange of halos: boards with parts of a graph send each other the rows that they read."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse

from hypercast.host.processes.group import Group
from hypercast.host.schemes.part_rows import OtherRows
from hypercast.reference.array_types import IntArray
from hypercast.reference.rows import Older
from hypercast.reference.stale_rows import KeptRows, is_exact
from hypercast.reference.tensor import BACKWARD, Tensor

__all__ = ["Halo", "HaloExchange", "LateRows"]


@dataclass(frozen=True)
class Halo:
    """Rows that cross before rows are summed over neighbours in one direction.

    Parameters
    ----------
    sent : dict
        Board to the rows here that it reads.
    received : dict
        Board to how many of its rows are read here.
    """

    sent: Mapping[int, IntArray]
    received: Mapping[int, int]


class LateRows:
    """The halo's rows of the step before, which a board takes instead of this step's.

    They are the rows that ``StaleParts`` keeps of all parts.

    Parameters
    ----------
    places : dict
        Whether edges are transposed, to the place of each of the halo's vertices among all that
        some part reads of others, and to how many these are.
    element_width, smoothing : int
        As of ``KeptRows``.
    """

    def __init__(self, places: Mapping[bool, tuple[IntArray, int]], element_width: int,
                 smoothing: int) -> None:
        self._places = places
        self.rows = KeptRows(element_width, smoothing)

    def _place(self, name: Tensor) -> tuple[IntArray, int]:
        return self._places[name.kind in BACKWARD]

    def load(self, kept: Mapping[Tensor, Older]) -> None:
        """Go on with rows of all vertices that some part reads of others."""
        self.rows.load({name: rows._replace(values=rows.values[self._place(name)[0]])
                        for name, rows in kept.items()})

    def with_places(self) -> dict[Tensor, tuple[IntArray, int, Older]]:
        """Kept rows of each tensor: places, how many there are of all parts, and rows."""
        return {name: (*self._place(name), rows) for name, rows in self.rows.kept.items()}

    @staticmethod
    def join(parts: Sequence[Mapping[Tensor, tuple[IntArray, int, Older]]],
             ) -> dict[Tensor, Older]:
        """Join the rows ``with_places`` of parts: all vertices that some part reads."""
        found: dict[Tensor, Older] = {}
        for part in parts:
            for name, (places, count, rows) in part.items():
                if name not in found:
                    found[name] = Older(
                        np.zeros((count, rows.values.shape[1]), np.int64), rows.exponent)
                found[name].values[places] = rows.values
        return found


class HaloExchange(OtherRows):
    """Rows of others that a group of boards exchanges, each with a part of a graph.

    Parameters
    ----------
    halos : dict
        Whether edges are transposed, to what crosses for them.
    element_width : int
        Bits of a mantissa.
    late : LateRows, optional
        Takes the rows of this step, and gives the rows of the step before.

    Attributes
    ----------
    late : LateRows or None
        As given.
    """

    keeps_features = True

    def __init__(self, halos: Mapping[bool, Halo], element_width: int,
                 late: LateRows | None = None) -> None:
        self.late = late
        self._halos = halos
        self._sent_type = np.dtype(f"int{element_width}")
        self._group: Group | None = None

    def connect(self, group: Group) -> None:
        """Exchange rows with the boards of a group from now on."""
        self._group = group

    def count(self, *, transposed: bool) -> int:
        return sum(self._halos[transposed].received.values())

    def sent_rows(self, *, transposed: bool) -> dict[int, int]:
        """How many rows each other board reads, if it reads any."""
        return {board: len(rows) for board, rows in self._halos[transposed].sent.items()}

    def bring(self, rows_of: Callable[[IntArray], npt.NDArray[Any]], width: int, *,
              transposed: bool, name: Tensor, exponent: int) -> npt.NDArray[Any]:
        halo, late = self._halos[transposed], None if is_exact(name) else self.late
        assert self._group
        if late:
            self._group.ahead(name)
        sent = {board: np.ascontiguousarray(_dense(rows_of(rows)), dtype=self._sent_type)
                for board, rows in halo.sent.items()}
        received = {board: np.empty((count, width), dtype=self._sent_type)
                    for board, count in halo.received.items()}
        self._group.exchange(sent, received)
        found = np.concatenate([np.empty((0, width), dtype=self._sent_type),
                                *(received[board] for board in sorted(received))])
        return late.rows.replace(name, found.astype(np.int64), exponent) if late else found

    def end_step(self) -> None:
        if self.late:
            self.late.rows.end_step()

    @property
    def kept(self) -> dict[Tensor, Older]:
        return self.late.rows.kept if self.late else {}

    def keep(self, kept: Mapping[Tensor, Older]) -> None:
        if self.late:
            self.late.load(kept)


def _dense(rows: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return rows.toarray() if isinstance(rows, scipy.sparse.csr_array) else rows
