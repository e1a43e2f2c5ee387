# SPDX-License-Identifier: BSD-2-Clause
"""LOSS: cross-entropy, its gradient and the metrics."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.fifo import SyncFIFOBuffered
from amaranth.lib.wiring import In, Out, connect, flipped

from hypercast.rtl import isa
from hypercast.rtl.config import Config
from hypercast.rtl.isa import ROWS_WIDTH
from hypercast.rtl.layouts import Issue
from hypercast.rtl.lib.burst_reader import WordSource
from hypercast.rtl.limits import group_size
from hypercast.rtl.vector.exponentials import Exponentials
from hypercast.rtl.vector.gradient_words import GradientWords
from hypercast.rtl.vector.label_reader import LabelReader
from hypercast.rtl.vector.logit_groups import LogitGroups
from hypercast.rtl.vector.loss_gradient import GRADIENT_WIDTH, LossGradient
from hypercast.rtl.vector.loss_layouts import group_limit, labelled_group
from hypercast.rtl.vector.maximum import Maximum
from hypercast.rtl.vector.metrics import Metrics
from hypercast.rtl.vector.normalizer import Normalizer
from hypercast.rtl.vector.panel_addresses import PanelAddresses
from hypercast.rtl.vector.panel_reader import PanelReader
from hypercast.rtl.vector.ports import write_request

__all__ = ["Loss"]


class Loss(wiring.Component):
    """Engine of the LOSS instruction.

    Four stages work on successive rows: the maximum, the exponentials and their sum, the sum's
    logarithm and reciprocal, and the gradient. Panels are cut into groups of ``group_size(config)``
    logits. A row occupies each stage for as many cycles as it has groups with classes, but the
    third for ``row_interval``. Rows with several labels pass the same stages: their sigmoids need
    no maximum, and logarithms and reciprocals of their own, in the second and the last stage.

    Parameters
    ----------
    config : Config
        Configuration.

    Members
    -------
    start : In(1)
        High for a cycle to begin; only while not ``busy``.
    issue : In(Issue), rows : In(ROWS_WIDTH)
        The instruction and its vertices; held from ``start`` until no more ``busy``.
    busy : Out(1)
        High from the cycle after ``start`` until the last write is accepted, and all labels have
        been read; not for no rows.
    primary, secondary : Out(WordSource(config))
        Logits, and labels.
    write : Out(stream of writes)
        Gradients.
    written : Out(1)
        A write is accepted.
    magnitude : Out(GRADIENT_WIDTH - 1)
        OR of the magnitudes of the gradients being requantized; zero if there are none.
    saturations : Out
        How many elements have just saturated.
    starved : Out(1)
        The first stage waits for memory.
    clear : In(1)
        Zeroes ``losses``, ``hits`` and ``misses``.
    losses : Out(64), hits : Out(32), misses : Out(32), three each
        See ``Metrics``; up to date when not ``busy``.
    fault : Out(1)
        High for a cycle after an entry of a table was read that had changed.
    """

    #: Groups that pass the first stage while a row's maximum is under way.
    _FOLLOWING = 8

    def __init__(self, config: Config) -> None:
        self._config = config
        super().__init__({
            "start": In(1),
            "issue": In(Issue),
            "rows": In(ROWS_WIDTH),
            "busy": Out(1),
            "primary": Out(WordSource(config)),
            "secondary": Out(WordSource(config)),
            "write": Out(write_request(config)),
            "written": Out(1),
            "magnitude": Out(GRADIENT_WIDTH - 1),
            "saturations": Out(range(group_size(config) + 1)),
            "starved": Out(1),
            "clear": In(1),
            "losses": Out(64).array(3),
            "hits": Out(32).array(3),
            "misses": Out(32).array(3),
            "fault": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        config = self._config
        operands = self.issue.view(isa.Opcode.LOSS)
        m.submodules.labels = labels = LabelReader(config)
        m.submodules.logit_groups = logit_groups = LogitGroups(config)
        m.submodules.maximum = maximum = Maximum(config)
        m.submodules.logits = logits = SyncFIFOBuffered(
            width=labelled_group(config).size, depth=group_limit(config) + self._FOLLOWING)
        m.submodules.exponentials = exponentials = Exponentials(config)
        m.submodules.normalizer = normalizer = Normalizer(config)
        m.submodules.gradient = gradient = LossGradient(config)
        m.submodules.gradient_words = gradient_words = GradientWords(config)
        m.submodules.metrics = metrics = Metrics(len(normalizer.loss))

        # Reading.
        m.submodules.reader = reader = PanelReader(config)
        connect(m, reader.source, flipped(self.primary))
        connect(m, labels.source, flipped(self.secondary))
        unscanned = Signal.like(self.rows)  # rows not through the first stage
        m.d.comb += [
            reader.start.eq(self.start),
            reader.rows.eq(self.rows),
            reader.channel.eq(operands.channel),
            reader.base.eq(operands.address),
            reader.stride.eq(operands.stride),
            reader.panels.eq(operands.panels),
            labels.start.eq(self.start),
            labels.rows.eq(self.rows),
            labels.panels.eq(operands.panels),
            labels.address.eq(operands.info),
            labels.sigmoid.eq(operands.sigmoid),
            labels.weighted.eq(operands.weighted),
        ]
        with m.If(maximum.labels.valid & maximum.labels.ready):
            m.d.sync += unscanned.eq(unscanned - 1)
        with m.If(self.start):
            m.d.sync += unscanned.eq(self.rows)
        m.d.comb += self.starved.eq((unscanned != 0) & ~(
            maximum.i.valid & maximum.labels.valid))

        # The stages.
        groups = Signal.like(maximum.groups)
        per_group = group_size(config)
        m.d.sync += groups.eq((operands.classes + (per_group - 1)) // per_group)
        connect(m, reader.o, logit_groups.words)
        connect(m, labels.bits, logit_groups.bits)
        connect(m, logit_groups.o, maximum.i)
        connect(m, labels.labels, maximum.labels)
        for source, sink in ((maximum.logits, logits.w_stream),
                             (logits.r_stream, exponentials.logits)):
            m.d.comb += [
                sink.valid.eq(source.valid),
                sink.payload.eq(source.payload),
                source.ready.eq(sink.ready),
            ]
        connect(m, maximum.o, exponentials.i)
        connect(m, exponentials.o, normalizer.i)
        connect(m, exponentials.powers, gradient.powers)
        connect(m, gradient.o, gradient_words.i)
        for stage in (logit_groups, maximum, exponentials, gradient, gradient_words):
            m.d.comb += stage.groups.eq(groups)
        for stage in (maximum, exponentials):
            m.d.comb += stage.classes.eq(operands.classes)
        for stage in (exponentials, normalizer):
            m.d.comb += stage.train.eq(operands.train)
        for stage in (exponentials, normalizer, gradient):
            m.d.comb += stage.sigmoid.eq(operands.sigmoid)
        m.d.comb += [
            exponentials.shift.eq(self.issue.aux_shift),
            gradient.shift.eq(self.issue.shift),
            gradient.i.valid.eq(normalizer.o.valid & operands.train),
            gradient.i.payload.eq(normalizer.o.payload),
            normalizer.o.ready.eq(gradient.i.ready | ~operands.train),
            metrics.valid.eq(normalizer.loss_valid),
            metrics.loss.eq(normalizer.loss),
            metrics.split.eq(normalizer.split),
            metrics.correct.eq(normalizer.correct),
            metrics.wrong.eq(normalizer.wrong),
            metrics.clear.eq(self.clear),
            self.magnitude.eq(gradient.magnitude),
            self.saturations.eq(gradient.saturations),
        ]
        for index in range(3):
            m.d.comb += [
                self.losses[index].eq(metrics.losses[index]),
                self.hits[index].eq(metrics.hits[index]),
                self.misses[index].eq(metrics.misses[index]),
            ]

        m.d.sync += self.fault.eq(exponentials.fault | normalizer.fault | gradient.fault)

        # Writing, and the end: when every row is written, or without gradients, measured.
        m.submodules.target = target = PanelAddresses(config)
        unfinished = Signal.like(self.rows)
        finished = Signal()
        m.d.comb += [
            self.busy.eq((unfinished != 0) | labels.busy),
            target.start.eq(self.start),
            target.base.eq(operands.destination),
            target.stride.eq(operands.stride),
            target.panels.eq(operands.panels),
            self.written.eq(self.write.valid & self.write.ready),
            target.advance.eq(self.written),
            self.write.valid.eq(gradient_words.o.valid),
            self.write.p.channel.eq(1),
            self.write.p.address.eq(target.address),
            self.write.p.data.eq(gradient_words.o.payload),
            gradient_words.o.ready.eq(self.write.ready),
            finished.eq(Mux(operands.train, target.advance & target.last,
                            normalizer.o.valid & normalizer.o.ready)),
        ]
        with m.If(finished):
            m.d.sync += unfinished.eq(unfinished - 1)
        with m.If(self.start):
            m.d.sync += unfinished.eq(self.rows)
        return m
