# SPDX-License-Identifier: BSD-2-Clause
"""Looks for the configuration of a board on which a training step takes least time.

Shapes (lanes, cores, planes, ejection ports) are tried one by one, and then, for the best of them,
the sizes of buffers are doubled and halved as long as that gains something. Tables that are too
small for a faster program are enlarged. Cycles are the cycle model's, area is the area model's.
"""

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from hypercast.host.compiler.label_list import LabelFormat
from hypercast.host.compiler.layer_entries import layer_entries
from hypercast.host.compiler.layout import Layout
from hypercast.host.compiler.memory_map import CapacityError, require_capacity
from hypercast.host.compiler.program_length import program_length
from hypercast.host.compiler.size_limits import check_sizes
from hypercast.host.compiler.vertices import RowTable, Vertices
from hypercast.host.cycle_model.prediction import Prediction, predict
from hypercast.host.cycle_model.workload import Workload
from hypercast.host.eda.energy import mean_hops, step_energy
from hypercast.host.eda.fit import check_fit
from hypercast.host.eda.target import Target
from hypercast.reference.tensor import FEATURES
from hypercast.rtl.config import Config, ConfigurationError

__all__ = ["BUFFERS", "Candidate", "Exploration", "Refusal", "explore", "pareto", "require_room"]

#: Makes the workload of a configuration, with the orders of the fewest cycles.
MakeWorkload: TypeAlias = Callable[[Config], Workload]

#: Values of the fields that give a chip its shape.
_SHAPES = {"lanes": (2, 4, 8, 16), "dimensions": (0, 1, 2, 3, 4), "planes": (1, 2, 4),
           "eject": (1, 2, 4)}
#: Fields that are doubled and halved. The cycle model does not see how long ``buffer_depth``,
#: ``read_buffer`` and ``edge_buffer`` let others wait, so these are not varied.
BUFFERS = ("operand_words", "accumulator_rows", "aggregation_rows", "bypass_rows")
#: Fields that are raised where a step does not fit.
_CAPACITIES = ("weight_rows", "channel_words", "program_rows", "tensors")
#: Fields that decide the sizes of memories.
_SIZES = (*BUFFERS, *_CAPACITIES, "row_counts")
#: What the estimates grow with, whatever a configuration is: memories may become another kind of
#: RAM where they are larger.
_LOGIC = ("LUT", "flip-flop", "DSP")
#: Shapes whose buffers are varied.
_BEST = 3
#: A change that gains less is none.
_GAIN = 0.998


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A configuration that fits a board.

    Parameters
    ----------
    config : Config
        The configuration.
    cycles : int
        Predicted cycles of a step.
    seconds : float
        Time of the cycles on the board.
    shares : dict
        Estimated share of each resource that it takes.
    energy : dict
        Estimated joules of a step, by what they are spent on.
    orders : tuple of str
        Orders of the layers' products.
    slowdowns : tuple of CapacityError
        As of its ``Prediction``.
    """

    config: Config
    cycles: int
    seconds: float
    shares: dict[str, float]
    energy: dict[str, float]
    orders: tuple[str, ...]
    slowdowns: tuple[CapacityError, ...] = ()

    @property
    def taken(self) -> float:
        """The largest share of a resource."""
        return max(self.shares.values())

    @property
    def joules(self) -> float:
        """Estimated energy of a step."""
        return sum(self.energy.values())


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """A configuration that the step cannot be loaded into.

    Parameters
    ----------
    config : Config
        The configuration.
    reason : str
        What is too small, and what would help.
    """

    config: Config
    reason: str


@dataclass(frozen=True, kw_only=True)
class Exploration:
    """The configurations that a search found, and those that it refused.

    Parameters
    ----------
    candidates : list of Candidate
        Configurations that fit, without those that contain one which is as fast.
    refusals : list of Refusal
        Configurations that the board has room for, but the step cannot be loaded into, even with
        the largest weight bank, memory channels, program memory and exponent file that it has room
        for.
    """

    candidates: list[Candidate]
    refusals: list[Refusal]


def pareto(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Candidates that no other one is as fast as with less of the FPGA; the fastest comes first."""
    found: list[Candidate] = []
    for one in sorted(candidates, key=lambda one: (one.seconds, one.taken)):
        if not found or one.taken < found[-1].taken:
            found.append(one)
    return found


def explore(target: Target, workload: MakeWorkload, fixed: Mapping[str, int],
            progress: Callable[[str], None] = lambda text: None) -> Exploration:
    """The configurations that fit a board and a step, and those that the step does not fit.

    Parameters
    ----------
    target : Target
        The board.
    workload : callable
        Makes the workload of a ``Config``.
    fixed : dict
        Fields of the configuration that are not varied.
    progress : callable
        Called with a line of text now and then.

    Raises
    ------
    ConfigurationError
        If what is fixed is impossible.
    CapacityError
        If nothing fits.
    """
    search = _Search(target, workload, fixed, progress)
    base = target.config.replace(**fixed)
    search.consider(base)
    for config in _shapes(base, fixed):
        search.consider(config)
    for start in sorted(search.found.values(), key=lambda one: (one.seconds, one.taken))[:_BEST]:
        search.improve(start)
    if not search.found:
        raise CapacityError(f"no configuration fits {target.name} and the step; {search.reason}")
    return Exploration(candidates=list(search.found.values()),
                       refusals=list(search.refusals.values()))


def _shapes(base: Config, fixed: Mapping[str, int]) -> Iterator[Config]:
    choices = [(getattr(base, name),) if name in fixed else values
               for name, values in _SHAPES.items()]
    for values in itertools.product(*choices):
        try:
            yield base.replace(**dict(zip(_SHAPES, values, strict=True)))
        except ConfigurationError:
            continue


class _Search:
    """Candidates and refusals by configuration; if nothing fits, ``reason`` says why."""

    def __init__(self, target: Target, workload: MakeWorkload, fixed: Mapping[str, int],
                 progress: Callable[[str], None]) -> None:
        self._target = target
        self._workload = workload
        self._fixed = fixed
        self._base = target.config.replace(**fixed)
        self._progress = progress
        self._tried = 0
        self._too_large: list[Config] = []
        self._no_room: dict[int, str] = {}  # of the board, for a configuration
        self.found: dict[int, Candidate] = {}
        self.refusals: dict[int, Refusal] = {}
        self.reason = ""

    def consider(self, config: Config) -> Candidate | None:
        """The candidate that a configuration is, with capacities raised as far as needed.

        None if it does not fit, or if a candidate that it contains is as fast. That is known before
        its area, which takes seconds of conversion.
        """
        if config.hash in self.found:
            return self.found[config.hash]
        if config.hash in self._no_room.keys() | self.refusals.keys():
            return None
        self._tried += 1
        try:
            self._target.check(config)
            check_fit(self._target.name, "FPGA", self._target.fpga, config,
                      folded=self._target.folds, external=self._target.external)
        except ConfigurationError as error:
            self._leave_out(config, str(error))
            return None
        self._progress(f"{self._tried} tried, {len(self.found)} fit: {config.lanes} lanes, "
                       f"{config.cores} cores, {config.planes} planes, {config.eject} ports")
        if self._is_too_large(config):
            return None
        try:
            workload, prediction, seconds = self._predict(config)
        except CapacityError as error:
            return self._raise_field(config, error)
        if any(one.seconds <= seconds and self._contains(config, one.config)
               for one in self.found.values()):
            return None
        shares = self._shares(config)
        if not shares:
            return None
        candidate = Candidate(
            config=config, cycles=prediction.cycles, seconds=seconds, shares=shares,
            orders=workload.orders, slowdowns=tuple(prediction.slowdowns),
            energy=step_energy(prediction.work, mean_hops(workload), config,
                               external=self._target.external))
        self.found[config.hash] = candidate
        return candidate

    def _contains(self, large: Config, small: Config) -> bool:
        """Whether a configuration has at least as much of everything as another one."""
        return self._target.is_folded(large) == self._target.is_folded(small) and all(
            _size(large, name) >= _size(small, name) for name in (*_SHAPES, *_SIZES))

    def _shares(self, config: Config) -> dict[str, float]:
        """Share of each resource that a chip takes; empty if there is no room for it."""
        shape = config.replace(**{name: getattr(self._base, name) for name in _SIZES})
        shares = self._target.shares(config, None if shape == config else shape)
        if self._target.fits(shares):
            return shares
        if not self._target.fits({kind: shares[kind] for kind in _LOGIC if kind in shares}):
            self._too_large.append(config)
        self._leave_out(config, "taken: " + ", ".join(
            f"{share:.0%} of {kind}" for kind, share in shares.items()))
        return {}

    def _is_too_large(self, config: Config) -> bool:
        """Whether a chip contains one that has no room, without estimating its area."""
        small = next((one for one in self._too_large if self._contains(config, one)), None)
        if small:
            self._leave_out(config, self._no_room[small.hash])
        return bool(small)

    def _leave_out(self, config: Config, reason: str) -> None:
        """Note why the board has no room for a configuration."""
        self._no_room[config.hash] = reason
        self.reason = self.reason or reason

    def _raise_field(self, config: Config, shortage: CapacityError) -> Candidate | None:
        """The candidate with as much as is needed of what there is too little of.

        If that cannot be had, a configuration that the board has room for is refused.
        """
        reason, field, needed = str(shortage), shortage.field, shortage.needed
        if field in _CAPACITIES and field not in self._fixed:
            sufficient = _sufficient(shortage)
            try:
                raised = config.replace(**{field: sufficient})
            except ConfigurationError:
                pass  # the reason says what else would help
            else:
                candidate = self.consider(raised)
                if candidate or raised.hash not in self._no_room.keys() | self.refusals.keys():
                    return candidate
                if refusal := self.refusals.pop(raised.hash, None):
                    reason = refusal.reason
                else:
                    reason = (f"{field} is {getattr(config, field)}, but {needed} are needed, and "
                              f"{self._target.name} has no room for {sufficient}: "
                              f"{self._no_room[raised.hash]}; take a larger board, a smaller graph "
                              f"or network, or several boards (hypercast plan)")
        self.reason = reason
        if not self._is_too_large(config) and self._shares(config):
            self.refusals[config.hash] = Refusal(config=config, reason=reason)
        return None

    def _predict(self, config: Config) -> tuple[Workload, Prediction, float]:
        workload = self._workload(config)
        require_room(workload)
        prediction = predict(workload)
        if prediction.shortages:
            raise prediction.shortages[0]
        return workload, prediction, self._target.seconds(prediction.cycles, config)

    def improve(self, best: Candidate) -> None:
        """Double and halve buffers as long as a step takes less time, or the same in less room.

        Tables get the entries with which a program would be faster.
        """
        start = None
        while best is not start:
            start = best
            for slowdown in start.slowdowns:
                best = self._change(best, slowdown.field, _sufficient(slowdown))
            for name, factor in itertools.product(BUFFERS, (2, 0.5)):
                best = self._change(best, name, int(_size(best.config, name) * factor))

    def _change(self, best: Candidate, name: str, size: int) -> Candidate:
        """The candidate with another size of a memory, if that is better, else the ``best``."""
        if name in self._fixed:
            return best
        try:
            config = best.config.replace(**{name: size})
        except ConfigurationError:
            return best
        one = self.consider(config)
        return one if one and _better(one, best) else best


def _sufficient(shortage: CapacityError) -> int:
    """The least power of two that is as much as is needed."""
    return 1 << (shortage.needed - 1).bit_length()


def _size(config: Config, name: str) -> int:
    """Value of a field, also where another one decides it."""
    size: int = config.strip_rows if name == "aggregation_rows" else getattr(config, name)
    return size


def _better(one: Candidate, best: Candidate) -> bool:
    if one.seconds < best.seconds * _GAIN:
        return True
    return one.seconds <= best.seconds and one.taken < best.taken


def require_room(workload: Workload) -> None:
    """Check what can be said of a step's room before its program is made.

    Raises
    ------
    CapacityError
        If a chip surely has no room for the step.
    """
    config, network = workload.config, workload.network
    check_sizes(network, workload.vertices[-1], config)
    layers = range(1, len(network.layers) + 1)
    require_capacity(config, "tensors", len(layer_entries(network, layers)),
                     "the network has that many tensors")
    _require_channels(workload)
    names = ("train", "evaluate") if workload.sampled else ("load", "train", "evaluate")
    length = program_length(network, config, workload.vertices, names,
                            square=len({*workload.vertices}) == 1)
    require_capacity(config, "program_rows", length,
                     "the program has that many instructions at least")


def _require_channels(workload: Workload) -> None:
    """Raise ``CapacityError`` if tensors and lists do not fit the memory channels, about."""
    config, network = workload.config, workload.network
    vertices = Vertices.of_layers(workload.vertices, config, RowTable(config))
    memory = Layout.of(network, config, vertices, LabelFormat(), ahead=workload.ahead).memory
    memory.matrix(FEATURES, 0, network.features)
    used = list(memory.used)
    record = config.send_record_width / config.word_width
    # Layers of the same edges share them.
    lists = {strip for layer in range(1, len(network.layers) + 1)
             for strip in enumerate(workload.loads(layer, False))}
    used[1] += sum(round((load.total_words + load.total_rows * record) / config.cores)
                   for _, load in lists)
    require_capacity(config, "channel_words", max(used), "tensors and lists take that many words")
