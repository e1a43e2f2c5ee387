# SPDX-License-Identifier: BSD-2-Clause
"""The list of a device's vertices: what dropout hashes where others have rows of the same matrices.
"""

from collections.abc import Sequence

from hypercast.host.compiler.images import Image
from hypercast.host.compiler.memory_map import RANKS
from hypercast.host.compiler.packing import deal, pack_records
from hypercast.reference.array_types import IntArray
from hypercast.rtl.config import Config

__all__ = ["fill_ranks"]


def fill_ranks(ranks: IntArray, images: Sequence[Image], config: Config) -> None:
    """Append the list to every core's image.

    Parameters
    ----------
    ranks : (V,) array of int
        Rank of each row's vertex.
    images : sequence
        Initial memory contents of each core.
    config : Config
        Configuration of the chip.
    """
    for core, image in enumerate(images):
        image.append((RANKS, pack_records(deal(ranks, core, config).astype("<u4"), config)))
