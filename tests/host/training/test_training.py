"""What is trained, prepared: what names it, and which device it opens."""

import pytest

from hypercast import Device, Graph, Model
from hypercast.host.cluster.assignment import Assignment
from hypercast.host.runtime.checked_device import CheckedDevice
from hypercast.host.runtime.devices import ReferenceDevice
from hypercast.host.runtime.sampled_device import SampledDevice
from hypercast.host.training.description.conversion import DescriptionError
from hypercast.host.training.description.sampling import Sampling
from hypercast.host.training.training import Training

KARATE = Graph.load("karate")
SAMPLED = Sampling(sampler="neighbours", batch=2, fan_outs=[3])


def training(*, sampling=None, check=False, assignment=None, **recipe):
    return Training(KARATE, Model(hidden=4), Device(), sampling or Sampling(),
                    {"epochs": 3, **recipe}, check=check, group=None,
                    assignment=assignment, cluster=None, progress=lambda text: None)


def opened(found):
    return found.open(waves=None, transport=None, progress=lambda text: None)


@pytest.mark.parametrize("change", [
    {"seed": 1}, {"learning_rate": 0.3}, {"sampling": SAMPLED},
    {"assignment": Assignment(smoothing=0.5)},
    {"assignment": Assignment(scheme="layers", versions=2)},
], ids=str)
def test_its_identity_is_another_one_if_its_bits_may_be(change):
    assert training().identity == training().identity
    assert training(**change).identity != training().identity


@pytest.mark.parametrize(("options", "kind"), [
    ({}, ReferenceDevice), ({"check": True}, CheckedDevice), ({"sampling": SAMPLED}, SampledDevice),
    ({"assignment": Assignment(smoothing=0.5)}, ReferenceDevice),
    ({"sampling": SAMPLED, "assignment": Assignment(scheme="layers", versions=2)}, SampledDevice),
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
