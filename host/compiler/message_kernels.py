"""The hot loops of the compilation of messages, compiled; ``messages`` says what they are for.

First, entries are put into buckets of 4,096 sources, so that what follows stays in a processor's
cache however large the matrix is. Then each source learns its destinations. With planes chosen,
entries are sorted by their source (a counting sort), and those of streams are counted. At last each
goes to the end of its stream, from the last source to the first.

An entry is a word: 32 bits of weight, 12 bits of its source's number in the bucket, and 20 bits of
its target's number in the strip.
"""

import numpy as np
import numpy.typing as npt

from hypercast.reference.array_types import IntArray
from hypercast.reference.kernels import kernel

__all__ = ["BUCKET", "fill_buckets", "find_destinations", "sort_entries", "write_records",
           "write_send_lists"]

#: Sources of a bucket.
BUCKET = 1 << 12


@kernel("void(in1(int64), in1(int32), in1(int64), int64[::1], uint64[::1])")
def fill_buckets(starts: IntArray, sources: npt.NDArray[np.int32], weights: IntArray,
                 ends: IntArray, entries: npt.NDArray[np.uint64]) -> None:
    """Put the entries of a strip into buckets, target by target.

    Parameters
    ----------
    starts : (targets + 1,) array of int64
        Where the entries of each target of the strip start.
    sources : (entries,) array of int32
        Source of each.
    weights : (entries,) array of int64
        Mantissas of 32 bits.
    ends : (buckets,) array of int64
        Zeros; gets where the entries of each bucket end.
    entries : (entries of the strip,) array of uint64
        Gets them, bucket by bucket.
    """
    for entry in range(starts[0], starts[-1]):
        ends[sources[entry] >> 12] += 1
    before = np.int64(0)
    for bucket in range(len(ends)):
        count = ends[bucket]
        ends[bucket] = before
        before += count
    for target in range(len(starts) - 1):
        for entry in range(starts[target], starts[target + 1]):
            source = sources[entry]
            place = ends[source >> 12]
            ends[source >> 12] = place + 1
            entries[place] = (target << 12 | source & 0xFFF) << 32 | weights[entry] & 0xFFFFFFFF


@kernel("void(in1(uint64), in1(int64), int64, int64, uint64[::1])")
def find_destinations(entries: npt.NDArray[np.uint64], ends: IntArray, first: int, cores: int,
                      destinations: npt.NDArray[np.uint64]) -> None:
    """Find which cores need each source.

    Parameters
    ----------
    entries, ends
        As of ``fill_buckets``, after it.
    first : int
        Rank of the strip's first target.
    cores : int
        Cores.
    destinations : (sources,) array of uint64
        Zeros; gets a bit for each core that needs it, relative to its own.
    """
    shift, before = np.int64(np.log2(cores)), np.int64(0)
    for bucket in range(len(ends)):
        for place in range(before, ends[bucket]):
            entry = np.int64(entries[place] >> np.uint64(32))
            source, rank = bucket << 12 | entry & 0xFFF, first + (entry >> 12)
            # ``placement.core_of``.
            sender = (source ^ -(source >> shift & 1)) & (cores - 1)
            receiver = (rank ^ -(rank >> shift & 1)) & (cores - 1)
            destinations[source] |= np.uint64(1) << np.uint64(receiver ^ sender)
        before = ends[bucket]


@kernel("void(in1(uint64), in1(int64), int64, int64, int64, int64, in1(uint8), uint64[::1], "
        "int64[::1], int64[::1])")
def sort_entries(entries: npt.NDArray[np.uint64], bucket_ends: IntArray, first: int, cores: int,
                 streams: int, top: int, planes: npt.NDArray[np.uint8],
                 ordered: npt.NDArray[np.uint64], ends: IntArray, sizes: IntArray) -> None:
    """Sort entries by their source, those of a source by their target, and count those of streams.

    Parameters
    ----------
    entries, bucket_ends, first, cores
        As of ``find_destinations``.
    streams : int
        Edge streams of a core.
    top : int
        Largest weight of an edge; larger ones are several edges.
    planes : (sources,) array of uint8
        Plane of each source's message.
    ordered : (entries of the strip,) array of uint64
        Gets them in order.
    ends : (sources,) array of int64
        Gets where the entries of each source end.
    sizes : (cores * streams,) array of int64
        Zeros; gets how many edges each stream has.
    """
    shift, before = np.int64(np.log2(cores)), 0
    counts = np.zeros(4096, dtype=np.int64)
    for bucket in range(len(bucket_ends)):
        counts[:] = 0
        for place in range(before, bucket_ends[bucket]):
            entry = np.int64(entries[place] >> np.uint64(32))
            weight = np.int64(np.int32(entries[place] & np.uint64(0xFFFFFFFF)))
            source, rank = bucket << 12 | entry & 0xFFF, first + (entry >> 12)
            sender = (source ^ -(source >> shift & 1)) & (cores - 1)
            receiver = (rank ^ -(rank >> shift & 1)) & (cores - 1)
            edges = 1 if abs(weight) <= top else (abs(weight) + top - 1) // top
            sizes[receiver * streams + planes[source] * cores + (receiver ^ sender)] += edges
            counts[entry & 0xFFF] += 1
        start = before
        for number in range(min(4096, len(ends) - (bucket << 12))):
            start += int(counts[number])
            ends[bucket << 12 | number] = start
            counts[number] = start - counts[number]
        for place in range(before, bucket_ends[bucket]):
            local = np.int64(entries[place] >> np.uint64(32)) & 0xFFF
            ordered[counts[local]] = entries[place]
            counts[local] += 1
        before = int(bucket_ends[bucket])


@kernel("void(in1(uint64), in1(int64), in1(uint8), int64, int64, int64, int64, int64, "
        "int64[::1], uint32[::1])")
def write_records(ordered: npt.NDArray[np.uint64], ends: IntArray, planes: npt.NDArray[np.uint8],
                  first: int, cores: int, streams: int, width: int, top: int, places: IntArray,
                  image: npt.NDArray[np.uint32]) -> None:
    """Write all edges of a strip, from the last one to the first.

    Parameters
    ----------
    ordered, ends, planes, first, cores, streams, top
        As of ``sort_entries``, after it.
    width : int
        Bits of an element.
    places : (cores * streams,) array of int64
        Where each stream ends in the image; becomes where it starts.
    image : (records,) array of uint32
        Gets the edges of all cores. A source's last edge in a stream is marked.
    """
    shift, mask = np.int64(np.log2(cores)), np.int64((1 << width) - 1)
    for source in range(len(ends) - 1, -1, -1):
        sender = (source ^ -(source >> shift & 1)) & (cores - 1)
        plane = np.int64(planes[source]) * cores
        seen = np.uint64(0)
        for entry in range(ends[source] - 1, (ends[source - 1] if source else 0) - 1, -1):
            target = np.int64(ordered[entry] >> np.uint64(44))
            weight = np.int64(np.int32(ordered[entry] & np.uint64(0xFFFFFFFF)))
            rank = first + target
            receiver = (rank ^ -(rank >> shift & 1)) & (cores - 1)
            bit = np.uint64(1) << np.uint64(receiver)
            record = (target >> shift) << 16
            stream = receiver * streams + plane + (receiver ^ sender)
            place = places[stream] - 1
            last = 0 if seen & bit else 1 << 31
            seen |= bit
            if abs(weight) > top:
                sign = 1 if weight > 0 else -1
                while abs(weight) > top:  # the rest comes last
                    weight -= sign * top
                    place -= 1
                    image[place] |= record | sign * top & mask
                image[places[stream] - 1] |= record | weight & mask | last
            else:
                image[place] |= record | weight & mask | last
            places[stream] = place


@kernel("void(in1(uint64), in1(uint8), int64, int64, uint32[:, ::1])")
def write_send_lists(destinations: npt.NDArray[np.uint64], planes: npt.NDArray[np.uint8],
                     cores: int, chunks: int, lists: npt.NDArray[np.uint32]) -> None:
    """Write the send lists of all cores.

    Parameters
    ----------
    destinations : (sources,) array of uint64
        Destinations of each, relative to its core.
    planes : (sources,) array of uint8
        Plane of its message.
    cores : int
        Cores.
    chunks : int
        32-bit parts of a record.
    lists : (cores, rows * chunks or more) array of uint32
        Zeros; gets destinations, and above them the plane.
    """
    shift = np.int64(np.log2(cores))
    for source in range(len(destinations)):
        core = (source ^ -(source >> shift & 1)) & (cores - 1)
        place = (source >> shift) * chunks
        record, plane = destinations[source], np.uint64(planes[source])
        if cores < 64:
            record |= plane << np.uint64(cores)
        else:
            lists[core, place + 2] = plane
        lists[core, place] = record & np.uint64(0xFFFFFFFF)
        if chunks > 1:
            lists[core, place + 1] = record >> np.uint64(32)
