"""Emits the program of a network: a training step, and an evaluation.

Tensor names are those of ``reference.fixed_gcn``. Loops over tiles of rows and panels of columns
are unrolled here; loops over the panels that a sum runs over are in the array.
"""

from dataclasses import dataclass, field

from hypercast.host.memory_map import index_name
from hypercast.host.schedule import Schedule
from hypercast.reference.network import COMBINE_FIRST, Network
from hypercast.rtl.config import Config
from hypercast.rtl.isa import DrainSource, Opcode
from hypercast.rtl.registers import PHASES

__all__ = ["ALL_VERTICES", "Program", "RowTile"]

#: Row table entry that holds the number of a core's vertices.
ALL_VERTICES = 0
#: Exponent-file name of the constant one.
ONE = "one"


@dataclass(frozen=True, kw_only=True)
class RowTile:
    """Local rows that are accumulated together, and the messages that bring their sums.

    Parameters
    ----------
    first, rows : int
        Local rows ``first .. first + rows - 1``.
    forward, backward : tuple of int
        Addresses of send list and edge set, for A and for its transpose.
    """

    first: int
    rows: int
    forward: tuple
    backward: tuple


@dataclass
class Program:
    """Emits instructions for one network on one memory map.

    A matrix whose index is in the memory map is word-sparse.

    Parameters
    ----------
    network : Network
        What is trained.
    config : Config
        Configuration of the chip.
    regions : dict
        Where tensors lie: name to ``Region``.
    weights : dict
        Where parameters lie: name to ``Weights``.
    tensors : dict
        Name to number in the exponent file.
    tiles : list of RowTile
        Tiles of rows.
    headroom : int
        Bits left free above a tensor's last peak.
    momentum_exponents : dict
        Parameter name to exponent of its momenta.

    Attributes
    ----------
    schedule : Schedule
        The instructions.
    phases : list of str
        Names of the phase counters.
    updates : list of (int, str)
        Program row and parameter of each UPDATE; their rates are filled in later.
    """

    network: Network
    config: Config
    regions: dict
    weights: dict
    tensors: dict
    tiles: list
    headroom: int
    momentum_exponents: dict
    schedule: Schedule = field(default_factory=Schedule)
    phases: list = field(default_factory=list)
    updates: list = field(default_factory=list)
    _buffers: dict = field(default_factory=lambda: {"array": 0, "aggregation": 0})

    # Passes.

    def train(self):
        """A training step: forward, loss, backward, update."""
        self._forward(suffix="", training=True)
        last = len(self.network.layers)
        self._loss(f"Z{last}", train=True)
        for number in range(last, 0, -1):
            self._backward(number)
        for number in range(last, 0, -1):
            self._update(number)
        self.schedule.halt(phase=self._phase("update"), step=1)

    def evaluate(self):
        """A forward pass without dropout, for its metrics."""
        self._forward(suffix=".eval", training=False)
        self._loss(f"Z{len(self.network.layers)}.eval", train=False)
        self.schedule.halt(phase=self._phase("evaluate"), step=0)

    def _forward(self, suffix, training):
        for number, layer in enumerate(self.network.layers, 1):
            phase = self._phase(f"forward {number}" if training else "evaluate")
            last = number == len(self.network.layers)
            source = "X" if number == 1 else f"H{number - 1}{suffix}"
            result = f"Z{number}{suffix}" if last else f"H{number}{suffix}"
            dropout = self.network.dropouts[number - 1] if training else None
            finish = {"bias": number, "relu": not last}
            if training and not last:
                finish["mask_write"] = f"mask{number}"
                finish["dropout"] = self.network.dropouts[number]
            if layer.order == COMBINE_FIRST:
                feed = dropout if number == 1 else None
                middle = f"T{number}{suffix}"
                self._combine(phase, source, number, middle, feed=feed, scale=dropout)
                self._aggregate(phase, middle, result, **finish)
            else:
                middle = f"M{number}{suffix}"
                self._aggregate(phase, source, middle, scale=dropout)
                self._combine(phase, middle, number, result, **finish)

    def _backward(self, number):
        layer = self.network.layers[number - 1]
        phase = self._phase(f"backward {number}")
        scale = self.network.dropouts[number - 1]
        gradient, below = f"dZ{number}", f"dZ{number - 1}"
        finish = {"scale": scale, "mask_read": f"mask{number - 1}"}
        if layer.order == COMBINE_FIRST:
            middle = f"dT{number}"
            self._aggregate(phase, gradient, middle, backward=True)
            if number > 1:
                self._combine(phase, middle, number, below, transposed=True, **finish)
        elif number > 1:
            middle = f"dM{number}"
            self._combine(phase, gradient, number, middle, transposed=True)
            self._aggregate(phase, middle, below, backward=True, **finish)

    # Products.

    def _combine(self, phase, source, number, result, *, transposed=False, feed=None, **finish):
        """``result = source @ W`` (or its transpose), with dropout ``feed`` on ``source``."""
        weights = self.weights[f"W{number}"]
        lanes = self.config.lanes
        outer, inner = weights.panels, weights.tiles_in
        stride, step = lanes, inner * lanes
        if transposed:
            outer, inner, stride, step = inner, outer, step, stride
        region = self.regions[source]
        for tile in self.tiles:
            for panel in range(outer):
                buffer = self._next_buffer("array")
                self.schedule.add(
                    Opcode.MATMUL, phase=phase,
                    reads=[*self._panels(source), ("weights", weights.name)],
                    writes=[("array", buffer)],
                    vertices=ALL_VERTICES, row_start=tile.first, row_limit=tile.rows,
                    buffer=buffer, channel=region.channel, panels=inner,
                    weights=weights.base + panel * step, weight_stride=stride,
                    transposed=transposed, **self._left(source, row=tile.first),
                    **self._dropout(feed))
                self._drain(phase, DrainSource.ARRAY, buffer, (source, weights.name), result,
                            tile, panel, **finish)

    def _aggregate(self, phase, source, result, *, backward=False, **finish):
        """``result = A @ source`` (or A's transpose)."""
        region = self.regions[source]
        for tile in self.tiles:
            send_list, edge_set = tile.backward if backward else tile.forward
            for panel in range(region.words // region.stride if region.stride else 0):
                buffer = self._next_buffer("aggregation")
                self.schedule.add(
                    Opcode.AGGREGATE, phase=phase, reads=[(source, panel)],
                    writes=self._landing(buffer), vertices=ALL_VERTICES, buffer=buffer,
                    channel=region.channel, address=region.panel(panel), send_list=send_list,
                    edge_set=edge_set)
                self._drain(phase, DrainSource.AGGREGATION, buffer, ("A", source), result, tile,
                            panel, **finish)

    def _drain(self, phase, source, buffer, factors, result, tile, panel, *, scale=None,
               dropout=None, bias=None, relu=False, mask_write=None, mask_read=None):
        region = self.regions[result]
        first = tile is self.tiles[0] and panel == 0
        reads, writes, operands = [], [(result, panel)], {}
        if source == DrainSource.ARRAY:
            writes.append(("array", buffer))
        else:
            writes += self._landing(buffer)
        if bias:
            weights = self.weights[f"b{bias}"]
            reads.append(("weights", weights.name))
            operands |= {"bias": 1, "bias_tensor": self.tensors[weights.name],
                         "bias_weights": weights.base + panel * self.config.lanes}
        if mask_write:
            writes.append((mask_write, panel))
        if mask_read:
            reads.append((mask_read, panel))
        if mask := mask_write or mask_read:
            operands["side_address"] = self._mask_address(mask, tile, panel)
        if scale:
            operands |= {"exponent_bias": scale.exponent, "scale": scale.multiplier}
        a, b = factors
        self.schedule.add(
            Opcode.DRAIN, phase=phase, reads=reads, writes=writes, vertices=ALL_VERTICES,
            row_start=tile.first, row_limit=tile.rows, source=source, buffer=buffer,
            channel=region.channel, address=region.panel(panel, tile.first), a=self.tensors[a],
            b=self.tensors[b], o=self.tensors[result],
            peak_of=self.tensors[result.removesuffix(".eval")], open=first, headroom=self.headroom,
            relu=relu, mask_write=bool(mask_write), mask_read=bool(mask_read), panel=panel,
            **self._dropout(dropout), **operands)

    def _loss(self, logits, *, train):
        region = self.regions[logits]
        gradient = f"dZ{len(self.network.layers)}"
        panels = region.words // region.stride if region.stride else 0
        self.schedule.add(
            Opcode.LOSS, phase=self._phase("loss" if train else "evaluate"),
            reads=self._panels(logits), writes=self._panels(gradient) if train else [],
            vertices=ALL_VERTICES, channel=region.channel, address=region.address,
            stride=region.stride, panels=panels, classes=self.network.classes,
            info=self.regions["labels"].address, destination=self.regions[gradient].address,
            a=self.tensors[logits], o=self.tensors[gradient],
            peak_of=self.tensors[gradient], open=train,
            headroom=self.headroom, train=train)

    # Gradients and update.

    def _update(self, number):
        """Gradient, reduction and update of a layer's weights and bias."""
        layer = self.network.layers[number - 1]
        phase = self._phase(f"update {number}")
        if layer.order == COMBINE_FIRST:
            rows = "X" if number == 1 else f"H{number - 1}"
            columns = f"dT{number}"
            dropout = self.network.dropouts[0] if number == 1 else None
        else:
            rows, columns, dropout = f"M{number}", f"dZ{number}", None
        self._update_parameter(phase, f"b{number}", ONE, f"dZ{number}", None)
        self._update_parameter(phase, f"W{number}", rows, columns, dropout)

    def _update_parameter(self, phase, name, rows, columns, dropout):
        weights = self.weights[name]
        right = self.regions[columns]
        for index, (panel, first, tiles, state) in enumerate(weights.chunks):
            buffer = self._next_buffer("aggregation")
            left = {"ones": 1} if rows == ONE else self._left(rows, panel=first)
            self.schedule.add(
                Opcode.GRADIENT, phase=phase,
                reads=[(columns, panel), *(self._panels(rows) if rows != ONE else ())],
                writes=self._landing(buffer), vertices=ALL_VERTICES, buffer=buffer, panels=tiles,
                gradient_address=right.panel(panel), panel=first, **left,
                **self._dropout(dropout))
            self.updates.append((len(self.schedule.words), name))
            self.schedule.add(
                Opcode.UPDATE, phase=phase, writes=[*self._landing(buffer), ("weights", name)],
                buffer=buffer, tiles=tiles,
                weights=weights.base + (panel * weights.tiles_in + first) * self.config.lanes,
                state=state, a=self.tensors[rows], b=self.tensors[columns], o=self.tensors[name],
                peak_of=self.tensors[name], open=index == 0, headroom=self.headroom,
                momentum_exponent=self.momentum_exponents[name])

    # Helpers.

    def _phase(self, name):
        """Number of a phase's counter; layers share counters if there are not enough."""
        if 3 * len(self.network.layers) + 3 > PHASES:
            name = name.split()[0]
        if name not in self.phases:
            self.phases.append(name)
        return self.phases.index(name)

    def _next_buffer(self, where):
        self._buffers[where] ^= 1
        return self._buffers[where]

    def _left(self, name, *, panel=0, row=None):
        """Fields that say where the array finds a matrix, from a panel or a tile's row on."""
        if index := self.regions.get(index_name(name, panel=panel, row=row)):
            return {"sparse": 1, "address": index.address}
        region = self.regions[name]
        return {"address": region.panel(panel, row or 0), "stride": region.stride}

    @staticmethod
    def _landing(buffer):
        return [("aggregation", buffer)]

    def _panels(self, name):
        region = self.regions[name]
        count = region.words // region.stride if region.stride else 0
        return [(name, panel) for panel in range(count)]

    def _mask_address(self, name, tile, panel):
        region = self.regions[name]
        words = -(-region.stride // self.config.mask_rows)
        return region.address + panel * words + tile.first // self.config.mask_rows

    @staticmethod
    def _dropout(dropout):
        if dropout is None or dropout.threshold == 0:
            return {}
        return {"dropout": 1, "dropout_threshold": dropout.threshold, "dropout_key": dropout.key}
