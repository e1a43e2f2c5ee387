# SPDX-License-Identifier: BSD-2-Clause
"""A chip with a run of layers: rows in and out, gradients and state are those of the reference."""

import itertools

import numpy as np
import pytest

from hypercast.host.compiler.pieces import compile_pieces
from hypercast.host.compiler.sample_capacity import Capacity
from hypercast.host.runtime.chip_device import ChipDevice
from hypercast.host.runtime.passes import Message
from hypercast.host.runtime.reference_passes import ReferencePasses
from hypercast.host.schemes.layer_crossings import Routes
from hypercast.reference.fixed_gnn import FixedGnn
from hypercast.reference.initial_model import InitialModel
from hypercast.reference.network import AGGREGATE_FIRST, COMBINE_FIRST
from hypercast.reference.step_sums import StepSums
from hypercast.reference.tensor import EDGES, FEATURES
from hypercast.rtl.config import PRESETS
from hypercast.sim.cxxrtl_transport import CxxrtlTransport
from tests.host.compiler.test_sample_plan import RECIPE, samples_of
from tests.host.models import named_model, small_model

TINY = PRESETS["tiny"].replace(
    program_rows=1024, weight_rows=512, channel_words=16384)
#: Layers that begin a run, besides the first one.
CUTS = [(3,), (2, 3), (2,), (2, 4), (2, 3, 4), (3, 5), (3, 6), (3, 5, 6), (2, 3, 5), (2, 4, 5),
        (4, 6)]


def models():
    for orders in ((COMBINE_FIRST,) * 3, (COMBINE_FIRST, AGGREGATE_FIRST, AGGREGATE_FIRST)):
        yield small_model(hidden=(4, 5), config=TINY, seed=3, orders=orders)
    yield named_model("sage", hidden=(4, 5), config=TINY)
    yield named_model("gin", hidden=(4, 5), config=TINY, dropout=0.0)
    yield named_model("sage", hidden=(4, 5, 4), config=TINY, jumping=True)
    yield named_model("gcn", hidden=(4, 4, 4, 5), config=TINY, jumping=True, residual=True)
    yield named_model("gin", hidden=(4, 5, 4), config=TINY, jumping=True, dropout=0.0)
    for dropout in (0.5, 0.0):
        yield named_model("mixhop", hidden=(4, 5, 3, 4), config=TINY, dropout=dropout)
        yield named_model("gcnii", hidden=(4,) * 4, config=TINY, dropout=dropout, alpha=0.3)


def same(one, other):
    assert one.opened == other.opened
    assert one.rows.keys() == other.rows.keys()
    for name, rows in one.rows.items():
        got = other.rows[name]
        np.testing.assert_array_equal(rows.mantissas, got.mantissas)
        assert rows.exponent == got.exponent
        assert (rows.mask is None) == (got.mask is None)
        if rows.mask is not None:
            np.testing.assert_array_equal(rows.mask, got.mask)


def passed(references, stages, runs, *, forward):
    """All stages do a pass, each with what those before made; every message is the reference's.

    Yields each pair when it has been.
    """
    network, messages = references[0].passes.network, {}
    ranks = range(len(runs)) if forward else reversed(range(len(runs)))
    for rank in ranks:
        routes = Routes.of(network, runs, rank, forward=forward)
        message = Message()
        for source in routes.sources:
            message |= messages[source, rank]
        pair = references[rank], stages[rank]
        for one in pair:
            (one.forward if forward else one.backward)(message)
        for target, crossing in routes.sent.items():
            messages[rank, target], found = (one.message(crossing) for one in pair)
            same(messages[rank, target], found)
        yield pair


def equal(one, other):
    for kind in ("loss", "correct", "wrong", "vertices"):
        np.testing.assert_array_equal(getattr(one, kind), getattr(other, kind))
    assert one.unit == other.unit


@pytest.mark.parametrize(("model", "cuts"), list(zip(models(), CUTS, strict=True)))
def test_rows_and_gradients_are_those_of_the_reference(model, cuts):
    """Two micro-batches, of which the first goes backward when the second is in the memory."""
    runs = [range(*pair)
            for pair in itertools.pairwise([1, *cuts, len(model.network.layers) + 1])]
    oracle, sample = FixedGnn(model), model.sample
    chips = [ChipDevice(CxxrtlTransport(TINY), compile_pieces(model, TINY, layers=run), model)
             for run in runs]
    for _ in range(2):
        for each in (oracle, *chips):
            each.begin_step()
        begun = oracle.exponents.entries()
        expected = [[ReferencePasses(oracle, sample, run, oracle.step_key) for run in runs]
                    for _ in range(2)]
        found = [[chip.passes(sample, training=True) for chip in chips] for _ in range(2)]
        for references, stages in zip(expected, found, strict=True):
            assert len(list(passed(references, stages, runs, forward=True))) == len(runs)
        sums = []
        for references, stages in zip(expected, found, strict=True):
            parts = []
            for reference, stage in passed(references, stages, runs, forward=False):
                gradients = {name: gradient.accumulators
                             for name, gradient in reference.passes.gradients.items()}
                entries = reference.passes.opened | {
                    EDGES: (sample.edge_exponent, None),
                    FEATURES: (sample.features.exponent, None)}
                own = stage.sums()
                assert own.entries == entries
                assert own.saturations == reference.passes.saturations.total()
                assert own.gradients.keys() == gradients.keys()
                for name, values in gradients.items():
                    np.testing.assert_array_equal(own.gradients[name], values)
                parts.append(own)
            sums.append(parts)
            equal(references[-1].metrics, parts[0].metrics)
        totals = [StepSums.total(parts) for parts in zip(*sums, strict=True)]
        gradients = {name: values for part in totals for name, values in part.gradients.items()}
        entries = begun | {name: entry for part in totals for name, entry in part.entries.items()}
        oracle.update(StepSums(gradients=gradients, entries=entries, metrics=None, saturations=0))
        for chip, part in zip(reversed(chips), totals, strict=True):
            chip.update(StepSums(gradients=part.gradients, entries=entries, metrics=None,
                                 saturations=0))
        state = oracle.state()
        after = {}
        for chip in chips:
            own = chip.state()
            for name, arrays in own.parameters.items():
                for kind, values in arrays.items():
                    np.testing.assert_array_equal(values, state.parameters[name][kind])
                after[oracle.network.exponent_entry(name)] = own.exponents[
                    oracle.network.exponent_entry(name)]
        for chip in chips:  # as the boards tell each other
            chip.set_entries(after)
            assert chip.state().exponents == state.exponents
        references = [ReferencePasses(oracle, sample, run, None) for run in runs]
        stages = [chip.passes(sample, training=False) for chip in chips]
        for reference, stage in passed(references, stages, runs, forward=True):
            assert reference.passes.opened == stage.opened
        equal(reference.metrics, stage.metrics)
    for chip in chips:
        chip.close()


@pytest.mark.parametrize("cuts", [(), (2,)])
def test_a_larger_sample_in_the_middle_of_a_step(cuts):
    """Pieces are compiled anew; the sample before goes forward again, and all bits are the same."""
    config = TINY.replace(element_width=RECIPE.element_width)
    network, samples = samples_of(10, 60)
    model = InitialModel.of(network, RECIPE, samples[0])
    runs = [range(*pair) for pair in itertools.pairwise([1, *cuts, 3])]
    capacity = Capacity.of(samples[:1])
    notices = []
    chips = [ChipDevice(CxxrtlTransport(config), compile_pieces(
        model, config, layers=run, capacity=capacity), model, progress=notices.append)
        for run in runs]
    oracle = FixedGnn(model)
    exponent = max(sample.edge_exponent for sample in samples)
    samples = [sample.with_edge_exponent(exponent) for sample in samples]
    for each in (oracle, *chips):
        each.begin_step()
    expected = [[ReferencePasses(oracle, sample, run, oracle.step_key) for run in runs]
                for sample in samples]
    found = [[chip.passes(sample, training=True) for chip in chips] for sample in samples]
    for references, stages in zip(expected, found, strict=True):
        assert len(list(passed(references, stages, runs, forward=True))) == len(chips)
    assert len(notices) == len(chips)
    for references, stages in zip(expected, found, strict=True):
        for reference, stage in passed(references, stages, runs, forward=False):
            wanted, got = reference.sums(), stage.sums()
            assert got.entries == wanted.entries
            for name, values in wanted.gradients.items():
                np.testing.assert_array_equal(got.gradients[name], values)
    for chip in chips:
        chip.close()
