# SPDX-License-Identifier: BSD-2-Clause
"""By how many steps the weights of each layer are older than the newest, as boards train."""

from hypercast.host.cluster.assignment import Assignment
from hypercast.host.cluster.balanced_runs import runs_of_layers
from hypercast.reference.initial_model import InitialModel
from hypercast.reference.older_weights import stash_staleness

__all__ = ["weight_staleness"]


def weight_staleness(assignment: Assignment, model: InitialModel) -> tuple[int, ...]:
    """The staleness of each layer, as of ``OlderWeightsGnn``; empty if no weights are older.

    It depends on the number of stages, not of boards. The stages have the runs of layers that as
    many boards would have. There are as many layers as stages, or more.
    """
    layers, stages = len(model.network.layers), assignment.stages
    if stages > 1:
        return stash_staleness(runs_of_layers(model.network, model.sample, stages, assignment.runs))
    return (1,) * layers if assignment.versions > 1 else ()
