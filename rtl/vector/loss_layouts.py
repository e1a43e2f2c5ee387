# SPDX-License-Identifier: BSD-2-Clause
"""Layouts of what the stages of LOSS hand on."""

from amaranth.hdl import signed, unsigned
from amaranth.lib import data

from hypercast.rtl.config import Config
from hypercast.rtl.isa import RECORD_WIDTH
from hypercast.rtl.limits import CLASSES, group_size

__all__ = [
    "EXPONENTIAL_WIDTH", "RECIPROCAL_WIDTH", "WEIGHT_WIDTH", "LabelRecord",
    "NormalizedRow", "RowLabel", "element_group", "exponential_group", "group_limit",
    "labelled_group", "maximum_row", "panel_limit", "summed_row",
]

#: Bits of an exponential, at most 1, with 16 fraction bits.
EXPONENTIAL_WIDTH = 17
#: Bits of the factor that makes a probability of an exponential.
RECIPROCAL_WIDTH = 18
#: Bits of a loss weight.
WEIGHT_WIDTH = RECORD_WIDTH


def panel_limit(config: Config) -> int:
    """Most panels a row of logits can have."""
    return CLASSES // config.lanes


def group_limit(config: Config) -> int:
    """Most groups a row of logits can have."""
    return CLASSES // group_size(config)


class LabelRecord(data.Struct):
    """A vertex's label in memory; ``split`` is an ``isa.Split``."""

    label: 13
    split: 2
    padding: 1


class RowLabel(data.Struct):
    """A row's label, split, and loss weight with 15 fraction bits."""

    label: 13
    split: 2
    weight: WEIGHT_WIDTH


def element_group(config: Config) -> data.ArrayLayout:
    """Layout: a group of logits or gradients."""
    return data.ArrayLayout(signed(config.element_width), group_size(config))


def labelled_group(config: Config) -> data.StructLayout:
    """Layout: a group of logits, and which of its classes the vertex has."""
    return data.StructLayout({
        "logits": element_group(config),
        "bits": unsigned(group_size(config)),
    })


def maximum_row(config: Config) -> data.StructLayout:
    """Layout: the row's largest logit, and whether its first one is the label's."""
    return data.StructLayout({
        "label": unsigned(13),
        "split": unsigned(2),
        "weight": unsigned(WEIGHT_WIDTH),
        "maximum": signed(config.element_width),
        "hit": unsigned(1),
    })


def exponential_group(config: Config) -> data.ArrayLayout:
    """Layout: a group of exponentials, and what is subtracted from their probabilities.

    ``own`` is high where one is subtracted: for the softmax, in the label's lane, for sigmoids,
    where the logit's sign is wrong. ``negative`` is high where the difference is to be negated.
    """
    return data.ArrayLayout(data.StructLayout({
        "power": unsigned(EXPONENTIAL_WIDTH),
        "own": unsigned(1),
        "negative": unsigned(1),
    }), group_size(config))


def summed_row(config: Config) -> data.StructLayout:
    """Layout: the sum of the row's exponentials, and the label's distance from the maximum.

    ``total`` has 16 fraction bits, and is at least 1; for sigmoids, it is the sum of their
    logarithms with 12 fraction bits. ``own`` is in bits, with 12 fraction bits, of sigmoids the sum
    of the logits with a wrong sign. ``correct`` and ``wrong`` are as in ``Metrics``.
    """
    return data.StructLayout({
        "split": unsigned(2),
        "weight": unsigned(WEIGHT_WIDTH),
        "correct": range(CLASSES + 1),
        "wrong": range(CLASSES + 1),
        "total": unsigned(26),
        "own": unsigned(config.element_width + 31),
    })


class NormalizedRow(data.Struct):
    """What turns a row's exponentials to weighted probabilities: ``(e * reciprocal) >> n``.

    Valid if ``trained``; otherwise the row's gradient is zero. Of sigmoids, ``reciprocal`` means
    nothing, and ``n`` is zero.
    """

    trained: 1
    weight: WEIGHT_WIDTH
    reciprocal: RECIPROCAL_WIDTH
    n: 4
