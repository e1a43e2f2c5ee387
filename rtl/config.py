# SPDX-License-Identifier: BSD-2-Clause
"""Configuration of a Hypercast chip: the one place widths and sizes come from.

This module imports no Amaranth; hardware, reference, compiler and driver share it.
"""

import dataclasses
import hashlib
import json
from dataclasses import dataclass
from typing import Any, Self

from hypercast.errors import InputError
from hypercast.rtl.isa import (
    ADDRESS_WIDTH,
    BASE_WIDTH,
    RANK_WIDTH,
    RECORD_WIDTH,
    ROW_NUMBER_WIDTH,
    STRIP_WIDTH,
    TENSOR_WIDTH,
    VERTICES_WIDTH,
)
from hypercast.rtl.plain_value import plain_value

__all__ = ["LARGEST_PROGRAM", "PRESETS", "Config", "ConfigurationError"]

#: Changes whenever registers, instructions or memory formats change meaning.
INTERFACE_VERSION = 21
#: Instructions that the largest program memory holds.
LARGEST_PROGRAM = 1 << 14


class ConfigurationError(InputError):
    """A configuration the design does not support; names field, value and reason."""


def _is_power_of_two(value: int) -> bool:
    return value > 0 and value & (value - 1) == 0


@dataclass(frozen=True, kw_only=True)
class Config:
    """Everything that shapes the hardware.

    Parameters
    ----------
    dimensions : int
        Hypercube dimensions, 0 to 6; the chip has ``2 ** dimensions`` cores.
    lanes : int
        Elements in a word (``P``): 2, 4, 8 or 16. The systolic array is ``P`` by ``P``.
    planes : int
        Rotated routing orders with buffers of their own: 1, 2 or 4.
    eject : int
        Flits a core can accept per cycle: 1, 2 or 4, at most ``planes``.
    buffer_depth : int
        Flits each router input buffer holds, per plane: 2 to 16.
    element_width : int
        Bits of a tensor element: 8 or 16.
    accumulator_rows : int
        Rows of each of the array's accumulator buffers, a power of two from 16 to 16384.
    aggregation_rows : int
        Rows of each of the aggregators' accumulator buffers, a power of two from
        ``accumulator_rows`` to 16384; 0 for as many as the array's. The more there are, the fewer
        strips of rows are aggregated one by one, and the fewer messages are sent.
    weight_rows : int
        Words of the weight bank, a power of two from 16 to 65536.
    channel_words : int
        Words of each of a core's two memory channels, a power of two from 64 to 2**24.
    operand_words : int
        Words of the array's operand buffer, a power of two from 16 to 65536. An operand that fits
        is read from memory once a step.
    bypass_rows : int
        Words that the vector unit can leave for GRADIENT's right operands, and as many for rows to
        be sent: a power of two from 16 to 65536. They bypass memory.
    read_buffer : int
        Words each burst reader can hold, a power of two from 4 to 256. To hide memory latency it
        should be at least that latency.
    edge_buffer : int
        Words prefetched per (source, plane) edge stream: 2, 4, 8, 16 or 32. To hide memory latency,
        they should hold a few more edges than its cycles.
    program_rows : int
        Instructions the program memory holds, a power of two from 16 to 16384.
    tensors : int
        Entries of the exponent file, a power of two from 8 to 1024.
    row_counts : int
        Entries of each core's row table, a power of two from 16 to 1024. An aggregation into rows
        of several strips takes one for each of them, if it is not to walk all rows for each.
    adam : bool
        Whether UPDATE can do Adam; without, it does SGD only, and small chips save the area.
    memory_latency : int
        Cycles from an accepted read request to its first word: 1 to 1024. 1 builds the plain
        SRAM bank; anything more, or stalls, the simulated channel.
    memory_stalls : bool
        Whether the memory channel stalls at random (for simulation).

    Raises
    ------
    ConfigurationError
        If a field is outside its range.
    """

    dimensions: int = 4
    lanes: int = 16
    planes: int = 4
    eject: int = 1
    buffer_depth: int = 4
    element_width: int = 16
    accumulator_rows: int = 256
    aggregation_rows: int = 0
    weight_rows: int = 2048
    channel_words: int = 32768
    operand_words: int = 1024
    bypass_rows: int = 512
    read_buffer: int = 32
    edge_buffer: int = 2
    program_rows: int = 512
    tensors: int = 64
    row_counts: int = 16
    adam: bool = True
    memory_latency: int = 1
    memory_stalls: bool = False

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            value = plain_value(getattr(self, field.name))
            assert isinstance(field.type, type)
            object.__setattr__(self, field.name, value)
            if type(value) is not field.type:
                raise ConfigurationError(
                    f"{field.name} must be of type {field.type.__name__}, not {value!r}")
        self._check_range("dimensions", 0, 6)
        self._check_choice("lanes", (2, 4, 8, 16))
        self._check_choice("planes", (1, 2, 4))
        self._check_choice("eject", (1, 2, 4))
        if self.eject > self.planes:
            raise ConfigurationError(
                f"eject must be at most planes ({self.planes}), because each ejection port serves "
                f"planes of its own, not {self.eject}")
        self._check_range("buffer_depth", 2, 16)
        self._check_choice("element_width", (8, 16))
        self._check_power("accumulator_rows", 16, 1 << STRIP_WIDTH - 1)
        if self.aggregation_rows:
            self._check_power("aggregation_rows", self.accumulator_rows, 1 << STRIP_WIDTH - 1,
                              "0, for as many as accumulator_rows, or ")
        self._check_power("weight_rows", 16, 1 << BASE_WIDTH)
        self._check_power("channel_words", 64, 2**ADDRESS_WIDTH)
        self._check_power("operand_words", 16, 1 << BASE_WIDTH)
        self._check_power("bypass_rows", 16, 1 << BASE_WIDTH)
        self._check_power("read_buffer", 4, 256)
        self._check_choice("edge_buffer", (2, 4, 8, 16, 32))
        self._check_power("program_rows", 16, LARGEST_PROGRAM)
        self._check_power("tensors", 8, 1 << TENSOR_WIDTH)
        self._check_power("row_counts", 16, 1 << VERTICES_WIDTH)
        self._check_range("memory_latency", 1, 1024)

    def _check_range(self, name: str, low: int, high: int) -> None:
        value = getattr(self, name)
        if not low <= value <= high:
            raise ConfigurationError(f"{name} must be {low} to {high}, not {value}")

    def _check_choice(self, name: str, choices: tuple[int, ...]) -> None:
        value = getattr(self, name)
        if value not in choices:
            listed = ", ".join(str(choice) for choice in choices)
            raise ConfigurationError(f"{name} must be one of {listed}, not {value}")

    def _check_power(self, name: str, low: int, high: int, others: str = "") -> None:
        value = getattr(self, name)
        if not (_is_power_of_two(value) and low <= value <= high):
            raise ConfigurationError(
                f"{name} must be {others}a power of two from {low} to {high}, not {value}")

    def replace(self, **changes: Any) -> Self:
        """A copy with some fields changed.

        Raises
        ------
        ConfigurationError
            If a name is no field of the configuration, or a value is out of range.
        """
        known = {field.name for field in dataclasses.fields(self)}
        for name in changes:
            if name not in known:
                raise ConfigurationError(
                    f"{name} is no configuration field; there are {', '.join(sorted(known))}")
        return dataclasses.replace(self, **changes)

    # Derived values.

    @property
    def cores(self) -> int:
        """Number of cores."""
        return 1 << self.dimensions

    @property
    def data_width(self) -> int:
        """Bits of a word of ``lanes`` elements."""
        return self.lanes * self.element_width

    @property
    def word_width(self) -> int:
        """Bits of a memory channel's word: ``data_width``, but at least 32."""
        return max(32, self.data_width)

    @property
    def channel_bytes(self) -> int:
        """Bytes of a memory channel."""
        return self.channel_words * self.word_width // 8

    @property
    def chunks(self) -> int:
        """32-bit pieces of a memory word, as the host port sees it."""
        return self.word_width // 32

    @property
    def digits(self) -> int:
        """Digits of an accumulator, each as wide as an element."""
        return 3 if self.element_width == 16 else 5

    @property
    def accumulator_width(self) -> int:
        """Bits of an accumulator: 48 for 16-bit elements, 40 for 8-bit."""
        return self.digits * self.element_width

    @property
    def strip_rows(self) -> int:
        """Rows of a strip: what is aggregated at once, in one of an aggregator's buffers."""
        return self.aggregation_rows or self.accumulator_rows

    @property
    def reset_cycles(self) -> int:
        """Cycles of reset that clear all accumulators, of which a memory holds two buffers."""
        return 2 * self.strip_rows + 1

    @property
    def state_words(self) -> int:
        """Memory words that hold ``lanes`` 32-bit values (a row of master weights)."""
        return -(-32 * self.lanes // self.word_width)

    @property
    def streams(self) -> int:
        """Edge streams a core receives: one per plane and (relative) source."""
        return self.planes * self.cores

    @property
    def send_record_width(self) -> int:
        """Bits of a send-list record: the destinations, the plane, then ``skip_width`` of skip."""
        width = 32
        while width < self.cores + 2:
            width *= 2
        return width

    @property
    def skip_width(self) -> int:
        """Highest bits of a send-list record: how far an indexed list's position moves on.

        They are what the destinations and two bits of plane leave: 14 bits with 16 cores.
        """
        return self.send_record_width - self.cores - 2

    @property
    def mask_rows(self) -> int:
        """Rows of ReLU mask (``lanes`` bits each) packed in one memory word."""
        return self.word_width // self.lanes

    @property
    def info_rows(self) -> int:
        """Rows of label records, weights or bits packed in one memory word."""
        return self.word_width // RECORD_WIDTH

    @property
    def ranks_in_word(self) -> int:
        """Ranks of rows packed in one memory word."""
        return self.word_width // RANK_WIDTH

    @property
    def row_numbers(self) -> int:
        """Row numbers of a word-sparse matrix in one memory word, and words that follow them."""
        return self.word_width // ROW_NUMBER_WIDTH

    @property
    def index_width(self) -> int:
        """Bits of a flit's index: enough for an accumulator row or a weight row."""
        return max(self.strip_rows, self.weight_rows).bit_length() - 1

    @property
    def address_width(self) -> int:
        """Bits of a memory channel's word address."""
        return self.channel_words.bit_length() - 1

    def to_dict(self) -> dict[str, int]:
        """Field names and values, in order."""
        return dataclasses.asdict(self)

    @property
    def hash(self) -> int:
        """32-bit configuration hash, in the hardware's register and in every compiled program."""
        canonical = json.dumps([INTERFACE_VERSION, self.to_dict()], sort_keys=True)
        return int.from_bytes(hashlib.sha256(canonical.encode()).digest()[:4], "big")


#: What fits an XCVU37P; two 256-bit HBM pseudo-channels a core; timing assumes 250 MHz.
#: With four planes a core takes an eighth more LUTs, and a step a few percent fewer cycles at most.
_VCU128 = Config(dimensions=4, lanes=16, planes=2, eject=2, accumulator_rows=1024,
                 aggregation_rows=2048, weight_rows=16384, channel_words=65536,
                 operand_words=8192, bypass_rows=512, read_buffer=128, edge_buffer=8,
                 program_rows=8192, tensors=1024, row_counts=1024, memory_latency=64,
                 memory_stalls=True)

#: Named starting points; ``Config.replace`` changes single fields.
PRESETS = {
    "tiny": Config(dimensions=1, lanes=2, planes=1, accumulator_rows=64, weight_rows=128,
                   channel_words=2048, operand_words=64, bypass_rows=64, program_rows=128,
                   read_buffer=8),
    "test": Config(dimensions=2, lanes=4, planes=2, accumulator_rows=64, weight_rows=256,
                   channel_words=4096, operand_words=256, bypass_rows=128, program_rows=256,
                   read_buffer=16),
    "demo": Config(dimensions=4, lanes=2, planes=2, accumulator_rows=64, weight_rows=512,
                   channel_words=8192, operand_words=256, bypass_rows=128, program_rows=256,
                   read_buffer=16),
    "cora": Config(dimensions=4, lanes=16, planes=4, accumulator_rows=256, weight_rows=2048,
                   channel_words=32768, operand_words=4096, bypass_rows=1024),
    # What fits an ECP5-85F, folded.
    "ulx3s": Config(dimensions=4, lanes=2, planes=2, element_width=8, accumulator_rows=64,
                    weight_rows=512, channel_words=1024, operand_words=256, bypass_rows=64,
                    program_rows=256, read_buffer=8, adam=False),
    # What fits a Cyclone V of 110,000 logic elements, unfolded.
    "de10-nano": Config(dimensions=1, lanes=4, planes=1, element_width=8, accumulator_rows=128,
                        weight_rows=1024, channel_words=16384, operand_words=512,
                        bypass_rows=128, program_rows=512, read_buffer=16, adam=False),
    # What fits an XCK26; the memory channels are in its processor's memory.
    "kv260": Config(dimensions=1, lanes=8, planes=1, accumulator_rows=512, weight_rows=8192,
                    channel_words=1 << 20, operand_words=4096, bypass_rows=512, read_buffer=64,
                    edge_buffer=4, program_rows=1024, row_counts=256, memory_latency=64,
                    memory_stalls=True),
    "vcu128": _VCU128,
    # What fits an XCU50, which is two thirds of an XCVU37P: half the cores, one stack of HBM.
    "u50": _VCU128.replace(dimensions=3),
}
