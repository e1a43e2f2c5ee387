# SPDX-License-Identifier: BSD-2-Clause
"""Epochs of large graphs on a GPU, by PyTorch, beside the cycle model's steps on a VCU128.

Graphs are generated, with a power law's degrees. Features and classes are random, so accuracy means
nothing here. PyTorch and PyTorch Geometric are no requirements of the package.
"""

import datetime
import gc
import importlib.util
import statistics
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from hypercast.benches import nvidia_smi
from hypercast.benches.figure import Figure
from hypercast.benches.gpu_training import Epochs, FullBatchTraining, installed_ways, time_epochs
from hypercast.benches.large_graphs import BOARD, LARGE_GRAPHS, LargeGraph
from hypercast.benches.power_law_edges import power_law_edges
from hypercast.errors import NotFoundError
from hypercast.host.cycle_model.prediction import predict
from hypercast.host.eda.energy import mean_hops, step_energy
from hypercast.host.eda.target import target_of
from hypercast.reference.array_types import SparseArray

__all__ = ["gpu_figures", "run"]

#: Epochs of a training that are timed at least, and seconds.
_EPOCHS, _SECONDS = 20, 4.0
_TARGET = "vcu128"
#: What errors of CUDA and its libraries say where memory is too small.
_TOO_LARGE = ("out of memory", "ALLOC_FAILED", "INSUFFICIENT_RESOURCES")


def run(data: Path | None, progress: Callable[[str], None]) -> list[Figure]:
    """The figures; ``data`` is not used.

    Raises
    ------
    NotFoundError
        If PyTorch is not installed, or finds no CUDA device.
    """
    if not importlib.util.find_spec("torch"):
        raise NotFoundError("torch not installed, which this bench trains with on a CUDA device; "
                            "pip install torch torch_geometric")
    import torch

    if not torch.cuda.is_available():
        raise NotFoundError(f"no CUDA device, which this bench needs: torch {torch.__version__} "
                            + ("finds none; see whether nvidia-smi lists one, and whether "
                               "CUDA_VISIBLE_DEVICES hides it" if torch.version.cuda else
                               "is a build without CUDA; on a machine with a card of NVIDIA, "
                               "pip install torch torch_geometric"))
    card = torch.cuda.get_device_properties(0)
    memory = card.total_memory / 1e9
    figures = [Figure(name=f"{_describe(card.name)}: memory of the card", value=memory, unit="GB")]
    uuid = getattr(card, "uuid", None)  # of torch from 2.4 on
    read_watts = partial(nvidia_smi.read_watts, str(uuid)) if uuid else lambda: None
    return figures + gpu_figures(
        LARGE_GRAPHS, torch.device("cuda", 0), memory=memory, epochs=_EPOCHS, seconds=_SECONDS,
        read_watts=read_watts, progress=progress)


def _describe(card: str) -> str:
    """The card, the software that trains on it, and the date."""
    import torch

    geometric = "without PyTorch Geometric"
    if importlib.util.find_spec("torch_geometric"):
        import torch_geometric

        geometric = f"PyTorch Geometric {torch_geometric.__version__}"
    driver = nvidia_smi.read_driver() or "not told"
    return (f"{card}, driver {driver}, torch {torch.__version__}, {geometric}, "
            f"{datetime.date.today()}")


def gpu_figures(graphs: Mapping[str, LargeGraph], device: Any, *, memory: float, epochs: int,
                seconds: float, read_watts: Callable[[], float | None],
                progress: Callable[[str], None]) -> list[Figure]:
    """Train on each graph in every way there is, and predict the same step on a VCU128.

    Parameters
    ----------
    graphs : dict
        Title to a ``LargeGraph``.
    device : torch.device
        The device that trains.
    memory : float
        GB of memory that it has.
    epochs, seconds : int, float
        How many epochs to time in each way at least, and for how long.
    read_watts : callable
        Reads the power that the device draws, or gives None.
    progress : callable
        Called with a line of text now and then.
    """
    figures: list[Figure] = []
    for title, graph in graphs.items():
        progress(f"{title}: making a graph of {graph.entries:,} entries")
        matrix = power_law_edges(graph.vertices, graph.entries)
        medians = {}
        for way in installed_ways():
            named = f"{title}, {way}"
            progress(f"{named}: training")
            found = _train(way, matrix, graph, device, epochs=epochs, seconds=seconds,
                           read_watts=read_watts)
            gc.collect()
            _free_memory()
            if found is None:
                figures.append(Figure(name=f"{named}: left out, it does not fit the memory of",
                                      value=memory, unit="GB"))
            else:
                medians[way] = statistics.median(found.seconds)
                figures += _report_epochs(named, found)
        del matrix
        progress(f"{title}: predicting a step")
        predicted, step = _predict_step(title, graph)
        figures += predicted
        if medians:
            best = min(medians, key=medians.__getitem__)
            figures.append(Figure(name=f"{title}: epoch by {best}, the fastest / predicted step",
                                  value=medians[best] / step, unit="x"))
    return figures


def _train(way: str, matrix: SparseArray, graph: LargeGraph, device: Any,
           **timing: Any) -> Epochs | None:
    """Epochs that were timed; None if the device's memory is too small for them."""
    try:
        return time_epochs(FullBatchTraining(way, matrix, graph.widths, device).step, device,
                           **timing)
    except RuntimeError as error:
        if any(sign in str(error) for sign in _TOO_LARGE):
            return None
        raise


def _free_memory() -> None:
    """Give memory back that PyTorch keeps for later, of another size."""
    import torch

    torch.cuda.empty_cache()


def _report_epochs(title: str, found: Epochs) -> Iterator[Figure]:
    """Figures of a training."""
    first, median, third = statistics.quantiles(found.seconds, n=4)
    yield Figure(name=f"{title}: an epoch, median", value=median, unit="s")
    yield Figure(name=f"{title}: an epoch, interquartile range", value=third - first, unit="s")
    if found.watts:
        watts = statistics.mean(found.watts)
        yield Figure(name=f"{title}: power, as the driver tells it", value=watts, unit="W")
        yield Figure(name=f"{title}: energy of an epoch", value=watts * median, unit="J")


def _predict_step(title: str, graph: LargeGraph) -> tuple[list[Figure], float]:
    """Figures of a step by the cycle model, and its seconds."""
    target, workload = target_of(_TARGET), graph.workload()
    step = predict(workload)
    energy = step_energy(step.work, mean_hops(workload), BOARD, external=target.external)
    seconds = target.seconds(step.cycles, BOARD)
    title = f"{title}, preset {target.preset}"
    shortages = ", and ".join(str(one).partition(":")[0] for one in step.shortages)
    does_not_fit = f", which does not fit: {shortages}" if shortages else ""
    return [
        Figure(name=f"{title}: predicted step{does_not_fit}", value=step.cycles, unit="cycles"),
        Figure(name=f"{title}: at {target.clock / 1e6:.0f} MHz, assumed", value=seconds, unit="s"),
        Figure(name=f"{title}: energy, an estimate without clock and leakage",
               value=sum(energy.values()), unit="J"),
    ], seconds
