# SPDX-License-Identifier: BSD-2-Clause
"""The processes that carry a training out: this one, others with it, or its own children."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hypercast.host.cluster.division import Division
from hypercast.host.description.description import Description
from hypercast.host.description.device import Device
from hypercast.host.description.model import Model
from hypercast.host.description.recipe import make_recipe, recipe_values
from hypercast.host.description.sampling import Sampling
from hypercast.host.description.source import Source
from hypercast.host.description.stopping import Stopping
from hypercast.host.graphs.graph import Graph
from hypercast.host.runtime.training_device import TrainingDevice
from hypercast.host.training.boards import Boards
from hypercast.host.training.distributed_training import DistributedTraining
from hypercast.host.training.launched import Launched, LaunchedDevice
from hypercast.host.training.planned_training import plan_training
from hypercast.host.training.run_folder import RunFolder
from hypercast.host.training.trainer_arguments import Sharing
from hypercast.host.training.training import Training
from hypercast.host.transport.transport import Transport
from hypercast.sim.waves import Waves

__all__ = ["Deployment", "Wanted"]


@dataclass(kw_only=True)
class Wanted:
    """The training that ``Trainer`` is asked for; a plan may change it."""

    graph: Graph | Source
    model: Model
    device: Device
    sampling: Sampling
    stopping: Stopping
    recipe: dict[str, Any]

    @property
    def source(self) -> Source | None:
        """Where the graph comes from, if that is known."""
        return self.graph if isinstance(self.graph, Source) else None

    def follow_plan(self, boards: Boards, progress: Callable[[str], None]) -> tuple[int, Sharing]:
        """How many boards train by a plan, and how they share the training, which it changes."""
        source = self.source
        planned = plan_training(boards, Description(
            graph=source, model=self.model, sampling=self.sampling, device=self.device,
            recipe=make_recipe(self.recipe, self.model, self.device.config),
            stopping=self.stopping), self.graph if isinstance(self.graph, Graph) else None,
            progress=progress)
        self.graph = planned.description.graph or self.graph
        self.model, self.sampling = planned.description.model, planned.description.sampling
        self.recipe = recipe_values(planned.description.recipe)
        return planned.boards, Sharing(
            assignment=planned.assignment, cluster=boards.described if planned.boards > 1 else None)


class Deployment:
    """A training that is prepared, and the processes that carry it out.

    Parameters
    ----------
    wanted : Wanted
        The training that is asked for; a plan changes it.
    boards : Boards or Sharing
        Boards whose processes are started from here, or how this process is one of several.
    check : bool
        Whether the device compares every tensor with the reference.
    transport : Transport, optional
        To a chip, which is then not opened by its name.
    goes_on : RunFolder, optional
        The run that is gone on with.
    progress : callable
        Called with a line of text before each slow step.

    Attributes
    ----------
    training : Training or DistributedTraining
        The prepared training.
    """

    def __init__(self, wanted: Wanted, boards: Boards | Sharing, *, check: bool,
                 transport: Transport | None, goes_on: RunFolder | None,
                 progress: Callable[[str], None]) -> None:
        self._transport, self._launched = transport, False
        self._device: LaunchedDevice | None = None
        self._count, self._seconds = 1, 0.0  # how many processes, and how long they wait
        if isinstance(boards, Sharing):
            sharing, self._count = boards, boards.group.size if boards.group else 1
        else:
            self._seconds = boards.seconds
            if boards.planned:
                self._count, sharing = wanted.follow_plan(boards, progress)
            else:
                self._count, sharing = boards.number(), Sharing(
                    assignment=boards.assignment, cluster=boards.described)
            self._launched = self._count > 1
        self._wanted, self._group, self._cluster = wanted, sharing.group, sharing.cluster
        assignment, source = sharing.assignment, wanted.source
        if goes_on and not self._group:
            assignment = goes_on.assignment(assignment)
        leads = not (self._group and self._group.rank)
        self.training: Training | DistributedTraining
        if source and not source.graph and self._count > 1 and leads \
                and not wanted.sampling.sampler:
            self.training = DistributedTraining(
                source, wanted.stopping, wanted.model, wanted.device, wanted.recipe, check=check,
                boards=self._count, assignment=assignment, cluster=self._cluster,
                progress=progress)
            return
        graph = wanted.graph.load() if isinstance(wanted.graph, Source) else wanted.graph
        wanted.stopping.check(graph)
        self.training = Training(
            graph, wanted.model, wanted.device, wanted.sampling, wanted.recipe, check=check,
            boards=self._count if self._group or self._launched else None,
            assignment=assignment, cluster=self._cluster, progress=progress,
            chip=transport is not None)

    def open(self, *, waves: Waves | None, progress: Callable[[str], None],
             hint: Callable[[], str]) -> TrainingDevice:
        """The device, in the initial state.

        Parameters
        ----------
        waves : Waves, optional
            Waveforms to be written.
        progress : callable
            Called with a line of text before each slow step.
        hint : callable
            Gives what to do where a signal has ended processes that were started from here.
        """
        if not self._launched:
            if isinstance(self.training, DistributedTraining):
                assert self._group
                return self.training.open(self._group)
            return self.training.open(group=self._group, waves=waves, transport=self._transport,
                                      progress=progress)
        wanted, sampled = self._wanted, self.training.samples is not None
        self._device = LaunchedDevice(
            Launched(wanted.device, self.training.assignment, self._cluster,
                     (wanted.graph, wanted.model, wanted.sampling, wanted.recipe)
                     if sampled else None),
            self._count, self._seconds, None if sampled else self.training.shares(), progress, hint)
        return self._device

    def follow(self) -> None:
        """On all ranks of a group but the leader's: train with it until its device is closed."""
        assert self._group and isinstance(self.training, Training)
        self.training.follow(self._group)

    @property
    def division(self) -> Division | None:
        """Which board has which vertex, of an open device, if boards share the graph."""
        return self._device.division if self._device else self.training.division

    def close(self) -> None:
        """End the process that prepares the training, if there is one."""
        if isinstance(self.training, DistributedTraining):
            self.training.close()
