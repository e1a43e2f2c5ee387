"""What the stages of LOSS hand on, one payload per row."""

from amaranth.hdl import signed, unsigned
from amaranth.lib import data

from hypercast.rtl.config import Config

__all__ = ["CLASSES", "LabelRecord", "NormalizedRow", "maximum_row", "panel_limit", "summed_row"]

#: Most classes a row can have.
CLASSES = 512


def panel_limit(config: Config):
    """Most panels a row of logits can have."""
    return CLASSES // config.lanes


class LabelRecord(data.Struct):
    """A vertex's label as it is in memory. ``split`` is ``isa.Split``."""

    label: 13
    split: 2
    padding: 1


def maximum_row(config):
    """Layout: the row's largest logit, and whether its first one is the label's."""
    return data.StructLayout({
        "label": unsigned(13),
        "split": unsigned(2),
        "maximum": signed(config.element_width),
        "hit": unsigned(1),
    })


def summed_row(config):
    """Layout: the sum of the row's exponentials, and the label's distance from the maximum.

    ``total`` has 16 fraction bits, and is at least 1. ``own`` is in bits, with 12 fraction bits.
    """
    return data.StructLayout({
        "label": unsigned(13),
        "split": unsigned(2),
        "hit": unsigned(1),
        "total": unsigned(26),
        "own": unsigned(config.element_width + 23),
    })


class NormalizedRow(data.Struct):
    """What turns a row's exponentials to probabilities: ``(e * reciprocal) >> n``.

    Valid if ``trained``; otherwise the row's gradient is zero.
    """

    label: 13
    trained: 1
    reciprocal: 18
    n: 4
