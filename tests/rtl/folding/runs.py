# SPDX-License-Identifier: BSD-2-Clause
"""One run of a proof's bench, in place of all: of inputs that a shift register gives."""

from amaranth.hdl import Cat, Signal

from hypercast.proofs.solver import Bench

__all__ = ["driven"]


def driven(bench):
    """The bench with inputs from a shift register with feedback, and no conditions to reach.

    Its first state is one with which a module that is reset in the first round of all instances
    leaves reset for two rounds, and comes back.
    """
    state = Signal(31, init=0x1BADF00D)
    bench.module.d.sync += state.eq(Cat(state[27] ^ state[30], state))
    bench.module.d.comb += Cat(*bench.inputs).eq(state)
    return Bench(bench.module, [], [], bench.parts)
