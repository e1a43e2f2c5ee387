# SPDX-License-Identifier: BSD-2-Clause
"""Instructions are counted as the compiler counts them when it refuses a program."""

import importlib
import re
from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from hypercast.host.cluster.division import Division
from hypercast.host.compiler.compiler import compile_job, compile_sampled
from hypercast.host.compiler.memory_map import CapacityError
from hypercast.host.compiler.pieces import compile_pieces
from hypercast.host.compiler.program_length import program_length
from hypercast.host.compiler.sample_capacity import Capacity
from hypercast.host.compiler.vertices import strips_of
from hypercast.host.schemes.graph_parts import parts_of
from hypercast.reference.network import Network
from hypercast.reference.sample import Mantissas
from hypercast.rtl.config import PRESETS
from tests.host.compiler.random_networks import ROOMY, models


def check(length, compiled, strips=1):
    """``length`` is what the compiler says that is needed, or what it does not refuse.

    Of several strips, it is the least that there is.
    """
    try:
        made = compiled()
    except CapacityError as error:
        needed = int(re.search(r"program_rows is 16, but (\d+) are needed", str(error))[1])
        assert length <= needed and (length == needed or strips > 1)
    else:  # with operands that take turns, if they fit as well
        assert length <= len(getattr(made, "job", made).program) <= 16


@settings(max_examples=6, deadline=None)
@given(st.data())
def test_as_many_as_the_compiler_says(data):
    config = ROOMY.replace(program_rows=16, lanes=data.draw(st.sampled_from([2, 4])),
                           operand_words=data.draw(st.sampled_from([16, 64, 256])),
                           bypass_rows=data.draw(st.sampled_from([16, 64])))
    model = data.draw(models(config))
    network, (count, *_) = model.network, model.sample.rows
    layers = len(network.layers)
    rows, strips = (count,) * (layers + 1), len(strips_of(count, config))
    first = data.draw(st.integers(1, layers))
    run = range(first, data.draw(st.integers(first, layers)) + 1)
    check(program_length(network, config, rows, layers=run),
          lambda: compile_pieces(model, config, layers=run), strips)
    check(program_length(network, config, rows, ("load", "train", "evaluate")),
          lambda: compile_job(model, config, word_sparse=False), strips)
    capacity = Capacity.of([model.sample])
    for pieces, names in ((True, ("step_sums", "update", "evaluate")),
                          (False, ("train", "evaluate"))):
        check(program_length(network, config, capacity.rows, names),
              lambda pieces=pieces: compile_sampled(
                  model, config, capacity, ahead=not pieces, pieces=pieces),
              len(strips_of(max(capacity.rows), config)))


@settings(max_examples=6, deadline=None)
@given(st.data())
def test_parts_of_a_graph(data):
    config = ROOMY.replace(program_rows=16)
    model = data.draw(models(config))
    count, network = len(model.sample.labels), model.network
    sample, *_ = parts_of(model.sample, Division.count(
        model.sample.edges[0], np.arange(count) * 2 // count, 2))
    own = sample.rows[-1]
    if network.layers[0].order == "aggregate_first":  # those of others have been brought
        rows = own + sample.rows_here.halo_rows(transposed=False)
        values = np.ones((rows, network.features), int)
        sample = replace(sample, features=Mantissas(values, sample.features.exponent))
    sources = tuple(own + sample.rows_here.halo_rows(transposed=way) for way in (False, True))
    check(program_length(network, config, (own,) * (len(network.layers) + 1), sources=sources),
          lambda: compile_pieces(model.with_sample(sample), config),
          len(strips_of(max(own, *sources), config)))


def test_what_is_far_too_long_is_not_counted(monkeypatch):
    module = importlib.import_module("hypercast.host.compiler.program_length")
    monkeypatch.setattr(module, "LARGEST_PROGRAM", 100)
    network = Network.of_widths([100, 129, 47])
    assert program_length(network, PRESETS["vcu128"], (2_449_029,) * 3) == 101


def test_length_does_not_depend_on_the_number_of_strips():
    network = Network.of_widths([100, 128, 47])
    lengths = {program_length(network, PRESETS["vcu128"], (vertices,) * 3, ("load", "train"))
               for vertices in (100_000, 300_000, 2_449_029, 100_000_000)}
    assert len(lengths) == 1 and lengths.pop() < 400


def test_layers_that_are_alike_take_as_many():
    """Wherever they are, if none is the first or the last."""
    network = Network.of_widths([8] * 9)
    rows = (500,) * 9
    lengths = {program_length(network, ROOMY, rows, layers=range(first, first + 3))
               for first in range(2, 6)}
    assert len(lengths) == 1
