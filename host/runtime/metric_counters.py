# SPDX-License-Identifier: BSD-2-Clause
"""Loss and hits of a chip's last program, from its counters."""

from collections.abc import Mapping

import numpy as np

from hypercast.host.compiler.job import Job
from hypercast.reference.metrics import LOSS_UNIT, Metrics
from hypercast.reference.sample import Sample
from hypercast.rtl.isa import Split
from hypercast.rtl.registers import COUNTERS

__all__ = ["METRIC_COUNTERS", "counted_metrics"]

#: Names of the counters.
METRIC_COUNTERS = tuple(
    name for name in COUNTERS if name.startswith(("loss_", "correct_", "wrong_")))


def counted_metrics(totals: Mapping[str, int], job: Job, sample: Sample) -> Metrics:
    """The ``Metrics`` of a forward pass.

    Parameters
    ----------
    totals : dict
        Name to the sum over all cores, of ``METRIC_COUNTERS`` and maybe others.
    job : Job
        What ran.
    sample : Sample
        One of the training's; all have the same loss scale.
    """
    loss, correct, wrong = np.zeros((3, 4), dtype=np.int64)
    for split in (Split.TRAIN, Split.VALIDATION, Split.TEST):
        name = split.name.lower()
        loss[split] = totals[f"loss_{name}"] + (totals[f"loss_{name}_high"] << 32)
        correct[split] = totals[f"correct_{name}"]
        wrong[split] = totals[f"wrong_{name}"]
    sizes = job.split_sizes
    vertices = np.array([job.vertices - sum(sizes), *sizes])
    return Metrics(loss=loss, correct=correct, wrong=wrong, vertices=vertices,
                   unit=LOSS_UNIT * sample.loss_scale)
