"""What is measured of a model on each split of a graph, by name."""

from hypercast.host.graphs.graph import Graph
from hypercast.host.training.metrics import f1
from hypercast.reference.array_types import BoolArray, IntArray
from hypercast.reference.metrics import Metrics
from hypercast.rtl.isa import Split

__all__ = ["macro_f1", "measures"]

_SPLITS = (Split.TRAIN, Split.VALIDATION, Split.TEST)


def measures(metrics: Metrics, several: bool) -> dict[str, float | None]:
    """Loss of each split, and accuracy or, of ``several`` labels, micro F1; None if it is empty."""
    found = {}
    for split in _SPLITS:
        name = split.name.lower()
        found[f"{name}_loss"] = metrics.mean_loss(split)
        if several:
            found[f"{name}_micro_f1"] = metrics.micro_f1(split)
        else:
            found[f"{name}_accuracy"] = metrics.accuracy(split)
    return {name: None if value != value else value for name, value in found.items()}


def macro_f1(predicted: IntArray | BoolArray, graph: Graph) -> dict[str, float | None]:
    """Macro F1 of each split of a graph with several labels per vertex; None if it is empty."""
    rows = {split: graph.splits == split for split in _SPLITS}
    return {f"{split.name.lower()}_macro_f1": f1(predicted[own], graph.labels[own]).macro
            if own.any() else None for split, own in rows.items()}
