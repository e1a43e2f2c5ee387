# SPDX-License-Identifier: BSD-2-Clause
"""The messages by which links are tested: every link, every plane, every bit."""

import numpy as np
import pytest

from hypercast.host.compiler.edge_sets import relocate
from hypercast.host.compiler.messages import compile_messages
from hypercast.host.compiler.packing import pack_rows
from hypercast.host.selftest.link_messages import cases, messages_of, patterns, words_of
from hypercast.rtl.config import PRESETS, Config
from hypercast.rtl.network import routing
from hypercast.rtl.network.topology import links

CONFIGS = [PRESETS["tiny"], PRESETS["test"], PRESETS["demo"], PRESETS["cora"],
           Config(dimensions=5, lanes=4, planes=2, element_width=8, accumulator_rows=16)]


@pytest.mark.parametrize("config", CONFIGS)
def test_payloads(config):
    """Words of a core have 0 and 1 in each bit; any two bits are equal in one and differ in one."""
    for core in range(config.cores):
        words = pack_rows(words_of(core, config), config).astype("<u4").view(np.uint8)
        bits = np.unpackbits(words, axis=1, bitorder="little")[:, :config.data_width]
        assert bits.shape == patterns(config).shape
        assert (bits.min(axis=0) == 0).all() and (bits.max(axis=0) == 1).all()
        for bit in range(config.data_width - 1):
            differ = (bits[:, bit, None] != bits[:, bit + 1:]).any(axis=0)
            agree = (bits[:, bit, None] == bits[:, bit + 1:]).any(axis=0)
            assert differ.all() and agree.all()


def test_words_tell_the_cores_apart():
    config = PRESETS["cora"]
    words = np.concatenate([words_of(core, config) for core in range(config.cores)])
    assert len(np.unique(words, axis=0)) == len(words)


@pytest.mark.parametrize("config", CONFIGS)
def test_every_link_alone_and_together(config):
    rows = len(patterns(config))
    alone, together, heard = set(), set(), set()
    for case in cases(config):
        used = {link for core in range(config.cores)
                for link in routing.tree(
                    case.destinations(config), case.plane, config.dimensions, core)}
        (together if case.dimension is None else alone).update(
            (case.plane, *link) for link in used)
        if case.dimension is None:
            heard |= {(case.plane, source) for source in case.sources(config, rows)}
        else:
            assert used == {(core, case.dimension) for core in range(config.cores)}
    everything = {(plane, *link) for plane in range(config.planes)
                  for link in links(config.dimensions)}
    assert alone == together == everything
    assert heard == {(plane, core) for plane in range(config.planes)
                     for core in range(config.cores)}


def test_edge_sets_are_as_the_compiler_makes_them():
    """A neighbour's rows, on two cores with one plane: the compiler has no choice."""
    config = PRESETS["tiny"]
    rows = len(patterns(config))
    [case, _] = cases(config)
    lists, edges = messages_of(case, rows, config)
    # Ranks are dealt in snake order: row i of both cores is ranks 2i and 2i + 1.
    matrix = np.kron(np.eye(rows, dtype=int), np.array([[0, 1], [1, 0]]))
    expected = compile_messages(matrix, config)
    for core in range(config.cores):
        assert np.array_equal(lists, expected.send_lists[core])
        wanted = relocate(expected.edge_sets[core], len(lists), config)
        wanted[2:4] = 0  # the core's own stream has no words, so its address means nothing
        assert np.array_equal(edges, wanted)
