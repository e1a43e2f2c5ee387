# SPDX-License-Identifier: BSD-2-Clause
"""Where every tensor and list lies in a core's two memory channels.

All cores use the same addresses; only row counts differ. Nothing is ever stored transposed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from hypercast.errors import InputError
from hypercast.reference.tensor import Tensor
from hypercast.rtl.config import Config, ConfigurationError
from hypercast.rtl.registers import Space

__all__ = [
    "LABELS",
    "RANKS",
    "CapacityError",
    "Listing",
    "MemoryMap",
    "Region",
    "SlowdownWarning",
    "find_shortage",
    "index_name",
    "remedy",
    "require_capacity",
    "second",
    "suggest",
]

#: Names of the regions of labels, and of the rows' ranks.
LABELS, RANKS = "labels", "ranks"
_CHANNELS = (Space.FEATURES, Space.GRADIENTS)


#: What to do where a field cannot be raised.
_SMALLER = "use more lanes or cores, or a smaller network"
_OTHERWISE = {"tensors": "use fewer layers, or more boards that have some layers each",
              "program_rows": "use more lanes, fewer layers, or more boards that have some layers "
                              "each"}


class CapacityError(InputError):
    """A problem does not fit the configuration; says what, and which field to raise.

    Attributes
    ----------
    field : str
        A field of the configuration that is too small; empty if it is not that alone.
    needed : int
        The least value that would do.
    """

    def __init__(self, text: str, *, field: str = "", needed: int = 0) -> None:
        super().__init__(text)
        self.field, self.needed = field, needed


class SlowdownWarning(UserWarning):
    """A problem fits the configuration, but would take fewer cycles with more of something."""


def suggest(config: Config, field: str, needed: int, way: str = "-P") -> str:
    """The option that raises a power-of-two field to ``needed``, as text; empty if none does.

    The field's new value follows ``way``.
    """
    sufficient = 1 << (needed - 1).bit_length()
    try:
        config.replace(**{field: sufficient})
    except ConfigurationError:
        return ""
    return f"raise {field} to {sufficient} ({way} {field}={sufficient})"


def remedy(config: Config, field: str, needed: int, way: str = "-P") -> str:
    """The remedy if a power-of-two field is below ``needed``, as text; ``way`` as in ``suggest``.
    """
    return suggest(config, field, needed, way) or (
        f"no configuration has as many: {_OTHERWISE.get(field, _SMALLER)}")


def require_capacity(config: Config, field: str, needed: int, why: str,
                     otherwise: str = "") -> None:
    """Check that a power-of-two field of a configuration is large enough.

    Parameters
    ----------
    config : Config
        The configuration.
    field : str
        The configuration's field.
    needed : int
        The least value.
    why : str
        What needs it.
    otherwise : str
        Another remedy, if there is one.

    Raises
    ------
    CapacityError
        If it is below ``needed``; names a value that is not, if the design supports one.
    """
    if shortage := find_shortage(config, field, needed, why, otherwise):
        raise shortage


def find_shortage(config: Config, field: str, needed: int, why: str,
                  otherwise: str = "") -> CapacityError | None:
    """What ``require_capacity`` raises, or None."""
    if needed <= getattr(config, field):
        return None
    return CapacityError(
        f"{field} is {getattr(config, field)}, but {needed} are needed: {why}; "
        f"{remedy(config, field, needed)}{otherwise and f'; or {otherwise}'}",
        field=field, needed=needed)


class Listing(StrEnum):
    """Kinds of lists that instructions are led by."""

    SEND_LIST = "send list"
    EDGE_SET = "edge set"
    INDEX = "index"  # of a word-sparse matrix


def index_name(matrix: Tensor, panel: int, row: int = 0) -> str:
    """Name of the index of a word-sparse matrix, of the strip that begins with a row, from a panel
    on.
    """
    strip = f", rows from {row}" if row else ""
    return f"{Listing.INDEX} of {matrix}, panels from {panel}{strip}"


def second(name: str) -> str:
    """Name of the other place for what a batch brings."""
    return f"{name}, second place"


@dataclass(frozen=True, kw_only=True)
class Region:
    """Consecutive words of one channel, at the same place in every core.

    Parameters
    ----------
    name : str
        What lies there.
    tensor : Tensor or None
        The matrix or mask of a training step that it is.
    listing : Listing or None
        What kind of list it is.
    channel : int
        0 (features) or 1 (gradients).
    address, words : int
        First word and number of words.
    stride : int
        Words per panel, 0 if it is no matrix.
    columns : int
        Columns of the matrix, 0 if it is none.
    """

    name: str
    channel: int
    address: int
    words: int
    stride: int = 0
    columns: int = 0
    tensor: Tensor | None = None
    listing: Listing | None = None

    @property
    def space(self) -> Space:
        """The window space of the channel."""
        return _CHANNELS[self.channel]

    @property
    def panels(self) -> int:
        """Panels of the matrix, 0 if it is none."""
        return self.words // self.stride if self.stride else 0

    def panel(self, index: int, row: int = 0) -> int:
        """Address of ``row`` of a panel."""
        return self.address + index * self.stride + row


class MemoryMap:
    """Allocates regions one after another.

    Parameters
    ----------
    config : Config
        Configuration of the chip.
    rows : sequence of int
        Rows a core has to hold at most of the input, and of every layer's output: the strides of
        matrices.
    """

    def __init__(self, config: Config, rows: Sequence[int]) -> None:
        self._config = config
        self._rows = rows
        self._used = [0, 0]
        self.regions: dict[str, Region] = {}

    def rows_of(self, tensor: Tensor) -> int:
        """Rows of a matrix or mask that a core has to hold at most."""
        return self._rows[tensor.level]

    def matrix(self, tensor: Tensor, channel: int, columns: int) -> Region:
        """A matrix of ``columns`` columns, panel by panel."""
        panels, rows = -(-columns // self._config.lanes), self.rows_of(tensor)
        return self._add(tensor, channel, panels * rows, tensor=tensor, stride=rows,
                         columns=columns)

    def words(self, name: str, channel: int, count: int,
              listing: Listing | None = None) -> Region:
        """``count`` words, of a list if its kind is given."""
        return self._add(name, channel, count, listing=listing)

    def add_packed(self, tensor: Tensor, channel: int, per_word: int, columns: int) -> Region:
        """One record a row and panel of ``columns``, ``per_word`` of them in a word."""
        panels, rows = -(-columns // self._config.lanes), self.rows_of(tensor)
        return self._add(tensor, channel, panels * -(-rows // per_word), tensor=tensor, stride=rows)

    def labels(self, records: int, name: str = LABELS) -> Region:
        """Labels of the last layer's output, in channel 1: ``records`` of 16 bits a row."""
        words = records * -(-self._rows[-1] // self._config.info_rows)
        return self._add(name, 1, words, stride=self._rows[-1])

    def _add(self, name: str, channel: int, words: int, *, tensor: Tensor | None = None,
             listing: Listing | None = None, stride: int = 0, columns: int = 0) -> Region:
        region = Region(name=name, tensor=tensor, listing=listing, channel=channel,
                        address=self._used[channel], words=words, stride=stride, columns=columns)
        self._used[channel] += words
        self.regions[name] = region
        return region

    @property
    def used(self) -> tuple[int, int]:
        """Words of each channel that are allocated."""
        return self._used[0], self._used[1]

    def check(self, otherwise: str = "") -> None:
        """Compare what was allocated with the channels' size.

        Parameters
        ----------
        otherwise : str
            Another remedy than larger channels, if there is one.

        Raises
        ------
        CapacityError
            If a channel is too small.
        """
        used = max(self._used)
        channel = self._used.index(used)
        largest = max((region for region in self.regions.values() if region.channel == channel),
                      key=lambda region: region.words)
        require_capacity(
            self._config, "channel_words", used,
            f"memory channel {channel} of a core holds that many words, {largest.words} of them "
            f"of {largest.name}", otherwise)

    def __getitem__(self, name: str) -> Region:
        return self.regions[name]
