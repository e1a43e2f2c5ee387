"""Loss and accuracy over the epochs."""

import math

from matplotlib.ticker import MaxNLocator, PercentFormatter

from hypercast.host.report.drawing import SERIES, figure

__all__ = ["draw"]

_LOSSES = {"training, with dropout": "training_loss", "training": "train_loss",
           "validation": "validation_loss", "test": "test_loss"}
_ACCURACIES = {"training": "train_accuracy", "validation": "validation_accuracy",
               "test": "test_accuracy"}
_COLOURS = dict(zip(_LOSSES, SERIES[3:4] + SERIES[:3], strict=True))


def draw(run):
    """Loss and accuracy of each split after every epoch."""
    result, [[loss, accuracy]] = figure(3.2, columns=2)
    epochs = [record["epoch"] + 1 for record in run.epochs]
    for axes, series in ((loss, _LOSSES), (accuracy, _ACCURACIES)):
        for label, name in series.items():
            values = [math.nan if record[name] is None else record[name] for record in run.epochs]
            if not all(map(math.isnan, values)):
                axes.plot(epochs, values, color=_COLOURS[label], label=label,
                          marker="." if len(epochs) < 30 else None)
        axes.set_xlabel("epoch")
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.legend()
    loss.set(ylabel="cross-entropy [nats]", title="loss", ylim=(0, None))
    accuracy.set(ylabel="vertices classified correctly", title="accuracy", ylim=(0, 1.02))
    accuracy.yaxis.set_major_formatter(PercentFormatter(1))
    return result
