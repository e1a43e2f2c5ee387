"""Turns a sparse matrix into messages: send lists, edge streams, and their memory images.

``Z = A T`` is computed by every owner of a row of ``T`` sending it once to all cores that need it,
and every receiver adding it, times an edge weight, to rows of its own. Everything here takes time
linear in the number of edges. A weight that is too large for an element becomes several edges.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.sparse

from hypercast.host.compiler.images import Words
from hypercast.host.compiler.load import Load
from hypercast.host.compiler.packing import deal, pack_records
from hypercast.host.compiler.plane_choice import choose_planes
from hypercast.reference.array_types import IntArray, SparseArray
from hypercast.reference.edge_weights import edge_counts
from hypercast.rtl.config import Config
from hypercast.rtl.network import routing
from hypercast.rtl.placement import core_of, row_of

__all__ = ["Messages", "compile_messages", "relocate"]


@dataclass(frozen=True, kw_only=True)
class Messages:
    """Images of one aggregation over one strip of destination rows.

    Parameters
    ----------
    send_lists, edge_sets : list of numpy.ndarray
        For each core, (words, chunks) ``uint32``. Stream addresses are relative to the edge set.
    messages : int
        Flits injected.
    deliveries : int
        Flits ejected: the sum over messages of their destinations.
    edges : numpy.ndarray
        Edges accumulated by each core.
    load : Load
        What it asks of the busiest engines, links and channels.
    """

    send_lists: list[Words]
    edge_sets: list[Words]
    messages: int
    deliveries: int
    edges: IntArray
    load: Load


def compile_messages(matrix: SparseArray, config: Config, *, first_row: int = 0,
                     rows: int | None = None) -> Messages:
    """Compile ``Z = matrix @ T`` for destination rows ``first_row .. first_row + rows - 1``.

    Takes time linear in the strip's edges and the sources.

    Parameters
    ----------
    matrix : scipy.sparse array or matrix
        (targets, sources) integer mantissas, rows and columns in rank order.
    config : Config
        Configuration of the chip.
    first_row, rows : int
        Strip of local destination rows; all of them by default.
    """
    cores = config.cores
    sources = matrix.shape[1]
    edges = _edges_by_source(scipy.sparse.csr_array(matrix), first_row, rows, config)
    target = np.arange(edges.shape[0], dtype=np.int32)
    receiver = core_of(target + first_row * cores, cores).astype(np.int32)
    sender = core_of(np.arange(sources, dtype=np.int32), cores).astype(np.int32)
    destinations = _destinations(edges, receiver, sender, config)
    planes = choose_planes(sender, destinations, config)

    # The number of an edge's core and stream: bits of its source, changed by those of its target.
    counts = np.diff(edges.indptr)
    group = np.repeat((planes * cores + sender).astype(np.int32), counts)
    group ^= (receiver * (config.streams + 1))[edges.indices]
    edges = scipy.sparse.csr_array(
        (edges.data, group, edges.indptr), shape=(sources, cores * config.streams)).tocsc()
    sizes = np.diff(edges.indptr).reshape(cores, config.streams)
    return Messages(send_lists=_send_lists(destinations, planes, config),
                    edge_sets=_edge_sets(edges, config),
                    messages=int(np.count_nonzero(destinations)),
                    deliveries=int(np.bitwise_count(destinations).sum()), edges=sizes.sum(axis=1),
                    load=Load.of(sender, destinations, planes, sizes, config))


def _edges_by_source(matrix: SparseArray, first_row: int, rows: int | None,
                     config: Config) -> SparseArray:
    """A strip's edges as a CSC array of their records, but for the marks of last ones."""
    targets, sources = matrix.shape
    # Ranks are dealt row by row, so the strip of all cores is a slice of ranks.
    first = min(first_row * config.cores, targets)
    end = targets if rows is None else min((first_row + rows) * config.cores, targets)
    starts = matrix.indptr[first:end + 1]
    edges = slice(starts[0], starts[-1])
    row = row_of(np.arange(end - first, dtype=np.uint32), config.cores)
    weights, source, starts = _narrow(
        matrix.data[edges], matrix.indices[edges], starts - starts[0], config.element_width)
    records = np.repeat(row << 16, np.diff(starts))
    records |= weights.astype(np.uint32) & np.uint32((1 << config.element_width) - 1)
    return scipy.sparse.csr_array(
        (records, source, starts), shape=(end - first, sources)).tocsc()


def _narrow(weights: IntArray, indices: npt.NDArray[np.int32], starts: npt.NDArray[np.int32],
            width: int) -> tuple[IntArray, npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Data, indices and index pointers of a CSR array with elements of ``width`` bits that has
    several entries for each that does not fit one."""
    top = (1 << width - 1) - 1
    if (np.abs(weights) <= top).all():
        return weights, indices, starts
    counts = edge_counts(weights, width)
    ends = np.cumsum(counts)
    parts = np.repeat(np.sign(weights) * top, counts)
    parts[ends - 1] = weights - np.sign(weights) * top * (counts - 1)
    return (parts, np.repeat(indices, counts),
            np.concatenate([[0], ends])[starts].astype(starts.dtype))


def _destinations(edges: SparseArray, receiver: npt.NDArray[np.int32],
                  sender: npt.NDArray[np.int32], config: Config) -> npt.NDArray[np.uint64]:
    """Destinations of each source's message, relative to its core: (sources,) uint64."""
    destinations = np.zeros(edges.shape[1], dtype=f"u{max(8, config.cores) // 8}")
    sent = np.flatnonzero(np.diff(edges.indptr))
    if len(sent):
        bit = destinations.dtype.type(1) << receiver.astype(destinations.dtype)
        destinations[sent] = np.bitwise_or.reduceat(bit[edges.indices], edges.indptr[sent])
    for dimension in range(config.dimensions):
        across = routing.hop(destinations, dimension, config.dimensions)
        destinations = np.where(sender >> dimension & 1, across, destinations)
    return destinations.astype(np.uint64)


def _edge_sets(edges: SparseArray, config: Config) -> list[Words]:
    """Each core's edge set, stream addresses relative to it.

    Parameters
    ----------
    edges : (sources, cores * streams) scipy.sparse.csc_array
        Records in stream order.
    """
    records, source = edges.data, edges.indices
    last = np.ones(len(source), dtype=bool)
    np.not_equal(source[1:], source[:-1], out=last[:-1])
    ends = edges.indptr[1:]
    ends = ends[ends > 0] - 1
    last[ends] = True
    records |= last.astype(np.uint32) << 31
    records[ends] |= np.uint32(1 << 30)

    per_word = config.chunks
    sizes = np.diff(edges.indptr).reshape(config.cores, config.streams).astype(np.int64)
    words = -(-sizes // per_word)
    header = -(-(2 + 2 * config.streams) // per_word)
    starts = header + np.cumsum(words, axis=1) - words
    lengths = header + words.sum(axis=1)
    images = np.zeros((int(lengths.sum()), per_word), dtype="<u4")
    first = np.cumsum(lengths) - lengths
    # Records fill the images in order, but for headers and what is left of streams' last words.
    filled = np.ones(images.shape, dtype=bool)
    filled[first[:, None] + np.arange(header)] = False
    ended = np.flatnonzero(sizes % per_word)
    final = (first[:, None] + starts + words - 1).ravel()[ended]
    filled[final] = np.arange(per_word) < sizes.reshape(-1, 1)[ended] % per_word
    images[filled] = records
    edge_sets = np.split(images, first[1:])
    for core, edge_set in enumerate(edge_sets):
        head = edge_set.reshape(-1)
        head[0] = sizes[core].sum()
        head[2:2 + 2 * config.streams:2] = starts[core]
        head[3:3 + 2 * config.streams:2] = words[core]
    return edge_sets


def _send_lists(destinations: npt.NDArray[np.uint64], planes: IntArray,
                config: Config) -> list[Words]:
    """Each core's send list: destinations and plane of each local row."""
    width = np.dtype(f"<u{min(config.send_record_width, 64) // 8}")
    fields = [destinations, planes.astype(np.uint64)]
    if config.send_record_width <= 64:
        fields = [destinations | fields[1] << np.uint64(config.cores)]
    records = np.stack([field.astype(width) for field in fields], axis=1)
    return [pack_records(deal(records, core, config), config) for core in range(config.cores)]


def relocate(edge_set: Words, address: int, config: Config) -> Words:
    """The edge set as it has to look at ``address`` of a memory channel."""
    records = edge_set.copy().reshape(-1)
    records[2:2 + 2 * config.streams:2] += np.uint32(address)
    return records.reshape(edge_set.shape)
