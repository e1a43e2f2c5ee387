# SPDX-License-Identifier: BSD-2-Clause
"""Full-batch training of a GCN in PyTorch on any of its devices, in several ways, and its pace.

PyTorch and PyTorch Geometric are no requirements of the package.
"""

import importlib.util
import itertools
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from hypercast.reference.array_types import SparseArray

__all__ = ["Epochs", "FullBatchTraining", "installed_ways", "time_epochs"]

_EDGE_LIST, _SPARSE_MATRIX, _PLAIN = (
    "PyTorch Geometric by edges", "PyTorch Geometric by torch.sparse", "torch.sparse")
_RATE = 0.01
_WARM_UP = 5
#: Seconds between readings of the power, and before the first one: drivers tell a mean over up to a
#: second (Yang et al., Part-time Power Measurements, 2023).
_INTERVAL, _SETTLING = 0.1, 1.0


def installed_ways() -> list[str]:
    """Ways to train that the installed packages allow, of ``FullBatchTraining``."""
    geometric = importlib.util.find_spec("torch_geometric") is not None
    return [*((_EDGE_LIST, _SPARSE_MATRIX) if geometric else ()), _PLAIN]


class FullBatchTraining:
    """A GCN that is trained on all vertices of a graph, by Adam, in float32.

    Features and classes are drawn at random. Hidden layers end with ReLU; there is no dropout.

    Parameters
    ----------
    way : str
        One of ``installed_ways``. PyTorch Geometric sums over a list of edges, or takes the matrix
        as a sparse tensor. ``torch.sparse`` alone sums over the narrower side of each layer, and
        uses that the matrix is symmetric on the way back.
    matrix : scipy.sparse.csr_array
        (V, V) normalised weights of edges and loops; symmetric.
    widths : sequence of int
        Features of the input and of each layer's output, the last of which are classes.
    device : torch.device
        The device that trains.
    seed : int
        Seed of all random choices.

    Attributes
    ----------
    parameters : list of torch.nn.Parameter
        Weights and biases of all layers.
    """

    def __init__(self, way: str, matrix: SparseArray, widths: Sequence[int], device: Any,
                 seed: int = 0) -> None:
        import torch

        generator = torch.Generator(device).manual_seed(seed)
        vertices = matrix.shape[0]
        self._features = torch.randn(vertices, widths[0], device=device, generator=generator)
        self._labels = torch.randint(widths[-1], (vertices,), device=device, generator=generator)
        torch.manual_seed(seed)
        self._layers, self.parameters = (_plain_layers if way == _PLAIN else _geometric_layers)(
            _edges(way, matrix, device), list(itertools.pairwise(widths)), device)
        self._optimiser = torch.optim.Adam(self.parameters, lr=_RATE)
        self._loss: Any = torch.nn.functional.cross_entropy

    def step(self) -> Any:
        """Go forward and back, and update the weights; returns the loss before it, a tensor."""
        self._optimiser.zero_grad()
        rows = self._layers[0](self._features)
        for layer in self._layers[1:]:
            rows = layer(rows.relu())
        loss = self._loss(rows, self._labels)
        loss.backward()
        self._optimiser.step()
        return loss.detach()


def _edges(way: str, matrix: SparseArray, device: Any) -> tuple[Any, ...]:
    """Edges as layers take them: indices and weights, or a sparse tensor."""
    import torch

    if way == _EDGE_LIST:
        rows, columns = (torch.from_numpy(one).to(device).long() for one in matrix.tocoo().coords)
        return torch.stack([columns, rows]), torch.from_numpy(matrix.data).to(device)
    parts = (torch.from_numpy(one).to(device)
             for one in (matrix.indptr, matrix.indices, matrix.data))
    return (torch.sparse_csr_tensor(*parts, size=matrix.shape),)


def _geometric_layers(edges: tuple[Any, ...], widths: Sequence[tuple[int, int]], device: Any,
                      ) -> tuple[list[Callable[[Any], Any]], list[Any]]:
    """Layers of PyTorch Geometric, and their parameters."""
    from torch_geometric.nn import GCNConv

    def layer(convolution: Any) -> Callable[[Any], Any]:
        return lambda rows: convolution(rows, *edges)

    convolutions = [GCNConv(*sides, normalize=False).to(device) for sides in widths]
    return [layer(one) for one in convolutions], [
        parameter for one in convolutions for parameter in one.parameters()]


def _plain_layers(edges: tuple[Any, ...], widths: Sequence[tuple[int, int]], device: Any,
                  ) -> tuple[list[Callable[[Any], Any]], list[Any]]:
    """Layers of PyTorch alone, and their parameters."""
    import torch

    class SymmetricSums(torch.autograd.Function):
        """Sums over neighbours, whose gradients are sums by the same matrix."""

        @staticmethod
        def forward(context: Any, rows: Any) -> Any:
            return edges[0] @ rows

        @staticmethod
        def backward(context: Any, gradients: Any) -> Any:
            return edges[0] @ gradients

    def layer(linear: Any) -> Callable[[Any], Any]:
        if linear.in_features < linear.out_features:
            return lambda rows: linear(SymmetricSums.apply(rows))
        return lambda rows: SymmetricSums.apply(rows @ linear.weight.T) + linear.bias

    linears = [torch.nn.Linear(*sides, device=device) for sides in widths]
    return [layer(linear) for linear in linears], [
        parameter for linear in linears for parameter in linear.parameters()]


class Epochs(NamedTuple):
    """Epochs that were timed.

    Attributes
    ----------
    seconds : list of float
        Time of each.
    watts : list of float
        Power, read again and again meanwhile; empty if nobody tells it.
    """

    seconds: list[float]
    watts: list[float]


def time_epochs(step: Callable[[], Any], device: Any, *, epochs: int, seconds: float,
                read_watts: Callable[[], float | None] = lambda: None) -> Epochs:
    """Measure how long steps take, after a few that warm up.

    Parameters
    ----------
    step : callable
        Begins a step.
    device : torch.device
        The device that carries it out. Steps follow each other there without a pause, but after
        each ``epochs`` of them.
    epochs, seconds : int, float
        How many steps to time at least, and for how long.
    read_watts : callable
        Reads the power, or gives None.
    """
    _time_batch(step, device, _WARM_UP)
    found: list[float] = []
    with _read_meanwhile(read_watts) as watts:
        while len(found) < epochs or sum(found) < seconds:
            found += _time_batch(step, device, epochs)
    return Epochs(found, watts)


def _time_batch(step: Callable[[], Any], device: Any, epochs: int) -> list[float]:
    """Seconds of each of some steps: by the device's own clock if it works apart from the host."""
    if device.type != "cuda":
        stamps = [time.perf_counter()]
        for _ in range(epochs):
            step()
            stamps.append(time.perf_counter())
        return [end - begin for begin, end in itertools.pairwise(stamps)]
    import torch

    events = [torch.cuda.Event(enable_timing=True) for _ in range(epochs + 1)]
    events[0].record()
    for event in events[1:]:
        step()
        event.record()
    torch.cuda.synchronize(device)
    return [begin.elapsed_time(end) / 1e3 for begin, end in itertools.pairwise(events)]


@contextmanager
def _read_meanwhile(read: Callable[[], float | None]) -> Iterator[list[float]]:
    """What is read from time to time, by a thread, once it had the time to settle."""
    found: list[float] = []
    done = threading.Event()

    def work() -> None:
        pause = _SETTLING
        while not done.wait(pause):
            value = read()
            if value is not None and not done.is_set():
                found.append(value)
            pause = _INTERVAL

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield found
    finally:
        done.set()
        thread.join()
