"""Links are as busy as the planes make them."""

import pytest

from hypercast.host.cycle_model.aggregations import Expected
from hypercast.host.eda.plane_loads import PlaneLoads, link_imbalance
from hypercast.rtl.config import Config


@pytest.mark.parametrize(("dimensions", "planes", "imbalance"), [
    (4, 4, 1), (4, 1, 8 / 15 * 4), (4, 2, 12 / 30 * 4), (2, 2, 1), (0, 1, 1), (1, 4, 1)])
def test_imbalance(dimensions, planes, imbalance):
    config = Config(dimensions=dimensions, planes=planes)
    assert link_imbalance(config) == pytest.approx(imbalance)


def test_only_links_differ():
    config = Config(dimensions=4, planes=1, lanes=2)
    shape = ((500, 500), (4_000,), config)
    [plain], [loaded] = Expected(*shape).loads(1, False), PlaneLoads(*shape).loads(1, False)
    assert loaded.links == round(plain.links * link_imbalance(config)) > plain.links
    assert (loaded.sent, loaded.words) == (plain.sent, plain.words)
