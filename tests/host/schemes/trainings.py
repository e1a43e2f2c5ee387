# SPDX-License-Identifier: BSD-2-Clause
"""Trainings on several ranks of one process, compared with one board's."""

from hypercast.host.cluster.assignment import Assignment
from hypercast.host.description.device import Device
from hypercast.host.description.sampling import Sampling
from hypercast.host.schemes.board_devices import BoardDevices
from hypercast.host.schemes.share import Share
from hypercast.host.training.trainer import Trainer
from hypercast.host.training.trainer_arguments import Sharing
from tests.host.processes.thread_group import on_ranks


def everything(trainer):
    """All that a training ends in: its records, its state in exact integers, and predictions."""
    predictions = trainer.predict()
    state = trainer.target.state()
    return trainer.history, trainer.evaluate(), state.step, state.exponents, \
        state.momentum_exponents, {
            f"{name}.{kind}": values.tolist()
            for name, arrays in state.parameters.items() for kind, values in arrays.items()}, {
            name: (rows.exponent, rows.values.tolist()) for name, rows in state.older.items()}, {
            name: [(one.exponent, one.values.tolist()) for one in versions]
            for name, versions in state.versions.items()}, predictions.logits.tolist()


def train_on(boards, graph, *arguments, **options):
    """What a training ends in that so many boards share; ``options`` are of ``Trainer``."""
    if boards == 1:
        assignment = options.pop("assignment", Assignment())
        options.pop("cluster", None)
        with Trainer(graph, *arguments, boards=Sharing(
                assignment=assignment if assignment.stale else None), **options) as trainer:
            trainer.fit()
            return everything(trainer)

    sharing = {name: options[name] for name in ("assignment", "cluster") if name in options}
    rest = {name: value for name, value in options.items() if name not in sharing}

    def run(group):
        if group.rank:
            if "sampling" not in options:
                assignment = options.get("assignment", Assignment()).complete(Sampling())
                device = next((one for one in arguments if isinstance(one, Device)), None)
                return Share(group, assignment, options.get("cluster"),
                             BoardDevices(device)).follow_graph()
            kept = {"run", "resume"}
            return Trainer(graph, *arguments, boards=Sharing(group=group, **sharing), **{
                name: value for name, value in rest.items() if name not in kept}).follow()
        with Trainer(graph, *arguments, boards=Sharing(group=group, **sharing), **rest) as trainer:
            trainer.fit()
            time = trainer.virtual_time()
            assert bool(time) == ("cluster" in options)
            assert not time or (time.seconds > 0 and min(time.computed) > 0
                                and time.alone < time.seconds * boards)
            return everything(trainer)

    return on_ranks(boards, run)[0]
