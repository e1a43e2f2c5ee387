# SPDX-License-Identifier: BSD-2-Clause
"""Send lists: for each row of a core, the cores that need it and the plane of its flit."""

import numpy as np
import numpy.typing as npt

from hypercast.host.compiler.images import Words
from hypercast.host.compiler.message_kernels import write_send_lists
from hypercast.host.compiler.network_loads import Integers
from hypercast.rtl.config import Config

__all__ = ["make_send_lists", "read_send_list"]

#: The bits of a plane; above them is what ``resident_rows`` writes.
_PLANE = 3


def make_send_lists(destinations: npt.NDArray[np.uint64], planes: npt.NDArray[np.uint8],
                    config: Config) -> list[Words]:
    """Each core's send list: destinations and plane of each local row."""
    cores, record, chunks = config.cores, config.send_record_width // 32, config.chunks
    most = -(-len(destinations) // cores)
    lists = np.zeros((cores, -(-most * record // chunks), chunks), dtype="<u4")
    rows = np.empty(cores, dtype=np.int64)
    write_send_lists(destinations, planes, cores, record, rows, lists.reshape(cores, -1))
    return [records[:-(-count * record // chunks)]
            for records, count in zip(lists, rows.tolist(), strict=True)]


def read_send_list(words: Words, rows: int, config: Config) -> tuple[Integers, Integers]:
    """Destinations and planes of the rows of a send list."""
    width = min(config.send_record_width, 64)
    parts = words.reshape(-1).view(f"<u{width // 8}").reshape(
        -1, config.send_record_width // width)[:rows]
    if parts.shape[1] == 2:
        return parts[:, 0], parts[:, 1].astype(np.int64) & _PLANE
    records = parts[:, 0].astype(np.uint64)
    return (records & np.uint64((1 << config.cores) - 1),
            (records >> np.uint64(config.cores)).astype(np.int64) & _PLANE)
