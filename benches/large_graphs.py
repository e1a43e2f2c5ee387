# SPDX-License-Identifier: BSD-2-Clause
"""Large graphs that people name, by their sizes, each with a GCN on the largest boards' preset."""

from typing import NamedTuple

from hypercast.host.cycle_model.default_orders import default_orders
from hypercast.host.cycle_model.workload import Workload
from hypercast.reference.network import Network
from hypercast.rtl.config import PRESETS

__all__ = ["BOARD", "LARGE_GRAPHS", "LargeGraph"]

#: Preset ``vcu128``. A channel is a pseudo-channel of HBM: 256 MiB, and a word has 32 bytes.
BOARD = PRESETS["vcu128"].replace(channel_words=1 << 23)


class LargeGraph(NamedTuple):
    """A graph by its sizes, and the layers of the GCN that is trained on it.

    Attributes
    ----------
    vertices : int
        Vertices.
    entries : int
        Entries of the adjacency matrix, as ``hypercast model --edges`` takes them.
    widths : tuple of int
        Features of the input and of each layer's output, the last of which are classes.
    """

    vertices: int
    entries: int
    widths: tuple[int, ...]

    def workload(self) -> Workload:
        """A step on ``BOARD``, by expected values of a power law, in the default orders."""
        vertices = [self.vertices] * len(self.widths)
        entries = [self.entries] * (len(self.widths) - 1)
        network = default_orders(
            Network.of_widths(self.widths), vertices, entries, BOARD.element_width)
        return Workload.of_statistics(vertices, entries, network, BOARD)


LARGE_GRAPHS = {
    "Flickr": LargeGraph(89_250, 899_756, (500, 128, 7)),
    "ogbn-arxiv": LargeGraph(169_343, 2_315_598, (128, 256, 40)),
    "Reddit": LargeGraph(232_965, 23_446_803, (602, 128, 41)),
    "Yelp": LargeGraph(716_847, 13_954_819, (300, 128, 100)),
    "ogbn-products": LargeGraph(2_449_029, 126_167_309, (100, 256, 47)),
}
