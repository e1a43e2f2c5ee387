# SPDX-License-Identifier: BSD-2-Clause
"""Waveforms of the network: what the routers' ports do, cycle by cycle, as the run says."""

from collections import defaultdict

import numpy as np
import pytest
from vcd.reader import TokenKind, tokenize

from hypercast.rtl.config import Config
from hypercast.sim.network_simulation import NetworkSimulation, narrow
from hypercast.sim.waves import Waves

CONFIG = narrow(Config(dimensions=2, planes=2, buffer_depth=2))
MESSAGES = ([0, 0, 1, 3], [0b1110, 0b0010, 0b0100, 0b1000], [0, 1, 0, 1])


@pytest.fixture(scope="module")
def network():
    return NetworkSimulation(CONFIG, watched=True)


def high_cycles(path, last):
    """Name of each signal of one bit to the cycles in which it is high, before cycle ``last``."""
    names, scopes, cycle = defaultdict(list), [], 0
    values, found = {}, defaultdict(list)

    def until(end):
        for row in range(cycle, end):
            for name, value in values.items():
                if value == "1":
                    found[name].append(row)

    with path.open("rb") as file:
        for token in tokenize(file):
            if token.kind is TokenKind.SCOPE:
                scopes.append(token.scope.ident)
            elif token.kind is TokenKind.UPSCOPE:
                scopes.pop()
            elif token.kind is TokenKind.VAR:
                names[token.var.id_code].append(".".join([*scopes, token.var.reference]))
            elif token.kind is TokenKind.CHANGE_TIME:
                until(token.time_change)
                cycle = token.time_change
            elif token.kind is TokenKind.CHANGE_SCALAR:
                for name in names[token.scalar_change.id_code]:
                    values[name] = token.scalar_change.value
    until(last)
    return found


def test_ports_do_what_the_run_says(network, tmp_path):
    waves = Waves(file=tmp_path / "n.vcd", last=1000, cores=tuple(range(CONFIG.cores)))
    run = network.run(*MESSAGES, created=[0, 0, 5, 9], waves=waves)
    high = high_cycles(waves.file, run.cycles)
    plain = network.run(*MESSAGES, created=[0, 0, 5, 9])
    assert np.array_equal(run.cycle, plain.cycle) and len(run.cycle) == 6
    for core in range(CONFIG.cores):
        assert [len(high[f"router_{core}.outgoing__{dimension}__valid"])
                for dimension in range(CONFIG.dimensions)] == run.link_flits[core].tolist()
        assert high[f"router_{core}.eject__0__valid"] == run.cycle[run.core == core].tolist()
        sent = np.asarray(MESSAGES[0]) == core
        assert high[f"router_{core}.inject__valid"] == run.injected[sent].tolist()
    text = waves.save_file.read_text()
    assert '[dumpfile] "n.vcd"' in text and str(tmp_path) not in text
    named = {name for name in (line.split("[")[0] for line in text.splitlines())
             if name.startswith("router_")}
    scope = waves.file.read_text()
    assert len(named) == CONFIG.cores * (6 + 3 * 2 * CONFIG.dimensions)
    assert all(f" {name.partition('.')[2]} $end" in scope
               or f" {name.partition('.')[2]} [" in scope for name in named)
    commands = [line.split() for line in waves.command_file.read_text().splitlines()]
    assert {name for command, name, *_ in commands[:-2] if command == "variable_add"} == named
    assert [name for command, name, *_ in commands[:-2] if command == "divider_add"] == [
        f"router_{core}" for core in range(CONFIG.cores)]


def test_only_the_cycles_and_cores_that_were_asked_for(network, tmp_path):
    waves = Waves(file=tmp_path / "n.vcd", first=3, last=7, cores=(2,))
    network.run(*MESSAGES, waves=waves)
    lines = waves.file.read_text().splitlines()
    assert [line for line in lines if line.startswith("#")] == ["#3", "#4", "#5", "#6"]
    assert [line for line in lines if "$scope module router_" in line] == [
        "$scope module router_2 $end"]


def test_what_is_not_there(network, tmp_path):
    waves = Waves(file=tmp_path / "n.vcd", cores=(4,))
    with pytest.raises(ValueError, match="there is no core 4"):
        network.run(*MESSAGES, waves=waves)
    with pytest.raises(ValueError, match="built as watched"):
        NetworkSimulation(CONFIG).run(*MESSAGES, waves=waves)
    assert not waves.file.exists()
