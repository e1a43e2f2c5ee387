# SPDX-License-Identifier: BSD-2-Clause
"""Loss, and accuracy or F1, over the epochs, as a figure."""

import io
import math
from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter

__all__ = ["Curves", "draw_curves"]

#: Label of each curve, what records call it, and its colour.
_LOSSES = {"training, with dropout": ("training_loss", "#a874c8"),
           "training": ("train_loss", "#3d8bd4"),
           "validation": ("validation_loss", "#d4623d"), "test": ("test_loss", "#3fa66b")}
#: What predictions are measured by: name in the records, label of the axis.
_SCORES = {"accuracy": "vertices classified correctly",
           "micro_f1": "micro F1 of the labels predicted"}
_SIZE = (9.6, 3.2)
#: Fewer epochs than these are marked each.
_FEW = 30


class Curves(Figure):
    """Loss, and accuracy or F1, of each split after every epoch; notebooks show it.

    Parameters
    ----------
    records : sequence of dict
        At least one, each of an epoch, as in ``Trainer.history``.
    """

    def __init__(self, records: Sequence[Mapping[str, Any]]) -> None:
        super().__init__(figsize=_SIZE, layout="constrained")
        loss, score = self.subplots(1, 2)
        draw_curves(records, loss, score)

    def _repr_png_(self) -> bytes:
        """The picture for notebooks, also where matplotlib's backend for them is not set up."""
        content = io.BytesIO()
        self.savefig(content, format="png")
        return content.getvalue()


def draw_curves(records: Sequence[Mapping[str, Any]], loss: Axes, score: Axes) -> None:
    """Draw loss, and accuracy or F1, of each split after every epoch.

    Parameters
    ----------
    records : sequence of dict
        At least one, each of an epoch.
    loss, score : matplotlib.axes.Axes
        What to draw on.
    """
    kind = next(name for name in _SCORES if f"train_{name}" in records[0])
    scores = {label: (name.replace("loss", kind), colour)
              for label, (name, colour) in _LOSSES.items() if name != "training_loss"}
    epochs = [record["epoch"] + 1 for record in records]
    for axes, series in ((loss, _LOSSES), (score, scores)):
        for label, (name, colour) in series.items():
            values = [math.nan if record[name] is None else record[name] for record in records]
            if not all(map(math.isnan, values)):
                axes.plot(epochs, values, color=colour, label=label,
                          marker="." if len(epochs) < _FEW else None)
        axes.set_xlabel("epoch")
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.legend()
    loss.set(ylabel="cross-entropy [nats]", title="loss", ylim=(0, None))
    score.set(ylabel=_SCORES[kind], title=kind.replace("_f1", " F1"), ylim=(0, 1.02))
    score.yaxis.set_major_formatter(PercentFormatter(1))
