# SPDX-License-Identifier: BSD-2-Clause
"""Parameters as the arrays take them: the rounded upper part of the master weights."""

from hypercast.reference.arithmetic import requantize
from hypercast.reference.array_types import IntArray
from hypercast.reference.network import Network
from hypercast.reference.tensor import Tensor
from hypercast.reference.training_state import TrainingState
from hypercast.rtl.isa import LONGEST_SHIFT, MASTER_EXPONENT

__all__ = ["weight_operands"]


def weight_operands(network: Network, element_width: int,
                    state: TrainingState) -> dict[Tensor, IntArray]:
    """Mantissas of every parameter in a state.

    Parameters
    ----------
    network : Network
        Says which parameters have an exponent in common.
    element_width : int
        Bits of a mantissa.
    state : TrainingState
        Has master weights and exponents.
    """
    found = {}
    for name, arrays in state.parameters.items():
        exponent, _ = state.exponents[network.exponent_entry(name)]
        shift = min(exponent - MASTER_EXPONENT, LONGEST_SHIFT)
        found[name], _ = requantize(arrays["master"], shift, element_width)
    return found
