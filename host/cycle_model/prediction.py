# SPDX-License-Identifier: BSD-2-Clause
"""Predicts a training step: its program, and when the controller would issue each instruction."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeAlias

from hypercast.host.compiler.edge_sets import edge_set_words
from hypercast.host.compiler.emitter import PlacedMessages
from hypercast.host.compiler.execution import execute
from hypercast.host.compiler.instruction import Issued
from hypercast.host.compiler.issue_order import TRIALS
from hypercast.host.compiler.label_list import LabelFormat
from hypercast.host.compiler.layout import NEXT_ENTRIES, Layout
from hypercast.host.compiler.load import Load
from hypercast.host.compiler.lowering import Program, fit_program
from hypercast.host.compiler.memory_map import CapacityError, find_shortage
from hypercast.host.compiler.operand_map import LeftOperand
from hypercast.host.compiler.phase_name import PhaseKind, PhaseName
from hypercast.host.compiler.schedule import Schedule
from hypercast.host.compiler.tiling import PLAIN, Tiling
from hypercast.host.compiler.timing import Timing
from hypercast.host.compiler.vertices import RowTable, Vertices
from hypercast.host.cycle_model.chain import KeptSchedule, chain_cycles
from hypercast.host.cycle_model.workload import Workload
from hypercast.reference.network import LINEAR
from hypercast.reference.recipe import Recipe
from hypercast.reference.step_graph import step_graph
from hypercast.reference.tensor import EDGES, FEATURES, ONE, Tensor
from hypercast.rtl.config import Config

__all__ = ["PredictedPhase", "Prediction", "find_slowdown", "predict", "predict_layer"]

#: (layer, backward) to the messages of each strip.
_Messages: TypeAlias = dict[tuple[int, bool], list[PlacedMessages]]
#: Name of each resource, and the counters of what it moves, one a cycle.
_RESOURCES = {
    "array": ("array_words",),
    "aggregators": ("edges",),
    "injection": ("sent",),
    "vector unit": ("vector_words",),
    "memory channel 0": ("features_read", "features_written"),
    "memory channel 1": ("gradients_read", "gradients_written"),
}


@dataclass(frozen=True, kw_only=True)
class PredictedPhase:
    """Cycles of a phase as the chip's counters have them, and the work of its instructions.

    Parameters
    ----------
    name : PhaseName
        Which.
    cycles : int
        Cycles counted for it.
    loads : dict
        Resource to the cycles that it is busy for, spread evenly over the cores.
    """

    name: PhaseName
    cycles: int
    loads: dict[str, float]

    @property
    def limit(self) -> str:
        """The resource that is busy longest."""
        return max(self.loads, key=self.loads.__getitem__)


@dataclass(frozen=True, kw_only=True)
class Prediction:
    """A predicted training step.

    Parameters
    ----------
    cycles : int
        Cycles of the step.
    phases : list of PredictedPhase
        What it consists of.
    work : dict
        Counter to its value, all cores together.
    shortages : list of CapacityError
        Why the step cannot be loaded, and the remedies. Words of memory are counted for SGD, and
        with one set of edges for both passes, so an empty list does not promise that all fits.
    slowdowns : list of CapacityError
        What the step fits, but would be faster with more of, and the remedies.
    workload : Workload
        The step.
    tiling : Tiling
        In what order its program works on parts of matrices.
    """

    cycles: int
    phases: list[PredictedPhase]
    work: dict[str, int]
    shortages: list[CapacityError]
    slowdowns: list[CapacityError]
    workload: Workload = field(compare=False, repr=False)
    tiling: Tiling = field(compare=False, repr=False)

    @property
    def loads(self) -> dict[str, float]:
        """Resource to the cycles that it is busy for, spread evenly over the cores."""
        return {name: sum(phase.loads[name] for phase in self.phases) for name in _RESOURCES}

    @property
    def limit(self) -> str:
        """The resource that is busy longest."""
        return max(self.loads, key=self.loads.__getitem__)

    @property
    def bound(self) -> float:
        """The cycles that the busiest resource needs, in a perfect overlap."""
        return max(self.loads.values())

    @cached_property
    def chain(self) -> int:
        """The cycles that instructions which depend on each other need, see ``chain_cycles``.

        Of this step's instructions, in any order. Another ``tiling`` has other instructions.
        """
        schedule = KeptSchedule()
        program = _program(self.workload, schedule, self.tiling)
        entries = _emit(program, self.workload)
        return round(chain_cycles(schedule.added[entries["train"]]) * self.workload.factor)


def predict(workload: Workload, *, trials: int = TRIALS) -> Prediction:
    """The ``Prediction`` of a ``Workload``.

    Parameters
    ----------
    workload : Workload
        The step.
    trials : int
        How hard the schedule tries, see ``issue_orders``.
    """
    table = RowTable(workload.config)
    vertices, *_ = _place(workload, table)
    program, entries = fit_program(
        lambda tiling, schedule: _program(workload, schedule, tiling),
        lambda program: _emit(program, workload), workload.config, vertices, trials,
        loops=not workload.ahead)
    issued = program.emitter.schedule.programs[entries["train"]]
    named = [name for name in program.phases if name.kind != PhaseKind.EVALUATE]
    cycles, spent = execute(issued, len(named))
    phases = []
    for number, name in enumerate(named):
        work = _work((one for one in issued if one.operands["phase"] == number), workload.factor)
        phases.append(PredictedPhase(name=name, cycles=round(spent[number] * workload.factor),
                                     loads=_loads(work, workload.config)))
    return Prediction(cycles=round(cycles * workload.factor), phases=phases,
                      work=_work(issued, workload.factor),
                      shortages=_find_shortages(program, workload),
                      slowdowns=[*filter(None, (table.slowdown, program.slowdown))],
                      workload=workload,
                      tiling=program.emitter.operands.tiling)


def find_slowdown(workload: Workload) -> CapacityError | None:
    """That the row table is too small for send lists that name rows; found without a program."""
    table = RowTable(workload.config)
    _place(workload, table)
    return table.slowdown


def _find_shortages(program: Program, workload: Workload) -> list[CapacityError]:
    """What the configuration has too little of, for a program and what lies in memory."""
    config, emitter = workload.config, program.emitter
    regions = emitter.regions
    if workload.factor > 1:  # these are of some strips only
        layout, _ = _lay_out(workload, Vertices.of_layers(workload.whole, config, RowTable(config)))
        regions = layout.memory.regions
    used = [0, 0]
    for name, region in regions.items():
        if name != FEATURES:
            used[region.channel] = max(used[region.channel], region.address + region.words)
    features = regions[FEATURES]
    words = workload.words if workload.combines_first else None
    used[features.channel] = features.address + (
        features.words if words is None else
        round(words.sum(axis=(1, 2)).max() * workload.factor))
    lists = {placed.edge_set: placed.load
             for user in (emitter.messages, emitter.roots) for strips in user.values()
             for placed in strips}
    used[1] += round((1 + workload.ahead) * workload.factor * sum(
        math.ceil(load.rows * config.send_record_width / config.word_width)
        + edge_set_words(load.words, config) for load in lists.values()))
    channel = used.index(max(used))
    needs = (("program_rows", program.rows, "the program has that many instructions"),
             ("channel_words", max(used),
              f"memory channel {channel} of a core holds that many words at least"))
    return [shortage for need in needs if (shortage := find_shortage(config, *need))]


def predict_layer(workload: Workload, number: int) -> tuple[int, int]:
    """Cycles of a layer (from 1) by itself: of its way forward, and of its way back and its update.

    The last layer's way forward ends with the loss.
    """
    program = _program(workload, Schedule(trials=1))
    program.layer_alone(number)
    forward, backward = (execute(part, len(program.phases))[0]
                         for part in program.emitter.schedule.programs.values())
    return forward, backward


def _emit(program: Program, workload: Workload) -> dict[str, int]:
    """Entries of the programs that a compiler makes; of an evaluation only if it might be too much.

    An evaluation takes no more instructions than a step.
    """
    first = "aggregate_ahead" if workload.ahead else "load"
    entries = program.emit(("train",) if workload.sampled and not workload.ahead
                           else (first, "train"))
    step = program.rows - entries["train"]
    if program.rows + step > workload.config.program_rows and not workload.ahead:
        entries |= program.emit(["evaluate"])
    return entries


def _program(workload: Workload, schedule: Schedule, tiling: Tiling = PLAIN) -> Program:
    """A program on the compiler's layout, but for edges and sparse features."""
    config, network = workload.config, workload.network
    vertices, messages, roots = _place(workload, RowTable(config))
    layout, inputs = _lay_out(workload, vertices)
    placed = [name for name in layout.memory.regions if isinstance(name, Tensor)]
    entries = {EDGES, ONE, *NEXT_ENTRIES, *map(network.exponent_entry, (*placed, *layout.weights))}
    return Program.of(
        layout, inputs=inputs,
        tensors={name: number for number, name in enumerate(sorted(entries))},
        messages=messages, roots=roots,
        digits=workload.digits(network), headroom=Recipe().headroom_of,
        schedule=schedule, following=vertices[:2], tiling=tiling)


def _lay_out(workload: Workload, vertices: Sequence[Vertices]) -> tuple[Layout, LeftOperand]:
    """Where everything lies but edges, and how the array takes the input features."""
    words = workload.words if workload.combines_first else None
    layout = Layout.of(workload.network, workload.config, vertices, LabelFormat(), words=words,
                       ahead=workload.ahead)
    region = layout.memory.matrix(FEATURES, 0, workload.network.features)
    return layout, LeftOperand.dense(FEATURES, region.panels, region.stride) if words is None \
        else LeftOperand.sparse(FEATURES, layout.first_panels, words)


def _place(workload: Workload, table: RowTable) -> tuple[
        tuple[Vertices, ...], _Messages, _Messages]:
    """The vertices of tensors, and the messages of aggregations and of rows added to them."""
    vertices = Vertices.of_layers(workload.vertices, workload.config, table)
    messages = _messages(workload, vertices, table)
    return vertices, messages, _messages(workload, vertices, table, roots=True) \
        if step_graph(workload.network).adds_rows else {}


def _messages(workload: Workload, vertices: Sequence[Vertices], table: RowTable, *,
              roots: bool = False) -> _Messages:
    """Messages of the aggregations that the layers' orders ask for, or of rows added to them."""
    found: _Messages = {}
    sets: dict[tuple[int, Load, bool], int] = {}
    loads = workload.root_loads if roots else workload.loads
    timing = Timing(workload.config)
    for layer, kind in enumerate(workload.network.layers, 1):
        if kind.order == LINEAR and not roots:
            continue
        aggregates_features = workload.network.aggregates_features(layer)
        for backward in (False,) if aggregates_features else (False, True):
            entry = vertices[layer if backward else layer - 1].entry
            # Strips of the same load have the same edges: a symmetric matrix's, both ways, unless
            # they belong to different batches.
            ahead = workload.ahead and layer == 1
            strips = loads(layer, backward)
            numbers = [2 * sets.setdefault((strip, load, ahead), len(sets)) + roots
                       for strip, load in enumerate(strips)]
            named = len(strips) > 1 and not workload.sampled and timing.prefers_names(strips) \
                and table.has_room([("named", number) for number in numbers],
                                   each=workload.factor)
            found[layer, backward] = placed = []
            for number, load in zip(numbers, strips, strict=True):
                own = table.entry(("named", number), load.sent, each=workload.factor) \
                    if named else None
                if workload.indexed and layer == 1:
                    load = replace(load, indexed=True)
                placed.append(PlacedMessages(0, number, load, entry) if own is None else
                              PlacedMessages(0, number, load.name_rows(), own))
    return found


def _work(issued: Iterable[Issued], factor: float) -> dict[str, int]:
    """What instructions add to counters, each of which stands for ``factor`` alike."""
    total: Counter[str] = Counter()
    for one in issued:
        total.update(one.duration.work)
    return {counter: round(count * factor) for counter, count in total.items()}


def _loads(work: Mapping[str, int], config: Config) -> dict[str, float]:
    loads = {name: sum(work.get(counter, 0) for counter in counters) / config.cores
             for name, counters in _RESOURCES.items()}
    loads["aggregators"] /= config.eject
    return loads
