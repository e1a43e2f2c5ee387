# SPDX-License-Identifier: BSD-2-Clause
"""What launchers of MPI programs say in variables, and what they and batch systems say to children.
"""

import os
import pwd

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypercast.host.processes.launcher_variables import find_start, own_environment

BATCH = {"SLURM_JOB_ID": "7", "SLURM_NTASKS": "4", "SLURM_PROCID": "0", "SLURM_NODELIST": "n[1-4]"}
STEP = {**BATCH, "SLURM_STEP_ID": "0", "SLURM_STEP_NUM_TASKS": "4"}


@pytest.mark.parametrize("variables", [
    {}, {"PATH": "/bin"}, {"SLURM_JOB_ID": "7", "SLURM_NTASKS": "4"}, BATCH,
    {**STEP, "SLURM_STEP_ID": "4294967290"}, {**STEP, "SLURM_STEP_ID": "4294967291"},
    {**STEP, "SLURM_STEP_NUM_TASKS": "1"}, {"SLURM_STEP_ID": "0", "SLURM_PROCID": "0"},
    {**STEP, "SLURM_STEP_NUM_TASKS": "1", "PMIX_RANK": "0"},
    {"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "1", "PMIX_RANK": "0"},
    {"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "1", **STEP},
    {"PMI_RANK": "0", "PMI_SIZE": "1", "MPI_LOCALNRANKS": "1", "MPI_LOCALRANKID": "0"},
    {"PBS_JOBID": "7", "PBS_NODEFILE": "/n"}, {"LSB_JOBID": "7", "LSB_HOSTS": "a b"},
    {"RANK": "0", "WORLD_SIZE": "1"}, {"RANK": "3"}, {"WORLD_SIZE": "2"},
    {"PBS_JOBID": "7", "PBS_VNODENUM": "0", "PBS_TASKNUM": "1"},
    {"OMPI_MCA_btl": "self,tcp"}, {"MPI_LOCALNRANKS": "1", "MPI_LOCALRANKID": "0"}])
def test_alone(variables):
    assert find_start(variables) is None


@pytest.mark.parametrize(("variables", "rank", "size"), [
    ({"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "3", "PMIX_RANK": "1"}, 1, 3),
    ({"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "3", **STEP}, 0, 3),
    ({"OMPI_COMM_WORLD_SIZE": "3"}, 0, 3), ({"OMPI_COMM_WORLD_RANK": "2"}, 2, 0),
    ({"PMI_RANK": "1", "PMI_SIZE": "2"}, 1, 2),
    ({"MV2_COMM_WORLD_RANK": "1", "MV2_COMM_WORLD_SIZE": "2"}, 1, 2),
    ({"JSM_NAMESPACE_RANK": "1", "JSM_NAMESPACE_SIZE": "2"}, 1, 2),
    ({"FLUX_TASK_RANK": "1", "FLUX_JOB_SIZE": "2"}, 1, 2),
    ({"PMIX_RANK": "0"}, 0, 0), ({"PMIX_RANK": "5"}, 5, 0),
    ({"PMIX_RANK": "2", **STEP, "SLURM_PROCID": "2"}, 2, 4),
    ({"PMIX_RANK": "3", **STEP, "SLURM_STEP_NUM_TASKS": "1"}, 3, 0),
    ({"PMIX_RANK": "0", **STEP, "SLURM_STEP_NUM_TASKS": "1", "PRTE_LAUNCHED": "1"}, 0, 0),
    ({"MPIRUN_RANK": "1", "MPIRUN_NPROCS": "2"}, 1, 2), ({"MP_CHILD": "1", "MP_PROCS": "2"}, 1, 2),
    ({"RANK": "1", "LOCAL_RANK": "1", "WORLD_SIZE": "2"}, 1, 2),
    ({"RANK": "0", "WORLD_SIZE": "2"}, 0, 2), ({"PBS_VNODENUM": "1", "PBS_TASKNUM": "2"}, 1, 0),
    ({"PALS_RANKID": "1"}, 1, 0), ({"ALPS_APP_PE": "0"}, 0, 0),
    ({"MPI_LOCALNRANKS": "2", "MPI_LOCALRANKID": "0"}, 0, 2), (STEP, 0, 4),
    ({**BATCH, "SLURM_PROCID": "3"}, 3, 4), ({"PMI_RANK": "x", "PMI_SIZE": "-1"}, 0, 0)])
def test_one_of_several(variables, rank, size):
    found = find_start(variables)
    assert (found.rank, found.size) == (rank, size)
    assert found.variable in variables
    assert found.several == (rank > 0 or size > 1)


NAMES = st.sampled_from([
    "SLURM_JOB_ID", "SLURM_NODELIST", "SLURM_TASKS_PER_NODE", "PBS_JOBID", "PBS_ENVIRONMENT",
    "PBS_NODEFILE", "LSB_JOBID", "LSB_HOSTS", "SGE_ROOT", "PE_HOSTFILE", "PMIX_RANK", "PMI_SIZE",
    "OMPI_COMM_WORLD_SIZE", "PRTE_LAUNCHED", "PMIX_SERVER_URI4", "MV2_COMM_WORLD_SIZE",
    "PRTE_MCA_plm", "PRTE_MCA_ras", "OMPI_MCA_plm_slurm_args", "PRTE_MCA_prte_default_hostfile",
    "OMPI_MCA_orte_default_hostfile", "PRTE_MCA_rmaps_default_mapping_policy"])


@given(st.sets(NAMES), st.sets(st.sampled_from([
    "PATH", "HOME", "OMPI_MCA_btl", "PMIX_MCA_gds", "TMPDIR", "OMP_NUM_THREADS", "JOB_ID",
    "LS_COLORS", "OPAL_PREFIX", "OMPI_ALLOW_RUN_AS_ROOT"])))
def test_a_child_is_told_of_neither_launcher_nor_batch_system(foreign, own):
    found = own_environment({name: "1" for name in {*foreign, *own}})
    assert found.keys() == own | {"HOME"}
    assert find_start(found) is None


@pytest.mark.parametrize("variables", [{}, {"HOME": ""}])
def test_there_is_a_home(variables, monkeypatch):
    assert own_environment(variables)["HOME"] == pwd.getpwuid(os.getuid()).pw_dir
    monkeypatch.setattr(os, "getuid", lambda: 2**31 - 5)
    assert own_environment(variables)["HOME"] == "/"
    assert own_environment({"HOME": "/mine"}) == {"HOME": "/mine"}


def test_the_own_environment_is_that_of_this_process(monkeypatch):
    monkeypatch.setenv("PMIX_RANK", "1")
    assert find_start().rank == 1
    assert {**own_environment(), "PMIX_RANK": "1"}.items() >= {"PMIX_RANK": "1"}.items()
    assert "PMIX_RANK" not in own_environment() and own_environment()["PATH"] == os.environ["PATH"]
