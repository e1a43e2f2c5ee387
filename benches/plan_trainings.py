# SPDX-License-Identifier: BSD-2-Clause
"""Plans of several boards, and the times of the boards' virtual clocks when they are trained."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hypercast.benches.board_processes import on_boards
from hypercast.host.cluster.description import Cluster, load_cluster
from hypercast.host.description.description import Description
from hypercast.host.description.device import Device
from hypercast.host.description.model import Model
from hypercast.host.description.recipe import make_recipe
from hypercast.host.description.sampling import Sampling
from hypercast.host.graphs.datasets import blocks, communities
from hypercast.host.graphs.graph import Graph
from hypercast.host.planner.pipelines import BoardStage, evaluate
from hypercast.host.planner.plan import Plan
from hypercast.host.planner.problem import Problem
from hypercast.host.planner.ranges import Ranges
from hypercast.host.planner.strategies.bapipe import DISCIPLINE
from hypercast.host.planner.strategies.equal_layers import GPIPE, equal_stages
from hypercast.host.planner.strategies.gnnpipe import DISCIPLINE as GNNPIPE
from hypercast.host.planner.strategies.graph_parts import evaluated_parts
from hypercast.host.planner.strategies.graphpipe import DISCIPLINE as GRAPHPIPE
from hypercast.host.planner.strategies.pipedream import DISCIPLINE as STASHING
from hypercast.host.planner.strategies.pipedream import TWO_VERSIONS
from hypercast.host.planner.strategies.samples import evaluated_samples
from hypercast.host.planner.strategies.vertex_cut import evaluated_cut
from hypercast.host.processes.child_process import Parent
from hypercast.host.processes.group import Group
from hypercast.host.schemes.share import Share
from hypercast.host.training.planning import assignment_of, planned_description, problem_of
from hypercast.host.training.trainer import Trainer
from hypercast.host.training.trainer_arguments import Sharing

__all__ = ["BOARDS", "TRAININGS", "PlannedTrial", "measure", "seconds_of"]

#: Boards of each training.
BOARDS = 4
#: Boards of the cluster ``mixed``: two of each kind.
_MIXED = ("vcu128-0", "vcu128-1", "u50-0", "u50-1")
_SLOW = "vcu128-4-slow"


@dataclass(frozen=True, kw_only=True)
class PlannedTrial:
    """A training, boards, and a way to share it.

    Parameters
    ----------
    name : str
        For people.
    cluster : str
        Name of the boards' cluster.
    graph : callable
        Makes the graph.
    model : Model
        What is trained.
    plan : callable
        The ``Plan`` of a ``Problem``.
    sampling : Sampling
        The samples that steps work on.
    recipe : dict
        How it is trained.
    names : tuple of str
        Names of the boards in the cluster; of all of them if there are none.
    """

    name: str
    cluster: str
    graph: Callable[[], Graph]
    model: Model
    plan: Callable[[Problem], Plan | str]
    sampling: Sampling = field(default_factory=Sampling)
    recipe: dict[str, Any] = field(default_factory=dict)
    names: tuple[str, ...] = ()

    def boards(self) -> Cluster:
        """The boards, as a cluster."""
        return load_cluster(self.cluster).only(self.names)

    def description(self, cluster: Cluster) -> Description:
        """What is trained."""
        config = cluster.boards[0].config
        device = Device(element_width=config.element_width)
        return Description(model=self.model, sampling=self.sampling, device=device,
                           recipe=make_recipe({"epochs": 2, **self.recipe}, self.model,
                                              device.config))


def _samples(problem: Problem) -> Plan | str:
    return evaluated_samples(problem, problem.boards)


def _parts(problem: Problem) -> Plan | str:
    return evaluated_parts(problem, problem.boards, hidden=False)


def _stale(problem: Problem) -> Plan | str:
    return evaluated_parts(problem, problem.boards, hidden=True)


def _plan_cut(problem: Problem) -> Plan | str:
    return evaluated_cut(problem, problem.boards)


def _pipeline(schedule: str) -> Callable[[Problem], Plan | str]:
    def plan(problem: Problem) -> Plan | str:
        stages = Ranges(problem).balance(problem.boards)
        assert stages
        return evaluate(problem, DISCIPLINE, stages, schedule)
    return plan


def _two_versions(problem: Problem) -> Plan | str:
    return evaluate(problem, TWO_VERSIONS, equal_stages(problem, problem.boards), "SNO")


def _plan_stashing(problem: Problem) -> Plan | str:
    return evaluate(problem, STASHING, equal_stages(problem, problem.boards), "SNO")


def _chunks(problem: Problem) -> Plan | str:
    stages = Ranges(problem).balance(problem.boards, single=True)
    assert stages
    return evaluate(problem, GNNPIPE, stages, "GPipe", chunks=8)


def _graph_of_stages(problem: Problem) -> Plan | str:
    """The first layer, two branches and one of two convolutions beside each other, and the last."""
    stages = ((0,), (1, 2), (3, 4), (5,))
    return evaluate(problem, GRAPHPIPE, [
       BoardStage(layers, (board,))
       for layers, board in zip(stages, problem.boards, strict=True)], "paths")


def _equal(problem: Problem) -> Plan | str:
    return evaluate(problem, GPIPE, equal_stages(problem, problem.boards), "GPipe")


def _whole(vertices: int, degree: float = 16.0) -> Callable[[], Graph]:
    """A graph two thirds of whose vertices are to train on."""
    def made() -> Graph:
        graph = Graph(**blocks(vertices=vertices, degree=degree))
        number = np.arange(vertices)
        return graph.with_splits(train=number % 3 > 0, validation=number % 3 == 0)
    return made


def _several_labels() -> Graph:
    return Graph(**communities(vertices=1200))


_WALKS = {"sampling": Sampling(sampler="walks", batch=80, coverage=6.0),
          "recipe": {"micro_batches": 8}}
_DEEP_WALKS = {"sampling": Sampling(sampler="walks", batch=30, coverage=6.0),
               "recipe": {"micro_batches": 8}}
_NEIGHBOURS = {"sampling": Sampling(sampler="neighbours", batch=100, fan_outs=(4, 2)),
               "recipe": {"micro_batches": 8}}
_DEEP = Model(hidden=(64,) * 7, order=("combine_first",))
_BRANCHES = Model("mixhop", layers=4, hidden=(64,), dropout=(0.5,), order=("combine_first",))
_TWO = Model(hidden=(128,))
_SAGE = Model("sage", hidden=(64, 64))


def _of(name: str, cluster: str, graph: Callable[[], Graph], model: Model,
        plan: Callable[[Problem], Plan | str], **more: Any) -> PlannedTrial:
    return PlannedTrial(name=f"{name}, {cluster}", cluster=cluster, graph=graph, model=model,
                        plan=plan, names=_MIXED if cluster == "mixed" else (), **more)


#: Trainings that are planned and carried out.
TRAININGS = (
    *(_of("samples in parallel, walks", cluster, _whole(2400), _TWO, _samples, **_WALKS)
      for cluster in ("vcu128-4", _SLOW, "mixed")),
    _of("samples in parallel, neighbours", "u280-4", _whole(1200), _SAGE, _samples,
        **_NEIGHBOURS),
    *(_of("graph in parallel", cluster, _whole(2400), _TWO, _parts)
      for cluster in ("vcu128-4", _SLOW, "mixed")),
    *(_of("graph in parallel, stale halos", cluster, _whole(2400), _TWO, _stale,
          recipe={"epochs": 24})  # rows of the last step cross while no one waits
      for cluster in ("vcu128-4", _SLOW, "mixed")),
    *(_of("vertex cut", cluster, _whole(2400), _TWO, _plan_cut) for cluster in ("vcu128-4", _SLOW)),
    _of("graph in parallel, GraphSAGE", "u50-4", _several_labels, _SAGE, _parts),
    _of("graph in parallel", "ulx3s-4", _whole(256, 8.0), Model(hidden=(8,), dropout=(0.0,)),
        _parts),
    *(_of(f"layers, {schedule}", cluster, _whole(900), _DEEP, _pipeline(schedule), **_DEEP_WALKS)
      for cluster, schedule in (("vcu128-4", "SNO"), ("vcu128-4", "SO"), (_SLOW, "SNO"),
                                (_SLOW, "SO"), ("mixed", "SO"))),
    *(_of(f"layers, {name}", cluster, _whole(1800), _DEEP, plan,
          sampling=Sampling(sampler="walks", batch=2, coverage=6.0),
          recipe={"micro_batches": 8, "epochs": 3})
      for name, plan in (("two versions", _two_versions), ("stashed weights", _plan_stashing))
      for cluster in ("vcu128-4", _SLOW)),
    *(_of("layers, chunks of the graph", cluster, _whole(4800), _DEEP, _chunks,
          recipe={"epochs": 3})
      for cluster in ("vcu128-4", _SLOW)),
    _of("layers, GPipe", "vcu128-4", _whole(900), _DEEP, _equal, **_DEEP_WALKS),
    *(_of("graph of stages, GraphPipe", cluster, _whole(900), _BRANCHES, _graph_of_stages,
          **_DEEP_WALKS)
      for cluster in ("vcu128-4", _SLOW)),
)


def measure() -> list[tuple[str, float, float]]:
    """For each training: its name, and the seconds of a step as planned and as trained."""
    found: list[tuple[str, float, float]] = on_boards(BOARDS, _train)
    return found


def _train(group: Group, parent: Parent | None) -> None:
    """The work of each process."""
    found = [(training.name, *seconds) for training in TRAININGS
             for seconds in seconds_of(training, group)]
    if parent:
        parent.answer(found)


def seconds_of(training: PlannedTrial, group: Group) -> Iterator[tuple[float, float]]:
    """On the leader, the seconds of a step as planned and as trained; nothing on other ranks."""
    cluster, graph = training.boards(), training.graph()
    description = training.description(cluster)
    if group.rank == 0:
        problem = problem_of(description, cluster, graph)
        plan = training.plan(problem)
        assert isinstance(plan, Plan), plan
        planned = plan.seconds
        description, assignment = (planned_description(description, problem, plan),
                                   assignment_of(plan))
        group.tell((description, assignment))
    else:
        description, assignment = group.tell()
    options: dict[str, Any] = {"boards": Sharing(
        group=group, assignment=assignment, cluster=cluster)}
    if group.rank and not description.sampling.sampler:
        Share(group, assignment, cluster).follow_graph()
        return
    trainer = Trainer.of_description(description, graph=graph, **options)
    if group.rank:
        trainer.follow()
        return
    with trainer:
        trainer.step()  # in which nothing is stale yet
        begun = trainer.virtual_time()
        trainer.fit()
        time = trainer.virtual_time()
    assert begun and time
    yield planned, (time.seconds - begun.seconds) / (time.steps - begun.steps)
