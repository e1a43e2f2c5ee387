"""What the parts of a router promise, as proofs of their ports.

Each function takes the block, drives it, and returns the arguments of ``prove``: the module, its
free inputs, and the conditions that must be reachable.
"""

from amaranth.hdl import Assert, Assume, Cat, Module, Signal

from hypercast.rtl.config import Config
from hypercast.rtl.layouts import flit
from hypercast.rtl.network import routing
from tests.formal.proof import constant, held, past

__all__ = ["ROUND_TRIP", "arbiter", "ejection_port", "fifo", "input_buffer", "link_output",
           "link_output_in_time", "priority_arbiter", "small"]

#: Cycles from a grant until its credit can be granted again, if the neighbour does not wait.
ROUND_TRIP = 4

#: Cycles without traffic after which a port with a ready receiver must be empty.
_DRAIN = 3


def small(**changes):
    """A configuration the solver can manage; the payload's width does not matter to control."""
    return Config(**{"lanes": 2, "element_width": 8, "buffer_depth": 2, "accumulator_rows": 16,
                     "weight_rows": 16, **changes})


def _waits(m, request, grant, most, events=1):
    """Assert that a request sees at most ``most`` of ``events`` before its grant; their count."""
    count = Signal(range(most + 2), name="passed")
    with m.If(~request | grant):
        m.d.sync += count.eq(0)
    with m.Elif(events):
        m.d.sync += count.eq(count + 1)
    m.d.comb += Assert(~request | grant | (count + events <= most))
    return count


def _assert_one_hot(m, grants, requests):
    m.d.comb += [Assert((grants & (grants - 1)) == 0), Assert((grants & ~requests) == 0)]


def fifo(dut):
    """The n-th word in is the n-th out, unchanged, and the flags tell how many are inside."""
    m = Module()
    m.submodules.dut = dut
    chosen, written, read = Signal(3), Signal(4), Signal(4)
    kept = Signal(dut.width)
    constant(m, chosen)
    writes, reads = dut.w_en & dut.w_rdy, dut.r_en & dut.r_rdy
    m.d.sync += [written.eq(written + writes), read.eq(read + reads)]
    with m.If(writes & (written == chosen)):
        m.d.sync += kept.eq(dut.w_data)
    m.d.comb += [
        Assert(dut.w_rdy == (written - read != dut.depth)),
        Assert(dut.r_rdy == (written != read)),
    ]
    with m.If(dut.r_rdy & (read == chosen)):
        m.d.comb += Assert(dut.r_data == kept)
    return m, [chosen, dut.w_en, dut.w_data, dut.r_en], [~dut.w_rdy, (read == 4) & (chosen == 3)]


def _is_top(priority):
    """Whether a priority, a thermometer, is the highest there is."""
    return priority[-1]


def _in_effect(m, priorities, favoured):
    """Assume that priorities are thermometers, and none of the highest favoured.

    Returns the priorities that count in this cycle.
    """
    for index, priority in enumerate(priorities):
        m.d.comb += Assume((priority & (priority + 1)) == 0)
        m.d.comb += Assume(~(_is_top(priority) & favoured[index]))
    return [past(m, priority) for priority in priorities]


def priority_arbiter(dut):
    """Grants one request at once, the highest priority, then favour first; the top take turns."""
    m = Module()
    m.submodules.dut = dut
    _assert_one_hot(m, dut.grants, dut.requests)
    m.d.comb += Assert(dut.grants.any() == (dut.enable & dut.requests.any()))
    count, passed = len(dut.requests), []
    priorities = _in_effect(m, dut.priorities, dut.favoured)
    favoured = past(m, dut.favoured & ~dut.grants)
    for index, priority in enumerate(priorities):
        for other, higher in enumerate(priorities):
            less = (higher & ~priority).any() | (
                (higher == priority) & favoured[other] & ~favoured[index])
            m.d.comb += Assert(~(dut.grants[index] & less & dut.requests[other]))
        passed.append(_waits(m, dut.requests[index] & _is_top(priority), dut.grants[index],
                             count - 1, dut.grants.any()))
    return m, [dut.requests, dut.enable, *dut.priorities, dut.favoured], [
        one == count - 1 for one in passed]


def arbiter(dut):
    """Grants one request at once, and each before any other twice."""
    m = Module()
    m.submodules.dut = dut
    _assert_one_hot(m, dut.grants, dut.requests)
    m.d.comb += Assert(dut.grants.any() == (dut.enable & dut.requests.any()))
    count = len(dut.requests)
    passed = [_waits(m, dut.requests[index], dut.grants[index], count - 1, dut.grants.any())
              for index in range(count)]
    return m, [dut.requests, dut.enable], [one == count - 1 for one in passed]


def ejection_port(config, dut):
    """The n-th flit granted is the n-th ejected, for this core only; the urgent take turns."""
    m = Module()
    m.submodules.dut = dut
    count = len(dut.requests)
    _assert_one_hot(m, dut.grants, dut.requests)
    m.d.comb += Assert(held(m, dut.eject))
    for index, priority in enumerate(_in_effect(m, dut.ages, dut.favoured)):
        _waits(m, dut.requests[index] & _is_top(priority), dut.grants[index], count - 1,
               dut.grants.any())
    chosen, taken, given, quiet = Signal(3), Signal(4), Signal(4), Signal(range(_DRAIN + 1))
    kept = Signal(flit(config))
    constant(m, chosen)
    granted = past(m, dut.grants)
    m.d.sync += [taken.eq(taken + granted.any()),
                 given.eq(given + (dut.eject.valid & dut.eject.ready))]
    with m.If(taken == chosen):
        for index, one in enumerate(dut.flits):
            with m.If(granted[index]):
                m.d.sync += [kept.eq(one), kept.mask.eq(1), kept.epoch.eq(0)]
    with m.If(dut.eject.valid):
        m.d.comb += Assert(given < taken)
        with m.If(given == chosen):
            m.d.comb += Assert(dut.eject.payload.as_value() == kept.as_value())
    with m.If(dut.requests.any() | ~dut.eject.ready):
        m.d.sync += quiet.eq(0)
    with m.Elif(quiet != _DRAIN):
        m.d.sync += quiet.eq(quiet + 1)
    m.d.comb += Assert((quiet != _DRAIN) | (given == taken))
    m.d.comb += Assert(~dut.eject.ready | (dut.grants.any() == dut.requests.any()))
    return m, [
        chosen, dut.requests, dut.eject.ready, *dut.ages, dut.favoured, *dut.flits], [
        (given == 3) & (chosen == 2), quiet == _DRAIN]


def _link_output(config, dut, dimension, planes):
    """The bench of ``LinkOutput``: module, inputs, flits of each plane that the neighbour holds,
    and which requests are of the highest priority."""
    m = Module()
    m.submodules.dut = dut
    link, cores = dut.link, config.dimensions
    _assert_one_hot(m, dut.grants, dut.requests)
    urgent = [dut.requests[index] & _is_top(priority)
              for index, priority in enumerate(_in_effect(m, dut.ages, dut.favoured))]
    requested, granted = past(m, dut.requests), past(m, dut.grants)
    sent = Signal(flit(config))
    beyond = [routing.split_masks(plane, cores)[dimension] for plane in planes]
    for index, (one, plane) in enumerate(zip(dut.flits, planes, strict=True)):
        m.d.comb += Assume(one.plane == plane)
        m.d.comb += Assume(~requested[index] | (one.mask & beyond[index]).any())
        with m.If(granted[index]):
            m.d.comb += [
                sent.eq(one), sent.source.eq(one.source ^ 1 << dimension),
                sent.mask.eq(routing.hop(one.mask & beyond[index], dimension, cores)),
            ]
    m.d.comb += Assert(link.valid == past(m, granted.any()))
    m.d.comb += Assert(link.parity == past(m, Cat(link.valid, link.flit).xor()))
    expected = past(m, sent)
    with m.If(link.valid):
        m.d.comb += Assert(link.flit.as_value() == expected)
    held_flits = []
    for plane in range(config.planes):
        count = Signal(range(config.buffer_depth + 2), name=f"held_{plane}")
        m.d.sync += count.eq(count + (link.valid & (link.flit.plane == plane))
                             - link.credit[plane])
        m.d.comb += Assert(count <= config.buffer_depth)
        held_flits.append(count)
    inputs = [dut.requests, link.credit, *dut.ages, dut.favoured, *dut.flits]
    return m, inputs, held_flits, urgent


def _grants_of(dut, planes, plane):
    return Cat(dut.grants[index] for index, own in enumerate(planes) if own == plane).any()


def link_output(config, dut, dimension, planes):
    """What is granted is sent, for the cores beyond only; credits are kept; the urgent take turns.

    The neighbour returns credits whenever it likes.
    """
    m, inputs, held_flits, urgent = _link_output(config, dut, dimension, planes)
    for plane, count in enumerate(held_flits):
        m.d.comb += Assume(~dut.link.credit[plane] | (count != 0))
    passed = [_waits(m, urgent[index], dut.grants[index], planes.count(plane) - 1,
                     _grants_of(dut, planes, plane))
              for index, plane in enumerate(planes)]
    return m, inputs, [Cat(count == config.buffer_depth for count in held_flits).all(),
                       *(count == planes.count(plane) - 1
                         for count, plane in zip(passed, planes, strict=True))]


def link_output_in_time(config, dut, dimension, planes):
    """An urgent request waits a bounded number of cycles if the neighbour returns credits at once.

    Each other request comes first at most once. Besides, its plane may be without credits: for
    less than ``ROUND_TRIP`` cycles at first, and after each flit of its own.
    """
    m, inputs, _, urgent = _link_output(config, dut, dimension, planes)
    for plane in range(config.planes):
        arrived = dut.link.valid & (dut.link.flit.plane == plane)
        m.d.comb += Assume(dut.link.credit[plane] == past(m, past(m, arrived)))
    waits = [_waits(m, urgent[index], dut.grants[index],
                    planes.count(plane) * (ROUND_TRIP - 1) + len(planes) - 1)
             for index, plane in enumerate(planes)]
    return m, inputs, [count == ROUND_TRIP - 1 for count in waits]


def input_buffer(config, dut, plane):
    """The n-th flit in is the n-th out, whole, and each output it wants serves it once.

    At most one request is favoured, and none of the oldest.
    """
    m = Module()
    m.submodules.dut = dut
    chosen, written, left = Signal(3), Signal(4), Signal(4)
    constant(m, chosen)
    m.d.comb += [Assume(~dut.write | dut.room), Assume((dut.served & ~dut.requests) == 0)]
    kept, served = Signal(flit(config)), Signal.like(dut.served)
    m.d.sync += [written.eq(written + dut.write), left.eq(left + dut.leaves)]
    with m.If(dut.write & (written == chosen)):
        m.d.sync += kept.eq(dut.flit)
    m.d.comb += [
        Assert(left <= written),
        Assert(written - left <= config.buffer_depth),
        Assert(dut.room == (written - left != config.buffer_depth)),
        Assert(~dut.favoured.any() | ((dut.favoured == dut.requests) & ~_is_top(dut.age))),
        Assert((dut.favoured & (dut.favoured - 1)) == 0),
    ]
    masks = routing.split_masks(plane, config.dimensions)
    wanted = Cat(kept.mask[0], ((kept.mask & masks[dimension]).any() for dimension in dut.outputs))
    with m.If((written > chosen) & (left == chosen)):
        m.d.comb += Assert(dut.requests == wanted & ~served)
        m.d.sync += served.eq(served | dut.served)
        m.d.comb += Assert(dut.leaves == ((served | dut.served) == wanted))
    with m.If(past(m, (written > chosen) & (left == chosen) & dut.requests.any())):
        m.d.comb += Assert(dut.head.as_value() == kept.as_value())
    return m, [chosen, dut.write, dut.flit, dut.served, dut.epoch], [
        (chosen == 2) & (left == 3) & served.all()]
