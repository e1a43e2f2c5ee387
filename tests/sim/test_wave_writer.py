# SPDX-License-Identifier: BSD-2-Clause
"""Waveforms of the compiled chip: names and values are those of Amaranth's simulator."""

import contextlib
import re

import pytest
from vcd.reader import TokenKind, tokenize

from hypercast.host.runtime.driver import Driver
from hypercast.host.transport.transport import TransportError
from hypercast.rtl.config import PRESETS
from hypercast.rtl.isa import Engine, Opcode, encode
from hypercast.rtl.registers import CoreSpace, Space, register
from hypercast.sim.cxxrtl_transport import CxxrtlTransport
from hypercast.sim.pysim_transport import PysimTransport
from hypercast.sim.wave_writer import instruction_text
from hypercast.sim.waves import Waves

TINY = PRESETS["tiny"]
CYCLES = 120
#: Signals that count cycles from the reset on, which was longer ago in one of the simulations.
RUNNING = re.compile(r"reset_row|tile_sums\.write__addr|counters\.(turn|write__addr)|frames\.|"
                     r"_inject\.|delay\.(oldest|read__addr)")


def start(chip):
    """Start a program that updates a row of weights, and multiplies."""
    driver = Driver(chip, TINY)
    program = [
        encode(Opcode.UPDATE, rows=1, o=1, open=1),
        encode(Opcode.DRAIN, waits=1 << Engine.WEIGHTS, channel=1, address=64, o=2, bias=1,
               row_limit=4, open=1),
        encode(Opcode.MATMUL, waits=1 << Engine.VECTOR, row_limit=4, channel=1, address=64,
               panels=2, buffer=1),
        encode(Opcode.HALT)]
    for core in range(TINY.cores):
        for name, value in (("core", core), ("space", Space.CORE), ("address", CoreSpace.ROWS),
                            ("data", 4)):
            chip.write(register(name), value)
    for name, value in (("core", 0), ("space", Space.GRADIENTS), ("address", 0),
                        ("data", 5 << 26)):
        chip.write(register(name), value)
    for row, instruction in enumerate(program):
        driver.patch(row, instruction)
    if isinstance(chip, CxxrtlTransport):
        chip.record()
    driver.run(0, limit=1000)


def read(path):
    """(name, bits) to [(time, value)] of a VCD file; pyvcd's reader takes no names with ``$``."""
    names, scope, found, time = {}, [], {}, 0
    for line in path.read_text().splitlines():
        match line.split():
            case ["$scope", _, name, "$end"]:
                scope.append(name)
            case ["$upscope", "$end"]:
                scope.pop()
            case ["$var", _, bits, code, name, *_]:
                key = ".".join([*scope, name]), int(bits)
                found[key] = names.setdefault(code, [])
            case [text] if text[0] == "#":
                time = int(text[1:])
            case [text, code] if text[0] in "bs":
                names[code].append((time, text[1:]))
            case [text] if text[0] in "01x" and text[1:] in names:
                names[text[1:]].append((time, text[0]))
    return found


def sampled(changes, times):
    """Values at some times, as integers."""
    found, index, value = [], 0, 0
    for time in times:
        while index < len(changes) and changes[index][0] <= time:
            value = changes[index][1]
            index += 1
        found.append(int(value, 2) if set(str(value)) <= set("01") else None)
    return found


@pytest.fixture(scope="module")
def waves(tmp_path_factory):
    file = tmp_path_factory.mktemp("waves") / "chip.vcd"
    with contextlib.closing(CxxrtlTransport(TINY, waves=Waves(
            file=file, last=CYCLES, cores=(1,), of_step=True))) as chip:
        start(chip)
    return file


@pytest.mark.slow
def test_values_are_those_of_pysim(waves, tmp_path):
    chip, file = PysimTransport(TINY), tmp_path / "pysim.vcd"
    with chip.simulator.write_vcd(str(file)):
        start(chip)
    ours, theirs = read(waves), read(file)
    clear, clock = (next(changes for (name, _), changes in theirs.items() if name.endswith(end))
                    for end in ("control.clear", "top.clk"))
    first, second, *_ = (time for time, value in clock if value == "1")
    period = second - first
    begin = next(time for time, value in clear if value == "1")
    # Of signals with the same name, pysim and Yosys choose different ones to keep it.
    twice = {name.partition("$")[0] for name, _ in theirs if "$" in name}
    compared = 0
    for (name, bits), changes in theirs.items():
        place = name.find(".core_1.")
        key = name[place + 1:], bits
        if place < 0 or key not in ours or name in twice or RUNNING.search(name):
            continue
        expected = sampled(changes, [begin + period * cycle for cycle in range(CYCLES)])
        assert sampled(ours[key], range(CYCLES)) == expected, key
        compared += any(value != expected[0] for value in expected)
    assert compared > 300


def test_the_file_is_read_by_others(waves):
    with waves.open("rb") as file:
        kinds = [token.kind for token in tokenize(file)]
    assert kinds.count(TokenKind.CHANGE_TIME) > CYCLES / 2


def test_instructions_and_engines_are_decoded(waves):
    found = {name: changes for (name, _), changes in read(waves).items()}
    assert [value.partition(",")[0] for _, value in found["decoded.instruction"][1:]] == [
        "UPDATE", "DRAIN", "MATMUL"]
    busy = sampled(found["core_1.busy"], range(CYCLES))
    for engine in Engine:
        assert sampled(found[f"decoded.core_1.{engine.name.lower()}"], range(CYCLES)) == [
            value >> engine & 1 for value in busy]


def test_the_save_file_names_signals_that_are_there(waves):
    names = {name for name, _ in read(waves)}
    lines = waves.with_suffix(".gtkw").read_text().splitlines()
    traces = [line.partition("[")[0] for line in lines if line.startswith(("core_1.", "decoded."))]
    assert set(traces) <= names
    assert len(traces) > 100 and "decoded.instruction" in traces
    assert {"-core 1", "-array", "-router"} <= set(lines)
    assert lines[:2] == [f'[savefile] "{waves.stem}.gtkw"', f'[dumpfile] "{waves.name}"']


def test_the_commands_for_surfer_name_what_is_there(waves):
    names = {name for name, _ in read(waves)}
    scopes = {name.rpartition(".")[0] for name in names}
    lines = [line.split() for line in waves.with_suffix(".sucl").read_text().splitlines()]
    assert {name for command, name, *_ in lines[:-2] if command == "variable_add"} == {
        "decoded.instruction",
        *(f"decoded.core_1.{engine.name.lower()}" for engine in Engine)} <= names
    groups = {name for command, name, *_ in lines[:-2] if command == "scope_add_as_group"}
    assert {"core_1.array", "core_1.router", "core_1.vector"} <= groups <= scopes
    assert ["divider_add", "core_1"] in lines
    assert lines[-2:] == [["group_fold_all"], ["zoom_fit"]]


def test_text_of_an_instruction():
    word = encode(Opcode.MATMUL, phase=3, panels=5, address=1024)
    assert instruction_text(word) == "MATMUL,phase=3,address=1024,panels=5"


def test_cycles_that_never_come_are_an_error(tmp_path):
    chip = CxxrtlTransport(TINY, waves=Waves(file=tmp_path / "a.vcd", first=10**9, last=10**9 + 1))
    chip.wait(10)
    with pytest.raises(TransportError, match=r"no cycle from 1000000000 .*--wave-cycles"):
        chip.close()


def test_unknown_cores_are_refused(tmp_path):
    with pytest.raises(ValueError, match=r"no core 2 .* cores 0 to 1"):
        CxxrtlTransport(TINY, waves=Waves(file=tmp_path / "a.vcd", cores=(0, 2)))
