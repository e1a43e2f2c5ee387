# SPDX-License-Identifier: BSD-2-Clause
"""Runs a training step and an evaluation, and compares every tensor with the reference."""

from collections.abc import Iterator

import numpy as np

from hypercast.host.compiler.compiler import compile_job
from hypercast.host.graphs.datasets import blocks
from hypercast.host.graphs.graph import Graph
from hypercast.host.runtime.alone_chip import AloneChip
from hypercast.host.runtime.device_errors import DeviceError
from hypercast.host.runtime.reference_device import ReferenceDevice
from hypercast.host.selftest.finding import Finding
from hypercast.host.training.prepare import prepare
from hypercast.host.transport.transport import Transport
from hypercast.reference.array_types import IntArray
from hypercast.reference.initial_model import InitialModel
from hypercast.reference.network import Network
from hypercast.reference.recipe import Recipe
from hypercast.reference.tensor import Kind, Tensor
from hypercast.rtl.config import Config
from hypercast.rtl.placement import core_of

__all__ = ["check_training"]

#: Rows of the graph that each core holds, at least.
_ROWS = 4


def _model(config: Config) -> InitialModel:
    graph = Graph(**blocks(vertices=max(64, _ROWS * config.cores), classes=2,
                           features=2 * config.lanes))
    network = Network.of_widths([2 * config.lanes, config.lanes, 2], dropout=0.3)
    return prepare(graph, network, Recipe(epochs=1, element_width=config.element_width))


def check_training(transport: Transport, config: Config) -> Iterator[Finding]:
    """Train a small graph for a step; all engines take part.

    Parameters
    ----------
    transport : Transport
        The chip; what is in its memories is lost.
    config : Config
        The chip's configuration.

    Yields
    ------
    Finding
        The first tensor that differs, what makes it, and in which cores.

    Raises
    ------
    CapacityError
        If the configuration is too small for the graph.
    """
    model = _model(config)
    reference = ReferenceDevice(model)
    try:
        device = AloneChip(transport, compile_job(model, config), model)
        device.train_step()
        found = device.snapshot()
    except DeviceError as error:
        yield Finding("arithmetic or control", str(error))
        return
    reference.train_step()
    tensors = reference.snapshot()
    # In the order in which they are made: parameters are updated last.
    for name in sorted(tensors, key=_is_parameter):
        expected = tensors[name]
        rows = np.flatnonzero((found[name] != expected).any(axis=1))
        if len(rows):
            yield Finding(_maker(name), f"{name} differs from the reference in row {rows[0]}"
                                        + _cores(name, rows, config))
            return


def _is_parameter(name: str) -> bool:
    """Whether it is a weight matrix, a bias, their state, or the exponents."""
    return not isinstance(name, Tensor) or name.kind in (Kind.WEIGHTS, Kind.BIAS)


def _maker(name: str) -> str:
    """The units of the chip that make a tensor of a training step."""
    if name == "exponents":
        return "exponent unit"
    if not isinstance(name, Tensor) or _is_parameter(name):
        return "gradient, reduction or update"
    if name == Tensor(Kind.GRADIENT, 2):
        return "loss unit"
    aggregated = (Kind.HIDDEN, Kind.LOGITS, Kind.COMBINED_GRADIENT)
    return "aggregation or vector unit" if name.kind in aggregated else "array or vector unit"


def _cores(name: str, rows: IntArray, config: Config) -> str:
    """Which cores hold rows of a tensor of the vertices."""
    if _is_parameter(name):
        return ""
    cores = sorted({int(core) for core in core_of(rows, config.cores)})
    return f", rows of core{'s' * (len(cores) > 1)} {', '.join(map(str, cores))}"
