# SPDX-License-Identifier: BSD-2-Clause
"""Faults of links, for simulations of the network and of the chip."""

import ctypes
import enum
from dataclasses import dataclass

from hypercast.errors import InputError

__all__ = ["Fault", "FaultKind", "FaultRecord", "fault_record"]


class FaultKind(enum.IntEnum):
    """Faults of a link: it flips a bit of a flit, drops it, has a bit stuck, or holds credits."""

    FLIP = 0
    DROP = 1
    STUCK_AT_0 = 2
    STUCK_AT_1 = 3
    HOLD = 4


@dataclass(frozen=True, kw_only=True)
class Fault:
    """A fault of one link.

    Parameters
    ----------
    cycle : int
        ``FLIP`` and ``DROP`` hit the first flit from this cycle on; a stuck bit is stuck, and
        credits are lost, from then on.
    core, dimension : int
        The link that leaves ``core`` along ``dimension``.
    kind : FaultKind
        The kind of fault.
    bit : int
        Bit of the flit, if it is about one.
    """

    cycle: int
    core: int
    dimension: int
    kind: FaultKind
    bit: int = 0


class FaultRecord(ctypes.Structure):
    """A fault as the harnesses take it."""

    _fields_ = [("cycle", ctypes.c_uint64), *((name, ctypes.c_uint32) for name in (
        "core", "dimension", "kind", "bit"))]


def fault_record(fault: Fault, dimensions: int, bits: int) -> FaultRecord:
    """A ``FaultRecord`` of a fault, checked against the network.

    Parameters
    ----------
    dimensions, bits : int
        Dimensions of the network, and bits of a flit.

    Raises
    ------
    InputError
        If there is no such link or bit.
    """
    if not (0 <= fault.core < 1 << dimensions and 0 <= fault.dimension < dimensions):
        raise InputError(f"there is no link of core {fault.core} along dimension "
                         f"{fault.dimension} in a network of {dimensions} dimensions")
    if not 0 <= fault.bit < bits:
        raise InputError(f"bit must be 0 to {bits - 1}, not {fault.bit}")
    return FaultRecord(fault.cycle, fault.core, fault.dimension, fault.kind, fault.bit)
