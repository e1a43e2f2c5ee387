# SPDX-License-Identifier: BSD-2-Clause
"""A line that changes, loses, repeats, invents and delays bytes."""

import random
from collections import Counter

from hypercast.host.transport.transport import BytePort

__all__ = ["FAULTS", "FaultyLine"]

#: Faults of a byte: a bit flips, it is lost, it comes twice, others come before it, or it and all
#: bytes after it come late.
FAULTS = ("flip", "lose", "repeat", "garbage", "delay")
_LONGEST_GARBAGE = 40


class FaultyLine(BytePort):
    """Another port, with faults in both directions.

    Parameters
    ----------
    port : BytePort
        The port.
    rng : random.Random
        Draws the faults and their times.
    rate : float
        Faults per byte.

    Attributes
    ----------
    injected : collections.Counter
        Kind of fault to how many there were.
    """

    def __init__(self, port: BytePort, rng: random.Random, rate: float) -> None:
        self._port, self._rng, self._rate = port, rng, rate
        self._late = {"sent": b"", "received": b""}
        self.injected: Counter[str] = Counter()

    def send(self, data: bytes) -> None:
        self._port.send(self._pass("sent", data))

    def receive(self) -> bytes:
        """Receive bytes, then send the bytes that were late."""
        data = self._pass("received", self._port.receive())
        if late := self._late["sent"]:
            self._late["sent"] = b""
            self._port.send(late)
        return data

    def _pass(self, direction: str, data: bytes) -> bytes:
        """The bytes that arrive: late ones of before, then these with their faults."""
        result = bytearray(self._late[direction])
        self._late[direction] = b""
        for position, byte in enumerate(data):
            if self._rng.random() >= self._rate:
                result.append(byte)
                continue
            kind = self._rng.choice(FAULTS)
            self.injected[kind] += 1
            match kind:
                case "flip":
                    result.append(byte ^ 1 << self._rng.randrange(8))
                case "repeat":
                    result += bytes([byte, byte])
                case "garbage":
                    result += self._rng.randbytes(self._rng.randint(1, _LONGEST_GARBAGE))
                    result.append(byte)
                case "delay":
                    self._late[direction] = bytes(data[position:])
                    break
        return bytes(result)

    def close(self) -> None:
        self._port.close()
