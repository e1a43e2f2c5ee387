# SPDX-License-Identifier: BSD-2-Clause
"""What is trained, prepared: what names it, and which device it opens."""

import pytest

from hypercast import Device, Graph, Model
from hypercast.host.cluster.assignment import Assignment
from hypercast.host.description.conversion import DescriptionError
from hypercast.host.description.sampling import Sampling
from hypercast.host.runtime.chip_judge import ChipJudge
from hypercast.host.runtime.reference_device import ReferenceDevice
from hypercast.host.runtime.single_device import SingleDevice
from hypercast.host.schemes.worker import Worker
from hypercast.host.training.training import Training
from hypercast.reference.judge import Judge
from hypercast.rtl.config import PRESETS
from tests.host.runtime.fake_chip import FakeChip

KARATE = Graph.load("karate")
SAMPLED = Sampling(sampler="neighbours", batch=2, fan_outs=[3])


def training(graph=KARATE, *, sampling=None, check=False, assignment=None, device=None, **recipe):
    return Training(graph, Model(hidden=4), device or Device(), sampling or Sampling(),
                    {"epochs": 3, **recipe}, check=check, boards=None,
                    assignment=assignment, cluster=None, progress=lambda text: None)


def opened(found):
    return found.open(group=None, waves=None, transport=None, progress=lambda text: None)


@pytest.mark.parametrize("change", [
    {"seed": 1}, {"learning_rate": 0.3}, {"sampling": SAMPLED},
    {"assignment": Assignment(smoothing=0.5)},
    {"assignment": Assignment(scheme="layers", versions=2)},
    {"assignment": Assignment(scheme="layers", stages=2)},
    {"assignment": Assignment(scheme="layers", chunks=2)},
], ids=str)
def test_its_identity_is_another_one_if_its_bits_may_be(change):
    assert training().identity == training().identity
    assert training(**change).identity != training().identity


@pytest.mark.parametrize(("options", "kind"), [
    ({}, ReferenceDevice), ({"check": True}, SingleDevice), ({"sampling": SAMPLED}, SingleDevice),
    ({"sampling": SAMPLED, "micro_batches": 2}, Worker),
    ({"assignment": Assignment(smoothing=0.5)}, ReferenceDevice),
    ({"sampling": SAMPLED, "assignment": Assignment(scheme="layers", versions=2)}, SingleDevice),
], ids=str)
def test_the_device_it_opens_trains_from_its_initial_state(options, kind):
    found = training(**options)
    device = opened(found)
    assert isinstance(device, kind)
    assert device.state().step == 0
    device.train_step()
    assert device.state().step >= 1
    assert (found.samples is None) == ("sampling" not in options) and found.division is None


def test_what_makes_no_sense_is_refused_before_anything_is_prepared():
    with pytest.raises(DescriptionError, match="give a sampler"):
        training(micro_batches=2)


@pytest.mark.parametrize(("place", "graph", "kind", "told"), [
    ("host", KARATE, Judge, ""),
    ("device", KARATE, ChipJudge, "compiling the evaluation of the whole graph"),
    ("device", Graph.load("blocks"), Judge, "compiling the evaluation of the whole graph\n"
     "the host evaluates, as a layer of the whole graph does not fit the device: channel_words "),
])
def test_what_evaluates(place, graph, kind, told):
    """It is made when it is needed first. Where a layer does not fit, one line says so."""
    changes = {"program_rows": 256, "channel_words": 512}
    device = Device("rtl", preset="tiny", evaluate_on=place, **changes)
    lines = []
    opened = training(graph, sampling=SAMPLED, device=device).open(
        group=None, waves=None, transport=FakeChip(PRESETS["tiny"].replace(**changes)),
        progress=lines.append)
    assert not lines
    for _ in range(2):
        judge = opened._epochs._judge()
        assert type(judge) is kind and judge.sample.rows == (graph.vertices,) * 3
    assert "\n".join(lines).startswith(told) and bool(lines) == bool(told)
