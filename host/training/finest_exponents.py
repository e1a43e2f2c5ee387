# SPDX-License-Identifier: BSD-2-Clause
"""Exponents of an evaluation that no training step follows."""

from collections.abc import Mapping

from hypercast.reference.exponents import chosen_exponent
from hypercast.reference.network import Network
from hypercast.reference.recipe import Recipe
from hypercast.reference.step_graph import step_graph
from hypercast.reference.tensor import EDGES, Pass, Tensor
from hypercast.rtl.isa import MINIMUM_EXPONENT

__all__ = ["finest_exponents"]


def finest_exponents(network: Network, recipe: Recipe,
                     entries: Mapping[Tensor, tuple[int, int | None]],
                     peaks: Mapping[Tensor, int]) -> dict[Tensor, tuple[int, int | None]]:
    """Entries of the exponent file with which an evaluation leaves no headroom above features.

    An evaluation goes by the peaks of a training step, or else by the exponents that its own
    tensors have. So it is given these, and no peaks. An entry that several tensors have is not
    below the exponent of the accumulators of any: boards that make them may each open it.

    Parameters
    ----------
    network, recipe
        What is evaluated.
    entries : dict
        Entry to exponent and peak, after an evaluation.
    peaks : dict
        Entry of an evaluation to the largest peak that is known.
    """
    found = dict(entries)
    for name, (exponent, _) in entries.items():
        if name.during == Pass.EVALUATION:
            chosen = chosen_exponent(exponent, peaks.get(name), recipe.finest_headroom_of(name),
                                     recipe.element_width)
            found[name] = max(chosen, MINIMUM_EXPONENT), None
            found[name.of_training] = found[name.of_training][0], None
    entry_of, graph = network.exponent_entry, step_graph(network)
    nodes = [node for layer in range(1, len(network.layers) + 1)
             for node in graph.forward_of(layer, Pass.EVALUATION)]
    raised = True
    while raised:
        raised = False
        for node in nodes:
            factors = node.terms[0].rows, node.terms[0].weights or EDGES
            base = sum(found[entry_of(factor)][0] for factor in factors)
            entry = entry_of(node.result)
            if base > found[entry][0]:
                found[entry], raised = (base, None), True
    return found
