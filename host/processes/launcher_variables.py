# SPDX-License-Identifier: BSD-2-Clause
"""Variables by which launchers of MPI programs tell a process its rank, and number of ranks."""

import os
import pwd
import re
from collections.abc import Mapping
from typing import NamedTuple

__all__ = ["Started", "find_start", "own_environment"]

#: Variables of rank and number of processes, by launcher: Open MPI's mpirun; MPICH, Intel MPI and
#: srun --mpi=pmi2; MVAPICH2; its predecessor; jsrun; Flux; IBM's POE; aprun; HPE's PALS; and
#: whoever speaks PMIx, as prterun and srun --mpi=pmix.
_VARIABLES = (
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"), ("PMI_RANK", "PMI_SIZE"),
    ("MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"), ("MPIRUN_RANK", "MPIRUN_NPROCS"),
    ("JSM_NAMESPACE_RANK", "JSM_NAMESPACE_SIZE"), ("FLUX_TASK_RANK", "FLUX_JOB_SIZE"),
    ("MP_CHILD", "MP_PROCS"), ("ALPS_APP_PE", ""), ("PALS_RANKID", ""), ("PMIX_RANK", ""))
#: Variables that say that there are several only with a rank above 0, or a size above 1: Hydra's,
#: about the processes of one machine, of which there are as many in all, or more; torchrun's, whose
#: names others use; pbsdsh's, which a batch script of PBS has, too.
_SOME = (("MPI_LOCALRANKID", "MPI_LOCALNRANKS"), ("RANK", "WORLD_SIZE"), ("PBS_VNODENUM", ""))
#: A step of Slurm; its processes; and the variables that any step has by default, which a batch
#: script and an interactive shell are told of, too.
_STEPS = "SLURM_STEP_ID", "SLURM_STEPID"
_STEP_SIZES = "SLURM_STEP_NUM_TASKS", "SLURM_NTASKS", "SLURM_NPROCS"
#: Numbers of steps that are no steps: the shell of salloc, the batch script, and who logs in.
_NO_STEPS = ("4294967290", "4294967291", "4294967292")
#: prterun and mpirun start daemons on other machines by srun; each starts several ranks.
_DAEMON = "PRTE_LAUNCHED"

#: Variables of launchers and batch systems, but for the place of Open MPI, and for its parameters
#: that do not say where processes are started, and how many.
_FOREIGN = re.compile(
    r"(OMPI|OPAL|PRTE|PMIX|ORTE)_(?!MCA_|PREFIX$|ALLOW_)|PMI_|PMI2_|MV2_|MPI_LOCAL|HYD|JSM_|FLUX_|ALPS_|"
    r"PALS_|MPIRUN_|MP_(CHILD|PROCS)$|(LOCAL_)?RANK$|(LOCAL_)?WORLD_SIZE$|"
    r"SLURM_|SLURMD_|PBS_|LSB_|LSF_|SGE_|PE_HOSTFILE$|OAR_|COBALT_|LOADL_|"
    r"(OMPI|OPAL|PRTE|PMIX)_MCA_(plm|ras|rmaps|ess|rds|orte_|prte_|num_procs|initial_wdir|"
    r"PREFIXES)")


class Started(NamedTuple):
    """A process's rank among the processes that were started with it.

    Attributes
    ----------
    rank : int
        The process's rank, from 0.
    size : int
        Number of processes; 0 if it is not given.
    variable : str
        The variable that gives the rank.
    """

    rank: int
    size: int
    variable: str

    @property
    def several(self) -> bool:
        """Whether there are others for sure."""
        return self.rank > 0 or self.size > 1


def find_start(variables: Mapping[str, str] = os.environ) -> Started | None:
    """A launcher's word about this process; None if there is none, or it has started one only.

    A batch script of Slurm or a shell in an allocation is no process of a launcher.
    """
    found = [Started(_number(variables.get(rank)), _number(variables.get(size)),
                     rank if rank in variables else size)
             for rank, size in _VARIABLES if rank in variables or size in variables]
    some = [Started(_number(variables.get(rank)), _number(variables.get(size)), rank)
            for rank, size in _SOME if rank in variables and (not size or size in variables)]
    found += [one for one in some if one.several]
    step = _step(variables)
    if step and (not found or _DAEMON not in variables):
        found.append(step)
    if not found:
        return None
    first = found[0]
    sizes = [one.size for one in found if one.size]
    one = Started(first.rank, sizes[0] if sizes and sizes[0] > first.rank else 0, first.variable)
    return None if one.size == 1 else one


def _step(variables: Mapping[str, str]) -> Started | None:
    """Slurm's word about this process, if it belongs to a step."""
    rank = _number(variables.get("SLURM_PROCID"))
    steps = {variables[name] for name in _STEPS if name in variables}
    if not rank and (not steps or steps & {*_NO_STEPS}):
        return None
    size = next((_number(variables[name]) for name in _STEP_SIZES if name in variables), 1)
    return Started(rank, size, "SLURM_PROCID")


def _number(text: str | None) -> int:
    return int(text) if text and re.fullmatch("[0-9]{1,9}", text) else 0


def own_environment(variables: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The variables of a process that no launcher has started, and no batch system surrounds.

    What a user says to Open MPI (``OMPI_MCA_btl``) stays, but for where processes are started, and
    how many. There is a home, without which Open MPI does not begin.
    """
    found = {name: value for name, value in variables.items() if not _FOREIGN.match(name)}
    if not found.get("HOME"):
        try:
            found["HOME"] = pwd.getpwuid(os.getuid()).pw_dir
        except KeyError:  # as in a container, for a user that it does not know
            found["HOME"] = "/"
    return found
