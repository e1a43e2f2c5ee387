"""All proofs."""

from hypercast.proofs.folding import fold, pace
from hypercast.proofs.lib import (
    priority_arbiter,
    round_robin_arbiter,
    stream_merge,
    unpacker,
)
from hypercast.proofs.link import frame_buffer, session
from hypercast.proofs.network import ejection_port, input_buffer, link_output, router

__all__ = ["BLOCKS", "PROOFS"]

_MODULES = (round_robin_arbiter, priority_arbiter, stream_merge, unpacker, ejection_port,
            input_buffer, link_output, router, session, frame_buffer, fold, pace)
#: Every ``Proof``, in the order in which blocks build on each other.
PROOFS = tuple(proof for module in _MODULES for proof in module.PROOFS)
#: Names of the blocks, in that order.
BLOCKS = tuple(dict.fromkeys(proof.block for proof in PROOFS))
