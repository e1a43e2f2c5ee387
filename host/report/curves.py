"""Loss, and accuracy or F1, over the epochs."""

import math

from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter

from hypercast.host.report.drawing import SERIES, figure
from hypercast.host.report.folder import Run

__all__ = ["draw"]

_LOSSES = {"training, with dropout": "training_loss", "training": "train_loss",
           "validation": "validation_loss", "test": "test_loss"}
_SPLITS = {"training": "train", "validation": "validation", "test": "test"}
#: What predictions are measured by: name in the records, label of the axis.
_SCORES = {"accuracy": "vertices classified correctly",
           "micro_f1": "micro F1 of the labels predicted"}
_COLOURS = dict(zip(_LOSSES, SERIES[3:4] + SERIES[:3], strict=True))


def draw(run: Run) -> Figure:
    """Loss, and accuracy or F1, of each split after every epoch."""
    result, [[loss, score]] = figure(3.2, columns=2)
    kind = next(name for name in _SCORES if f"train_{name}" in run.epochs[0])
    scores = {label: f"{split}_{kind}" for label, split in _SPLITS.items()}
    epochs = [record["epoch"] + 1 for record in run.epochs]
    for axes, series in ((loss, _LOSSES), (score, scores)):
        for label, name in series.items():
            values = [math.nan if record[name] is None else record[name] for record in run.epochs]
            if not all(map(math.isnan, values)):
                axes.plot(epochs, values, color=_COLOURS[label], label=label,
                          marker="." if len(epochs) < 30 else None)
        axes.set_xlabel("epoch")
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.legend()
    loss.set(ylabel="cross-entropy [nats]", title="loss", ylim=(0, None))
    score.set(ylabel=_SCORES[kind], title=kind.replace("_f1", " F1"), ylim=(0, 1.02))
    score.yaxis.set_major_formatter(PercentFormatter(1))
    return result
