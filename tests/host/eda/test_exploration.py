# SPDX-License-Identifier: BSD-2-Clause
"""The search among configurations, with a machine whose cycles and shares are known."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from hypercast.boards.fpga import FPGAS
from hypercast.host.compiler.memory_map import CapacityError, find_shortage, require_capacity
from hypercast.host.eda import exploration
from hypercast.host.eda.exploration import Candidate, explore, pareto, require_room
from hypercast.host.eda.step_workloads import StatisticSteps
from hypercast.host.eda.target import Target
from hypercast.reference.network import Network
from hypercast.rtl.config import PRESETS, ConfigurationError


class _Target(Target):
    """A board on which a lane of a core takes a hundredth, and so do 1,024 operand words."""

    def shares(self, config, shape=None):
        return {"LUT": config.lanes * config.cores / 100 + config.operand_words / 102_400}


def _check(config):
    if config.planes == 1:
        raise ConfigurationError("one plane is too few")


TARGET = _Target(name="board", fpga=FPGAS["XCVU37P"], family="ultrascale+", clock=1e6,
                 preset="test", external=True, folds=False, check=_check)


@pytest.fixture
def machine(monkeypatch):
    """Cycles fall with lanes, cores and operand words up to 1,024; 512 weight rows are needed."""
    def predict(config):
        require_capacity(config, "weight_rows", 512, "why")
        return SimpleNamespace(work={}, shortages=[], slowdowns=[], cycles=1_000_000 // (
            config.lanes * config.cores * min(config.operand_words, 1_024)))

    monkeypatch.setattr(exploration, "predict", lambda workload: predict(workload.config))
    monkeypatch.setattr(exploration, "require_room", lambda workload: None)
    monkeypatch.setattr(exploration, "mean_hops", lambda workload: 0)
    return lambda config: SimpleNamespace(config=config, orders=())


def test_the_fastest_is_found(machine):
    explored = explore(TARGET, machine, {})
    found, best = explored.candidates, pareto(explored.candidates)[0]
    assert not explored.refusals
    config = best.config
    assert (config.lanes * config.cores, config.operand_words) == (64, 1_024)
    assert config.weight_rows == 512
    assert best.seconds == best.cycles / 1e6
    assert all(one.config.planes > 1 and one.taken <= 0.8 for one in found)


def test_what_contains_a_chip_that_is_too_large_is_not_estimated(machine, monkeypatch):
    asked, plain = [], _Target.shares

    def shares(self, config, shape=None):
        asked.append(config)
        return plain(self, config, shape)

    monkeypatch.setattr(_Target, "shares", shares)
    with pytest.raises(CapacityError, match="no configuration fits"):
        explore(TARGET, machine, {"lanes": 16, "dimensions": 3, "planes": 2})
    assert {(one.lanes, one.cores, one.planes, one.eject) for one in asked} == {(16, 8, 2, 1)}
    assert len(asked) == 2  # with the weight bank that the step needs, and without


def test_what_contains_a_candidate_that_is_as_fast_is_left_out(machine, monkeypatch):
    found = explore(TARGET, machine, {}).candidates
    assert {(one.config.planes, one.config.eject) for one in found} <= {(2, 1), (2, 2)}
    monkeypatch.setattr(exploration._Search, "_contains", lambda *_: False)
    everything = explore(TARGET, machine, {}).candidates
    assert len(everything) > len(found)
    assert [(one.seconds, one.taken) for one in pareto(everything)] == [
        (one.seconds, one.taken) for one in pareto(found)]


def test_what_is_fixed_stays(machine):
    found = explore(
        TARGET, machine, {"lanes": 4, "dimensions": 1, "operand_words": 64}).candidates
    assert {(one.config.lanes, one.config.cores, one.config.operand_words)
            for one in found} == {(4, 2, 64)}


@pytest.mark.parametrize("fixed", [{}, {"row_counts": 32}, {"row_counts": 64}])
def test_tables_are_enlarged_where_that_is_faster(machine, monkeypatch, fixed):
    """If they may be; else what would help goes with the candidate."""
    plain = exploration.predict

    def predict(workload):
        found = plain(workload)
        lacking = find_shortage(workload.config, "row_counts", 50, "lists would name rows")
        found.slowdowns = [*filter(None, [lacking])]
        found.cycles *= 2 if lacking else 1
        return found

    monkeypatch.setattr(exploration, "predict", predict)
    best = pareto(explore(TARGET, machine, fixed).candidates)[0]
    assert best.config.row_counts == fixed.get("row_counts", 64)
    assert [one.needed for one in best.slowdowns] == [50] * (fixed.get("row_counts") == 32)


def test_nothing_fits(machine):
    with pytest.raises(CapacityError, match=r"no configuration fits board.*96% of LUT"):
        explore(TARGET, machine, {"lanes": 16, "dimensions": 1, "operand_words": 65_536})
    with pytest.raises(CapacityError, match="weight_rows is 64"):
        explore(TARGET, machine, {"weight_rows": 64})
    with pytest.raises(ConfigurationError, match="lanes must be one of"):
        explore(TARGET, machine, {"lanes": 3})


def test_pareto():
    def one(seconds, taken):
        return Candidate(config=PRESETS["tiny"], cycles=1, seconds=seconds, shares={"LUT": taken},
                         energy={"a": 1.0, "b": 0.5}, orders=())

    first, second, third = one(1, 0.7), one(2, 0.5), one(3, 0.1)
    assert pareto([one(2, 0.9), third, one(2.5, 0.5), second, first]) == [first, second, third]
    assert first.joules == 1.5


def test_statistics_on_a_real_configuration():
    """A sampled batch: orders are chosen, and the channels have to be large enough."""
    config = PRESETS["test"]
    steps = StatisticSteps((400, 100, 20), (900, 200), Network.of_widths((32, 8, 3)),
                           sampled=True)
    workload = steps(config)
    assert workload.sampled and workload.vertices == (400, 100, 20)
    require_room(workload)
    for field, value in (("channel_words", 64), ("program_rows", 16), ("tensors", 16)):
        with pytest.raises(CapacityError, match=f"{field} is {value}, but"):
            require_room(steps(config.replace(**{field: value})))
    with pytest.raises(CapacityError, match="2000 classes"):
        require_room(StatisticSteps((40, 40), (90,), Network.of_widths((8, 2000)))(config))


@pytest.mark.parametrize("field", ["program_rows", "tensors", "weight_rows", "channel_words"])
def test_what_cannot_be_loaded_is_refused_and_never_a_candidate(machine, monkeypatch, field):
    """Chips of more than 16 lanes in all are faster, but lack something."""
    def lack(workload):
        config = workload.config
        if config.lanes * config.cores > 16:
            require_capacity(config, field, 1000, "so it is")

    monkeypatch.setattr(exploration, "require_room", lack)
    raised = explore(TARGET, machine, {})
    best = pareto(raised.candidates)[0].config
    assert best.lanes * best.cores == 64 and getattr(best, field) >= 1024 and not raised.refusals
    fixed = explore(TARGET, machine, {field: 512, "planes": 2})
    assert all(one.config.lanes * one.config.cores <= 16 for one in fixed.candidates)
    assert {one.config.lanes * one.config.cores for one in fixed.refusals} == {32, 64}
    for one in fixed.refusals:
        assert one.reason == (f"{field} is 512, but 1000 are needed: so it is; raise {field} to "
                              f"1024 (-P {field}=1024)")


def test_a_board_without_room_for_what_is_lacking_is_named(machine, monkeypatch):
    def check(config):
        if config.program_rows > 1024:
            raise ConfigurationError("the board has 1024 rows")

    def predict(workload):
        config = workload.config
        shortage = config.lanes >= 8 and find_shortage(config, "program_rows", 1500, "why")
        return SimpleNamespace(work={}, cycles=1_000 // config.lanes,
                               shortages=[shortage] if shortage else [], slowdowns=[])

    monkeypatch.setattr(exploration, "predict", predict)
    found = explore(replace(TARGET, check=check), machine, {"dimensions": 1})
    assert max(one.config.lanes for one in found.candidates) == 4
    assert {one.config.lanes for one in found.refusals} == {8, 16}
    assert {one.reason for one in found.refusals} == {
        "program_rows is 256, but 1500 are needed, and board has no room for 2048: the board has "
        "1024 rows; take a larger board, a smaller graph or network, or several boards (hypercast "
        "plan)"}


def test_a_program_that_fits_no_chip_is_not_predicted(monkeypatch):
    monkeypatch.setattr(exploration, "predict", None)
    steps = StatisticSteps((2_000,) * 61, (9_000,) * 60, Network.of_widths((24,) * 61))
    with pytest.raises(CapacityError, match=r"no configuration fits.*program_rows is .*more lanes"):
        explore(TARGET, steps, {"dimensions": 1, "lanes": 2, "planes": 2, "eject": 1,
                                "channel_words": 1 << 22})
