# SPDX-License-Identifier: BSD-2-Clause
"""What the left operand of the array consists of."""

from amaranth.lib import data

from hypercast.rtl.config import Config

__all__ = ["left_word"]


def left_word(config: Config) -> data.StructLayout:
    """Layout of a left operand's word, of local row ``row``.

    ``last`` marks the last word of a panel.
    """
    return data.StructLayout({
        "word": config.data_width, "row": range(config.channel_words), "last": 1})
