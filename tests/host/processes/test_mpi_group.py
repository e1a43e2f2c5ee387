# SPDX-License-Identifier: BSD-2-Clause
"""MPI is asked how many were started together, where a launcher's variables are seen."""

import sys
from types import ModuleType, SimpleNamespace

import pytest

from hypercast.host.cluster.cluster_error import ClusterError
from hypercast.host.processes import starter
from hypercast.host.processes.mpi_group import world


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
    for name in starter.own_environment().keys() ^ starter.os.environ.keys():
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
    before = dict(starter.os.environ)
    assert world(60) is None
    assert starter.os.environ == before


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
