# SPDX-License-Identifier: BSD-2-Clause
"""One process's work in a training: alone, or together with others."""

import os
from collections.abc import Callable, Mapping
from typing import Any

from hypercast.host.cluster.assignment import Assignment
from hypercast.host.description.description import Description
from hypercast.host.processes.group import Group
from hypercast.host.schemes.agreement import agree
from hypercast.host.schemes.board_devices import BoardDevices
from hypercast.host.schemes.share import Share
from hypercast.host.training.boards import Boards
from hypercast.host.training.planned_training import PlannedTraining, read_planned
from hypercast.host.training.run_folder import RunFolder
from hypercast.host.training.trainer import Trainer
from hypercast.host.training.trainer_arguments import Sharing

__all__ = ["Session"]


class Session:
    """A training that this process leads, or follows if it is not the first of several.

    Parameters
    ----------
    description : Description
        The description of the training.
    boards : Boards
        How boards train it together.
    group : Group, optional
        The processes that were started together.
    planned : PlannedTraining, optional
        The training by a plan for one board, if it is known.
    facts : dict
        What decides the training, as this process knows it: all must know the same.
    run : pathlib.Path or str, optional
        Where the run is kept; only the first process's counts.
    resume : bool
        Whether it is gone on with.
    progress : callable
        Called with a line of text before each slow part.

    Attributes
    ----------
    description : Description
        The description of the training, which a plan may change.
    planned : PlannedTraining or None
        On the leader, if there is a plan.
    leads : bool
        Whether this process is the leader, or alone.
    shared : bool
        Whether there are others.

    Raises
    ------
    DescriptionError
        If boards cannot train it so, or the plan is for another training or other boards.
    ClusterError
        On the leader, if another process trains something else.
    """

    def __init__(self, description: Description, boards: Boards, *, group: Group | None,
                 facts: Mapping[str, Any], planned: PlannedTraining | None = None,
                 run: str | os.PathLike[str] | None = None, resume: bool = False,
                 progress: Callable[[str], None]) -> None:
        self._group, self._run, self._resume = group, run, resume
        self._cluster = boards.described
        self.shared, self.leads = group is not None, group is None or group.rank == 0
        self.planned = planned
        self.description: Description
        if group:
            agree(group, facts)
        if boards.plan and self.leads and not planned:
            self.planned = read_planned(boards, description, group.size if group else 1,
                                        whole=group is None, progress=progress)
        if boards.plan or planned:
            found = (self.planned.description, self.planned.assignment) if self.planned else None
            found = group.tell(found) if group else found
            assert found
            self.description, assignment = found
        else:
            boards.number(group.size if group else 1)
            self.description, assignment = description, boards.assignment
            if resume and run:  # what is older in the run stays so
                kept = RunFolder(run)
                if self.leads and kept.has_checkpoint:
                    assignment = kept.assignment(assignment)
                assignment = group.tell(assignment) if group else assignment
        self._assignment: Assignment = assignment

    def follow(self) -> None:
        """Train with the leader until it ends."""
        group = self._group
        assert group and group.rank
        if self.description.sampling.sampler:
            Trainer.of_description(self.description, boards=self._sharing).follow()
            return
        Share(group, self._assignment.complete(self.description.sampling), self._cluster,
              BoardDevices(self.description.device)).follow_graph()

    @property
    def _sharing(self) -> Sharing:
        return Sharing(group=self._group, assignment=self._assignment, cluster=self._cluster)

    def trainer(self, **options: Any) -> Trainer:
        """The trainer of the leader; ``options`` are further parameters of it."""
        return Trainer.of_description(self.description, run=self._run, resume=self._resume,
                                      boards=self._sharing, **options)
