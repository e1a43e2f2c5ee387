# SPDX-License-Identifier: BSD-2-Clause
"""How the vector unit's engines write to memory."""

from amaranth.lib import wiring

from hypercast.rtl.config import Config
from hypercast.rtl.layouts import WritePort

__all__ = ["write_request"]


def write_request(config: Config) -> wiring.Signature:
    """Signature of the stream of writes, as in ``WritePort``."""
    return WritePort(config).members["request"].signature
