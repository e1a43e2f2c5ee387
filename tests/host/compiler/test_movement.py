# SPDX-License-Identifier: BSD-2-Clause
"""What a program can move at most, beside what the cycle model says that it moves.

On chips, `tests/system/conftest.py` holds every training to half of it.
"""

import pytest

from hypercast.host.compiler.movement import most_moves
from hypercast.host.cycle_model.prediction import predict
from hypercast.host.cycle_model.workload import Workload
from tests.host import noted_programs

#: Counters of what moves.
COUNTED = ("sent", "features_read", "features_written", "gradients_read", "gradients_written",
           "array_words")


@pytest.mark.parametrize("name", [
    name for name, case in noted_programs.CASES.items()
    if "form" not in case and "sparse" not in name])  # the cycle model sees zeros
def test_training_steps(name):
    """Not twice of it is enough, and not much more is given."""
    _, model, config = noted_programs.trained(name)
    [job] = noted_programs.jobs(name)
    work = predict(Workload.of_graph(model.sample.edges[0], model.network, config)).work
    moved = sum(work.get(counter, 0) for counter in COUNTED)
    least = moved + len(job.instructions("train"))
    hops = 2 + config.dimensions * (1 + config.cores)  # of a flit to all cores
    assert least <= most_moves(job, "train") / 2 <= 1.5 * (moved + hops * work["sent"])


def test_other_programs_move_less():
    [job] = noted_programs.jobs("plain")
    load, train, evaluate = (most_moves(job, entry) for entry in ("load", "train", "evaluate"))
    assert 0 < load < evaluate < train


@pytest.mark.parametrize("name", [
    name for name, case in noted_programs.CASES.items() if "form" in case])
def test_every_program_has_a_limit(name):
    """At least its instructions; what may be brought beside it counts where that is done."""
    for job in noted_programs.jobs(name):
        for entry in job.starts:
            limit = most_moves(job, entry)
            assert limit > 2 * len(job.instructions(entry))
            beside = sum(region.words for region in job.regions.values())
            assert (limit > 2 * job.config.cores * beside) or not job.brought_early
