"""Verifies a compiled program: every instruction stays within what lies where it reads and writes.

The chip does as it is told. An instruction that reads beyond an index waits for words that never
come, and one that writes beyond its matrix changes another one. The compiler means to emit neither;
this looks at what it did emit, without its means.
"""

from collections.abc import Callable, Iterable

import numpy as np

from hypercast.host.compiler.job import Job
from hypercast.host.compiler.memory_map import Listing, Region
from hypercast.reference.tensor import FEATURES
from hypercast.rtl.isa import Bypass, Opcode, OperandSource, decode

__all__ = ["ProgramError", "verify"]

#: Memory words of a word-sparse panel: at least row numbers and a word.
_LEAST_WORDS = 2


class ProgramError(RuntimeError):
    """The compiler emitted a wrong instruction: a defect of the compiler, not of what it got."""


def verify(job: Job) -> None:
    """Check every instruction of a ``Job``.

    Raises
    ------
    ProgramError
        At the first instruction that reaches beyond a region of memory, a parameter's rows of the
        weight bank, the accumulators, or what is kept close to an engine.
    """
    checks = _Checks(job)
    for row, word in enumerate(job.program):
        entry = decode(word)
        try:
            checks.check(entry)
        except _BeyondError as error:
            name = Opcode(entry["opcode"]).name
            raise ProgramError(
                f"the compiled program is wrong in row {row}, {name}: {error}; this is a defect "
                f"of the compiler, please report it with the training's description and the "
                f"configuration") from None


class _BeyondError(Exception):
    """What an instruction does wrong."""


class _Checks:
    """Checks of instructions, by opcode.

    Parameters
    ----------
    job : Job
        What was compiled.
    """

    def __init__(self, job: Job) -> None:
        self._job = job
        self._config = job.config
        self._starts = {  # by kind and first word; all lists lie in channel 1
            (region.listing, region.address): region.name for region in job.regions.values()}

    def check(self, entry: dict[str, int]) -> None:
        """Check a decoded instruction; raises ``_BeyondError``."""
        checks: dict[Opcode, Callable[[dict[str, int]], None]] = {
            Opcode.AGGREGATE: self._aggregate, Opcode.MATMUL: self._matmul,
            Opcode.GRADIENT: self._gradient, Opcode.DRAIN: self._drain,
            Opcode.LOSS: self._loss, Opcode.UPDATE: self._update,
            Opcode.HALT: lambda entry: None}
        checks[Opcode(entry["opcode"])](entry)

    # Opcodes.

    def _aggregate(self, entry: dict[str, int]) -> None:
        self._start(Listing.EDGE_SET, entry["edge_set"])
        if entry["prefetch"]:
            return
        self._start(Listing.SEND_LIST, entry["send_list"])
        rows = self._rows(entry)
        if entry["bypassed"]:
            self._within("rows to be sent", entry["bypass_base"], len(rows),
                         self._config.bypass_rows)
        else:
            self._matrix(entry["channel"], entry["address"], 0, 1, rows)

    def _matmul(self, entry: dict[str, int]) -> None:
        start, rows = entry["row_start"], entry["row_limit"]
        self._left(entry, entry["channel"], range(start, start + rows))
        self._places(entry["weights"], [
            (tile * entry["weight_stride"], self._config.lanes)
            for tile in (0, entry["panels"] - 1)])

    def _gradient(self, entry: dict[str, int]) -> None:
        rows, panels = self._rows(entry), entry["panels"]
        # Of ones, a tile's sums are one row, and each tile has a right operand of its own.
        height, rights = (1, panels) if entry["ones"] else (self._config.lanes, 1)
        self._reduced(entry["first_row"], panels * height)
        if entry["sums"]:
            self._reduced(entry["sums_row"], 1)
        if entry["bypassed"]:
            self._within("bypassed right operands", entry["bypass_base"], len(rows),
                         self._config.bypass_rows)
        else:
            self._matrix(entry["gradient_channel"], entry["gradient_address"], entry["stride"],
                         rights, rows)
        if not entry["ones"]:
            self._left(entry, 1 - entry["gradient_channel"], rows)

    def _drain(self, entry: dict[str, int]) -> None:
        start, rows = entry["row_start"], entry["row_limit"]
        self._within("accumulators", 0, rows, self._config.accumulator_rows)
        self._matrix(entry["channel"], entry["address"], 0, 1, range(start, start + rows))
        if entry["mask_read"] or entry["mask_write"]:
            self._words("mask", 1, entry["mask_address"], -(-rows // self._config.mask_rows))
        if entry["bias"]:
            self._places(entry["bias_weights"], [(0, 1)])
        self._bypass(entry, rows)

    def _loss(self, entry: dict[str, int]) -> None:
        rows, stride, panels = self._rows(entry), entry["stride"], entry["panels"]
        self._matrix(entry["channel"], entry["address"], stride, panels, rows)
        self._words("label", 1, entry["info"], -(-len(rows) // self._config.info_rows))
        if entry["train"]:
            self._matrix(1, entry["destination"], stride, panels, rows)
            self._bypass(entry, len(rows))

    def _update(self, entry: dict[str, int]) -> None:
        rows, config = entry["rows"], self._config
        self._reduced(entry["first_row"], rows)
        self._places(entry["weights"], [(0, rows)])
        words = (3 if entry["adam"] else 2) * config.state_words
        self._words("state", 1, entry["state"], -(-rows // config.cores) * words)

    # Operands.

    def _left(self, entry: dict[str, int], channel: int, rows: range) -> None:
        source, panels = entry["operand"], entry["panels"]
        if entry["sparse"]:
            entries = self._sparse_entries(entry)
        else:
            entries = (panels - 1) * entry["operand_stride"] + len(rows)
            if source != OperandSource.BUFFER:
                self._matrix(channel, entry["address"], entry["stride"], panels, rows)
        if source != OperandSource.MEMORY:
            self._within("operand buffer", entry["operand_base"], entries,
                         self._config.operand_words)

    def _bypass(self, entry: dict[str, int], rows: int) -> None:
        for target, base, size in (
                (Bypass.LEFT, "left_base", self._config.operand_words),
                (Bypass.RIGHT, "right_base", self._config.bypass_rows),
                (Bypass.SEND, "send_base", self._config.bypass_rows)):
            if entry["bypass"] >> target & 1:
                self._within(base, entry[base], rows, size)

    def _sparse_entries(self, entry: dict[str, int]) -> int:
        """Words that the core with most of them takes of a word-sparse operand's panels."""
        name = self._start(Listing.INDEX, entry["address"])
        matrix, entries = self._job.regions[FEATURES], []
        group = self._config.word_width // 16 + 1  # row numbers, and the words of these rows
        for image in self._job.images:
            words = dict(image)
            index = np.ascontiguousarray(words[name]).view("<u4").reshape(-1, 2).astype(int)
            index = index[:entry["panels"]]
            if len(words[FEATURES]) == 0:
                continue  # a core without rows reads nothing
            first, counts = index.T
            if len(index) < entry["panels"] or (counts < _LEAST_WORDS).any() or (
                    first < matrix.address).any() or (
                    first + counts > matrix.address + matrix.words).any():
                raise _BeyondError(f"{name} has not {entry['panels']} panels")
            entries.append(int((counts - -(-counts // group)).sum()))
        return max(entries)

    # Places.

    def _start(self, kind: Listing, address: int) -> str:
        """Name of what begins at a word of channel 1."""
        if (kind, address) not in self._starts:
            raise _BeyondError(f"no {kind} begins at word {address}")
        return self._starts[kind, address]

    def _rows(self, entry: dict[str, int]) -> range:
        """Range of rows of an instruction's vertices, of the largest core."""
        return self._job.plan.rows_of(entry["vertices"])

    def _matrix(self, channel: int, address: int, stride: int, panels: int, rows: range) -> None:
        """Check a range of ``rows`` of each of ``panels``."""
        region = self._words("row", channel, address, len(rows))
        panel, row = divmod(address - region.address, region.stride)
        if row != rows.start or (panels > 1 and stride != region.stride) \
                or panel + panels > region.panels:
            raise _BeyondError(
                f"rows {rows.start} to {rows.stop - 1} of {panels} panels, {stride} words apart, "
                f"from word {address} on are not in {region.name}")

    def _words(self, what: str, channel: int, address: int, count: int) -> Region:
        """Check consecutive words: rows of one panel of a matrix, or others; returns the region."""
        for region in self._job.regions.values():
            first = address - region.address
            if region.channel == channel and 0 <= first <= region.words - count and (
                    what != "row" or
                    (region.columns and first % region.stride + count <= region.stride)):
                return region
        raise _BeyondError(f"there are no {count} {what} words from word {address} of channel "
                           f"{channel} on")

    def _places(self, base: int, spans: Iterable[tuple[int, int]]) -> None:
        """Check spans (first row from ``base`` on, rows) of the weight bank: of one parameter."""
        for place in self._job.weights.values():
            if place.base <= base < place.base + place.rows:
                for first, count in spans:
                    # A tile of a matrix lower than a tile, a bias, reaches beyond it: rows that
                    # are multiplied by zeros.
                    if not 0 <= base + first - place.base <= place.rows - min(count, place.height):
                        raise _BeyondError(f"weight bank rows {base + first} to "
                                           f"{base + first + count - 1} are not of {place.name}")
                return
        raise _BeyondError(f"weight bank row {base} is of no parameter")

    def _reduced(self, first: int, rows: int) -> None:
        """Check reduction rows."""
        self._within("reduction rows", first, rows,
                     self._config.accumulator_rows * self._config.cores)

    @staticmethod
    def _within(what: str, first: int, count: int, size: int) -> None:
        if first + count > size:
            raise _BeyondError(f"{count} entries from {first} on, but {what} has {size}")
