# SPDX-License-Identifier: BSD-2-Clause
"""Whoever starts processes, and wherever: those of one MPI train together."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.host.test_cli import run

pytest.importorskip("mpi4py")

COMMAND = Path(sys.executable).with_name("hypercast")
MPIRUN = [COMMAND.with_name("mpirun"), "--oversubscribe",
          *(["--allow-run-as-root"] if os.getuid() == 0 else [])]
TRAINING = ["train", "karate", "--hidden", 4, "--epochs", 2, "--json"]
#: Jobs of two machines, as the scripts of batch systems see them; a step of Slurm of one process,
#: as srun --pty starts a shell; and what administrators set.
JOBS = {
    "SLURM_JOB_ID": "7", "SLURM_JOBID": "7", "SLURM_NODELIST": "far[1-2]", "SLURM_NNODES": "2",
    "SLURM_JOB_NODELIST": "far[1-2]", "SLURM_TASKS_PER_NODE": "1(x2)", "SLURM_NTASKS": "2",
    "SLURM_PROCID": "0", "SLURM_STEP_ID": "0", "SLURM_STEP_NUM_TASKS": "1", "PMIX_RANK": "0",
    "PMIX_NAMESPACE": "slurm.pmix.7.0", "PBS_JOBID": "7", "PBS_ENVIRONMENT": "PBS_INTERACTIVE",
    "LSB_JOBID": "7", "LSB_HOSTS": "far1 far2", "PRTE_MCA_plm": "slurm",
    "PRTE_MCA_rmaps_default_mapping_policy": "ppr:1:node"}


def trained(line, **variables):
    """Exit status, and lines of output and of errors."""
    found = subprocess.run([str(word) for word in line], capture_output=True, text=True,
                           timeout=120, env={**os.environ, **variables})
    return found.returncode, found.stdout.splitlines(), found.stderr.splitlines()


def summary(lines):
    """What a training ends in, but for how long it took."""
    found = json.loads(lines[-1])
    del found["seconds"]
    return len(lines), found


@pytest.fixture(scope="module")
def alone():
    return summary(run(*TRAINING).stdout.splitlines())


def test_boards_are_processes_of_this_machine_whatever_surrounds_it(tmp_path, alone):
    calls = tmp_path / "calls"
    for name in ("srun", "ssh", "rsh", "qsub", "pbsdsh", "blaunch", "qrsh", "scontrol"):
        (tmp_path / name).write_text(f'#!/bin/sh\necho "$0 $*" >> {calls}\nexit 1\n')
        (tmp_path / name).chmod(0o755)
    nodes = tmp_path / "nodes"
    nodes.write_text("far1\nfar2\n")
    status, printed, errors = trained(
        [COMMAND, *TRAINING, "--boards", 2], **JOBS, PBS_NODEFILE=str(nodes),
        PRTE_MCA_prte_default_hostfile=str(nodes), PATH=f"{tmp_path}:{os.environ['PATH']}")
    assert status == 0, errors
    assert summary(printed) == alone
    assert not calls.exists(), calls.read_text()


def test_processes_are_counted_by_mpi(alone):
    """``srun --mpi=pmix`` sets none of Open MPI's variables."""
    status, printed, errors = trained([
        *MPIRUN, "-n", 2, "env", "-u", "OMPI_COMM_WORLD_RANK", "-u", "OMPI_COMM_WORLD_SIZE",
        COMMAND, *TRAINING])
    assert status == 0, errors
    assert summary(printed) == alone
