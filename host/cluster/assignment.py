# SPDX-License-Identifier: BSD-2-Clause
"""Who does what of a training that several boards share, and whether they can."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Self

from hypercast.host.description.conversion import DescriptionError
from hypercast.host.description.device import ON_DEVICE, Device
from hypercast.host.description.sampling import Sampling
from hypercast.reference.network import Network
from hypercast.reference.recipe import Recipe
from hypercast.reference.stale_rows import SMOOTHING_ONE

__all__ = ["GRAPH", "LAYERS", "SAMPLES", "SCHEMES", "Assignment", "turns", "unfit", "unfit_value"]

#: Ways to share a training: what each board has its own of.
SCHEMES = (SAMPLES, GRAPH, LAYERS) = ("samples", "graph", "layers")


#: What a message may name, and what else it is called on the command line.
_OPTIONS = {"count": "--boards", **{name: f"--{name}" for name in (
    "scheme", "cluster", "plan", "staleness", "smoothing", "stages", "chunks", "timeout", "check",
    "jumping", "layers")}}


def unfit(text: str, *values: object, section: str = "", key: str = "") -> DescriptionError:
    """The error that boards cannot train together in such a way.

    Parameters
    ----------
    text : str
        The message: ``{}`` stands for one of the ``values``, and ``{scheme}`` for the name of what
        says how boards train together, which is an option on the command line.
    *values
        What the message names.
    section, key : str
        Where the error is.
    """
    where = "[boards] " if section == "boards" else ""
    return DescriptionError(
        where + text.format(*values, **{name: name for name in _OPTIONS}), section, key,
        text.format(*values, **_OPTIONS))


def unfit_value(key: str, text: str, *values: object) -> DescriptionError:
    """The same of a single value; ``text`` is what follows its name."""
    return unfit(f"{{{key}}} {text}", *values, section="boards", key=key)


@dataclass(frozen=True, kw_only=True)
class Assignment:
    """How boards share a training. What is not given is divided evenly.

    Parameters
    ----------
    scheme : str, optional
        What each has its own of, one of ``SCHEMES``; by default samples if there are such, else a
        part of the graph.
    boards : tuple of str
        Names of the boards in a cluster, in the order of ranks. By default they are the first
        ones of the cluster.
    micro_batches : tuple of int
        With samples: how many of a step each board takes.
    parts : tuple of float
        With a graph in parts: which share of the work each board has.
    runs : tuple of range
        With layers: the layers of each board, from 1.
    in_flight : tuple of int
        With layers: micro-batches that each board has begun and not done, at most.
    smoothing : float, optional
        With a graph in parts: if it is given, rows of other boards are taken from the step before,
        or are a running mean that keeps this share of itself in each step. The bits differ from one
        board's. They depend on the number of parts.
    versions : int
        With layers: versions of the weights. With 2, gradients are of weights one step older, so
        that a step begins while the one before is under way. The bits differ from exact training.
    stages : int
        With layers: if it is not 0, weights are stashed as by so many boards, so that gradients of
        layers in stage ``i`` are of weights ``stages - i`` steps older. The bits depend on the
        number of stages, not of boards; with one stage they are exact.
    chunks : int
        With layers of a whole graph: if it is not 0, the vertices go through them in so many
        chunks. Each takes rows of later chunks from the step before. The bits depend on the number
        of chunks, not of boards.
    """

    scheme: str | None = None
    boards: tuple[str, ...] = ()
    micro_batches: tuple[int, ...] = ()
    parts: tuple[float, ...] = ()
    runs: tuple[range, ...] = ()
    in_flight: tuple[int, ...] = ()
    smoothing: float | None = None
    versions: int = 1
    stages: int = 0
    chunks: int = 0

    @property
    def stale(self) -> bool:
        """Whether something is older than on one board."""
        return self.smoothing is not None or self.older_weights or self.chunks > 0

    @property
    def older_weights(self) -> bool:
        """Whether gradients are of older weights."""
        return self.versions > 1 or self.stages > 1


    def complete(self, sampling: Sampling) -> Self:
        """This assignment with a scheme: the sampling's, if none is given.

        Raises
        ------
        DescriptionError
            If its scheme is none of the sampling's, or what is older is not of the scheme.
        """
        scheme = self.scheme
        if scheme == SAMPLES and not sampling.sampler:
            raise unfit("boards share the samples of a step, but steps work on the whole graph; "
                        "give a sampler, or another {scheme}")
        if scheme == GRAPH and sampling.sampler:
            raise unfit("boards share the whole graph, but steps work on samples; leave the "
                        "sampler out, or give another {scheme}")
        if self.smoothing is not None and (sampling.sampler or scheme in (SAMPLES, LAYERS)):
            raise unfit("stale halos are those of boards that share a whole graph; leave the "
                        "sampler out, or train without {staleness}")
        if (self.versions > 1 or self.stages) and scheme != LAYERS:
            raise unfit("weights are older where boards have a run of layers each; give {scheme} "
                        "layers, or train without {staleness}")
        if self.versions > 1 and self.stages:
            raise unfit("weights have two versions, or they are stashed for each stage; give one "
                        "of the two")
        if self.chunks and (sampling.sampler or scheme != LAYERS):
            raise unfit("chunks are those of a whole graph that goes through layers; leave the "
                        "sampler out, and give {scheme} layers")
        if self.chunks and (self.versions > 1 or self.stages):
            raise unfit("either rows of chunks are older, or weights are; give one of the two")
        return replace(self, scheme=scheme or (SAMPLES if sampling.sampler else GRAPH))

    def check(self, recipe: Recipe, sampling: Sampling, device: Device, boards: int, *,
              network: Network, check: bool = False, chip: bool = False) -> Self:
        """This assignment with a scheme, if boards can train so: the one place that says it.

        Whether they have room for it is not asked here: that depends on the graph.

        Parameters
        ----------
        recipe, sampling, device
            How, on what, and where is trained.
        boards : int
            How many processes train. One of them alone computes what boards would.
        network : Network
            The network that is trained.
        check : bool
            Whether every tensor is compared with the reference.
        chip : bool
            Whether there is a chip, whatever the device's name is.

        Raises
        ------
        DescriptionError
            If they cannot; says why, and what to do.
        """
        found = self.complete(sampling)
        _check_micro_batches(recipe, sampling, check=check)
        _check_devices(device, sampling, boards, chip=chip or device.name != "reference")
        found.kept_smoothing  # noqa: B018 - raises if it is out of range
        layers = len(network.layers)
        if self.stages > layers:
            raise unfit("{0} stages share {1} layers, but each needs one; take {1} stages or "
                        "fewer, or deepen the network by {layers}", self.stages, layers)
        if boards == 1:
            self.check_alone(device.names)
            return found
        if check:
            raise unfit("{check} compares one board with the reference, but {} train together; "
                        "leave it out", boards)
        if found.scheme == LAYERS and boards > layers:
            raise unfit("{0} boards share {1} layers, but each needs one; take {1} boards or "
                        "fewer, or deepen the network by {layers}", boards, layers)
        if found.scheme == SAMPLES and boards > recipe.micro_batches:
            raise unfit("[recipe] micro_batches is {0}, but {1} boards share the samples of a "
                        "step; raise it to {1} or more, or take fewer boards",
                        recipe.micro_batches, boards, section="recipe", key="micro_batches")
        if self.smoothing is not None and self.parts and boards != len(self.parts):
            raise unfit("rows of {0} parts of the graph reach each other a step late, but {1} "
                        "boards would share it; take {0} boards, or one process", len(self.parts),
                        boards)
        if self.older_weights and network.jumping:
            raise unfit("with jumping knowledge, the outputs of layers {} have one exponent, for "
                        "which boards wait for each other in every step; boards with older "
                        "weights do not, so leave {jumping} out, or train without {staleness}",
                        ", ".join(map(str, network.jumping)))
        if self.older_weights and network.initial:
            raise unfit("with an initial residual, the gradients of layer 1's outputs have one "
                        "exponent, for which boards wait for each other in every step; boards "
                        "with older weights do not, so take another model, or train without "
                        "{staleness}")
        return found

    def check_alone(self, devices: Iterable[str]) -> None:
        """Raise ``DescriptionError`` if a chip is to train alone with anything that is older."""
        chips = " or ".join(sorted({*devices} - {"reference"}))
        if not chips or not self.stale:
            return
        what = "rows of chunks" if self.chunks else \
            "older weights" if self.older_weights else "stale halos"
        raise unfit(
            "[device] one process computes what boards with {} would, and is a reference, not {}; "
            "leave the device out, or take the boards", what, chips, section="device", key="name")

    @property
    def kept_smoothing(self) -> int | None:
        """The smoothing of stale halos as ``KeptRows`` has it; None if they are not stale.

        Raises
        ------
        DescriptionError
            If it is out of range.
        """
        if self.smoothing is None:
            return None
        found = round(self.smoothing * SMOOTHING_ONE)
        if not 0 <= found < SMOOTHING_ONE:
            raise unfit_value(
                "smoothing", "must be at least 0 and at most {}, as it is kept in {}ths, not {}",
                (SMOOTHING_ONE - 1) / SMOOTHING_ONE, SMOOTHING_ONE, self.smoothing)
        return found


def _check_micro_batches(recipe: Recipe, sampling: Sampling, *, check: bool) -> None:
    """Refuse steps on several samples, if they cannot be."""
    if recipe.micro_batches == 1:
        return
    if not sampling.sampler:
        reason = "but steps work on the whole graph; give a sampler, or leave it out"
    elif check:
        reason = "but one sample a step can be compared with the reference; leave out {check}"
    else:
        return
    raise unfit("[recipe] micro_batches is {}, " + reason, recipe.micro_batches,
                section="recipe", key="micro_batches")


def _check_devices(device: Device, sampling: Sampling, boards: int, *, chip: bool) -> None:
    """Refuse so many boards that are to be the devices that are named, or evaluate on one."""
    if len(device.names) not in (1, boards):
        raise unfit(
            "[device] name has {0} devices, {1}, but {2} board{3}; name one for all boards, or one "
            "for each ({count} {0})", len(device.names), device.name, boards,
            "s train" if boards > 1 else " trains", section="device", key="name")
    if device.evaluate_on != ON_DEVICE:
        return
    if not sampling.sampler:
        reason = ("but steps work on the whole graph, so the device evaluates anyway; give a "
                  "sampler, or leave it out")
    elif boards > 1:
        reason = "but {} boards train together; train on one, or leave it out"
    elif not chip:
        reason = "but that is the reference, on the host; name a chip, such as rtl, or leave it out"
    else:
        return
    raise unfit("[device] evaluate_on is device, " + reason, boards,
                section="device", key="evaluate_on")


def turns(counts: Sequence[int]) -> list[int]:
    """Which board takes each micro-batch of a step, if each takes a number of them.

    They take turns, so that a step with fewer micro-batches is shared as well as can be.
    """
    places = sorted(((turn + 0.5) / count, board) for board, count in enumerate(counts)
                    for turn in range(count))
    return [board for _, board in places]
