# SPDX-License-Identifier: BSD-2-Clause
"""Figures over densities of features."""

from hypercast.benches.feature_density import density_figures


def test_every_density_is_measured_in_every_way():
    said = []
    figures = density_figures(said.append, vertices=60, features=20, densities=(0.05, 1.0),
                              epochs=1)
    assert said == ["features of which 0.05 are not zero", "features of which 1 are not zero"]
    assert len({figure.name for figure in figures}) == 6
    assert figures[0].name == \
        "density 0.05, dropout: CPU time of an epoch, dense by sparse"
    assert all(figure.value > 0 for figure in figures)
