"""Bounded proofs of the parts of a router."""

import pytest

from hypercast.rtl.lib.priority_arbiter import PriorityArbiter
from hypercast.rtl.lib.round_robin_arbiter import RoundRobinArbiter
from hypercast.rtl.network.ejection_port import EjectionPort
from hypercast.rtl.network.input_buffer import InputBuffer
from hypercast.rtl.network.link_output import LinkOutput
from tests.formal import contracts
from tests.formal.contracts import small
from tests.formal.proof import prove


@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_arbiter(count, tmp_path):
    prove(*contracts.arbiter(RoundRobinArbiter(count)), tmp_path, cycles=10)


@pytest.mark.parametrize(("count", "levels"), [(2, 1), (3, 2), (4, 2)])
def test_priority_arbiter(count, levels, tmp_path):
    prove(*contracts.priority_arbiter(PriorityArbiter(count, levels)), tmp_path, cycles=10)


@pytest.mark.parametrize("count", [1, 3])
def test_ejection_port(count, tmp_path):
    config = small(dimensions=1, planes=2)
    prove(*contracts.ejection_port(config, EjectionPort(config, count)), tmp_path, cycles=9)


#: Planes of the buffers that share a link.
SHARED = [(0, 1), (0, 0, 1), (0, 0, 1, 1)]


@pytest.mark.parametrize(("planes", "dimension"), list(zip(SHARED, [0, 1, 0], strict=True)))
def test_link_output(planes, dimension, tmp_path):
    config = small(dimensions=2, planes=2)
    dut = LinkOutput(config, dimension, planes)
    prove(*contracts.link_output(config, dut, dimension, planes), tmp_path, cycles=9)


@pytest.mark.parametrize("planes", SHARED)
def test_a_link_serves_every_request_in_time(planes, tmp_path):
    config = small(dimensions=2, planes=2)
    dut = LinkOutput(config, 1, planes)
    prove(*contracts.link_output_in_time(config, dut, 1, planes), tmp_path, cycles=16)


@pytest.mark.parametrize(("plane", "arrival"), [(0, None), (0, 0), (0, 1), (1, 1)])
def test_input_buffer(plane, arrival, tmp_path):
    config = small(dimensions=2, planes=2)
    dut = InputBuffer(config, plane, arrival)
    prove(*contracts.input_buffer(config, dut, plane), tmp_path, cycles=9)
