# SPDX-License-Identifier: BSD-2-Clause
"""AXI4 with the signals a memory controller's port needs."""

from amaranth.hdl import Cat, Const, Value, ValueLike
from amaranth.lib import enum, wiring
from amaranth.lib.wiring import In, Out

from hypercast.rtl.config import Config

__all__ = ["BOUNDARY", "Axi4", "Axi4Read", "Axi4Write", "Response", "byte_address",
           "offset_width"]

#: Bytes between the addresses that no burst may cross.
BOUNDARY = 4096
#: ``arburst`` and ``awburst`` of a burst of rising addresses.
_INCR = 1


class Response(enum.Enum, shape=2):  # type: ignore[call-arg]  # Amaranth's own keyword
    """``rresp`` and ``bresp``."""

    OKAY = 0
    EXOKAY = 1
    SLVERR = 2
    DECERR = 3


class Axi4Read(wiring.Signature):
    """Read channels of AXI4 (Arm IHI 0022), seen from the manager.

    Parameters
    ----------
    address_width : int
        Bits of a byte address.
    data_width : int
        Bits of a beat: 8 times a power of two.
    id_width : int
        Bits of an ID.

    Members
    -------
    arvalid, arready, arid, araddr, arlen, arsize, arburst
        Read address. Memory channels always have ``arid`` 0, ``arsize`` a full beat, and
        ``arburst`` INCR.
    rvalid, rready, rid, rdata, rresp, rlast
        Read data and response.
    """

    def __init__(self, address_width: int, data_width: int, id_width: int = 1) -> None:
        super().__init__({
            "arvalid": Out(1), "arready": In(1), "arid": Out(id_width),
            "araddr": Out(address_width), "arlen": Out(8), "arsize": Out(3, init=_size(data_width)),
            "arburst": Out(2, init=_INCR),
            "rvalid": In(1), "rready": Out(1), "rid": In(id_width), "rdata": In(data_width),
            "rresp": In(Response), "rlast": In(1),
        })


class Axi4Write(wiring.Signature):
    """Write channels of AXI4 (Arm IHI 0022), seen from the manager.

    Parameters
    ----------
    address_width : int
        Bits of a byte address.
    data_width : int
        Bits of a beat: 8 times a power of two.
    id_width : int
        Bits of an ID.

    Members
    -------
    awvalid, awready, awid, awaddr, awlen, awsize, awburst
        Write address. Memory channels always have ``awid`` 0, ``awsize`` a full beat, and
        ``awburst`` INCR.
    wvalid, wready, wdata, wstrb, wlast
        Write data. Memory channels have all strobes high, always.
    bvalid, bready, bid, bresp
        Write response.
    """

    def __init__(self, address_width: int, data_width: int, id_width: int = 1) -> None:
        strobes = data_width // 8
        super().__init__({
            "awvalid": Out(1), "awready": In(1), "awid": Out(id_width),
            "awaddr": Out(address_width), "awlen": Out(8), "awsize": Out(3, init=_size(data_width)),
            "awburst": Out(2, init=_INCR),
            "wvalid": Out(1), "wready": In(1), "wdata": Out(data_width),
            "wstrb": Out(strobes, init=(1 << strobes) - 1), "wlast": Out(1),
            "bvalid": In(1), "bready": Out(1), "bid": In(id_width), "bresp": In(Response),
        })


class Axi4(wiring.Signature):
    """AXI4, seen from the manager: the independent halves ``Axi4Read`` and ``Axi4Write``.

    It takes the parameters of the halves.

    Members
    -------
    read, write : Out(Axi4Read), Out(Axi4Write)
        Read channels and write channels.
    """

    def __init__(self, address_width: int, data_width: int, id_width: int = 1) -> None:
        super().__init__({
            "read": Out(Axi4Read(address_width, data_width, id_width)),
            "write": Out(Axi4Write(address_width, data_width, id_width)),
        })


def _size(data_width: int) -> int:
    """``arsize`` and ``awsize`` of a full beat: the logarithm of its bytes."""
    return (data_width // 8).bit_length() - 1


def offset_width(config: Config) -> int:
    """Bits of the offset of a byte in a channel."""
    return config.address_width + _size(config.word_width)


def byte_address(config: Config, base: ValueLike, address: ValueLike) -> Value:
    """Byte address of a channel's word ``address``.

    ``base`` is a byte address, a multiple of the channel's size, so nothing needs to be added.
    """
    below = Const(0, _size(config.word_width))
    return Cat(below, address, base[len(below) + config.address_width:])
