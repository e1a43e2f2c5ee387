# SPDX-License-Identifier: BSD-2-Clause
"""Words of memory that a step moves and stores, against a dataflow that stores transposes.

The textbook's dataflow is ours with its orders and its buffers, but each product reads its operands
in rows: a weight gradient needs X^T (combine first) or (AX)^T (aggregate first), a backward
aggregation A^T, the gradient of a layer's input W^T. Each is written once, and its factors are read
once more.
"""

from dataclasses import dataclass

from hypercast.host.cycle_model.prediction import Prediction
from hypercast.host.cycle_model.workload import Workload
from hypercast.reference.network import COMBINE_FIRST

__all__ = ["PCIE", "MemoryTraffic", "count_brought", "ours", "textbook"]

#: Bytes per second of PCIe Gen3 x4, assumed: four fifths of the line's rate.
PCIE = 0.8 * 4 * 8e9 / 8 * 128 / 130


@dataclass(frozen=True, kw_only=True)
class MemoryTraffic:
    """Words of ``config.word_width`` bits, all cores together.

    Parameters
    ----------
    moved : int
        Words read and written in a step.
    stored : int
        Words that batch, tensors and optimiser state occupy.
    """

    moved: int
    stored: int


@dataclass(frozen=True, kw_only=True)
class _Shape:
    """A layer: rows and panels of its input and output, and of the left factor of its weights."""

    number: int
    sources: int
    targets: int
    inputs: int
    outputs: int
    combines: bool

    @property
    def left(self) -> int:
        """Words of the left operand of its weight gradient."""
        return self.inputs * (self.sources if self.combines else self.targets)

    @property
    def aggregates_backwards(self) -> bool:
        return self.number > 1 or self.combines


def ours(workload: Workload, prediction: Prediction, *, symmetric: bool) -> MemoryTraffic:
    """The ``MemoryTraffic`` of a ``Workload``.

    Parameters
    ----------
    workload : Workload
        The step.
    prediction : Prediction
        The prediction of the step.
    symmetric : bool
        Whether the aggregation backwards takes the very lists of the one forwards.
    """
    config, vertices = workload.config, workload.vertices
    moved = sum(prediction.work[f"{channel}_{what}"] for channel in ("features", "gradients")
                for what in ("read", "written"))
    shapes = _shapes(workload)
    stored = vertices[0] * shapes[0].inputs + vertices[-1] / config.info_rows
    for shape in shapes:
        stored += 2 * shape.targets * shape.outputs  # results and their gradients
        if shape is not shapes[-1]:
            stored += shape.targets * shape.outputs / config.mask_rows
        # Products before aggregation, or sums over neighbours, and their gradients.
        middle = shape.sources * shape.outputs if shape.combines else shape.targets * shape.inputs
        ahead = workload.ahead and shape.number == 1  # the sums of two batches
        stored += middle * (2 if shape.aggregates_backwards or ahead else 1)
        stored += _lists(workload, shape.number, False)
        if not symmetric and shape.aggregates_backwards:
            stored += _lists(workload, shape.number, True)
        stored += (shape.inputs * config.lanes + 1) * shape.outputs * 2 * config.state_words
    return MemoryTraffic(moved=moved, stored=round(stored))


def textbook(workload: Workload, prediction: Prediction, *, symmetric: bool) -> MemoryTraffic:
    """Our traffic and the transposes that the step's orders need."""
    own = ours(workload, prediction, symmetric=symmetric)
    copies = 0.0
    for shape in _shapes(workload):
        copies += shape.left
        if shape.number > 1:
            copies += shape.inputs * shape.outputs * workload.config.lanes
        if symmetric and shape.aggregates_backwards:
            copies += _lists(workload, shape.number, False)
    return MemoryTraffic(moved=own.moved + round(2 * copies), stored=own.stored + round(copies))


def count_brought(workload: Workload, *, symmetric: bool) -> int:
    """Words that the host writes for a batch: edges, send lists and labels; and features, unless
    they stay in memory.

    Parameters
    ----------
    workload, symmetric
        As of ``ours``.
    """
    config, vertices = workload.config, workload.vertices
    words = vertices[-1] / config.info_rows
    for shape in _shapes(workload):
        words += _lists(workload, shape.number, False)
        if not symmetric and shape.aggregates_backwards:
            words += _lists(workload, shape.number, True)
        if shape.number == 1 and not workload.indexed:
            words += shape.sources * shape.inputs
    return round(words)


def _shapes(workload: Workload) -> list[_Shape]:
    lanes, vertices = workload.config.lanes, workload.vertices
    return [_Shape(
        number=number, sources=vertices[number - 1], targets=vertices[number],
        inputs=-(-layer.features_in // lanes), outputs=-(-layer.features_out // lanes),
        combines=layer.order == COMBINE_FIRST)
        for number, layer in enumerate(workload.network.layers, 1)]


def _lists(workload: Workload, layer: int, backward: bool) -> float:
    """Words of the edge sets and send lists of an aggregation."""
    record = workload.config.send_record_width / workload.config.word_width
    return sum(load.total_words + load.total_rows * record
               for load in workload.loads(layer, backward))
