# SPDX-License-Identifier: BSD-2-Clause
"""All strategies are compared; plans are written, edited, and read with every check."""

import tomllib
from datetime import date

import pytest
import tomli_w
from hypothesis import given, settings
from hypothesis import strategies as st

from hypercast.host.cluster.assignment import Assignment
from hypercast.host.cluster.description import load_cluster
from hypercast.host.description.conversion import DescriptionError
from hypercast.host.planner.gantt import draw_gantt
from hypercast.host.planner.plan import ANYTHING, EXACT, NOT_YET, REFERENCES, Plan, Refusal
from hypercast.host.planner.plan_file import load_plan, plan_of_sections, plan_text
from hypercast.host.planner.problem import Problem
from hypercast.host.planner.search import PlanComparison, search
from hypercast.host.planner.statistics import Statistics
from hypercast.host.planner.strategies import STRATEGIES
from hypercast.reference.network import Network
from tests.host.planner.test_pipelines import GRAPH, joined, networks

NETWORK = Network.of_widths([24, 8, 8, 8, 4])
BOARDS = load_cluster("u50-4")


@pytest.fixture(scope="module", params=["whole", "samples"])
def found(request):
    """A problem, and what the strategies say of it."""
    statistics = Statistics.whole(4000, 40_000, 4) if request.param == "whole" else Statistics(
        vertices=(800,) * 5, edges=(4000,) * 4, sampled=True)
    problem = Problem.of_network(BOARDS, NETWORK, statistics,
                                 micro_batches=8 if statistics.sampled else 1)
    return problem, search(problem)


def answers(comparison):
    """The strategies that have plans, or a refusal."""
    return sorted([*{plan.strategy for plan in comparison.plans},
                   *(refusal.strategy for refusal in comparison.refusals)])


def test_every_strategy_has_a_plan_or_says_why_not(found):
    _, comparison = found
    plans, refusals = comparison.plans, comparison.refusals
    assert answers(comparison) == sorted(STRATEGIES)
    assert [plan.seconds for plan in plans] == sorted(plan.seconds for plan in plans)
    assert all("\n" not in refusal.reason for refusal in refusals)


def test_the_best_is_exact_unless_staleness_is_allowed(found):
    _, comparison = found
    exact = comparison.best(staleness=False)
    assert exact.exact
    assert exact.seconds == min(plan.seconds for plan in comparison.plans if plan.exact)
    assert comparison.best(staleness=True) is comparison.plans[0]


def test_nothing_beats_the_pareto_set(found):
    _, comparison = found
    best = comparison.pareto
    for plan in comparison.plans:
        rivals = [one for one in best if one.exact or not plan.exact]
        assert plan in best or any(one.seconds <= plan.seconds and one.fullest <= plan.fullest
                                   for one in rivals)


def test_plans_are_read_as_they_were_written(found, tmp_path):
    problem, comparison = found
    for plan in comparison.plans:
        path = tmp_path / "plan.toml"
        path.write_text(plan_text(problem, plan))
        again = load_plan(path, problem)
        assert again.seconds == pytest.approx(plan.seconds, rel=1e-6)
        assert again.fullest == pytest.approx(plan.fullest, rel=1e-3)
        assert again.shares == plan.shares or plan.shares[0].part


def edited(problem, comparison, strategy, change):
    """The sections of a strategy's plan after a change."""
    plan = next(one for one in comparison.plans if one.strategy == strategy)
    sections = tomllib.loads(plan_text(problem, plan))
    change(sections)
    return tomllib.loads(tomli_w.dumps(sections))


def setting(section, key, value):
    def change(sections):
        *path, last = f"{section}.{key}".split(".")
        for name in path:
            sections = sections.setdefault(name, {})
        sections[last] = value
    return change


@pytest.mark.parametrize(("change", "text"), [
    (setting("plan", "strategy", "magic"), "strategy must be one of"),
    (setting("plan", "schedule", "2F2B"), "schedule must be one of"),
    (setting("plan", "units", 3), "units must be"),
    (setting("plan", "speed", 3), r"\[plan\] has no speed"),
    (setting("training", "vertices", [7]), "another graph, so plan anew"),
    (setting("training", "layers", ["24 to 8, linear"]), "another network, so plan anew"),
    (setting("training", "boards", ["u50-0: vcu128"]), "another cluster, so plan anew"),
    (setting("shares.1", "layers", []), "a stage without work"),
    (setting("shares.1", "boards", []), "a share without boards"),
    (setting("shares.1", "boards", ["u50-9"]), "which the cluster has not"),
    (setting("shares.1", "boards", ["u50-1", "u50-1"]), "which another share has"),
    (setting("shares.1", "layers", [1, 9]), "layers 1 to 4"),
    (setting("shares.1", "layers", [1, 4]), "has, too; each layer is in one stage"),
    (setting("shares.1", "layers", [2]), "which|no share has layer 1"),
    (setting("shares.1", "in_flight", 0), "in_flight must be 1 to 2147483647, not 0"),
    (setting("shares.1", "in_flight", 10**40), "in_flight must be 1 to 2147483647, not 1000"),
    (setting("shares.1", "micro_batches", 10**40), "micro_batches must be 1 to 2147483647"),
    (setting("shares.1", "part", 1e-320), "part must be 0.000000001 to 1, not 1e-320"),
    (setting("shares.1", "boards", 3), "boards must be a text, or a list of such, not 3"),
    (setting("shares.1", "boards", ""), "boards is empty; give"),
    (setting("shares.1", "boards", date(2020, 1, 2)), "boards must be a text, or a list of such"),
    (setting("plan", "schedule", ""), "schedule is empty; give"),
    (setting("plan", "split", []), "split: the network has 4 layers, but slices of 0 are given"),
    (setting("shares.1", "layers", [1, 1]), "layers has 1 twice; give it once"),
    (setting("shares.1", "in_flight", 99), r"in_flight is 99, but a step has \d micro-batch"),
    (setting("shares.1", "part", 0.5), "has part, which says nothing of BaPipe; leave it out"),
    (lambda sections: sections["shares"]["1"].pop("in_flight"), "has no in_flight, but another"),
    (setting("shares", "1", 5), "must be sections"),
    (lambda sections: sections.pop("shares"), "there are no shares"),
    (lambda sections: sections.pop("training"), "plan anew"),
    (setting("stages.1", "layers", [1]), "there is no stages in a plan"),
])
def test_what_makes_no_sense_is_refused(found, change, text):
    problem, comparison = found
    sections = edited(problem, comparison, "BaPipe", change)
    with pytest.raises(DescriptionError, match=text) as error:
        plan_of_sections(sections, problem)
    assert "\n" not in str(error.value)


def test_stages_that_wait_for_each_other_are_refused(found):
    problem, comparison = found
    if problem.micro_batches > 1:
        def swap(sections):
            for number, share in enumerate(sections["shares"].values()):
                share["in_flight"] = number + 1
        with pytest.raises(DescriptionError, match="in a circle"):
            plan_of_sections(edited(problem, comparison, "BaPipe", swap), problem)


def test_parts_have_to_be_the_whole(found):
    problem, comparison = found
    name, key, value, text = ("samples in parallel", "micro_batches", 7, "sum up to 8") \
        if problem.micro_batches > 1 else ("graph in parallel", "part", 0.9, "sum up to 1")
    for change, expected in ((setting("shares.1", key, value), text),
                             (setting("shares.1", key, 0), f"{key} must be "),
                             (setting("plan", "schedule", "SNO"), "has a schedule, which says"),
                             (setting("plan", "units", 77), "units must be"),
                             (setting("shares.1", "in_flight", 1), "has in_flight, which says"),
                             (setting("shares.1", "layers", [1]), "all layers")):
        with pytest.raises(DescriptionError, match=expected):
            plan_of_sections(edited(problem, comparison, name, change), problem)


def test_errors_of_a_file_name_the_line(found, tmp_path):
    problem, comparison = found
    path = tmp_path / "plan.toml"
    text = plan_text(problem, next(one for one in comparison.plans if one.strategy == "BaPipe"))
    path.write_text(text.replace('strategy = "BaPipe"', 'strategy = "x"'))
    with pytest.raises(DescriptionError, match=r"plan\.toml, line 4: "):
        load_plan(path, problem)


def test_schedules_are_drawn(found):
    _, comparison = found
    plan = next(plan for plan in comparison.plans if plan.strategy == "BaPipe")
    assert len(draw_gantt(plan).axes[0].patches) == len(plan.intervals)
    with pytest.raises(ValueError, match="leave --gantt out"):
        draw_gantt(next(plan for plan in comparison.plans if not plan.intervals))


def test_a_board_that_is_too_small_is_named_with_what_it_lacks():
    tiny = load_cluster("ulx3s-2")
    problem = Problem.of_network(tiny, NETWORK, Statistics.whole(9_000, 90_000, 4))
    comparison = search(problem)
    assert not comparison.plans
    assert all("ulx3s-0" in one.reason or "fits" in one.reason or "sample" in one.reason
               or "micro-batch" in one.reason or "ulx3s" in one.reason
               for one in comparison.refusals)
    with pytest.raises(ValueError, match="no way to train on these boards fits: one board: ulx3s"):
        comparison.best(staleness=True)


SAMPLES = Statistics(vertices=(4000,) * 5, edges=(40_000,) * 4, sampled=True)


@pytest.mark.parametrize(("strategy", "statistics"), [
    ("CoFree-GNN", Statistics.whole(40_000, 400_000, 4)),  # parts by the boards' speeds
    ("PipeDream-2BW", SAMPLES)])  # stages on several boards
def test_what_can_be_trained_is_found_beside_what_is_faster(strategy, statistics):
    network = Network.of_widths([8, 512, 8, 8, 8])
    comparison = search(Problem.of_network(
        load_cluster("mixed"), network, statistics, micro_batches=8 if statistics.sampled else 1))
    plans = [plan for plan in comparison.plans if plan.strategy == strategy]
    assert [plan.trains for plan in plans] == [NOT_YET, ANYTHING]
    assert plans[0].seconds < plans[1].seconds


@pytest.mark.parametrize(("samples", "text"), [
    (0, "raise --micro-batches"), (9, "raise --micro-batches"),
    (1, "an epoch has no more samples than 1; make them smaller or more")])
def test_what_helps_is_said_of_steps_with_too_few_samples(samples, text):
    comparison = search(Problem.of_network(BOARDS, NETWORK, Statistics(
        vertices=(800,) * 5, edges=(4000,) * 4, sampled=True), samples=samples))
    reasons = {one.strategy: one.reason for one in comparison.refusals}
    for strategy in ("samples in parallel", "PipeDream", "PipeDream-2BW"):
        assert reasons[strategy].endswith(text)


def test_several_micro_batches_need_samples():
    with pytest.raises(ValueError, match="whole graph has one micro-batch, not 2"):
        Problem.of_network(BOARDS, NETWORK, Statistics.whole(40, 40, 4), micro_batches=2)


@settings(max_examples=15, deadline=None)
@given(networks(), st.integers(1, 4), st.sampled_from([0.3, 100]), st.integers(0, 1),
       st.integers(1, 9), st.integers(60, 5000), st.integers(1, 30))
def test_every_strategy_has_an_answer_for_any_network(model, boards, gigabits, sampled, batches,
                                                      vertices, degree):
    network = model.network(GRAPH)
    statistics = Statistics(
        vertices=(vertices,) * (len(network.layers) + 1),
        edges=(vertices * degree,) * len(network.layers), sampled=bool(sampled))
    comparison = search(Problem.of_network(
        joined(gigabits, boards), network, statistics, micro_batches=batches if sampled else 1,
        samples=batches + 3 if sampled else 0))
    assert answers(comparison) == sorted(STRATEGIES)
    assert all(plan.seconds > 0 and plan.traffic >= 0 for plan in comparison.plans)


def test_the_best_is_the_first_that_is_wanted():
    def plan(name, staleness=EXACT, trains=ANYTHING):
        return Plan(strategy=name, scheme="", shares=(), seconds=1, memory={}, staleness=staleness,
                    assignment=None if trains == NOT_YET else Assignment(),
                    only_references=trains == REFERENCES)

    comparison = PlanComparison((
        plan("a", "weights", NOT_YET), plan("b", trains=NOT_YET), plan("c", "halos", REFERENCES),
        plan("d", trains=REFERENCES), plan("e", "halos"), plan("f")), ())
    assert [comparison.best(staleness=stale).strategy for stale in (True, False)] == ["a", "b"]
    assert {(device, stale): comparison.fastest_for(device, stale).strategy
            for device in ("reference", "rtl") for stale in (True, False)} == {
        ("reference", True): "c", ("reference", False): "d", ("rtl", True): "e",
        ("rtl", False): "f"}
    refusals = tuple(Refusal(strategy=name, reason=f"{name} is too small") for name in "abcd")
    with pytest.raises(ValueError, match=(
            r"fits: a: a is too small; b: b is too small; c: c is too small$")):
        PlanComparison(comparison.plans[:1], refusals).best(staleness=False)


def test_strategies_are_told_one_by_one():
    told = []
    search(Problem.of_network(BOARDS.only(["u50-0"]), NETWORK, SAMPLES), told.append)
    assert told == list(STRATEGIES)
