"""Chooses the plane of each message, so that links and ejection ports share the load.

The messages are known in advance, and the cores send at about the same rate, so the compiler knows
roughly which are under way together. It goes through them in that order and gives each the plane
whose links and ejection ports were used least of late, unless taking the planes in turn is nearly
as good. All arithmetic is in integers: the choice is the same on every machine.
"""

import numpy as np

from hypercast.rtl.network import routing

__all__ = ["choose_planes"]

#: Messages of one core that are placed at the same time, without regard to each other.
_ROUND = 4
#: Load of one flit.
_FLIT = 64
#: What a round leaves of the loads before it, in 16ths.
_MEMORY = 13
#: How much the plane whose turn it is may be worse, per link, in flits.
_TURN = 2
#: Messages prepared at a time; bounds the memory taken.
_BATCH = 1 << 14


def choose_planes(source, mask, config):
    """The plane of each message. Takes time linear in their number.

    Parameters
    ----------
    source : (M,) array of int
        Sending core; each sends its messages in this order.
    mask : (M,) array of uint64
        Destinations relative to it; a message without any takes no turn and gets plane 0.
    config : Config
        Configuration of the chip.

    Returns
    -------
    numpy.ndarray
        (M,) int64, 0 to ``config.planes - 1``.
    """
    planes = np.zeros(len(source), dtype=np.int64)
    sent = np.flatnonzero(mask)
    if config.planes == 1 or not len(sent):
        return planes
    source, mask = source[sent].astype(np.int64), mask[sent].astype(np.uint64)
    position = _positions(source, config.cores)
    # A message's rounds come together; what is in a round is in no particular order.
    order = np.argsort(position // _ROUND, kind="stable")
    turn = (position + source) % config.planes
    starts = np.searchsorted((position // _ROUND)[order], np.arange(position.max() // _ROUND + 2))
    loads = _Loads(config)
    chosen = np.empty(len(sent), dtype=np.int64)
    for first, last in _batches(starts):
        batch = order[starts[first]:starts[last]]
        place, used = loads.flits(source[batch], mask[batch])
        for begin, end in zip(starts[first:last], starts[first + 1:last + 1], strict=True):
            part = slice(begin - starts[first], end - starts[first])
            own = order[begin:end]
            chosen[own] = loads.place(place[part], used[part], turn[own])
    planes[sent] = chosen
    return planes


def _positions(source, cores):
    """Each message's number among those of its core."""
    order = np.argsort(source, kind="stable")
    counts = np.bincount(source, minlength=cores)
    position = np.empty(len(source), dtype=np.int64)
    position[order] = np.arange(len(source)) - np.repeat(np.cumsum(counts) - counts, counts)
    return position


def _batches(starts):
    """Runs of rounds (first, last) with up to about ``_BATCH`` messages each."""
    first = 0
    while first < len(starts) - 1:
        last = max(first + 1, int(np.searchsorted(starts, starts[first] + _BATCH, "right")) - 1)
        yield first, last
        first = last


class _Loads:
    """How much every link and ejection port was used of late."""

    def __init__(self, config):
        self._config = config
        cores, dimensions = config.cores, config.dimensions
        trees = [routing.broadcast_links(plane, dimensions) for plane in range(config.planes)]
        # Places are numbered: first all links, then all ejection ports. A message uses, in a plane,
        # some of ``_sender * dimensions + _dimension`` and of its destinations' ports.
        self._loads = np.zeros(cores * (dimensions + config.eject), dtype=np.int64)
        self._links = len(trees[0])
        self._sender = np.array([[link[0] for link in tree] for tree in trees], dtype=np.int64)
        self._dimension = np.array([[link[1] for link in tree] for tree in trees], dtype=np.int64)
        self._beyond = np.array([[link[2] for link in tree] for tree in trees], dtype=np.uint64)

    def flits(self, source, mask):
        """For messages and each plane: the places, and which of them are used.

        Returns
        -------
        place, used : (M, planes, links + cores) numpy.ndarray
            Of int64 and bool.
        """
        config = self._config
        links = ((source[:, None, None] ^ self._sender) * config.dimensions + self._dimension)
        over = mask[:, None, None] & self._beyond != 0
        relative = np.arange(config.cores)
        port = np.arange(config.planes) % config.eject + config.cores * config.dimensions
        ports = (source[:, None, None] ^ relative) * config.eject + port[:, None]
        arrives = mask[:, None, None] >> relative.astype(np.uint64) & np.uint64(1) != 0
        arrives = np.broadcast_to(arrives, ports.shape)
        return np.concatenate([links, ports], axis=2), np.concatenate([over, arrives], axis=2)

    def place(self, place, used, turn):
        """Planes for the messages of one round, whose ``turn`` is known."""
        config = self._config
        self._loads = self._loads * _MEMORY >> 4
        cost = ((2 * self._loads[place] + _FLIT) * used).sum(axis=2)
        rows = np.arange(len(turn))
        cost[rows, turn] -= _TURN * _FLIT * used[rows, turn, :self._links].sum(axis=1)
        # Of equally good planes the first one from ``turn`` on.
        rotated = (turn[:, None] + np.arange(config.planes)) % config.planes
        best = rotated[rows, np.take_along_axis(cost, rotated, axis=1).argmin(axis=1)]
        self._loads += _FLIT * np.bincount(
            place[rows, best][used[rows, best]], minlength=len(self._loads))
        return best
