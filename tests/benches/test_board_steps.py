# SPDX-License-Identifier: BSD-2-Clause
"""Steps on clocks alone take what trainings say; time that is lost adds up."""

import numpy as np
import pytest

from hypercast.benches.board_steps import (
    graph_step,
    lost_time,
    of_layers,
    samples_step,
    without_values,
)
from hypercast.benches.clock_group import on_clocks
from hypercast.host.cluster.assignment import Assignment
from hypercast.host.cluster.description import Cluster, load_cluster
from hypercast.host.cluster.division import Division
from hypercast.host.description.device import Device
from hypercast.host.description.model import Model
from hypercast.host.description.sampling import Sampling
from hypercast.host.graphs.datasets import blocks
from hypercast.host.graphs.graph import Graph
from hypercast.host.planner.problem import Problem
from hypercast.host.planner.statistics import Statistics
from hypercast.host.schemes.graph_parts import parts_of
from hypercast.host.schemes.share import Share
from hypercast.host.training.trainer import Trainer
from hypercast.host.training.trainer_arguments import Sharing
from tests.host.processes.thread_group import on_ranks

GRAPH = Graph(**blocks(vertices=300, degree=12.0))


def trained(boards, cluster, model, assignment=None, **options):
    """The leader's trainer, its division, and the seconds of a step of its second epoch."""
    device = Device(element_width=cluster.boards[0].config.element_width)

    def run(group):
        sharing = Sharing(group=group, cluster=cluster, assignment=assignment)
        arguments = {"boards": sharing, "device": device, "epochs": 2, **options}
        if group.rank and "sampling" not in options:
            return Share(group, Assignment(scheme="graph"), cluster).follow_graph()
        trainer = Trainer(GRAPH, model, **arguments)
        if group.rank:
            return trainer.follow()
        with trainer:
            trainer.step()
            begun = trainer.virtual_time()
            trainer.step()
            time = trainer.virtual_time()
            seconds = (time.seconds - begun.seconds) / (time.steps - begun.steps)
            return trainer, trainer.division, seconds

    return on_ranks(boards, run)[0]


@pytest.mark.parametrize(("boards", "name", "hidden", "order"), [
    (2, "vcu128-2", (24,), ("combine_first",)), (4, "vcu128-4-slow", (24, 40), ("combine_first",)),
    (3, "u50-4", (16, 16), ("aggregate_first",)), (4, "ulx3s-4", (16,), ("combine_first",))])
def test_a_graph_in_parallel_takes_what_its_training_took(boards, name, hidden, order):
    cluster = load_cluster(name)
    trainer, division, seconds = trained(boards, cluster, Model(
        hidden=hidden, order=order, dropout=(0.0,)))
    sample = trainer.initial.sample
    parts = list(parts_of(sample, division))
    time = graph_step(trainer.network, sample, parts, cluster)
    assert time.seconds == pytest.approx(seconds)
    # Less is known of an unnumbered sample, but nothing that takes time.
    bare = without_values(trainer.network, sample.element_width, sample.edges[0])
    found = graph_step(trainer.network, bare, list(parts_of(bare, division)), cluster)
    assert found == time


@pytest.mark.parametrize("boards", [2, 3])
def test_samples_in_parallel_take_what_their_training_took(boards):
    cluster = load_cluster("vcu128-4")
    trainer, _, seconds = trained(
        boards, cluster, Model(hidden=(24,), order=("combine_first",)), micro_batches=2 * boards,
        sampling=Sampling(sampler="neighbours", batch=3, fan_outs=(4, 2)))
    samples = list(trainer.samples.epoch(1))
    count = 2 * boards
    steps = [samples[first:first + count] for first in range(0, len(samples), count)]
    found = [samples_step(trainer.network, [step[board::boards] for board in range(boards)],
                          cluster).seconds for step in steps]
    assert np.mean(found) == pytest.approx(seconds)


def test_lost_time_adds_up():
    cluster = load_cluster("vcu128-4")
    problem = Problem.of_network(cluster, Model(hidden=(16,)).network(GRAPH),
                                 Statistics.whole(300, GRAPH.edges.nnz, 2))
    network = problem.layers[0].network
    whole = without_values(network, 16, GRAPH.normalise("symmetric"))
    parts = list(parts_of(whole, Division.of(whole.edges[0], 4)))
    time = graph_step(network, whole, parts, cluster)
    found = lost_time(time)
    assert sum(found) == pytest.approx(1)
    assert min(found) > 0
    alone = lost_time(graph_step(network, whole, [whole], cluster))
    assert alone == pytest.approx((1, 0, 0))
    far = Cluster.of_sections({
        "boards": {"far": {"board": "vcu128", "count": 4}},
        "links": {"network": {"gigabits": 100.0, "microseconds": 1e5}}})
    assert lost_time(graph_step(network, whole, parts, far)).rows > found.rows
    assert of_layers(whole, 5).rows == (300,) * 6


def test_a_rank_that_fails_ends_all():
    def run(group):
        if group.rank == 1:
            raise ValueError("no")
        group.maximum(np.zeros(1))

    with pytest.raises(Exception, match=r"^$|no"):
        on_clocks(3, run)
    assert on_clocks(3, lambda group: group.maximum(np.array([group.rank])).tolist()) == [[2]] * 3
