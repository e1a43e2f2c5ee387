# SPDX-License-Identifier: BSD-2-Clause
"""All kinds of trials, and how often each is made."""

from itertools import accumulate

from hypercast.benches.fuzzing.any_values import try_any_value, try_tensors
from hypercast.benches.fuzzing.cluster_files import try_cluster, try_plan
from hypercast.benches.fuzzing.command_options import try_options
from hypercast.benches.fuzzing.descriptions import try_description
from hypercast.benches.fuzzing.edge_meanings import try_edge_meanings
from hypercast.benches.fuzzing.graph_arrays import try_arrays
from hypercast.benches.fuzzing.graph_files import try_graph_file
from hypercast.benches.fuzzing.kept_runs import try_checkpoint, try_run_folder
from hypercast.benches.fuzzing.link_frames import try_link_frames
from hypercast.benches.fuzzing.other_tasks import try_other_task
from hypercast.benches.fuzzing.sharing import try_edited_plan, try_sharing
from hypercast.benches.fuzzing.weights_files import try_weights_file

__all__ = ["KINDS", "kind_of"]

#: Kind to its trial, and how many of so many trials as all shares make are of it.
KINDS = {
    "graph files": (try_graph_file, 30),
    "arrays": (try_arrays, 15),
    "weights": (try_weights_file, 15),
    "descriptions": (try_description, 15),
    "checkpoints": (try_checkpoint, 10),
    "run folders": (try_run_folder, 10),
    "options": (try_options, 10),
    "link frames": (try_link_frames, 10),
    "clusters": (try_cluster, 5),
    "plans": (try_plan, 5),
    "edited plans": (try_edited_plan, 5),
    "options of boards": (try_sharing, 5),
    "parallel edges": (try_edge_meanings, 10),
    "any values": (try_any_value, 10),
    "tensors": (try_tensors, 5),
    "graphs of other tasks": (try_other_task, 5),
}
_ENDS = list(accumulate(share for _, share in KINDS.values()))


def kind_of(number: int) -> str:
    """The kind of a trial, by its number."""
    place = number * 37 % _ENDS[-1]  # spread, so that a few trials in a row are of many kinds
    return next(kind for kind, end in zip(KINDS, _ENDS, strict=True) if place < end)
