"""Which left operands stay in the array's operand buffer, and where."""

from dataclasses import dataclass

import numpy as np

from hypercast.rtl.isa import OPERANDS, Opcode, OperandSource

__all__ = ["OperandMap", "Parts"]

#: Entries from panel to panel that an instruction can name.
_MAXIMUM_STRIDE = (1 << dict(OPERANDS[Opcode.MATMUL])["operand_stride"]) - 1


@dataclass(frozen=True, kw_only=True)
class Parts:
    """How the panels of a left operand are taken: in what pieces, and with how many entries.

    Parameters
    ----------
    name : str
        The matrix.
    firsts : tuple of int
        First panel of each piece.
    sizes : tuple of int
        Entries of each piece in the operand buffer, in the core that needs most.
    stride : int
        Entries from panel to panel; 0 if the matrix is word-sparse.
    """

    name: str
    firsts: tuple
    sizes: tuple
    stride: int = 0

    @classmethod
    def sparse(cls, name, firsts, words):
        """Those of a word-sparse matrix with ``words``, an array (cores, panels)."""
        sizes = np.add.reduceat(words, firsts, axis=1).max(axis=0)
        return cls(name=name, firsts=tuple(firsts), sizes=tuple(sizes.tolist()))

    @property
    def total(self):
        """Entries of all pieces."""
        return sum(self.sizes)


class OperandMap:
    """Gives places in the operand buffer, first come first served.

    What does not fit is read from memory every time.

    Parameters
    ----------
    config : Config
        Gives ``operand_words``.
    wanted : iterable of Parts
        Left operands that are read more than once.
    """

    def __init__(self, config, wanted):
        self._places = {}
        used = 0
        for parts in wanted:
            if used + parts.total <= config.operand_words and parts.stride <= _MAXIMUM_STRIDE:
                self._places[parts.name] = parts, used
                used += parts.total

    def cuts(self, name):
        """First panels of a word-sparse matrix' pieces if it has a place, else nothing."""
        if name not in self._places or self._places[name][0].stride:
            return ()
        return self._places[name][0].firsts

    def holds(self, name):
        """Whether a matrix has a place."""
        return name in self._places

    def entry(self, name, panel, row):
        """Entry of a row of a dense matrix that has a place."""
        parts, base = self._places[name]
        return base + panel * parts.stride + row

    def fields(self, name, first, row, *, keep):
        """Operands of a MATMUL or GRADIENT on a piece of a matrix that has a place.

        Parameters
        ----------
        name : str
            The matrix.
        first : int
            First panel; if word-sparse, of a whole piece.
        row : int
            First row, counted from the core's first.
        keep : bool
            Whether the piece is read from memory and kept, or there already.
        """
        parts, base = self._places[name]
        if parts.stride:
            base = self.entry(name, first, row)
        else:
            base += sum(size for start, size in zip(parts.firsts, parts.sizes, strict=True)
                        if start < first)
        return {"operand": OperandSource.KEEP if keep else OperandSource.BUFFER,
                "operand_base": base, "operand_stride": parts.stride}
