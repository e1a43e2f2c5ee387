import pytest

from hypercast.host.cluster.group import ClusterError
from hypercast.host.training.description.conversion import DescriptionError
from hypercast.host.training.description.device import Device
from hypercast.host.training.description.sampling import Sampling
from hypercast.host.training.sharing import agree, check_evaluator
from tests.host.cluster.thread_group import on_ranks


def test_ranks_that_are_about_the_same():
    on_ranks(3, lambda group: agree(group, {"graph": {"sha256": "ab"}, "seeds": [1, 2]}))


def test_the_rank_that_differs_is_named():
    with pytest.raises(ClusterError, match=r"^board 2 trains something else: seeds.2 is 5 on board "
                                           r"2, 2 on board 0; give all boards the same command"):
        on_ranks(3, lambda group: agree(group, {"seeds": [1, 5 if group.rank == 2 else 2]}))


def test_versions_are_compared(monkeypatch):
    class Group:
        def gather(self, value):
            return [value, value | {"version.numpy": "1.0"}]

    with pytest.raises(ClusterError, match=r"version.numpy is 1.0 on board 1, 2"):
        agree(Group(), {})


@pytest.mark.parametrize(("sampler", "boards", "chip", "message"), [
    (None, 1, True, "but steps work on the whole graph, so the device evaluates anyway; give"),
    ("cut", 2, True, "but 2 boards train together; train on one, or leave it out"),
    ("cut", 1, False, "but that is the reference, on the host; name a chip, such as rtl, or"),
])
def test_evaluations_on_a_device(sampler, boards, chip, message):
    """What the host does is refused nowhere, nor a chip that trains alone on samples."""
    sampling = Sampling(sampler=sampler)
    with pytest.raises(DescriptionError, match="evaluate_on is device, " + message) as error:
        check_evaluator(Device("rtl", evaluate_on="device"), sampling, boards, chip=chip)
    assert (error.value.section, error.value.key) == ("device", "evaluate_on")
    check_evaluator(Device("rtl"), sampling, boards, chip=chip)
    check_evaluator(Device("rtl", evaluate_on="device"), Sampling(sampler="cut"), 1, chip=True)
