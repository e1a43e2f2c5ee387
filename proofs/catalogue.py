# SPDX-License-Identifier: BSD-2-Clause
"""All proofs."""

from hypercast.proofs.aggregation import row_requests
from hypercast.proofs.control import axi_lite, controller, instruction_fetch, watchdog, window
from hypercast.proofs.folding import fold, pace
from hypercast.proofs.lib import (
    burst_reader,
    fifo,
    priority_arbiter,
    rank_reader,
    round_robin_arbiter,
    skid_buffer,
    stream_merge,
    unpacker,
)
from hypercast.proofs.memory import axi_reader, axi_writer, read_crossbar, write_crossbar
from hypercast.proofs.network import ejection_port, input_buffer, link_output, router
from hypercast.proofs.serial import frame_buffer, session
from hypercast.proofs.vector import credit_fifo

__all__ = ["BLOCKS", "PROOFS"]

_MODULES = (
    fifo, skid_buffer, round_robin_arbiter, priority_arbiter, stream_merge, unpacker,
    burst_reader, rank_reader, row_requests,
    ejection_port, input_buffer, link_output, router,
    axi_reader, axi_writer, read_crossbar, write_crossbar,
    credit_fifo,
    watchdog, instruction_fetch, controller, axi_lite, window,
    session, frame_buffer,
    fold, pace,
)
#: Every ``Proof``, in the order in which blocks build on each other.
PROOFS = tuple(proof for module in _MODULES for proof in module.PROOFS)
#: Names of the blocks, in that order.
BLOCKS = tuple(dict.fromkeys(proof.block for proof in PROOFS))
