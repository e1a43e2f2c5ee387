# SPDX-License-Identifier: BSD-2-Clause
"""Which left operands stay in the array's operand buffer, and where."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from hypercast.reference.array_types import IntArray
from hypercast.reference.tensor import Tensor
from hypercast.rtl.config import Config
from hypercast.rtl.isa import Opcode, OperandSource, largest

__all__ = ["LeftOperand", "OperandMap"]

#: Entries from panel to panel that an instruction can name.
_MAXIMUM_STRIDE = largest(Opcode.MATMUL, "operand_stride")


@dataclass(frozen=True, kw_only=True)
class LeftOperand:
    """A matrix as the array takes it: in what pieces, and with how many entries.

    Parameters
    ----------
    name : Tensor
        The matrix.
    firsts : tuple of int
        First panel of each piece; pieces of a dense matrix are panels.
    sizes : tuple of int
        Entries of each piece in the operand buffer, in the core that needs most; empty if it
        cannot lie there.
    stride : int
        Entries from panel to panel; 0 if the matrix is word-sparse.
    """

    name: Tensor
    firsts: tuple[int, ...]
    sizes: tuple[int, ...]
    stride: int = 0

    @classmethod
    def dense(cls, name: Tensor, panels: int, stride: int) -> Self:
        """The panels of a matrix with ``panels``, each of ``stride`` words."""
        return cls(name=name, firsts=tuple(range(panels)), sizes=(stride,) * panels, stride=stride)

    @classmethod
    def sparse(cls, name: Tensor, firsts: Sequence[int], words: IntArray) -> Self:
        """The panels of a word-sparse matrix with ``words``, an array (cores, blocks, panels).

        It has a place in the operand buffer only if it is one block.
        """
        if words.shape[1] > 1:
            return cls(name=name, firsts=tuple(firsts), sizes=())
        sizes = np.add.reduceat(words[:, 0], firsts, axis=1).max(axis=0)
        return cls(name=name, firsts=tuple(firsts), sizes=tuple(sizes.tolist()))

    @property
    def total(self) -> int:
        """Entries of all pieces."""
        return sum(self.sizes)


class OperandMap:
    """Gives places in the operand buffer, first come first served.

    A dense matrix that is larger than the whole buffer gets what is left for its first panels. What
    does not fit is read from memory every time.

    Parameters
    ----------
    config : Config
        Gives ``operand_words``.
    wanted : iterable of LeftOperand
        Left operands that are read more than once.
    """

    def __init__(self, config: Config, wanted: Iterable[LeftOperand]) -> None:
        self._places: dict[Tensor, tuple[LeftOperand, int, int]] = {}
        # Word-sparse matrices, to the panels that have an index.
        self._starts: dict[Tensor, tuple[int, ...]] = {}
        self._tiled: set[Tensor] = set()
        used = 0
        for parts in wanted:
            if parts.stride > config.accumulator_rows and (
                    self._tiled or parts.total > config.operand_words):
                self._tiled.add(parts.name)
                continue
            if not parts.stride:
                self._starts[parts.name] = parts.firsts
            free, held = config.operand_words - used, len(parts.sizes)
            if parts.stride and parts.total > config.operand_words:
                held = free // parts.stride
            size = sum(parts.sizes[:held])
            if 0 < held and size <= free and parts.stride <= _MAXIMUM_STRIDE:
                self._places[parts.name] = parts, used, held
                used += size
        self._used, self._words = used, config.operand_words

    def cuts(self, name: Tensor) -> tuple[int, ...]:
        """First panels of what an instruction may take together; empty for the whole matrix."""
        if name not in self._places:
            return ()
        parts, _, held = self._places[name]
        if not parts.stride:
            return parts.firsts
        return (0, held) if held < len(parts.sizes) else ()

    def starts(self, name: Tensor) -> tuple[int, ...]:
        """Panels at which an instruction has to end.

        A word-sparse matrix has an index before each of them; other matrices have ``cuts``.
        """
        return self._starts.get(name, self.cuts(name))

    def holds(self, name: Tensor, first: int = 0, count: int = 1) -> bool:
        """Whether there is a place for panels of a matrix; word-sparse, for a whole piece."""
        if name not in self._places:
            return False
        parts, _, held = self._places[name]
        return not parts.stride or first + count <= held

    def panel_places(self, name: Tensor) -> int:
        """How many of the first panels of a dense matrix have a place, if not all have."""
        cuts = self.cuts(name)
        return cuts[1] if cuts and self._places[name][0].stride else 0

    def shared_entries(self, name: Tensor) -> int:
        """Entries in which parts of a dense matrix that does not fit can take turns."""
        if name in self._tiled:
            return self._words - self._used
        return self.panel_places(name) * self._places[name][0].stride if name in self._places else 0

    def is_tiled(self, name: Tensor) -> bool:
        """Whether a dense matrix has several blocks and does not fit: all such share a place."""
        return name in self._tiled

    def share_place(self, name: Tensor, offset: int, stride: int, *, fill: bool) -> dict[str, int]:
        """Operands of an instruction on a part of a matrix that shares the matrix' place.

        Parameters
        ----------
        name : Tensor
            The matrix, which does not fit.
        offset, stride : int
            First entry of the place, and entries from panel to panel.
        fill : bool
            Whether the part is read from memory to fill the buffer, or there already.
        """
        base = self._used if name in self._tiled else self._places[name][1]
        return {"operand": OperandSource.FILL if fill else OperandSource.BUFFER,
                "operand_base": base + offset, "operand_stride": stride}

    def entry(self, name: Tensor, panel: int, row: int) -> int:
        """Entry of a row of a dense matrix' panel that has a place."""
        parts, base, _ = self._places[name]
        return base + panel * parts.stride + row

    def fields(self, name: Tensor, first: int, row: int, *, fill: bool) -> dict[str, int]:
        """Operands of a MATMUL or GRADIENT on a piece of a matrix that has a place.

        Parameters
        ----------
        name : Tensor
            The matrix.
        first : int
            First panel; if word-sparse, of a whole piece.
        row : int
            First row, counted from the core's first.
        fill : bool
            Whether the piece is read from memory to fill the buffer, or there already.
        """
        parts, base, _ = self._places[name]
        if parts.stride:
            base = self.entry(name, first, row)
        else:
            base += sum(size for start, size in zip(parts.firsts, parts.sizes, strict=True)
                        if start < first)
        return {"operand": OperandSource.FILL if fill else OperandSource.BUFFER,
                "operand_base": base, "operand_stride": parts.stride}
