# SPDX-License-Identifier: BSD-2-Clause
"""The estimate of energy: its parts add up, and grow with what they are made of."""

from types import SimpleNamespace

import pytest

from hypercast.host.cycle_model.workload import Workload
from hypercast.host.eda.energy import mean_hops, step_energy
from hypercast.reference.network import Network
from hypercast.rtl.config import Config

CONFIG = Config(dimensions=4, lanes=16, element_width=16)
WORK = {"array_words": 1_000, "edges": 500, "sent": 200, "features_read": 300,
        "gradients_written": 100}


def test_products_and_channels():
    found = step_energy(WORK, 2.0, CONFIG, external=True)
    assert found["products"] == pytest.approx(1_000 * 256 * (0.8 + 0.15) * 1e-12)
    assert found["memory channels"] == pytest.approx(400 * 256 * 3.9e-12)
    # 25 mm, four cores in a row: 6.25 mm a link.
    assert found["network"] == pytest.approx(200 * 2 * 256 * 310 / 2560 * 6.25 * 1e-12)


def test_memory_on_the_chip_costs_less_the_smaller_it_is():
    energies = [step_energy(WORK, 1, CONFIG.replace(channel_words=words), external=False)[
        "memory channels"] for words in (64, 1024, 65536)]
    assert energies == sorted(energies) and energies[0] < energies[-1]
    assert energies[0] == pytest.approx(400 * 256 * 10 / 64 * 1e-12)


def test_sums_are_in_the_memories_of_who_adds():
    few, many = (step_energy(WORK, 1, CONFIG.replace(aggregation_rows=rows), external=True)
                 for rows in (0, 4 * CONFIG.accumulator_rows))
    assert {name for name in few if few[name] < many[name]} == {"edges"}


def test_nothing():
    assert not any(step_energy({}, 0, CONFIG, external=True).values())


def test_hops_are_links_of_all_layers_over_messages():
    """A load has the links of one of 16 cores and one of four dimensions."""
    loads = {1: [(3, 100), (5, 60)], 2: [(2, 80)]}
    workload = SimpleNamespace(config=CONFIG, network=SimpleNamespace(layers="ab"), loads=(
        lambda layer, backward: [SimpleNamespace(links=links, messages=messages)
                                 for links, messages in loads[layer]]))
    assert mean_hops(workload) == pytest.approx((3 + 5 + 2) * 16 * 4 / (100 + 60 + 80))
    loads[1] = loads[2] = []
    assert mean_hops(workload) == 0


def test_hops_of_a_sparse_graph_are_at_most_the_dimensions():
    workload = Workload.of_statistics((400, 400), (900,), Network.of_widths((32, 8)), CONFIG)
    assert 0 < mean_hops(workload) <= 4
