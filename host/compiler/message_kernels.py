# SPDX-License-Identifier: BSD-2-Clause
"""The hot loops of the compilation of messages, compiled; ``messages`` says what they are for.

First, entries are put into buckets of 4,096 sources, so that later passes stay in a processor's
cache however large the matrix is. Then the entries of a bucket are sorted by their source (a
counting sort), and each source learns its destinations. With planes chosen, the edges of streams
are counted. At last each goes to the end of its stream, from the last source to the first.

An entry is a word: 32 bits of weight, 12 bits of its source's number in the bucket, and 20 bits of
its target's number in the strip.

Places are unsigned, as numba takes a signed one for what may count from the end.
"""

import numpy as np
import numpy.typing as npt
from numpy import uint64

from hypercast.reference.array_types import IntArray
from hypercast.reference.kernels import kernel

__all__ = ["BUCKET", "count_edges", "fill_buckets", "sort_entries", "write_headers",
           "write_records", "write_send_lists"]

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
    if len(ends) == 1:
        ends[0] = starts[-1] - starts[0]
    else:
        for entry in range(starts[0], starts[-1]):
            ends[uint64(sources[uint64(entry)]) >> uint64(12)] += 1
    before = np.int64(0)
    for bucket in range(len(ends)):
        count = ends[bucket]
        ends[bucket] = before
        before += count
    for target in range(len(starts) - 1):
        for entry in range(starts[target], starts[target + 1]):
            source = uint64(sources[uint64(entry)])
            place = ends[source >> uint64(12)]
            ends[source >> uint64(12)] = place + 1
            entries[uint64(place)] = (
                (uint64(target) << uint64(12) | source & uint64(0xFFF)) << uint64(32)
                | uint64(weights[uint64(entry)]) & uint64(0xFFFFFFFF))


@kernel("void(uint64[::1], in1(int64), int64, int64, uint64[::1], int64[::1])")
def sort_entries(entries: npt.NDArray[np.uint64], bucket_ends: IntArray, first: int, cores: int,
                 destinations: npt.NDArray[np.uint64], ends: IntArray) -> None:
    """Sort entries by source, then target, and find the destinations of each source.

    Parameters
    ----------
    entries, bucket_ends
        As of ``fill_buckets``, after it. The entries are put in order.
    first : int
        Rank of the strip's first target.
    cores : int
        Cores.
    destinations : (sources,) array of uint64
        Zeros; gets a bit for each core that needs the source, relative to its own.
    ends : (sources,) array of int64
        Gets where the entries of each source end.
    """
    shift, low, one = uint64(np.log2(cores)), uint64(cores - 1), uint64(1)
    largest, before = np.int64(0), np.int64(0)
    for bucket in range(len(bucket_ends)):
        largest = max(largest, bucket_ends[bucket] - before)
        before = bucket_ends[bucket]
    ordered = np.empty(largest, dtype=np.uint64)
    places = np.zeros(4096, dtype=np.uint64)
    before = np.int64(0)
    for bucket in range(len(bucket_ends)):
        places[:] = 0
        for place in range(before, bucket_ends[bucket]):
            entry = entries[uint64(place)] >> uint64(32)
            source = uint64(bucket) << uint64(12) | entry & uint64(0xFFF)
            rank = uint64(first) + (entry >> uint64(12))
            # ``placement.core_of``.
            sender = (source ^ -(source >> shift & one)) & low
            receiver = (rank ^ -(rank >> shift & one)) & low
            destinations[source] |= one << (receiver ^ sender)
            places[entry & uint64(0xFFF)] += one
        end = uint64(0)
        for number in range(min(4096, len(ends) - (bucket << 12))):
            start = end
            end += places[number]
            places[number] = start
            ends[bucket << 12 | number] = before + np.int64(end)
        for place in range(before, bucket_ends[bucket]):
            word = entries[uint64(place)]
            local = word >> uint64(32) & uint64(0xFFF)
            ordered[places[local]] = word
            places[local] += one
        for place in range(bucket_ends[bucket] - before):
            entries[uint64(before + place)] = ordered[uint64(place)]
        before = bucket_ends[bucket]


@kernel("void(in1(uint64), in1(int64), int64, int64, int64, int64, in1(uint8), int64[::1])")
def count_edges(entries: npt.NDArray[np.uint64], bucket_ends: IntArray, first: int, cores: int,
                streams: int, top: int, planes: npt.NDArray[np.uint8], sizes: IntArray) -> None:
    """Count the edges of streams.

    Parameters
    ----------
    entries, bucket_ends, first, cores
        As of ``sort_entries``, after it.
    streams : int
        Edge streams of a core.
    top : int
        Largest weight of an edge; larger ones are several edges.
    planes : (sources,) array of uint8
        Plane of each source's message.
    sizes : (cores * streams,) array of int64
        Zeros; gets how many edges each stream has.
    """
    shift, low, one = uint64(np.log2(cores)), uint64(cores - 1), uint64(1)
    before = np.int64(0)
    for bucket in range(len(bucket_ends)):
        for place in range(before, bucket_ends[bucket]):
            entry = entries[uint64(place)] >> uint64(32)
            weight = np.int64(np.int32(entries[uint64(place)] & uint64(0xFFFFFFFF)))
            source = uint64(bucket) << uint64(12) | entry & uint64(0xFFF)
            rank = uint64(first) + (entry >> uint64(12))
            sender = (source ^ -(source >> shift & one)) & low
            receiver = (rank ^ -(rank >> shift & one)) & low
            stream = (receiver * uint64(streams) + uint64(planes[source]) * uint64(cores)
                      + (receiver ^ sender))
            sizes[stream] += 1 if abs(weight) <= top else (abs(weight) + top - 1) // top
        before = bucket_ends[bucket]


@kernel("void(in2(int64), int64, int64[::1], int64[::1], uint32[:, ::1])")
def write_headers(sizes: IntArray, header: int, starts: IntArray, ends: IntArray,
                  images: npt.NDArray[np.uint32]) -> None:
    """Write the headers of all cores' edge sets, which follow one another.

    Parameters
    ----------
    sizes : (cores, streams) array of int64
        Edges of each stream.
    header : int
        Words of a header.
    starts : (cores,) array of int64
        Gets the first word of each core's edge set.
    ends : (cores * streams,) array of int64
        Gets where the edges of each stream end, in records.
    images : (words, chunks) array of uint32
        Zeros; gets the headers.
    """
    cores, streams = sizes.shape
    chunks = images.shape[1]
    start = np.int64(0)
    for core in range(cores):
        starts[core] = start
        edges, words = np.int64(0), header
        for stream in range(streams):
            size = sizes[core, stream]
            count = (size + chunks - 1) // chunks
            field = 2 + 2 * stream
            images[start + field // chunks, field % chunks] = words
            images[start + (field + 1) // chunks, (field + 1) % chunks] = count
            ends[core * streams + stream] = (start + words) * chunks + size
            edges += size
            words += count
        images[start, 0] = edges
        start += words


@kernel("void(in1(uint64), in1(int64), in1(uint8), int64, int64, int64, int64, int64, "
        "int64[::1], uint32[::1])")
def write_records(entries: npt.NDArray[np.uint64], ends: IntArray, planes: npt.NDArray[np.uint8],
                  first: int, cores: int, streams: int, width: int, top: int, places: IntArray,
                  image: npt.NDArray[np.uint32]) -> None:
    """Write all edges of a strip, from the last one to the first.

    Parameters
    ----------
    entries, ends, first, cores
        As of ``sort_entries``, after it.
    planes, streams, top
        As of ``count_edges``.
    width : int
        Bits of an element.
    places : (cores * streams,) array of int64
        Where each stream ends in the image; becomes where it starts.
    image : (records,) array of uint32
        Gets the edges of all cores. A source's last edge in a stream is marked, and the last of a
        stream.
    """
    shift, low, one = uint64(np.log2(cores)), uint64(cores - 1), uint64(1)
    mask = uint64((1 << width) - 1)
    stream_ends = places.copy()
    end = len(entries)
    for number in range(len(ends) - 1, -1, -1):
        source, start = uint64(number), ends[number - 1] if number else 0
        sender = (source ^ -(source >> shift & one)) & low
        plane = uint64(planes[source]) * uint64(cores)
        seen = uint64(0)
        for entry in range(end - 1, start - 1, -1):
            word = entries[uint64(entry)]
            target = word >> uint64(44)
            weight = np.int64(np.int32(word & uint64(0xFFFFFFFF)))
            rank = uint64(first) + target
            receiver = (rank ^ -(rank >> shift & one)) & low
            bit = one << receiver
            record = (target >> shift) << uint64(16)
            stream = receiver * uint64(streams) + plane + (receiver ^ sender)
            place = places[stream] - 1
            last = uint64(0) if seen & bit else uint64(1 << 31)
            seen |= bit
            if abs(weight) > top:
                sign = 1 if weight > 0 else -1
                while abs(weight) > top:  # the rest comes last
                    weight -= sign * top
                    place -= 1
                    image[uint64(place)] = record | uint64(sign * top) & mask
            image[uint64(places[stream] - 1)] = record | uint64(weight) & mask | last
            places[stream] = place
        end = start
    for stream in range(len(places)):
        if places[stream] < stream_ends[stream]:
            image[uint64(stream_ends[stream] - 1)] |= 1 << 30


@kernel("void(in1(uint64), in1(uint8), int64, int64, int64[::1], uint32[:, ::1])")
def write_send_lists(destinations: npt.NDArray[np.uint64], planes: npt.NDArray[np.uint8],
                     cores: int, chunks: int, rows: IntArray,
                     lists: npt.NDArray[np.uint32]) -> None:
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
    rows : (cores,) array of int64
        Gets how many records each core has.
    lists : (cores, rows * chunks or more) array of uint32
        Zeros; gets destinations, and above them the plane.
    """
    shift, low, one = uint64(np.log2(cores)), uint64(cores - 1), uint64(1)
    rows[:] = 0
    for number in range(len(destinations)):
        source = uint64(number)
        core = (source ^ -(source >> shift & one)) & low
        place = (source >> shift) * uint64(chunks)
        rows[core] += 1
        record, plane = destinations[source], uint64(planes[source])
        if cores < 64:
            record |= plane << uint64(cores)
        else:
            lists[core, place + uint64(2)] = plane
        lists[core, place] = record & uint64(0xFFFFFFFF)
        if chunks > 1:
            lists[core, place + one] = record >> uint64(32)
