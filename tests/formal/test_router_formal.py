"""Bounded proofs of whole routers, from reset, with the free traffic that the contracts allow."""

import pytest

from hypercast.rtl.network.router import Router
from tests.formal import router_contracts
from tests.formal.contracts import small
from tests.formal.proof import prove


def proof(contract, dimensions, planes, eject):
    """The arguments of ``prove``."""
    config = small(dimensions=dimensions, planes=planes, eject=eject)
    return contract(config, Router(config))


@pytest.mark.parametrize(("dimensions", "planes", "eject", "cycles"), [
    (1, 1, 1, 9), (1, 2, 2, 8), (2, 1, 1, 8), (2, 2, 1, 7)])
def test_no_flit_is_made_up_or_changed_or_sent_twice(dimensions, planes, eject, cycles, tmp_path):
    prove(*proof(router_contracts.conserves, dimensions, planes, eject), tmp_path, cycles)


@pytest.mark.parametrize(("dimensions", "planes", "eject", "cycles"), [
    (1, 1, 1, 8), (1, 2, 2, 7), (2, 1, 1, 7)])
def test_flits_stay_in_order(dimensions, planes, eject, cycles, tmp_path):
    prove(*proof(router_contracts.keeps_order, dimensions, planes, eject), tmp_path, cycles)


@pytest.mark.parametrize(("dimensions", "planes", "eject", "cycles"), [
    (1, 1, 1, 10), pytest.param(1, 2, 2, 10, marks=pytest.mark.slow), (2, 1, 1, 10)])
def test_every_flit_is_served_in_time(dimensions, planes, eject, cycles, tmp_path):
    prove(*proof(router_contracts.serves, dimensions, planes, eject), tmp_path, cycles)
