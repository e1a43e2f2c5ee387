# SPDX-License-Identifier: BSD-2-Clause
"""Layers have the entries of the exponent file that their programs name, and no others."""

from hypothesis import given, settings
from hypothesis import strategies as st

from hypercast.host.compiler.compiler import compile_job
from hypercast.host.compiler.layer_entries import COMMON_ENTRIES, layer_entries
from hypercast.host.compiler.pieces import compile_pieces
from hypercast.reference.network import Network
from hypercast.reference.tensor import Kind
from hypercast.rtl.isa import decode
from tests.host.compiler.random_networks import ROOMY, models

#: Fields of instructions that name entries.
_FIELDS = ("a", "b", "o", "peak_of", "bias_tensor")


@settings(max_examples=12, deadline=None)
@given(st.data())
def test_runs_have_what_their_programs_name(data):
    model = data.draw(models())
    layers = len(model.network.layers)
    first = data.draw(st.integers(1, layers))
    run = range(first, data.draw(st.integers(first, layers)) + 1)
    job = compile_pieces(model, ROOMY, layers=run).job
    found = layer_entries(model.network, run)
    assert {*job.tensors} == found
    names = list(job.tensors)
    named = {names[fields[field]] for word in job.program for fields in [decode(word)]
             for field in _FIELDS if field in fields}
    assert named - COMMON_ENTRIES == found - COMMON_ENTRIES


@settings(max_examples=12, deadline=None)
@given(models())
def test_a_whole_network_has_what_its_state_has(model):
    found = layer_entries(model.network, range(1, len(model.network.layers) + 1))
    assert found == {*model.state.exponents}
    assert found == {*compile_job(model, ROOMY).tensors}


def test_a_convolution_has_eight_and_reads_three():
    network = Network.of_widths([5] * 5)
    for layers, expected in (([1], 8), ([2], 11), ([2, 3], 19), ([4], 11), ([1, 2, 3, 4], 32)):
        assert len(layer_entries(network, layers) - COMMON_ENTRIES) == expected
    assert not any(name.kind == Kind.MASK for name in layer_entries(network, [2]))
