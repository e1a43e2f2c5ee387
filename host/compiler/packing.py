# SPDX-License-Identifier: BSD-2-Clause
"""Packs tensors and records into memory words, and back.

A memory word is a row of ``Config.chunks`` little-endian ``uint32``; formats are in
``docs/blocks.md``.
"""

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from hypercast.errors import InputError
from hypercast.host.compiler.images import Words
from hypercast.reference.array_types import BoolArray, IntArray, SparseArray
from hypercast.rtl.config import Config
from hypercast.rtl.placement import rank_of, rows_of

__all__ = [
    "deal", "pack_entry", "pack_masks", "pack_panels", "pack_records", "pack_rows", "undeal",
    "unpack_entry", "unpack_masks", "unpack_panels", "unpack_rows",
]

Element = TypeVar("Element", bound=np.generic)

#: Bit of an exponent file's entry that says its peak is valid, and the lowest peak there can be.
_VALID = 1 << 16
_LEAST_PEAK = -128

_ELEMENT: dict[int, np.dtype[np.signedinteger[Any]]] = {8: np.dtype("<i1"), 16: np.dtype("<i2")}


def pack_rows(values: IntArray, config: Config) -> Words:
    """(words, lanes) elements as (words, chunks) ``uint32``.

    Raises
    ------
    InputError
        If a value does not fit ``config.element_width`` bits.
    """
    values = np.asarray(values)
    info = np.iinfo(_ELEMENT[config.element_width])
    if values.size and (values.min() < info.min or values.max() > info.max):
        bad = values[(values < info.min) | (values > info.max)][0]
        raise InputError(f"element {bad} does not fit {config.element_width} bits")
    octets = np.zeros((len(values), config.word_width // 8), dtype=np.uint8)
    packed = np.ascontiguousarray(values, dtype=_ELEMENT[config.element_width])
    octets[:, :config.data_width // 8] = packed.view(np.uint8).reshape(
        len(values), config.data_width // 8)
    return octets.view("<u4")


def unpack_rows(words: Words, config: Config) -> IntArray:
    """The inverse of ``pack_rows``, as ``int64``."""
    octets = np.ascontiguousarray(words, dtype="<u4").view(np.uint8)
    octets = octets.reshape(len(words), config.word_width // 8)[:, :config.data_width // 8]
    elements: npt.NDArray[np.signedinteger[Any]] = np.ascontiguousarray(octets).view(
        _ELEMENT[config.element_width])
    return elements.astype(np.int64)


def pack_records(records: npt.NDArray[np.unsignedinteger[Any]], config: Config) -> Words:
    """Records of a fixed width, as one list: (words, chunks) ``uint32``, padded with zeros.

    Parameters
    ----------
    records : array
        (n,) or (n, k) array of an unsigned type; a record is a row, low part first.
    """
    octets = np.ascontiguousarray(records).view(np.uint8).ravel()
    word = config.word_width // 8
    padded = np.zeros(-(-len(octets) // word) * word, dtype=np.uint8)
    padded[:len(octets)] = octets
    return padded.view("<u4").reshape(-1, config.chunks)


def deal(matrix: npt.NDArray[Element] | SparseArray, core: int,
         config: Config) -> npt.NDArray[Element] | SparseArray:
    """The rows of ``matrix`` (in rank order) that ``core`` holds, in local order."""
    return matrix[_ranks(matrix.shape[0], core, config)]


def undeal(parts: Sequence[npt.NDArray[Element]], vertices: int,
           config: Config) -> npt.NDArray[Element]:
    """The inverse of ``deal`` over all cores: ``parts[core]`` holds at least the core's rows."""
    result = np.zeros((vertices, *parts[0].shape[1:]), dtype=parts[0].dtype)
    for core, part in enumerate(parts):
        ranks = _ranks(vertices, core, config)
        result[ranks] = part[:len(ranks)]
    return result


def _ranks(vertices: int, core: int, config: Config) -> npt.NDArray[np.integer[Any]]:
    return rank_of(core, np.arange(rows_of(core, vertices, config.cores)), config.cores)


def pack_panels(matrix: IntArray, stride: int, config: Config) -> Words:
    """A core's matrix (rows, columns) panel by panel, ``stride`` words each."""
    rows, columns = matrix.shape
    panels = -(-columns // config.lanes)
    padded = np.zeros((panels, stride, config.lanes), dtype=np.int64)
    for panel in range(panels):
        part = matrix[:, panel * config.lanes:(panel + 1) * config.lanes]
        padded[panel, :rows, :part.shape[1]] = part
    return pack_rows(padded.reshape(-1, config.lanes), config)


def unpack_panels(words: Words, rows: int, columns: int, stride: int, config: Config) -> IntArray:
    """The inverse of ``pack_panels``."""
    elements = unpack_rows(words, config).reshape(-1, stride, config.lanes)[:, :rows]
    return elements.transpose(1, 0, 2).reshape(rows, len(elements) * config.lanes)[:, :columns]


def pack_masks(mask: BoolArray, stride: int, config: Config) -> Words:
    """A core's mask (rows, columns) panel by panel, in the words of ``stride`` rows each."""
    rows, columns = mask.shape
    panels, words = -(-columns // config.lanes), -(-stride // config.mask_rows)
    padded = np.zeros((panels, words * config.mask_rows, config.lanes), dtype=bool)
    for panel in range(panels):
        part = mask[:, panel * config.lanes:(panel + 1) * config.lanes]
        padded[panel, :rows, :part.shape[1]] = part
    octets = np.zeros((panels * words, config.word_width // 8), dtype=np.uint8)
    packed = np.packbits(padded.reshape(panels * words, -1), axis=1, bitorder="little")
    octets[:, :packed.shape[1]] = packed
    return octets.view("<u4")


def unpack_masks(words: Words, rows: int, columns: int, stride: int, config: Config) -> BoolArray:
    """The inverse of ``pack_masks``."""
    octets = np.ascontiguousarray(words, dtype="<u4").view(np.uint8)
    bits = np.unpackbits(octets.reshape(len(words), -1), axis=1, bitorder="little")
    found = bits[:, :config.mask_rows * config.lanes].reshape(
        -1, -(-stride // config.mask_rows) * config.mask_rows, config.lanes)[:, :rows]
    mask: BoolArray = found.transpose(1, 0, 2).reshape(
        rows, len(found) * config.lanes)[:, :columns].astype(bool)
    return mask


def pack_entry(exponent: int, peak: int | None) -> int:
    """An entry of the exponent file: 8 bits of exponent, 8 of peak (``None``: not valid).

    Peaks below the lowest one become that, as on the chip; no exponent is chosen from them.
    """
    valid = 0 if peak is None else _VALID | (max(peak, _LEAST_PEAK) & 0xFF) << 8
    return valid | exponent & 0xFF


def unpack_entry(word: int) -> tuple[int, int | None]:
    """The inverse of ``pack_entry``."""
    exponent, peak = (((word >> shift & 0xFF) ^ 0x80) - 0x80 for shift in (0, 8))
    return exponent, peak if word & _VALID else None
