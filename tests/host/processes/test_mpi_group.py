# SPDX-License-Identifier: BSD-2-Clause
"""MPI is asked how many were started together; its ranks sum, tell, gather and send, in time."""

import sys
import threading
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from hypercast.host.cluster.cluster_error import ClusterError
from hypercast.host.processes import launcher_variables
from hypercast.host.processes.mpi_group import MpiGroup, world


@pytest.fixture
def mpi(monkeypatch):
    """Makes mpi4py one whose MPI finds so many processes; a package that is not there of None."""
    def make(size):
        package = None
        if size:
            package = ModuleType("mpi4py")
            package.rc = SimpleNamespace(finalize=None)
            package.MPI = SimpleNamespace(COMM_WORLD=SimpleNamespace(size=size))
        monkeypatch.setitem(sys.modules, "mpi4py", package)
    for name in launcher_variables.own_environment().keys() ^ launcher_variables.os.environ.keys():
        monkeypatch.delenv(name)
    return make


@pytest.mark.parametrize(("variables", "size"), [
    ({}, None), ({"SLURM_PROCID": "0", "SLURM_NTASKS": "4"}, None), ({"PMIX_RANK": "0"}, 1),
    ({"PALS_RANKID": "0"}, 1), ({"OMPI_COMM_WORLD_RANK": "0"}, 1),
    ({"PMI_RANK": "0", "PMI_SIZE": "1"}, None)])
def test_alone(mpi, monkeypatch, variables, size):
    mpi(size)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    before = dict(launcher_variables.os.environ)
    assert world(60) is None
    assert launcher_variables.os.environ == before


@pytest.mark.parametrize(("variables", "says"), [
    ({"PMI_RANK": "1", "PMI_SIZE": "2"}, "PMI_RANK says that 2 processes .* this is number 1, but"),
    ({"PMI_RANK": "0", "PMI_SIZE": "2"}, "PMI_RANK says that 2 processes .* this is number 0, but"),
    ({"PMIX_RANK": "1"}, "PMIX_RANK says that several processes .* this is number 1, but"),
    ({"SLURM_PROCID": "0", "SLURM_STEP_ID": "3", "SLURM_NTASKS": "2"}, "SLURM_PROCID says that 2")])
def test_what_a_launcher_says_counts_if_mpi_knows_of_no_others(mpi, monkeypatch, variables, says):
    mpi(1)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(ClusterError, match=f"{says}.*MPI finds it alone") as error:
        world(60)
    assert str(error.value).endswith(
        f"or by srun --mpi=pmix; or unset {next(iter(variables))} if each is to train alone")


@pytest.mark.parametrize("variables", [{"PMIX_RANK": "0"}, {"PMI_RANK": "1", "PMI_SIZE": "2"}])
def test_there_is_no_mpi4py(mpi, monkeypatch, variables):
    mpi(None)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(ClusterError, match=r"there is no mpi4py .*; install it: pip install"):
        world(60)


class Communicator:
    """As much of ``mpi4py.MPI.Comm`` as a group calls, for ranks that are threads.

    Messages are kept whole; whoever receives one has a buffer of its size, as MPI has it.
    """

    def __init__(self, rank, size, messages, lock):
        self.rank, self.size, self._messages, self._lock = rank, size, messages, lock
        self._calls = 0

    def Isend(self, values, rank, tag=0):  # noqa: N802 (as mpi4py calls it)
        with self._lock:
            self._messages[self.rank, rank, tag].append(np.array(values))
        return SimpleNamespace(Test=lambda: True)

    def Irecv(self, values, rank, tag=0):  # noqa: N802 (as mpi4py calls it)
        def test():
            with self._lock:
                if waiting and self._messages[rank, self.rank, tag]:
                    found = self._messages[rank, self.rank, tag].pop(0)
                    assert found.nbytes == values.nbytes
                    values.reshape(-1)[:] = found.reshape(-1)
                    waiting.clear()
            return not waiting
        waiting = [True]
        return SimpleNamespace(Test=test)

    def Improbe(self, rank, tag, status):  # noqa: N802 (as mpi4py calls it)
        with self._lock:
            if not self._messages[rank, self.rank, tag]:
                return None
            found = self._messages[rank, self.rank, tag].pop(0)
        status.Get_count = lambda _: found.nbytes

        def receive(values):
            values[:] = found
            return SimpleNamespace(Test=lambda: True)
        return SimpleNamespace(Irecv=receive)

    def _collective(self, sent, take):
        """Ends when what all have sent is there; ``take`` gets it, in the order of the ranks."""
        number, done = self._calls, []
        self._calls += 1
        with self._lock:
            self._messages["all", number].append((self.rank, np.array(sent)))

        def test():
            with self._lock:
                found = self._messages["all", number]
                if not done and len(found) == self.size:
                    take([values for _, values in sorted(found, key=lambda item: item[0])])
                    done.append(True)
            return bool(done)
        return SimpleNamespace(Test=test)

    def Iallreduce(self, sent, found, operation):  # noqa: N802 (as mpi4py calls it)
        return self._collective(sent, lambda all_: np.copyto(found, operation(all_, axis=0)))

    def Ibcast(self, values, root):  # noqa: N802 (as mpi4py calls it)
        def take(found):
            assert found[root].shape == values.shape
            values[:] = found[root]
        return self._collective(values, take)

    def Iallgather(self, sent, found):  # noqa: N802 (as mpi4py calls it)
        return self._collective(sent, lambda all_: np.copyto(found, np.concatenate(all_)))

    def Igatherv(self, sent, received, root):  # noqa: N802 (as mpi4py calls it)
        def take(found):
            if self.rank == root:
                everything, sizes = received
                assert [len(one) for one in found] == list(sizes)
                everything[:] = np.concatenate(found)
        return self._collective(sent, take)


def on_mpi(size, function, seconds=10.0):
    """What ``function(group)`` returns on each rank of a group, or the error that it ends in."""
    messages, lock = defaultdict(list), threading.Lock()
    module = SimpleNamespace(Status=SimpleNamespace, SUM=np.sum, MAX=np.max, BYTE=None)

    def rank(number):
        try:
            return function(MpiGroup(module, Communicator(number, size, messages, lock), seconds))
        except ClusterError as error:
            return error

    with ThreadPoolExecutor(size) as pool:
        return list(pool.map(rank, range(size)))


@pytest.mark.parametrize("size", [2, 3])
def test_all_ranks_have_what_others_gave(size):
    """Values of several lengths, of none, and none at all, call after call."""
    told = [None, "text" * 50, {"a": [1, 2]}, b""]

    def work(group):
        rows = np.full((2, 3), group.rank + 1)
        assert group.sum(rows).tolist() == [[sum(range(1, size + 1))] * 3] * 2
        assert group.maximum(rows).tolist() == [[size] * 3] * 2
        for value in told:
            assert group.tell(value if group.rank == 0 else "what others say") == value
        own = [list(range(10 * rank)) for rank in range(size)]
        assert group.gather(own[group.rank]) == (own if group.rank == 0 else [])
        others = [rank for rank in range(size) if rank != group.rank]
        received = {rank: np.zeros(rank + 1, dtype=np.int32) for rank in others}
        group.exchange({rank: np.full(group.rank + 1, 10 * group.rank + rank, dtype=np.int32)
                        for rank in others}, received)
        assert {rank: set(values.tolist()) for rank, values in received.items()} == {
            rank: {10 * rank + group.rank} for rank in others}
        for value in told:
            for rank in others:
                group.send(rank, (group.rank, value))
            assert [group.receive(rank) for rank in others] == [(rank, value) for rank in others]
        return "done"

    assert on_mpi(size, work) == ["done"] * size


def test_the_leader_names_who_has_not_come_and_others_wait_twice_as_long():
    """So its error is the first, and says for whom all wait."""
    def work(group):
        if group.rank != 2:
            group.sum(np.zeros(1))

    leader, waiting, absent = on_mpi(3, work, seconds=0.1)
    assert "board 2 did not answer for 0.1 seconds" in str(leader)
    assert "board 0 did not answer for 0.2 seconds" in str(waiting)
    assert absent is None


def test_a_receiver_names_the_sender():
    leader, other = on_mpi(2, lambda group: group.receive(1 - group.rank), seconds=0.05)
    assert "board 1 did not answer for 0.05 seconds" in str(leader)
    assert "board 0 did not answer for 0.1 seconds" in str(other)
