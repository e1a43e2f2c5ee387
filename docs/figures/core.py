# SPDX-License-Identifier: BSD-2-Clause
"""A core: what its blocks hand to each other."""

from docs.figures.drawing import Box, Drawing
from hypercast.rtl.config import PRESETS

__all__ = ["draw"]


def draw() -> Drawing:
    """A core of preset ``vcu128``: router left, engines in the middle, memory right."""
    config = PRESETS["vcu128"]
    drawing = Drawing(800, 690, "A core: router, engines, weight bank, crossbars and two memory "
                                "channels")
    drawing.legend(24, 32, [("network", "flits"), ("compute", "engines, sums and rows they keep"),
                            ("memory", "memories and their words"), ("control", "control")])
    router = drawing.box(24, 60, 92, 520, (
        "router", f"{config.planes} virtual", "channels"), tone="network", size=14,
        source="rtl/network/router.py")
    merge = drawing.box(150, 196, 22, 370, tone="network", source="rtl/lib/stream_merge.py")
    receiver = drawing.box(224, 60, 172, 92, (
        "receiver", f"{config.eject} aggregators", "edge buffers",
        "accumulators"), tone="compute", size=14, source="rtl/aggregation/receiver.py")
    sender = drawing.box(224, 194, 172, 76, (
        "sender", "send list,", "rows to be sent"), tone="compute", size=14,
        source="rtl/aggregation/sender.py")
    array = drawing.box(224, 312, 172, 104, (
        "array engine", f"{config.lanes} x {config.lanes} systolic array", "operand buffer",
        "accumulators"), tone="compute", size=14, source="rtl/array/array_engine.py")
    vector = drawing.box(224, 462, 172, 104, (
        "vector unit", "DRAIN, LOSS, UPDATE"), tone="compute", size=14,
        source="rtl/vector/vector_unit.py")
    weights = drawing.box(450, 370, 104, 64, ("weight bank", "all weights"), tone="memory", size=13,
                          source="rtl/memory/weight_bank.py")
    reads = drawing.box(590, 60, 76, 470, ("read", "crossbar"), tone="memory", heading=False,
                        source="rtl/memory/read_crossbar.py")
    writes = drawing.box(590, 546, 76, 104, ("write", "crossbar"), tone="memory", heading=False,
                         source="rtl/memory/write_crossbar.py")
    channels = [drawing.box(702, y, 80, 190, (f"channel {number}", f"{config.word_width} bits"),
                            tone="memory", size=12) for number, y in enumerate((110, 390))]
    host = drawing.box(224, 606, 172, 44, ("window of the host",), tone="control",
                       heading=False, source="rtl/control/core_host.py")
    drawing.box(24, 606, 92, 44, ("row counts",), tone="control", heading=False,
                source="rtl/control/row_table.py")
    drawing.box(128, 606, 84, 44, ("counters",), tone="control", heading=False,
                source="rtl/control/counters.py")
    drawing.text(24, 674, "The control unit sends every instruction to all cores. The window also "
                 "reaches the weight bank, row counts and counters.", size=11, muted=True)
    _flits(drawing, router, merge, receiver, (sender, array, vector))
    _rows(drawing, receiver, sender, array, vector)
    _weights(drawing, receiver, array, vector, weights)
    _memory(drawing, (receiver, sender, array, vector, host), reads, writes, channels)
    return drawing


def _flits(drawing: Drawing, router: Box, merge: Box, receiver: Box,
           senders: tuple[Box, ...]) -> None:
    drawing.line((router.right, receiver.centre), (receiver.x, receiver.centre), tone="network",
                 end=True, width=2.5)
    drawing.text(170, receiver.centre - 8, "ejection ports", size=11, anchor="middle", muted=True)
    drawing.line((merge.x, 381), (router.right, 381), tone="network", end=True, width=2.5)
    drawing.text(161, merge.y - 8, "injection", size=11, anchor="middle", muted=True)
    for sender in senders:
        drawing.line((sender.x, sender.centre), (merge.right, sender.centre), tone="network",
                     end=True, width=2.5)


def _rows(drawing: Drawing, receiver: Box, sender: Box, array: Box, vector: Box) -> None:
    """Sums from accumulators to the vector unit, and the rows that it leaves with others."""
    drawing.line((receiver.x, 136), (198, 136), (198, 482), (vector.x, 482), tone="compute",
                 end=True, width=2)
    drawing.line((270, array.bottom), (270, vector.y), tone="compute", end=True, width=2)
    drawing.text(262, 444, "sums", size=11, anchor="end", muted=True)
    drawing.line((346, vector.y), (346, array.bottom), tone="compute", end=True, width=2)
    drawing.line((vector.right, 478), (418, 478), (418, 252), (sender.right, 252), tone="compute",
                 end=True, width=2)
    drawing.text(338, 444, "bypass", size=11, anchor="end", muted=True)


def _weights(drawing: Drawing, receiver: Box, array: Box, vector: Box, weights: Box) -> None:
    drawing.line((receiver.right, 130), (470, 130), (470, weights.y), tone="network", end=True,
                 width=2)
    drawing.text(478, 150, "new rows", size=11, muted=True)
    drawing.text(478, 164, "of weights", size=11, muted=True)
    drawing.line((weights.x, 392), (array.right, 392), tone="memory", end=True, width=2)
    drawing.line((476, weights.bottom), (476, 500), (vector.right, 500), tone="memory", end=True,
                 width=2)
    drawing.text(484, 474, "biases", size=11, muted=True)
    drawing.text(424, 386, "tiles", size=11, muted=True)


def _memory(drawing: Drawing, clients: tuple[Box, ...], reads: Box, writes: Box,
            channels: list[Box]) -> None:
    receiver, sender, array, vector, host = clients
    for client, y, what in ((receiver, 84, "edges"), (sender, 218, "rows, send list"),
                            (array, 338, "operands, index"),
                            (vector, 520, "logits, masks, state")):
        drawing.line((reads.x, y), (client.right, y), tone="memory", end=True, width=2)
        drawing.text(reads.x - 8, y - 6, what, size=11, anchor="end", muted=True)
    drawing.line((vector.right, 556), (writes.x, 556), tone="memory", end=True, width=2)
    drawing.text(writes.x - 8, 572, "results", size=11, anchor="end", muted=True)
    drawing.line((host.right, 638), (writes.x, 638), tone="memory", end=True, width=2)
    drawing.line((reads.x + 12, reads.bottom), (reads.x + 12, 538), (436, 538), (436, 616),
                 (host.right, 616), tone="memory", end=True, width=2)
    for channel, y in zip(channels, (160, 430), strict=True):
        drawing.line((channel.x, y), (reads.right, y), tone="memory", end=True, width=2.5)
    drawing.line((writes.right, 566), (channels[1].x, 566), tone="memory", end=True, width=2.5)
    drawing.line((writes.right, 610), (686, 610), (686, 270), (channels[0].x, 270), tone="memory",
                 end=True, width=2.5)
