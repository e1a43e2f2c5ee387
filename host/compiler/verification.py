# SPDX-License-Identifier: BSD-2-Clause
"""Verifies a compiled program: every instruction stays within what lies where it reads and writes.

The chip does not check. An instruction that reads beyond an index waits for words that never come,
and an instruction that writes beyond its matrix changes another matrix. The compiler means to emit
neither; this looks at what it did emit, without its means.
"""

from collections.abc import Callable, Iterable

import numpy as np

from hypercast.errors import HypercastError
from hypercast.host.compiler.job import Job
from hypercast.host.compiler.memory_map import Listing, Region
from hypercast.reference.tensor import FEATURES
from hypercast.rtl.access import Access, Mode, Store
from hypercast.rtl.isa import OPERATIONS, Opcode, decode
from hypercast.rtl.loop import unroll

__all__ = ["ProgramError", "verify"]

#: Memory words of a word-sparse panel: at least row numbers and a word.
_LEAST_WORDS = 2
#: What the compiler calls lists.
_LISTINGS = {Store.EDGE_SET: Listing.EDGE_SET, Store.SEND_LIST: Listing.SEND_LIST}


class ProgramError(HypercastError, RuntimeError):
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
    for row, word, _, looped in unroll(job.program):
        entry = decode(word)
        try:
            checks.check(entry, looped=looped)
        except _BeyondError as error:
            name = Opcode(entry["opcode"]).name
            raise ProgramError(
                f"the compiled program is wrong in row {row}, {name}: {error}; this is a defect "
                f"of the compiler, please report it with the training's description and the "
                f"configuration") from None


class _BeyondError(Exception):
    """An instruction reaches beyond its operands."""


class _Checks:
    """Checks of the places that instructions use.

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
        self._looped = False

    def check(self, entry: dict[str, int], *, looped: bool = False) -> None:
        """Check a decoded instruction, of a loop or not; raises ``_BeyondError``."""
        self._looped = looped
        checks: dict[Store, Callable[[dict[str, int], Access], None]] = {
            Store.MATRIX: self._matrix, Store.INDEX: self._index,
            Store.EDGE_SET: self._list, Store.SEND_LIST: self._list,
            Store.MASK: self._mask, Store.LABELS: self._labels, Store.RANKS: self._ranks,
            Store.STATE: self._state,
            Store.OPERANDS: self._operands, Store.RIGHT: self._check_bypass,
            Store.SEND: self._check_bypass, Store.WEIGHTS: self._weights,
            Store.ARRAY: self._accumulators, Store.AGGREGATION: self._accumulators}
        for access in OPERATIONS[Opcode(entry["opcode"])].uses(entry):
            if access.store != Store.EXPONENT:  # a number, whatever it is, is an entry
                checks[access.store](entry, access)

    # Lists and words of memory.

    def _list(self, entry: dict[str, int], access: Access) -> None:
        self._start(_LISTINGS[access.store], entry[access.field])

    def _index(self, entry: dict[str, int], access: Access) -> None:
        self._sparse_entries(entry)

    def _mask(self, entry: dict[str, int], access: Access) -> None:
        self._check_packed(entry, access, self._config.mask_rows)

    def _labels(self, entry: dict[str, int], access: Access) -> None:
        self._check_packed(entry, access, self._config.info_rows)

    def _ranks(self, entry: dict[str, int], access: Access) -> None:
        self._check_packed(entry, access, self._config.ranks_in_word)

    def _check_packed(self, entry: dict[str, int], access: Access, each: int) -> None:
        """Check words that hold so many rows ``each``."""
        if rows := self._rows(entry):
            self._words(access.store.value, access.channel_of(entry), entry[access.field],
                        -(-len(rows) // each))

    def _state(self, entry: dict[str, int], access: Access) -> None:
        config = self._config
        values = (3 if entry["adam"] else 2) + (2 if entry["keep"] or entry["kept"] else 0)
        words = values * config.state_words
        self._words(access.store.value, access.channel_of(entry), entry[access.field],
                    -(-entry["rows"] // config.cores) * words)

    def _matrix(self, entry: dict[str, int], access: Access) -> None:
        """Check a range of rows of one panel, or of each of ``panels``; or any rows of one."""
        rows, channel, address = (
            self._rows(entry), access.channel_of(entry), entry[access.field])
        if access.anywhere:
            rows = range(1)  # the panel begins there; which rows of it, the list says
        if not rows:
            return
        stride, panels = (entry["stride"], entry["panels"]) if access.panels else (0, 1)
        region = self._words("row", channel, address, len(rows))
        panel, row = divmod(address - region.address, region.stride)
        if row != rows.start or (panels > 1 and stride != region.stride) \
                or panel + panels > region.panels:
            raise _BeyondError(
                f"rows {rows.start} to {rows.stop - 1} of {panels} panels, {stride} words apart, "
                f"from word {address} on are not in {region.name}")

    # Places close to an engine.

    def _operands(self, entry: dict[str, int], access: Access) -> None:
        """Check what DRAIN or LOSS leaves in the operand buffer, or a left operand there."""
        if "operand" not in entry:
            count = len(self._rows(entry))
        elif entry["sparse"]:
            count = self._sparse_entries(entry)
        else:
            count = (entry["panels"] - 1) * entry["operand_stride"] + len(self._rows(entry))
        self._within(access, entry, count, self._config.operand_words)

    def _check_bypass(self, entry: dict[str, int], access: Access) -> None:
        self._within(access, entry, len(self._rows(entry)), self._config.bypass_rows)

    def _accumulators(self, entry: dict[str, int], access: Access) -> None:
        """Check rows of a core's accumulators, or reduction rows, which all cores share."""
        config = self._config
        if not access.field:
            if "row_limit" in entry:  # where rows are added by edges, the edges say which
                self._within(access, entry, entry["row_limit"], (
                    config.accumulator_rows if access.store == Store.ARRAY else config.strip_rows))
            return
        if entry["opcode"] == Opcode.GRADIENT and entry["row_limit"] > config.accumulator_rows:
            raise _BeyondError(f"row_limit is {entry['row_limit']}, but it takes at most "
                               f"accumulator_rows = {config.accumulator_rows} rows")
        if access.mode == Mode.TAKE:
            count = entry["rows"]
        elif access.field == "sums_row":
            count = 1
        else:  # of ones, a tile's sums are one row
            count = entry["panels"] * (1 if entry["ones"] else config.lanes)
        self._within(access, entry, count, config.strip_rows * config.cores)

    def _weights(self, entry: dict[str, int], access: Access) -> None:
        """Check tiles of a panel, portions of a parameter, or a row of a bias."""
        if "weight_stride" in entry:
            spans = [(tile * entry["weight_stride"], self._config.lanes)
                     for tile in (0, entry["panels"] - 1)]
        else:
            spans = [(0, entry.get("rows", 1))]
        self._places(entry[access.field], spans)

    def _sparse_entries(self, entry: dict[str, int]) -> int:
        """Words that the core with most of them takes of a word-sparse operand's panels."""
        name = self._start(Listing.INDEX, entry["address"])
        matrix, entries = self._job.regions[FEATURES], []
        group = self._config.row_numbers + 1  # and the word of the numbers
        number = entry["vertices"] - self._job.row_entries[0]
        for rows, image in zip(self._job.row_table, self._job.images, strict=True):
            if rows[number] <= entry["row_start"]:
                continue  # a core without rows there reads nothing
            words = dict(image)
            index = np.ascontiguousarray(words[name]).view("<u4").reshape(-1, 2).astype(int)
            index = index[:entry["panels"]]
            first, counts = index.T
            if len(index) < entry["panels"] or (counts < _LEAST_WORDS).any() or (
                    first < matrix.address).any() or (
                    first + counts > matrix.address + matrix.words).any():
                raise _BeyondError(f"{name} has not {entry['panels']} panels")
            entries.append(int((counts - -(-counts // group)).sum()))
        return max(entries, default=0)  # a block of a loop may have no rows anywhere

    # Places.

    def _start(self, kind: Listing, address: int) -> str:
        """Name of what begins at a word of channel 1."""
        if (kind, address) not in self._starts:
            raise _BeyondError(f"no {kind} begins at word {address}")
        return self._starts[kind, address]

    def _rows(self, entry: dict[str, int]) -> range:
        """Rows that an instruction names, or else the rows of its vertices, of the largest core.

        A loop's last strips may be shorter than they say, and a window of theirs have no rows.
        """
        rows = self._job.plan.rows_of(entry["vertices"] - self._job.row_entries[0])
        if "row_limit" not in entry:
            return rows
        first, last = entry["row_start"], entry["row_start"] + entry["row_limit"]
        strip = self._config.strip_rows
        if not self._looped or first >= -(-max(1, len(rows)) // strip) * strip:
            return range(first, last)
        return range(first, max(first, min(last, len(rows))))

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

    @staticmethod
    def _within(access: Access, entry: dict[str, int], count: int, size: int) -> None:
        first = entry[access.field] if access.field else 0
        if first + count > size:
            raise _BeyondError(
                f"{count} entries from {access.field or 'row'} {first} on, but there are {size} "
                f"entries: {access.store.value}")
