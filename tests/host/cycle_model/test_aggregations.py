"""Expected loads, next to those counted on graphs that are drawn at random."""

import numpy as np
import pytest
import scipy.sparse

from hypercast.host.compiler.messages import compile_messages
from hypercast.host.cycle_model.aggregations import Expected
from hypercast.rtl.config import Config

VERTICES, DEGREE = 3_000, 4


@pytest.fixture(scope="module")
def matrix():
    """As many edges of each source, to any targets."""
    targets = np.random.default_rng(0).integers(VERTICES, size=VERTICES * DEGREE)
    sources = np.repeat(np.arange(VERTICES), DEGREE)
    return scipy.sparse.coo_array((np.ones(len(sources), dtype=np.int64), (targets, sources)),
                                  shape=(VERTICES, VERTICES)).tocsr()


@pytest.mark.parametrize(("dimensions", "planes"), [
    (0, 1), (1, 1), (2, 1), (2, 2), (3, 4), (4, 1), (4, 2), (4, 4)])
def test_links_are_as_busy_as_the_planes_make_them(dimensions, planes, matrix):
    config = Config(dimensions=dimensions, planes=planes, accumulator_rows=4096)
    counted = compile_messages(matrix, config).load
    [expected] = Expected((VERTICES, VERTICES), (matrix.nnz,), config, "uniform").loads(1, False)
    # The busiest of some tens of links is above their mean, which grows a tenth at the most here.
    assert expected.links == pytest.approx(counted.links, rel=0.12)
    assert expected.messages == pytest.approx(counted.messages, rel=0.02)
