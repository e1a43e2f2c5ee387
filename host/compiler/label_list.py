# SPDX-License-Identifier: BSD-2-Clause
"""The list of labels and loss weights in memory, which LOSS reads together with the logits."""

from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np

from hypercast.host.compiler.images import Image, Words
from hypercast.host.compiler.memory_map import LABELS
from hypercast.host.compiler.packing import deal, pack_records
from hypercast.reference.array_types import BoolArray, IntArray
from hypercast.reference.initial_model import InitialModel
from hypercast.reference.recipe import BINARY_CROSS_ENTROPY
from hypercast.reference.sample import Sample
from hypercast.rtl.config import Config
from hypercast.rtl.isa import LOSS_WEIGHT_ONE

__all__ = ["LabelFormat", "fill_labels", "label_words"]


class LabelFormat(NamedTuple):
    """The list's format for each vertex, in addition to its label record.

    Attributes
    ----------
    sigmoid : bool
        Several labels, a bit for each class.
    weighted : bool
        A loss weight.
    """

    sigmoid: bool = False
    weighted: bool = False

    @classmethod
    def of(cls, model: InitialModel, *, several_samples: bool = False) -> Self:
        """The format of a model's labels; without weights if all are one, in all samples."""
        weights = model.sample.loss_weights
        return cls(sigmoid=model.recipe.loss == BINARY_CROSS_ENTROPY,
                   weighted=several_samples or bool(np.any(weights != LOSS_WEIGHT_ONE)))

    def records(self, classes: int, config: Config) -> int:
        """Records of a vertex, of ``RECORD_WIDTH`` bits."""
        return 1 + self.weighted + (-(-classes // config.lanes) if self.sigmoid else 0)


def fill_labels(sample: Sample, layout: LabelFormat, images: Sequence[Image],
                config: Config) -> None:
    """Append the list to every core's image."""
    for core, image in enumerate(images):
        image.append((LABELS, label_words(sample, layout, core, config)))


def label_words(sample: Sample, layout: LabelFormat, core: int, config: Config) -> Words:
    """The list of a core, see ``docs/blocks.md``.

    Parameters
    ----------
    sample : Sample
        Has labels, splits and loss weights.
    layout : LabelFormat
        What of it is in the list.
    core : int
        Core.
    config : Config
        Configuration of the chip.

    Returns
    -------
    numpy.ndarray
        (words, chunks) ``uint32``.
    """
    if layout.sigmoid:
        records = [sample.splits[:, None] << 13]
    else:
        known = sample.labels >= 0
        records = [(np.where(known, sample.labels, 0) | sample.splits * known << 13)[:, None]]
    if layout.weighted:
        records.append(sample.loss_weights[:, None])
    if layout.sigmoid:
        records.append(_label_bits(sample.labels, config))
    parts = [deal(part, core, config).astype("<u2") for part in records]
    blocks = [pack_records(part[first:first + config.info_rows], config)
              for first in range(0, len(parts[0]), config.info_rows) for part in parts]
    return np.concatenate([pack_records(np.zeros(0, "<u2"), config), *blocks])


def _label_bits(labels: IntArray | BoolArray, config: Config) -> IntArray:
    """(V, panels) records with a bit for each lane."""
    vertices, classes = labels.shape
    padded = np.zeros((vertices, -(-classes // config.lanes), config.lanes), dtype=np.int64)
    padded.reshape(vertices, -1)[:, :classes] = labels
    bits: IntArray = (padded << np.arange(config.lanes)).sum(axis=2)
    return bits
