# SPDX-License-Identifier: BSD-2-Clause
"""Sources of graphs: splits that are drawn, and paths as files have them."""

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypercast.host.description.conversion import DescriptionError
from hypercast.host.description.description import Description
from hypercast.host.description.source import Source
from hypercast.host.graphs.datasets import BUNDLED
from hypercast.rtl.isa import Split

#: Parts of paths; the name of a bundled graph is one of them.
PATHS = st.lists(st.sampled_from(["a", "b", "..", "karate"]), min_size=1, max_size=4).map("/".join)


def test_a_split_without_a_seed_is_that_of_seed_0():
    loaded = {seed: Source(source="karate", split=(50, 30, 20), split_seed=seed).load().splits
              for seed in (None, 0, 1)}
    assert np.array_equal(loaded[None], loaded[0])
    assert not np.array_equal(loaded[1], loaded[0])


@pytest.mark.parametrize(("train", "validation"), [(60, 20), (50, 50), (3, 0), (100, 0), (9, 91)])
def test_a_split_has_its_percentages(train, validation):
    splits = Source(source="karate", split=(train, validation, 100 - train - validation)
                    ).load().splits
    counts = np.bincount(splits, minlength=len(Split))
    for split, share in (Split.TRAIN, train), (Split.VALIDATION, validation):
        assert abs(counts[split] - len(splits) * share / 100) <= 1
    assert counts[Split.NONE] == 0


@pytest.mark.parametrize("name", BUNDLED)
def test_bundled_graphs_have_no_path(name):
    source = Source(source=name)
    assert source.path is None
    for folder in ("/", "/a", "."):
        assert source.with_full_paths(folder) is source and source.relative_to(folder) is source


@given(PATHS, PATHS)
def test_a_relative_path_leads_to_the_same_file(path, folder):
    """From the folder of the description, if both are moved together; never to a bundled graph."""
    full = Path("/top/w/x/y/z", path)
    written = Source(source=str(full)).relative_to(Path("/top/w/x/y/z", folder))
    assert written.path is not None and not os.path.isabs(written.source)
    for top in ("/top", "/elsewhere"):
        found = written.with_full_paths(Path(f"{top}/w/x/y/z", folder))
        assert found.source == os.path.abspath(Path(f"{top}/w/x/y/z", path))


@pytest.mark.parametrize("name", BUNDLED)
def test_a_file_of_a_bundled_graphs_name_stays_a_file(name):
    written = Source(source=f"/top/data/{name}").relative_to("/top/data")
    assert written.source == f"./{name}" and written.path is not None
    assert written.with_full_paths("/top/data").source == f"/top/data/{name}"


def test_a_path_that_has_only_the_root_in_common_stays_full():
    assert Source(source="/data/cora").relative_to("/home/runs").source == "/data/cora"


def test_a_description_has_the_path_of_its_graph():
    found = Description(graph=Source(source="/top/data/cora"))
    assert found.relative_to("/top/runs").graph == Source(source="../data/cora")
    assert found.relative_to("/top/runs").with_full_paths("/top/runs") == found
    assert Description().relative_to("/top").graph is None


def test_a_path_that_leads_nowhere_is_refused(tmp_path):
    with pytest.raises(DescriptionError, match=r"neither a bundled .* nor a file") as error:
        Source(source=str(tmp_path / "none")).load()
    assert (error.value.section, error.value.key) == ("graph", "source")
