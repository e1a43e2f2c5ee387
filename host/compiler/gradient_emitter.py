# SPDX-License-Identifier: BSD-2-Clause
"""Emits the instructions that reduce gradients and update parameters."""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from hypercast.host.compiler.emitter import Emitter
from hypercast.host.compiler.instruction import Accumulators, Name
from hypercast.host.compiler.memory_map import index_name
from hypercast.host.compiler.panel_groups import Run, runs_of
from hypercast.host.compiler.reduction import Portion
from hypercast.host.compiler.timing import Duration
from hypercast.host.compiler.weights import Weights
from hypercast.reference.step_graph import ParameterGradient
from hypercast.reference.tensor import ONE, Tensor
from hypercast.rtl.isa import DrainSource, Opcode

__all__ = ["GradientEmitter"]


@dataclass(kw_only=True)
class GradientEmitter:
    """Adds instructions to the schedule of an ``Emitter``, after the products.

    Parameters
    ----------
    emitter : Emitter
        Emits the products.
    digits : dict
        Parameter to number of digits that a core's sum of its gradient takes.
    """

    emitter: Emitter
    digits: Mapping[Tensor, int]
    _reduction_groups: dict[int, Accumulators] = field(default_factory=dict)

    def reduce(self, phase: int, gradients: Sequence[ParameterGradient]) -> None:
        """Reduce the gradients of a layer's parameters. Their UPDATEs follow with ``update``.

        Parameters
        ----------
        phase : int
            Phase counter.
        gradients : sequence of ParameterGradient
            The bias's, then the weights'.
        """
        bias, *others = gradients
        carrier = next((one for one in others if one.right == bias.right
                        and index_name(one.left, 0) not in self.emitter.regions), None)
        sums = self._passing_sums(bias.parameter, carrier.parameter) if carrier else {}
        self._bias_gradient(phase, bias, without=sums)
        # In the order of reduction groups, so that what fills the operand buffer for another one
        # never has to wait for it.
        for one in reversed(others):
            self._weight_gradient(phase, one, bias.parameter, sums if one == carrier else {})

    def update(self, phase: int, gradient: ParameterGradient) -> None:
        """Update a parameter with constants of the step.

        Its gradient has been reduced in this program, or, if sums are kept, in an earlier one.
        """
        emitter, name = self.emitter, gradient.parameter
        weights = emitter.weights[name]
        for portion in weights.portions:
            emitter.schedule.add(
                Opcode.UPDATE, self._portion(weights, portion), phase=phase,
                duration=emitter.timing.update(
                    len(portion.rows), adam=weights.adam, kept=weights.kept),
                writes=[("weights", name, portion.rows.start)],
                accumulators=None if weights.kept else self._reduction_group(
                    portion.reduction_group),
                a=emitter.tensor(gradient.left), b=emitter.tensor(gradient.right),
                o=emitter.tensor(name), peak_of=emitter.tensor(name),
                opens=emitter.exponent_entry(name), label=name,
                headroom=emitter.headroom(name), kept=weights.kept)

    def keep(self, phase: int, name: Tensor) -> None:
        """Keep the sums of a gradient that has been reduced, beside the parameter's state."""
        emitter, weights = self.emitter, self.emitter.weights[name]
        for portion in weights.portions:
            emitter.schedule.add(
                Opcode.UPDATE, self._portion(weights, portion), phase=phase,
                duration=emitter.timing.keep(len(portion.rows)),
                accumulators=self._reduction_group(portion.reduction_group), keep=1,
                # Nothing has an exponent here: factors are ones, and the result's stays.
                a=emitter.tensor(ONE), b=emitter.tensor(ONE), o=emitter.tensor(name),
                peak_of=emitter.tensor(name))

    def halt(self, *, phase: int, step: int = 1, goes_on: bool = False) -> None:
        """End the program, as ``Emitter.halt``."""
        self.emitter.halt(phase=phase, step=step, goes_on=goes_on)
        self._reduction_groups.clear()

    def _portion(self, weights: Weights, portion: Portion) -> dict[str, int]:
        """Fields of an UPDATE that say what it works on."""
        config = self.emitter.config
        own = weights.state_values * config.state_words
        state = portion.rows.start // config.cores * own
        return {"first_row": portion.first_row, "rows": len(portion.rows),
                "weights": weights.base + portion.rows.start,
                "state": weights.state.address + state, "adam": weights.adam}

    def _passing_sums(self, bias: Tensor, carrier: Tensor) -> dict[int, int]:
        """Panels of a bias, to their reduction rows, whose sums can be taken while the first tile
        of a weight gradient passes: rows that are reduced in the same reduction group.
        """
        weights = self.emitter.weights[carrier]
        passing = {(panel, portion.reduction_group) for portion in weights.portions
                   for panel, part in weights.parts(portion.rows) if part.start == 0}
        return {panel: portion.first_row + panel - portion.rows.start
                for portion in self.emitter.weights[bias].portions for panel in portion.rows
                if (panel, portion.reduction_group) in passing}

    def _weight_gradient(self, phase: int, gradient: ParameterGradient, bias: Tensor,
                         sums: Mapping[int, int]) -> None:
        name, rows, columns, dropout = gradient
        emitter, operands = self.emitter, self.emitter.operands
        weights, vertices = emitter.weights[name], operands.vertices_of(columns)
        blocks = vertices.blocks(alike=operands.tiling.loops)
        for portion in weights.portions:
            runs = self._runs(weights, portion, rows, columns)
            # A block can stay in the operand buffer, and its right panel is read once. Groups take
            # turns there within a block.
            for run, block in (
                    itertools.product(runs, blocks) if runs[0].start is None else
                    ((run, one) for one in blocks for run in runs)):
                left = operands.left(rows, run.first, run.tiles, block, vertices) \
                    if run.start is None else operands.group(rows, run, block, vertices)
                right = operands.right(columns, run.panel, block)
                with_sums = run.first == 0 and run.panel in sums
                digits = max(self.digits[each] for each in (name, *[bias] * with_sums))
                self._reduce(
                    portion.reduction_group,
                    {"phase": phase, "vertices": vertices.entry, "row_start": block.first,
                     "row_limit": block.rows, "digits": digits, "panels": run.tiles,
                     "panel": run.first, "first_row": run.row, **left.fields, **right.fields,
                     **({"sums": 1, "sums_row": sums[run.panel]} if with_sums else {}),
                     **emitter.dropout_fields(dropout, block.first)},
                    reads=[*left.reads, *right.reads], writes=left.writes, follows=right.follows,
                    duration=emitter.timing.gradient(
                        rows, vertices.count_of(block), run.first, run.tiles, digits,
                        emitter.regions[columns].channel, reading=left.memory,
                        bypassed=not right.memory, sums=with_sums,
                        ranked=emitter.is_ranked(dropout), row_start=block.first),
                    strip=emitter.strip_of(block))

    def _bias_gradient(self, phase: int, gradient: ParameterGradient,
                       without: Mapping[int, int]) -> None:
        """The sums of rows, of the panels of a bias that are not in ``without``."""
        name, columns = gradient.parameter, gradient.right
        emitter, operands = self.emitter, self.emitter.operands
        vertices, region = operands.vertices_of(columns), emitter.regions[columns]
        for portion in emitter.weights[name].portions:
            # Panels in memory can be taken together; panels that bypass it are taken as they come.
            alone = [panel for panel in portion.rows if panel not in without]
            for block in vertices.blocks(alike=operands.tiling.loops):
                rights = [(panel, operands.right(columns, panel, block)) for panel in alone]
                together = any(right.memory for _, right in rights)
                for panel, right in rights[:1] if together else rights:
                    panels = alone if together else [panel]
                    self._reduce(
                        portion.reduction_group,
                        {"phase": phase, "vertices": vertices.entry, "row_start": block.first,
                         "row_limit": block.rows, "digits": self.digits[name],
                         "panels": len(panels), "ones": 1, "stride": region.stride,
                         "first_row": portion.first_row + panel - portion.rows.start,
                         **right.fields},
                        reads=operands.parts(columns, panels, block) if together else right.reads,
                        follows=right.follows,
                        duration=emitter.timing.bias_gradient(
                            vertices.count_of(block), len(panels), self.digits[name],
                            region.channel, bypassed=not together),
                        strip=emitter.strip_of(block))

    def _reduce(self, group: int, fields: Mapping[str, int], *, duration: Duration,
                reads: Iterable[Name], follows: Iterable[Name], strip: int,
                writes: Iterable[Name] = ()) -> None:
        self.emitter.schedule.add(
            Opcode.GRADIENT, fields, duration=duration, reads=reads, writes=writes,
            follows=follows, accumulators=self._reduction_group(group), strip=strip)

    def _runs(self, weights: Weights, portion: Portion, rows: Tensor,
              columns: Tensor) -> list[Run]:
        """The GRADIENTs of a portion, on each block."""
        emitter, operands = self.emitter, self.emitter.operands
        vertices, channel = operands.vertices_of(columns), emitter.regions[columns].channel
        tile = min(emitter.config.lanes, weights.height)
        parts = [
            Run(panel, part.start // tile, (part.stop - part.start) // tile,
                portion.first_row + panel * weights.height - portion.rows.start + part.start)
            for panel, part in weights.parts(portion.rows)]

        def cycles(run: Run, *, reading: bool) -> int:
            bypassed = not operands.right(columns, run.panel, vertices.blocks()[0]).memory
            return sum(emitter.timing.gradient(
                rows, vertices.count_of(block), run.first, run.tiles, self.digits[weights.name],
                channel, reading=reading, bypassed=bypassed, row_start=block.first).cycles
                for block in vertices.blocks())

        entries = operands.shared_entries(rows)
        held = entries and entries // vertices.blocks()[0].rows
        return runs_of(parts, operands.starts(rows), held, tile, cycles,
                       kept=operands.buffer.panel_places(rows))

    def _reduction_group(self, number: int) -> Accumulators:
        """Accumulators of a reduction group."""
        if number not in self._reduction_groups:
            self._reduction_groups[number] = Accumulators(
                DrainSource.AGGREGATION,
                after=self._reduction_group(number - 1) if number else None)
        return self._reduction_groups[number]
