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


class Response(enum.Enum, shape=2):
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

    Members
    -------
    arvalid, arready, arid, araddr, arlen, arsize, arburst
        Read address. ``arid`` is 0, ``arsize`` a full beat and ``arburst`` INCR, always.
    rvalid, rready, rid, rdata, rresp, rlast
        Read data and response.
    """

    def __init__(self, address_width: int, data_width: int) -> None:
        super().__init__({
            "arvalid": Out(1), "arready": In(1), "arid": Out(1), "araddr": Out(address_width),
            "arlen": Out(8), "arsize": Out(3, init=_size(data_width)),
            "arburst": Out(2, init=_INCR),
            "rvalid": In(1), "rready": Out(1), "rid": In(1), "rdata": In(data_width),
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

    Members
    -------
    awvalid, awready, awid, awaddr, awlen, awsize, awburst
        Write address. ``awid`` is 0, ``awsize`` a full beat and ``awburst`` INCR, always.
    wvalid, wready, wdata, wstrb, wlast
        Write data; all strobes are high, always.
    bvalid, bready, bid, bresp
        Write response.
    """

    def __init__(self, address_width: int, data_width: int) -> None:
        strobes = data_width // 8
        super().__init__({
            "awvalid": Out(1), "awready": In(1), "awid": Out(1), "awaddr": Out(address_width),
            "awlen": Out(8), "awsize": Out(3, init=_size(data_width)),
            "awburst": Out(2, init=_INCR),
            "wvalid": Out(1), "wready": In(1), "wdata": Out(data_width),
            "wstrb": Out(strobes, init=(1 << strobes) - 1), "wlast": Out(1),
            "bvalid": In(1), "bready": Out(1), "bid": In(1), "bresp": In(Response),
        })


class Axi4(wiring.Signature):
    """AXI4, seen from the manager: the independent halves ``Axi4Read`` and ``Axi4Write``.

    Members
    -------
    read, write : Out(Axi4Read), Out(Axi4Write)
        Read channels and write channels.
    """

    def __init__(self, address_width: int, data_width: int) -> None:
        super().__init__({
            "read": Out(Axi4Read(address_width, data_width)),
            "write": Out(Axi4Write(address_width, data_width)),
        })


def _size(data_width):
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
