# SPDX-License-Identifier: BSD-2-Clause
"""What boards can share of a training, and whether all of them train the same."""

import functools
import hashlib
import platform
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy

from hypercast import __version__
from hypercast.host.cluster.assignment import GRAPH, LAYERS, SAMPLES, Assignment
from hypercast.host.cluster.cluster_error import ClusterError
from hypercast.host.description.conversion import DescriptionError
from hypercast.host.description.device import ON_DEVICE, Device
from hypercast.host.description.sampling import Sampling
from hypercast.host.files.json_values import differences, leaves
from hypercast.host.files.reading.regular_file import read_bytes
from hypercast.host.processes.group import Group
from hypercast.reference.recipe import Recipe
from hypercast.reference.stale_rows import SMOOTHING_ONE

__all__ = ["agree", "check_alone", "check_device_names", "check_evaluator",
           "check_micro_batches", "check_sharing", "completed", "smoothing_of", "versions"]

#: Source that decides the bits of a training.
_SOURCES = ("reference", "rtl", "host/cluster", "host/compiler", "host/graphs", "host/runtime",
            "host/training")


def completed(assignment: Assignment, sampling: Sampling) -> Assignment:
    """The assignment with a scheme, that of the sampling if none is given.

    Raises
    ------
    DescriptionError
        If the scheme is another one.
    """
    scheme = assignment.scheme
    if scheme == SAMPLES and not sampling.sampler:
        raise DescriptionError("boards share the samples of a step, but steps work on the whole "
                               "graph; give a sampler, or another scheme")
    if scheme == GRAPH and sampling.sampler:
        raise DescriptionError("boards share the whole graph, but steps work on samples; leave the "
                               "sampler out, or give another scheme")
    if assignment.smoothing is not None and (sampling.sampler or scheme in (SAMPLES, LAYERS)):
        raise DescriptionError("stale halos are those of boards that share a whole graph; leave "
                               "the sampler out, or train without staleness")
    if (assignment.versions > 1 or assignment.stages) and scheme != LAYERS:
        raise DescriptionError("weights are older where boards have a run of layers each; give "
                               "the scheme layers, or train without staleness")
    if assignment.versions > 1 and assignment.stages:
        raise DescriptionError("weights have two versions, or they are stashed for each stage; "
                               "give one of the two")
    if assignment.chunks and (sampling.sampler or scheme != LAYERS):
        raise DescriptionError("chunks are those of a whole graph that goes through layers; leave "
                               "the sampler out, and give the scheme layers")
    if assignment.chunks and (assignment.versions > 1 or assignment.stages):
        raise DescriptionError("either rows of chunks are older, or weights are; give one of the "
                               "two")
    return replace(assignment, scheme=scheme or (SAMPLES if sampling.sampler else GRAPH))


def smoothing_of(assignment: Assignment) -> int | None:
    """The smoothing of stale halos as ``KeptRows`` has it; None if they are not stale.

    Raises
    ------
    DescriptionError
        If it is out of range.
    """
    if assignment.smoothing is None:
        return None
    found = round(assignment.smoothing * SMOOTHING_ONE)
    if not 0 <= found < SMOOTHING_ONE:
        most = (SMOOTHING_ONE - 1) / SMOOTHING_ONE
        raise DescriptionError(f"smoothing must be at least 0 and at most {most}, as it is kept in "
                               f"{SMOOTHING_ONE}ths, not {assignment.smoothing}")
    return found


def check_alone(assignment: Assignment, devices: Iterable[str]) -> None:
    """Raise ``DescriptionError`` if a chip is to train alone with anything that is older."""
    chips = " or ".join(sorted({*devices} - {"reference"}))
    if not chips or not assignment.stale:
        return
    what = "rows of chunks" if assignment.chunks else \
        "older weights" if assignment.older_weights else "stale halos"
    raise DescriptionError(
        f"[device] one process computes what boards with {what} would, and is a reference, not "
        f"{chips}; leave the device out, or take the boards", "device", "name")


def check_sharing(boards: int, assignment: Assignment, recipe: Recipe, *, check: bool) -> None:
    """Raise ``DescriptionError`` if so many boards cannot share a training; says what to do."""
    scheme = assignment.scheme
    if check:
        raise DescriptionError(f"--check compares one board with the reference, but {boards} train "
                               f"together; leave it out")
    if assignment.smoothing is not None and assignment.parts and boards != len(assignment.parts):
        raise DescriptionError(f"rows of {len(assignment.parts)} parts of the graph reach each "
                               f"other a step late, but {boards} boards would share it; take "
                               f"{len(assignment.parts)} boards, or one process")
    if scheme == SAMPLES and boards > recipe.micro_batches:
        raise DescriptionError(
            f"[recipe] micro_batches is {recipe.micro_batches}, but {boards} boards share the "
            f"samples of a step; raise it to {boards} or more, or take fewer boards",
            "recipe", "micro_batches")


def check_device_names(device: Device, boards: int) -> None:
    """Raise ``DescriptionError`` if so many boards cannot be the devices that are named."""
    if len(device.names) not in (1, boards):
        raise DescriptionError(
            f"[device] name has {len(device.names)} devices, {device.name}, but {boards} "
            f"board{'s train' if boards > 1 else ' trains'}; name one for all boards, or one for "
            f"each (--boards {len(device.names)})", "device", "name")


def check_micro_batches(recipe: Recipe, sampling: Sampling, *, check: bool) -> None:
    """Raise ``DescriptionError`` if steps are to be on several samples, and cannot be."""
    if recipe.micro_batches == 1:
        return
    if not sampling.sampler:
        reason = "but steps work on the whole graph; give a sampler, or leave it out"
    elif check:
        reason = "but one sample a step can be compared with the reference; leave out --check"
    else:
        return
    raise DescriptionError(f"[recipe] micro_batches is {recipe.micro_batches}, {reason}",
                           "recipe", "micro_batches")


def check_evaluator(device: Device, sampling: Sampling, boards: int, *, chip: bool) -> None:
    """Raise ``DescriptionError`` if the device is to evaluate, and does so anyway, or cannot.

    Parameters
    ----------
    device, sampling
        As those of ``Trainer``.
    boards : int
        How many train together.
    chip : bool
        Whether there is a chip, whatever the device's name is.
    """
    if device.evaluate_on != ON_DEVICE:
        return
    if not sampling.sampler:
        reason = ("but steps work on the whole graph, so the device evaluates anyway; give a "
                  "sampler, or leave it out")
    elif boards > 1:
        reason = f"but {boards} boards train together; train on one, or leave it out"
    elif not chip:
        reason = "but that is the reference, on the host; name a chip, such as rtl, or leave it out"
    else:
        return
    raise DescriptionError(f"[device] evaluate_on is {ON_DEVICE}, {reason}",
                           "device", "evaluate_on")


def agree(group: Group, facts: Mapping[str, Any]) -> None:
    """Compare what ranks train, and with what, by a digest from each; all ranks call this.

    Parameters
    ----------
    group : Group
        The ranks.
    facts : dict
        What this rank knows of its training, as JSON takes it.

    Raises
    ------
    ClusterError
        On the leader, if a rank has something else; names the first difference.
    SystemExit
        On the other ranks then: the leader says why.
    """
    own = dict(leaves(facts))
    digests = group.gather(hashlib.sha256(repr([*own.items()]).encode()).digest())
    other = next((rank for rank, one in enumerate(digests) if one != digests[0]), 0)
    other = group.tell(other)
    if not other:
        return
    if group.rank == other:
        group.send(0, own)
    if group.rank:
        raise SystemExit(1)
    found = differences(group.receive(other), own, f"on board {other}", "on board 0")
    raise ClusterError(f"board {other} trains something else: {found[0]}; give all boards the same "
                       f"command, files and versions")


@functools.cache
def versions() -> dict[str, str]:
    """What of this machine's software decides bits: versions, and a digest of our own source."""
    digest, root = hashlib.sha256(), Path(__file__).parents[2]
    for path in sorted(path for folder in _SOURCES for path in (root / folder).rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode() + read_bytes(path))
    return {"hypercast": __version__, "source": digest.hexdigest()[:16],
            "python": platform.python_version(), "numpy": np.__version__,
            "scipy": scipy.__version__}
