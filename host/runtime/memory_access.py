# SPDX-License-Identifier: BSD-2-Clause
"""A chip's spaces: by the fastest way that a transport has to them."""

import numpy as np
import numpy.typing as npt

from hypercast.host.compiler.images import Words
from hypercast.host.runtime.image import Block, Stripes
from hypercast.host.transport.transport import Memory, Transport
from hypercast.rtl.config import Config
from hypercast.rtl.registers import Space, bulk_address, register, striped_address

__all__ = ["MemoryAccess"]

#: Spaces that a transport may have another way to than the window.
_MEMORIES = (Space.FEATURES, Space.GRADIENTS, Space.WEIGHTS)
#: Bits of a register.
_WORD = 0xFFFFFFFF
#: Bytes of a value, and values that make a transfer by bursts worth its beginning: the window
#: needs four accesses for one value.
_BYTES, _FEW = 4, 8


class MemoryAccess:
    """Reads and writes a chip's spaces, whatever else it does.

    Memories are reached by the transport's back door if it has one, else by the bulk port if the
    transport reaches it, and if it is more than a few values. All else goes through the window.

    Parameters
    ----------
    transport : Transport
        How to reach the chip.
    config : Config
        The configuration of the chip.
    """

    def __init__(self, transport: Transport, config: Config) -> None:
        self._transport = transport
        self._chunks = config.chunks

    def _select(self, core: int, space: Space, address: int) -> None:
        for name, value in (("core", core), ("space", space), ("address", address)):
            self._transport.write(register(name), value & _WORD)

    def write_window(self, core: int, space: Space, address: int, values: npt.ArrayLike) -> None:
        """Write 32-bit values to consecutive addresses of a space, through the window."""
        self._select(core, space, address)
        self._transport.write_stream(register("data"), np.asarray(values).tolist())

    def read_window(self, core: int, space: Space, address: int, count: int) -> list[int]:
        """Read ``count`` consecutive addresses of a space through the window, in a list."""
        self._select(core, space, address)
        return self._transport.read_stream(register("data"), count)

    def write(self, block: Block) -> None:
        """Write a ``Block``; one of a memory has whole words."""
        if memory := self._back_door(block.core, block.space):
            memory.write(block.address // self._chunks, block.words.reshape(-1, self._chunks))
        elif self._in_bulk(block.space, len(block.words)):
            self._write_bulk(block)
        else:
            self.write_window(*block)

    @property
    def beside(self) -> bool:
        """Whether memories can be written while a program runs: the window refuses that."""
        return self._transport.bulk or self._back_door(0, Space.GRADIENTS) is not None

    def write_stripes(self, stripes: Stripes) -> None:
        """Write ``Stripes``: through the bulk port at once, however short, else core by core.

        Memories may then be in use, if they are reached ``beside`` a program.
        """
        if self._back_door(0, stripes.space) or not self._transport.bulk:
            for block in stripes.blocks():
                self.write(block)
        elif (rows := stripes.rows()).size:
            first = stripes.row * rows[0].nbytes
            self._transport.write_bulk(
                striped_address(stripes.space, first), rows.astype("<u4").tobytes())

    def _write_bulk(self, block: Block) -> None:
        self._transport.write_bulk(
            bulk_address(block.core, block.space, block.address * _BYTES),
            block.words.astype("<u4").tobytes())

    def read(self, core: int, space: Space, address: int, count: int) -> Words:
        """Read (count, chunks) ``uint32``: words of a memory, from word ``address`` on."""
        if memory := self._back_door(core, space):
            return memory.read(address, count)
        first, size = address * self._chunks, count * self._chunks
        if self._in_bulk(space, size):
            data = self._transport.read_bulk(
                bulk_address(core, space, first * _BYTES), size * _BYTES)
            values = np.frombuffer(data, dtype="<u4").astype(np.uint32)
        else:
            values = np.array(self.read_window(core, space, first, size), dtype=np.uint32)
        return values.reshape(count, self._chunks)

    def checks(self, core: int, space: Space) -> bool:
        """Whether reading a memory raises an error itself where a word in it had changed."""
        return self._back_door(core, space) is not None

    def _back_door(self, core: int, space: Space) -> Memory | None:
        return self._transport.memory(core, space) if space in _MEMORIES else None

    def _in_bulk(self, space: Space, values: int) -> bool:
        return self._transport.bulk and space in _MEMORIES and values > _FEW
